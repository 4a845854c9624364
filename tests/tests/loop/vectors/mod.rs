//! The worked cases of the reminder: on the counters alone, through a session, resumed between turns, and in loops of a host.

mod counters;
mod drop_in;
mod sessions;

use insomnia_tasks_examples::scripted::RecordedRequest;
use insomnia_tasks_tests::Case;

use crate::support::{assert_conversation, reminders};

fn check(case: &Case, requests: &[RecordedRequest]) {
    let found: Vec<_> = requests.iter().map(reminders).collect();
    assert_eq!(found, case.reminders_in_request, "{}", case.name);
    assert!(found.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{}", case.name);
    assert_conversation(requests);
}
