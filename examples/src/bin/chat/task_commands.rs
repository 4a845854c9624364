//! What a person does to the tasks, at the prompt: kept in the session like what the model does.

use insomnia_tasks::task::{TaskId, TaskStatus};

use crate::{
    screen::Screen,
    session::Opened,
    terminal::{note, visible},
};

/// Carries out `/tasks` and what follows it; whether it was that command.
pub(crate) async fn command(line: &str, opened: &Opened, screen: &Screen) -> bool {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    if word != "/tasks" {
        return false;
    }
    let tasks = opened.pod.tasks();
    let (verb, rest) = rest.trim().split_once(char::is_whitespace).unwrap_or((rest.trim(), ""));
    match verb {
        "" | "all" if tasks.list().is_empty() => note!("no tasks yet"),
        "" | "all" => screen.tasks(tasks, verb == "all"),
        "add" => match tasks.create(rest.trim(), "") {
            Ok(task) => screen.task_edited(&task),
            Err(error) => note!("{}; write /tasks add TEXT", visible(&error.to_string())),
        },
        "start" => set(rest, TaskStatus::InProgress, opened, screen),
        "done" => set(rest, TaskStatus::Completed, opened, screen),
        "delete" => set(rest, TaskStatus::Deleted, opened, screen),
        _ => note!("/tasks takes nothing, all, add TEXT, start N, done N or delete N"),
    }
    // on the disk before the next prompt: what a person says is done must not be lost
    if let Err(error) = opened.pod.flush().await {
        note!("the change is not stored: {}", visible(&error.to_string()));
    }
    true
}

fn set(ids: &str, status: TaskStatus, opened: &Opened, screen: &Screen) {
    let ids: Vec<_> = ids.split(|c: char| c == ',' || c.is_whitespace()).filter(|id| !id.is_empty()).collect();
    if ids.is_empty() {
        note!("which task? name its number, such as 3");
    }
    for id in ids {
        let Ok(taskid) = id.parse::<TaskId>() else {
            note!("`{}` is no number of a task", visible(id));
            continue;
        };
        match opened.pod.tasks().update(taskid, status) {
            Ok(task) => screen.task_edited(&task),
            Err(error) => note!("{}", visible(&error.to_string())),
        }
    }
}
