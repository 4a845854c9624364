use super::record::now_ms;

/// A new UUID of version 7: the time in milliseconds, then random bits.
pub(super) fn uuid() -> String {
    let (time, random) = (u128::from(now_ms()) << 80, rand::random::<u128>());
    let (version, variant) = (0x7 << 76, 0b10 << 62);
    let bits = time | version | (random & (0xfff << 64)) | variant | (random & (u128::MAX >> 66));
    let hex = format!("{bits:032x}");
    let (first, rest) = hex.split_at(8);
    let parts = [first, &rest[..4], &rest[4..8], &rest[8..12], &rest[12..]];
    parts.join("-")
}

/// The id of a new entry.
pub(super) fn entry() -> String {
    format!("{:016x}", rand::random::<u64>())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_uuid_has_its_shape_and_the_time() {
        let before = now_ms();
        for _ in 0..100 {
            let uuid = uuid();
            let lengths: Vec<_> = uuid.split('-').map(str::len).collect();
            assert_eq!(lengths, [8, 4, 4, 4, 12], "{uuid}");
            assert_eq!(&uuid[14..15], "7", "{uuid}");
            assert!("89ab".contains(&uuid[19..20]), "{uuid}");
            let time = u64::from_str_radix(&uuid[..13].replace('-', ""), 16).unwrap();
            assert!((before..=now_ms()).contains(&time), "{uuid}");
        }
    }

    #[test]
    fn no_id_comes_twice() {
        assert_eq!((0..10_000).map(|_| uuid()).collect::<HashSet<_>>().len(), 10_000);
        assert_eq!((0..10_000).map(|_| entry()).collect::<HashSet<_>>().len(), 10_000);
    }
}
