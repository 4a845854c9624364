use insomnia_tasks::task::{Task, TaskCounts, TaskStatus, TaskStore};

use crate::terminal::{DIM, GOOD, WARN, one_line};

/// How wide the bar of completed tasks is.
const BAR: usize = 10;

/// The tasks for a terminal: how many are done, with a bar, and a line for each that is not deleted. Where there are more than
/// `limit`, those that are open come first and the others are counted.
pub(crate) fn task_list(tasks: &TaskStore, limit: usize) -> Vec<String> {
    let (all, counts) = (tasks.list(), tasks.counts());
    let mut listed: Vec<_> = all.iter().filter(|task| task.status != TaskStatus::Deleted).collect();
    if listed.is_empty() {
        return Vec::new();
    }
    let mut rows = vec![head(counts)];
    let whole = listed.len();
    if whole > limit {
        // the last finished ones are nearest to the work
        listed.sort_by_key(|task| match task.status {
            TaskStatus::InProgress => (0, task.taskid.get()),
            TaskStatus::Pending => (1, task.taskid.get()),
            TaskStatus::Completed | TaskStatus::Deleted => (2, u64::MAX - task.taskid.get()),
        });
        listed.truncate(limit.saturating_sub(1));
        listed.sort_by_key(|task| task.taskid);
    }
    rows.extend(listed.iter().map(|task| line(task)));
    if listed.len() < whole {
        rows.push(format!("    {DIM}… {} more; /tasks all shows them{DIM:#}", whole - listed.len()));
    }
    rows
}

fn head(counts: TaskCounts) -> String {
    let all = counts.active() + counts.completed;
    let full = counts.completed * BAR / all.max(1);
    let (done, left) = ("█".repeat(full), "░".repeat(BAR - full));
    let working = match counts.inprogress {
        0 => String::new(),
        some => format!(" · {some} in progress"),
    };
    let open = match counts.active() {
        0 => String::new(),
        some => format!(" · {some} open"),
    };
    format!("  tasks {GOOD}{done}{GOOD:#}{DIM}{left}{DIM:#} {}/{all}{DIM}{working}{open}{DIM:#}", counts.completed)
}

/// A task with its mark.
pub(crate) fn line(task: &Task) -> String {
    let (mark, style) = match task.status {
        TaskStatus::Completed => ("✔", GOOD),
        TaskStatus::InProgress => ("▶", WARN),
        TaskStatus::Pending => ("○", DIM),
        TaskStatus::Deleted => ("✘", DIM),
    };
    format!("    {style}{mark}{style:#} {:>2} {}", task.taskid, one_line(&task.subject, 100))
}

#[cfg(test)]
mod tests {
    use insomnia_tasks::task::TaskId;

    use super::*;

    fn plain(tasks: &TaskStore, limit: usize) -> Vec<String> {
        task_list(tasks, limit).iter().map(|row| anstream::adapter::strip_str(row).to_string()).collect()
    }

    #[test]
    fn shows_marks_counts_and_a_bar() {
        let tasks = TaskStore::new();
        assert!(plain(&tasks, 10).is_empty());
        for (number, status) in
            [TaskStatus::Completed, TaskStatus::InProgress, TaskStatus::Pending, TaskStatus::Deleted]
                .into_iter()
                .enumerate()
        {
            let task = tasks.create(format!("task\n{number}"), "").unwrap();
            tasks.update(task.taskid, status).unwrap();
        }
        assert_eq!(
            plain(&tasks, 10),
            [
                "  tasks ███░░░░░░░ 1/3 · 1 in progress · 2 open",
                "    ✔  1 task 0",
                "    ▶  2 task 1",
                "    ○  3 task 2"
            ]
        );
    }

    #[test]
    fn open_tasks_are_not_folded_away_for_finished_ones() {
        let tasks = TaskStore::new();
        for number in 1..=20 {
            tasks.create(format!("task {number}"), "").unwrap();
        }
        for id in 1..=14 {
            tasks.update(TaskId::new(id).unwrap(), TaskStatus::Completed).unwrap();
        }
        tasks.update(TaskId::new(3).unwrap(), TaskStatus::InProgress).unwrap();
        let rows = plain(&tasks, 10);
        let ids: Vec<_> = rows[1..10].iter().map(|row| row[8..].trim().split(' ').next().unwrap()).collect();
        assert_eq!(ids, ["3", "13", "14", "15", "16", "17", "18", "19", "20"]);
        assert_eq!((rows.len(), rows[10].as_str()), (11, "    … 11 more; /tasks all shows them"));
        assert_eq!(plain(&tasks, 20).len(), 21);
    }
}
