use super::model::Report;

/// How the picture is laid out for a width.
pub(super) struct Layout {
    /// Where the requests begin, and how much room they have.
    pub(super) left: f64,
    pub(super) width: f64,
    right: f64,
    /// Where the reminders are, and where the lanes begin.
    pub(super) reminders: f64,
    pub(super) lanes: f64,
    /// Names and captions stand in a column on the left, else above what they name.
    pub(super) column: bool,
    /// The columns of a name, as a terminal counts them.
    pub(super) name: usize,
    /// At most so many numbers under the requests.
    pub(super) ticks: usize,
    /// How many words the legend has in a row, and how far apart.
    pub(super) legend: (usize, f64),
}

/// For screens, paper and files.
pub(super) const WIDE: Layout = Layout {
    left: 210.0,
    width: 960.0,
    right: 30.0,
    reminders: 28.0,
    lanes: 54.0,
    column: true,
    name: 24,
    ticks: 12,
    legend: (9, 108.0),
};

/// For phones.
pub(super) const NARROW: Layout = Layout {
    left: 6.0,
    width: 328.0,
    right: 6.0,
    reminders: 42.0,
    lanes: 64.0,
    column: false,
    name: 40,
    ticks: 6,
    legend: (3, 112.0),
};

const TOKENS: f64 = 96.0;

/// Where things stand.
pub(super) struct Places {
    pub(super) layout: &'static Layout,
    requests: usize,
    /// The height of a lane.
    pub(super) lane: f64,
    /// Whether there is room for the tasks' names.
    pub(super) named: bool,
    /// Where the lanes end.
    bottom: f64,
}

impl Places {
    pub(super) fn new(report: &Report, layout: &'static Layout) -> Self {
        let lanes = report.lanes.len().max(1) as f64;
        let height = (1_600.0 / lanes).clamp(5.0, 26.0);
        let named = height >= 12.0;
        let lane = if named && !layout.column { 36.0 } else { height };
        Self { layout, requests: report.requests.len().max(1), lane, named, bottom: layout.lanes + lane * lanes }
    }

    /// Where the boundary behind so many requests is.
    pub(super) fn x(&self, requests: usize) -> f64 {
        self.layout.left + self.layout.width * requests as f64 / self.requests as f64
    }

    /// The middle of a request.
    pub(super) fn middle(&self, request: usize) -> f64 {
        (self.x(request.saturating_sub(1)) + self.x(request)) / 2.0
    }

    /// Where what lasts until so many requests were answered ends; the middle of that one, if others follow.
    pub(super) fn until(&self, requests: usize) -> f64 {
        if requests >= self.requests { self.x(self.requests) } else { self.middle(requests.max(1)) }
    }

    /// The top of a lane, and the top and height of the bar in it.
    pub(super) fn bar(&self, index: usize) -> (f64, f64, f64) {
        let top = self.layout.lanes + self.lane * index as f64;
        if self.named && !self.layout.column {
            return (top, top + 19.0, 12.0);
        }
        let bar = (self.lane - 8.0).max(self.lane * 0.7);
        (top, top + (self.lane - bar) / 2.0, bar)
    }

    /// The top, the height and the end of the tokens.
    pub(super) fn tokens(&self) -> (f64, f64, f64) {
        let top = self.bottom + if self.layout.column { 30.0 } else { 34.0 };
        (top, TOKENS, top + TOKENS)
    }

    /// Where the lines across the lanes begin.
    pub(super) fn top(&self) -> f64 {
        self.layout.lanes - 8.0
    }

    /// The first row of the legend.
    pub(super) fn legend(&self) -> f64 {
        self.tokens().2 + 42.0
    }

    pub(super) fn size(&self, words: usize) -> (f64, f64) {
        let rows = words.div_ceil(self.layout.legend.0) as f64;
        (self.layout.left + self.layout.width + self.layout.right, self.legend() + 20.0 * (rows - 1.0) + 10.0)
    }
}
