use std::collections::HashSet;

/// Gives every call of a conversation its id. Depends on the calls alone, so a resumed session gets the same ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ids {
    canonical: HashSet<String>,
    mapped: HashSet<String>,
    calls: u64,
}

/// The ids of one call, all of which a stored result may carry.
#[derive(Clone, Debug)]
pub(crate) struct CallId {
    /// As the server gave it; empty where it gave none.
    pub(crate) given: String,
    /// The given one where it is fit for use, else a new one.
    pub(crate) canonical: String,
    /// Nine letters or digits.
    pub(crate) mapped: String,
}

const LONGEST: usize = 40;
const SHORT: usize = 9;

impl Ids {
    /// The ids of the next call.
    pub(crate) fn assign(&mut self, given: String) -> CallId {
        let fit = !given.is_empty() && given.chars().count() <= LONGEST;
        let canonical = choose(&mut self.canonical, fit.then_some(&given), self.calls);
        let mapped = choose(&mut self.mapped, is_minted_form(&given).then_some(&given), self.calls);
        self.calls += 1;
        CallId { given, canonical, mapped }
    }
}

/// Whether an id has the form of those that are made here.
pub(crate) fn is_minted_form(id: &str) -> bool {
    id.len() == SHORT && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn choose(used: &mut HashSet<String>, wanted: Option<&String>, ordinal: u64) -> String {
    let id = match wanted {
        Some(wanted) if !used.contains(wanted) => wanted.clone(),
        _ => (0..).map(|attempt| mint(ordinal, attempt)).find(|id| !used.contains(id)).unwrap_or_default(),
    };
    used.insert(id.clone());
    id
}

fn mint(ordinal: u64, attempt: u64) -> String {
    const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut rest = mix(mix(ordinal) ^ attempt);
    let letters = std::iter::repeat_with(|| {
        let letter = ALPHABET.get((rest % 62) as usize).copied().unwrap_or(b'0');
        rest /= 62;
        char::from(letter)
    });
    letters.take(SHORT).collect()
}

/// The finaliser of SplitMix64: neighbours in, no likeness out.
fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_fit_ids_and_replaces_the_rest() {
        let mut ids = Ids::default();
        let long = "x".repeat(41);
        assert_eq!(ids.assign("call_1".into()).canonical, "call_1");
        for unfit in ["", "call_1", &long] {
            let id = ids.assign(unfit.into()).canonical;
            assert!(is_minted_form(&id), "{id}");
        }
        assert_eq!(ids.assign("é".repeat(40)).canonical, "é".repeat(40));
        let nine = ids.assign("abcDEF123".into());
        assert_eq!((nine.canonical.as_str(), nine.mapped.as_str()), ("abcDEF123", "abcDEF123"));
        assert_ne!(ids.assign("abcDEF123".into()).mapped, "abcDEF123");
    }

    #[test]
    fn made_ids_stay_the_same_for_ever() {
        let mut ids = Ids::default();
        let made: Vec<_> = (0..3).map(|_| ids.assign(String::new()).mapped).collect();
        assert_eq!(made, ["z7c9VSlw4", "y5XTLwkxi", "iq6dNtUuS"]);
    }

    #[test]
    fn never_collides() {
        let mut ids = Ids::default();
        let first = Ids::default().assign(String::new()).canonical;
        assert_eq!(ids.assign(first.clone()).canonical, first);
        let mut seen = HashSet::from([first.clone()]);
        for k in 0..2_000 {
            let given = if k % 2 == 0 { String::new() } else { first.clone() };
            assert!(seen.insert(ids.assign(given).canonical));
        }
        let mut ids = Ids::default();
        ids.assign(mint(1, 0));
        assert_eq!(ids.assign(String::new()).canonical, mint(1, 1));
    }
}
