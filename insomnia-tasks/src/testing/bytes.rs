use super::{
    Backend,
    backend::{close, flush, lines, message, open, read},
};
use crate::session::{Entry, Storage};

/// Records that a careless storage would change: duplicate and unordered keys, escapes of all kinds, lone surrogates, NUL,
/// numbers that no float holds, kinds that do not exist yet.
const ODD: [&str; 9] = [
    r#"{"record":"item","seq":1,"id":"a","time":1,"turn":1,"kind":"user","message":{"role":"user","content":"é\u00e9\/\t","z":1,"a":2}}"#,
    r#"{"record":"item","seq":2,"id":"b","time":1,"turn":1,"kind":"assistant","message":{"role":"assistant","content":"\ud800 \u0000","content":"again"}}"#,
    r#"{"record":"item","seq":3,"id":"c","time":1,"turn":1,"kind":"tool","message":{"role":"tool","content":"","n":[1.0,1e400,123456789012345678901234567890,-0]}}"#,
    r#"{"record":"item","seq":4,"id":"d","time":1,"turn":1,"kind":"notification","message":{"role":"system","content":"🦀 '$1' % \\"}}"#,
    r#"{"record":"task_edit","seq":5,"id":"e","time":1,"turn":1,"task":{"taskid":1,"status":"pending","subject":"s","description":""}}"#,
    r#"{"record":"instructions","seq":6,"id":"f","time":1,"turn":1,"instructions":"Be \"brief\"."}"#,
    r#"{"record":"dialect","seq":7,"id":"g","time":1,"turn":1,"dialect":{"new":["field", {}]}}"#,
    r#"{"record":"rewind","seq":8,"id":"h","time":18446744073709551615,"turn":1,"rewind":{"to_seq":7}}"#,
    r#"{"record":"of a later version","seq":9,"id":"i","z":{"deep":[[[null]]]}}"#,
];

pub(super) async fn what_was_given_comes_back_byte_for_byte(backend: &impl Backend) {
    let (store, _) = open(backend, "bytes").await;
    for line in ODD {
        let entry = Entry::from_json(line);
        assert!(entry.is_ok(), "the suite's own record cannot be read: {line}");
        entry.iter().for_each(|entry| store.append(entry));
    }
    flush(&store).await;
    assert_eq!(lines(&read(backend, "bytes").await.entries), ODD, "a record was changed");
    close(&store).await;
    let (_store, session) = open(backend, "bytes").await;
    assert_eq!(lines(&session.entries), ODD, "a record was changed between closing and opening");
    assert_eq!(session.next_seq, 10, "the next number after nine records");
}

pub(super) async fn a_large_batch_is_kept(backend: &impl Backend) {
    let (store, _) = open(backend, "large").await;
    let sizes = (1..=300).map(|seq| if seq % 100 == 0 { 1_000_000 } else { 100 });
    let entries: Vec<_> = (1..).zip(sizes).map(|(seq, size)| message(seq, "x".repeat(size))).collect();
    entries.iter().for_each(|entry| store.append(entry));
    flush(&store).await;
    close(&store).await;
    let kept = read(backend, "large").await;
    assert!(lines(&kept.entries) == lines(&entries), "a batch of 300 records, 3 of them of a megabyte, is not kept");
}
