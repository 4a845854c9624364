use fastrand::Rng;

use super::{
    Backend,
    backend::{close, flush, lines, message, open, read},
};
use crate::session::Storage;

/// Random calls against a list in memory.
pub(super) async fn any_order_of_calls_leaves_what_was_acknowledged(backend: &impl Backend) {
    for seed in 0..8 {
        let (mut rng, name) = (Rng::with_seed(seed), format!("schedule-{seed}"));
        let (mut given, mut acknowledged) = (Vec::new(), 0);
        let (mut store, _) = open(backend, &name).await;
        for step in 0..40 {
            let at = format!("seed {seed}, step {step}");
            match rng.u32(..10) {
                ..5 => {
                    let entry = message(given.len() as u64 + 1, "x".repeat(rng.usize(..2000)));
                    store.append(&entry);
                    given.push(entry);
                }
                5 | 6 => {
                    flush(&store).await;
                    acknowledged = given.len();
                }
                7 => {
                    let there = lines(&read(backend, &name).await.entries);
                    assert!(there.len() >= acknowledged, "{at}: an acknowledged entry is gone");
                    assert!(lines(&given).starts_with(&there), "{at}: what is read is no prefix of what was given");
                }
                reopening => {
                    if reopening == 8 {
                        close(&store).await;
                        acknowledged = given.len();
                    }
                    drop(store);
                    let opened = open(backend, &name).await;
                    let there = opened.1.entries.len();
                    assert!(there >= acknowledged, "{at}: an acknowledged entry is gone after opening");
                    given.truncate(there);
                    assert_eq!(lines(&opened.1.entries), lines(&given), "{at}: not what was given");
                    assert_eq!(opened.1.next_seq, there as u64 + 1, "{at}: the next number");
                    store = opened.0;
                }
            }
        }
    }
}
