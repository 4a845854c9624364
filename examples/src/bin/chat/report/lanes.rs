use std::collections::BTreeMap;

use insomnia_tasks::task::TaskStatus;

/// One task over the requests.
pub(super) struct Lane {
    pub(super) taskid: u64,
    pub(super) subject: String,
    /// The record that made it.
    pub(super) seq: u64,
    /// Without gaps and in order; the last one reaches to the end.
    pub(super) spans: Vec<Span>,
}

/// A status from one request to another: `from` of them were answered when it began, `to` when it ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) status: TaskStatus,
    pub(super) from: usize,
    pub(super) to: usize,
    /// The record that set it.
    pub(super) seq: u64,
}

impl Lane {
    pub(super) fn status(&self) -> TaskStatus {
        self.spans.last().map_or(TaskStatus::Pending, |span| span.status)
    }
}

/// The lanes while the records are read.
#[derive(Default)]
pub(super) struct Lanes {
    lanes: BTreeMap<u64, Lane>,
    open: usize,
}

impl Lanes {
    /// A task is like this after so many requests.
    pub(super) fn set(&mut self, taskid: u64, subject: Option<&str>, status: TaskStatus, requests: usize, seq: u64) {
        let new = || Lane { taskid, subject: String::new(), seq, spans: Vec::new() };
        let lane = self.lanes.entry(taskid).or_insert_with(new);
        if let Some(subject) = subject {
            subject.clone_into(&mut lane.subject);
        }
        let before = lane.spans.last().map(|span| span.status);
        if before == Some(status) {
            return;
        }
        if let Some(last) = lane.spans.last_mut() {
            last.to = requests;
        }
        lane.spans.push(Span { status, from: requests, to: requests, seq });
        self.open -= usize::from(before.is_some_and(TaskStatus::is_active));
        self.open += usize::from(status.is_active());
    }

    /// Whether a task is open.
    pub(super) fn open(&self) -> bool {
        self.open > 0
    }

    pub(super) fn finish(self, requests: usize) -> Vec<Lane> {
        let mut lanes: Vec<_> = self.lanes.into_values().collect();
        for lane in &mut lanes {
            if let Some(last) = lane.spans.last_mut() {
                last.to = requests;
            }
        }
        lanes
    }
}
