use insomnia_tasks::{Cost, task::TaskStatus};

use super::model::Report;

/// The key figures.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) tasks: usize,
    pub(super) done: usize,
    /// Deleted tasks are not among `tasks`.
    pub(super) deleted: usize,
    pub(super) reminders: usize,
    pub(super) answered: usize,
    /// From a reminder to the next update, both requests counted; twice the median, so that halves are kept.
    pub(super) median_doubled: Option<usize>,
    pub(super) cost: Cost,
    /// Requests that touched no task while one was open.
    pub(super) idle: usize,
    pub(super) requests: usize,
    /// What the server counted for all requests, where it did.
    pub(super) prompt_tokens: Option<u64>,
    pub(super) completion_tokens: Option<u64>,
}

impl Figures {
    pub(super) fn new(report: &Report, cost: Cost) -> Self {
        let with = |status| report.lanes.iter().filter(|lane| lane.status() == status).count();
        let deleted = with(TaskStatus::Deleted);
        let mut waits: Vec<_> =
            report.reminders.iter().filter_map(|reminder| Some(reminder.answered? - reminder.request + 1)).collect();
        waits.sort_unstable();
        let sum = |count: fn(&insomnia_tasks::wire::Usage) -> Option<u64>| {
            // summaries too; what a rewind left behind was paid for as well
            let counts = report.entries.iter().filter_map(|entry| count(entry.usage.as_ref()?));
            counts.fold(None, |sum: Option<u64>, tokens| Some(sum.unwrap_or(0).saturating_add(tokens)))
        };
        Self {
            tasks: report.lanes.len() - deleted,
            done: with(TaskStatus::Completed),
            deleted,
            reminders: report.reminders.len(),
            answered: waits.len(),
            median_doubled: middle(&waits),
            cost,
            idle: report.requests.iter().filter(|request| request.open && !request.updates).count(),
            requests: report.requests.len(),
            prompt_tokens: sum(|usage| usage.prompt_tokens),
            completion_tokens: sum(|usage| usage.completion_tokens),
        }
    }
}

fn middle(sorted: &[usize]) -> Option<usize> {
    let last = sorted.len().checked_sub(1)?;
    Some(sorted.get(last / 2)? + sorted.get(last.div_ceil(2))?)
}
