use insomnia_tasks::wire::{Dialect, LateSystem};
use insomnia_tasks_examples::scripted::Reply;
use serde_json::Value;

use crate::place::{Place, create, list, server};

const MODEL: &str = "any";

/// The role of the last request's message that has the reminder, and whether it has nothing else.
async fn placed(how: &str) -> Option<(String, bool)> {
    let place = Place::new();
    let server = server(vec![create("Tidy up"), list(), Reply::text("done")]).await;
    let flags = ["-p", "A", "--model", MODEL, "--inactivity", "1", "--cooldown", "1", "--reminder", how];
    let ran = place.chat(&server, &flags).run().ended(0);
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    let messages = requests[2].messages();
    let has = |message: &&Value| message["content"].to_string().contains("<system-reminder>");
    let found: Vec<_> = messages.iter().filter(has).collect();
    assert_eq!(ran.stderr.matches("⏰").count(), found.len(), "{ran:?}");
    let message = found.first()?;
    assert_eq!((found.len(), *message), (1, messages.last().unwrap()));
    assert!(message["content"].as_str().unwrap().contains("Tidy up"));
    let alone = message["content"].as_str().unwrap().starts_with("<system-reminder>");
    Some((message["role"].as_str().unwrap().to_owned(), alone))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn are_placed_as_asked() {
    for role in ["system", "developer", "user"] {
        assert_eq!(placed(role).await, Some((role.to_owned(), true)));
    }
    assert_eq!(placed("merge").await, Some(("tool".to_owned(), false)));
    assert_eq!(placed("off").await, None);
    let auto = match Dialect::detect("http://127.0.0.1/v1", MODEL).late_system {
        LateSystem::System => ("system".to_owned(), true),
        _ => ("tool".to_owned(), false),
    };
    assert_eq!(placed("auto").await, Some(auto));
}

#[test]
fn take_no_nonsense() {
    let place = Place::new();
    for flag in ["--inactivity", "--cooldown"] {
        for wrong in ["0", "-1", "many", "", "1.5", "99999999999"] {
            let wrong = format!("{flag}={wrong}");
            place.bare(&[&wrong]).run().ended(2).told(&[flag, "--help"]);
        }
    }
    place.bare(&["--inactivity", "0"]).run().ended(2).told(&["0 is not in 1.."]);
    place.bare(&["--reminder", "loud"]).run().ended(2).told(&["auto, system, developer, user, merge or off"]);
}
