//! The task list as lines.

use anstyle::{AnsiColor, Style};
use insomnia_tasks::task::{Task, TaskCounts, TaskStatus, TaskStore};

use crate::terminal::{DIM, WARN, one_line};

const GOOD: Style = AnsiColor::Green.on_default();

/// How many lines of tasks there are at most.
const LINES: usize = 10;

/// How wide the bar is.
const BAR: usize = 20;

/// A line with counts and a bar, and one line a task with its mark; those that do not fit are only counted, finished ones
/// first. Nothing if there are no tasks.
pub(crate) fn lines(tasks: &TaskStore, most: usize) -> Vec<String> {
    let counts = tasks.counts();
    let listed: Vec<_> = tasks.list().into_iter().filter(|task| task.status != TaskStatus::Deleted).collect();
    if listed.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![head(&counts)];
    lines.extend(fold(&listed, most.clamp(3, LINES)));
    lines
}

fn head(counts: &TaskCounts) -> String {
    let all = counts.active() + counts.completed;
    let done = counts.completed * BAR / all.max(1);
    let bar = format!("{GOOD}{}{GOOD:#}{DIM}{}{DIM:#}", "━".repeat(done), "─".repeat(BAR - done));
    format!("    {bar} {DIM}{} of {all} done{DIM:#}", counts.completed)
}

fn fold(listed: &[Task], most: usize) -> Vec<String> {
    let mut shown: Vec<_> = listed.iter().collect();
    let (mut finished, mut behind) = (0, 0);
    if shown.len() > most {
        // a line for those that are left out at either end
        while shown.len() > most - 1
            && let Some(place) = shown.iter().position(|task| task.status == TaskStatus::Completed)
        {
            shown.remove(place);
            finished += 1;
        }
        if shown.len() > most - 1 {
            let kept = most - 2;
            // what is in progress stays
            let place = shown.iter().rposition(|task| task.status == TaskStatus::InProgress).unwrap_or(0);
            let from = (place + 1).saturating_sub(kept);
            behind = shown.len() - kept;
            shown = shown[from..from + kept].to_vec();
        }
    }
    let mut lines = Vec::new();
    if finished > 0 {
        lines.push(format!("    {GOOD}✔{GOOD:#} {DIM}{finished} finished{DIM:#}"));
    }
    lines.extend(shown.into_iter().map(line));
    if behind > 0 {
        lines.push(format!("    {DIM}… {behind} more open{DIM:#}"));
    }
    lines
}

fn line(task: &Task) -> String {
    let (mark, style) = match task.status {
        TaskStatus::Completed => ("✔", GOOD),
        TaskStatus::InProgress => ("▶", WARN),
        TaskStatus::Pending | TaskStatus::Deleted => ("○", DIM),
    };
    format!("    {style}{mark}{style:#} {:>2} {}", task.taskid, one_line(&task.subject, 100))
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;

    use super::*;

    fn shown(tasks: &TaskStore, most: usize) -> Vec<String> {
        lines(tasks, most).iter().map(|line| strip_str(line).trim().to_owned()).collect()
    }

    fn store(statuses: &[TaskStatus]) -> TaskStore {
        let tasks = TaskStore::new();
        for (number, status) in (1..).zip(statuses) {
            let task = tasks.create(format!("t{number}"), "").unwrap();
            if *status != TaskStatus::Pending {
                tasks.update(task.taskid, *status).unwrap();
            }
        }
        tasks
    }

    #[test]
    fn few_tasks_stand_in_order() {
        use TaskStatus::{Completed, Deleted, InProgress, Pending};
        assert!(shown(&TaskStore::new(), 10).is_empty());
        assert_eq!(shown(&store(&[Completed, InProgress, Deleted, Pending, Completed]), 10), [
            "━━━━━━━━━━────────── 2 of 4 done",
            "✔  1 t1",
            "▶  2 t2",
            "○  4 t4",
            "✔  5 t5",
        ]);
    }

    #[test]
    fn many_tasks_are_folded_and_the_one_in_progress_stays() {
        use TaskStatus::{Completed, InProgress, Pending};
        let mut statuses = vec![Completed; 30];
        statuses.extend([InProgress, Pending]);
        let lines = shown(&store(&statuses), 10);
        assert_eq!(lines[1], "✔ 23 finished");
        assert_eq!((lines[10].as_str(), lines.len()), ("○ 32 t32", 11));

        let mut statuses = vec![Pending; 40];
        statuses[24] = InProgress;
        statuses[2] = Completed;
        let lines = shown(&store(&statuses), 10);
        assert_eq!(lines.len(), 11);
        assert_eq!(lines[1], "✔ 1 finished");
        assert_eq!(lines[9], "▶ 25 t25");
        assert_eq!(lines[10], "… 31 more open");
        assert_eq!(shown(&store(&statuses), 0).len(), 4);
    }
}
