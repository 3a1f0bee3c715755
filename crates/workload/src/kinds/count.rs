//! What the count of a kind means, and how it is told: a CronJob is not scaled to 0, but suspended.

use dayshift_text::counted;

use crate::{keys::Key, replicas::Replicas};

/// What the count of a kind means, and so which counts a user may ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CountKind {
    /// How many replicas run: any number.
    #[default]
    Replicas,
    /// The least that an autoscaler leaves.
    Minimum {
        /// Whether that may be 0, which takes a metric that does not come from pods.
        may_be_zero: bool,
    },
    /// 0 where it is suspended, else 1.
    Suspend {
        /// Whether it makes Jobs, which run on when it is suspended.
        has_jobs: bool,
    },
    /// 0 where it is paused at a count, which `stop-replicas` says, else 1.
    Pause,
    /// 0 where a field of its own says that it is stopped, else 1.
    Switch,
    /// How many replicas run: 0, or the number that ran before and no other.
    Exact,
    /// The least number of runners that a set of them keeps: any number.
    Runners,
}

/// Whether a metric of an autoscaler, by its type, does not come from pods, so that there may be none.
pub fn allows_zero(metric: &str) -> bool {
    matches!(metric, "Object" | "External")
}

impl CountKind {
    /// What is only suspended and resumed, and makes no Jobs.
    pub(super) const SUSPEND: Self = Self::Suspend { has_jobs: false };

    /// Whether there is only on and off. A 0 is then always somebody's wish: nothing else makes one.
    pub const fn is_switch(self) -> bool {
        matches!(self, Self::Suspend { .. } | Self::Pause | Self::Switch)
    }

    /// Whether it counts replicas, each of which requests something.
    pub const fn is_replicas(self) -> bool {
        matches!(self, Self::Replicas | Self::Exact)
    }

    /// Whether a 0 for which nothing is saved is somebody's wish, and stays.
    pub const fn keeps_zero(self) -> bool {
        self.is_switch() || matches!(self, Self::Exact | Self::Runners | Self::Minimum { .. })
    }

    /// The same of an autoscaler that may, or may not, have a minimum of 0.
    #[must_use]
    pub const fn scaling_to_zero(self, may_be_zero: bool) -> Self {
        match self {
            Self::Minimum { .. } => Self::Minimum { may_be_zero },
            other => other,
        }
    }

    /// The least count.
    pub const fn least(self) -> Replicas {
        match self {
            Self::Minimum { may_be_zero: false } => Replicas::ONE,
            _ => Replicas::ZERO,
        }
    }

    /// The count after a stop where nothing says another.
    pub const fn stopped(self) -> Replicas {
        match self {
            Self::Minimum { .. } => Replicas::ONE,
            _ => Replicas::ZERO,
        }
    }

    /// The count that an object of such a kind has where this one is asked for: what is only on or
    /// off has no larger one than 1, whatever somebody has written into `saved-replicas`.
    pub fn capped(self, count: Replicas) -> Replicas {
        if self.is_switch() {
            count.min(Replicas::ONE)
        } else {
            count
        }
    }

    /// Whether an object of such a kind has a use for a key.
    pub const fn has(self, key: Key) -> bool {
        if matches!(key, Key::StopJobs) {
            return matches!(self, Self::Suspend { has_jobs: true });
        }
        match self {
            Self::Replicas | Self::Minimum { .. } | Self::Runners => true,
            Self::Suspend { .. } | Self::Switch | Self::Exact => {
                !matches!(key, Key::Replicas | Key::StopReplicas | Key::Scale)
            }
            Self::Pause => !matches!(key, Key::Replicas | Key::Scale),
        }
    }

    /// `scaled from 3 to 0`, `minReplicas set from 3 to 1`, `suspended`.
    pub fn scaled_from(self, from: Replicas, to: Replicas) -> String {
        let is_down = to == Replicas::ZERO;
        match self {
            Self::Replicas | Self::Exact => format!("scaled from {from} to {to}"),
            Self::Minimum { .. } => format!("minReplicas set from {from} to {to}"),
            Self::Runners => format!("minRunners set from {from} to {to}"),
            Self::Suspend { .. } if is_down => "suspended".to_owned(),
            Self::Suspend { .. } => "no longer suspended".to_owned(),
            Self::Pause if is_down => "paused".to_owned(),
            Self::Pause => "no longer paused".to_owned(),
            Self::Switch if is_down => "stopped".to_owned(),
            Self::Switch => "started".to_owned(),
        }
    }

    /// What somebody else has made of a count of ours that was `from` before: `set 3 again`,
    /// `set the count to 4,`, `set minReplicas 3 again`, `made it active again`.
    pub fn reverted_to(self, from: Replicas, now: Replicas) -> String {
        match self {
            Self::Replicas | Self::Exact if from == now => format!("set {now} again"),
            Self::Replicas | Self::Exact => format!("set the count to {now},"),
            Self::Minimum { .. } if from == now => format!("set minReplicas {now} again"),
            Self::Minimum { .. } => format!("set minReplicas to {now},"),
            Self::Runners if from == now => format!("set minRunners {now} again"),
            Self::Runners => format!("set minRunners to {now},"),
            Self::Suspend { .. } | Self::Pause => format!("made it {} again", self.short_text(now)),
            Self::Switch if now == Replicas::ZERO => "stopped it again".to_owned(),
            Self::Switch => "started it again".to_owned(),
        }
    }

    /// `the count stays 3`, `minReplicas stays 3`, `it stays suspended`.
    pub fn count_stays(self, at: Replicas) -> String {
        let is_down = at == Replicas::ZERO;
        match self {
            Self::Replicas | Self::Exact => format!("the count stays {at}"),
            Self::Minimum { .. } => format!("minReplicas stays {at}"),
            Self::Runners => format!("minRunners stays {at}"),
            Self::Suspend { .. } if is_down => "it stays suspended".to_owned(),
            Self::Suspend { .. } => "it stays unsuspended".to_owned(),
            Self::Pause if is_down => "it stays paused".to_owned(),
            Self::Pause => "it stays unpaused".to_owned(),
            Self::Switch => format!("it stays {}", self.short_text(at)),
        }
    }

    /// `it stays at 3`, `minReplicas stays 3`, `it stays suspended`.
    pub fn it_stays_at(self, at: Replicas) -> String {
        match self {
            Self::Replicas | Self::Exact => format!("it stays at {at}"),
            _ => self.count_stays(at),
        }
    }

    /// `the count is 3`, `minReplicas is 3`, `it is suspended`.
    pub fn count_is(self, at: Replicas) -> String {
        match self {
            Self::Replicas | Self::Exact => format!("the count is {at}"),
            Self::Minimum { .. } => format!("minReplicas is {at}"),
            Self::Runners => format!("minRunners is {at}"),
            _ => format!("it is {}", self.short_text(at)),
        }
    }

    /// `3 run`, `minReplicas is 3`, `it is active`.
    pub fn running_at(self, at: Replicas) -> String {
        match self {
            Self::Replicas | Self::Exact => format!("{at} run"),
            _ => self.count_is(at),
        }
    }

    /// `held at 3`, `held suspended`.
    pub fn scaled_to(self, at: Replicas) -> String {
        if self.is_switch() {
            self.short_text(at)
        } else {
            format!("scaled to {at}")
        }
    }

    /// What a command does that brings back a count of which fewer run: `brings it back to 3`,
    /// `sets minReplicas to 3`, `makes it active again`, `starts it again`.
    pub fn restores(self, count: Replicas) -> String {
        let is_down = count == Replicas::ZERO;
        match self {
            Self::Replicas | Self::Exact => format!("brings it back to {count}"),
            Self::Minimum { .. } => format!("sets minReplicas to {count}"),
            Self::Runners => format!("sets minRunners to {count}"),
            Self::Switch if !is_down => "starts it again".to_owned(),
            Self::Suspend { .. } | Self::Pause | Self::Switch => {
                format!("makes it {} again", self.short_text(count))
            }
        }
    }

    /// What runs after a stop that nobody takes back: `it runs fewer replicas than were saved`,
    /// `minReplicas is 1`, `it is stopped`.
    pub fn left_at(self, count: Replicas) -> String {
        if self.is_replicas() {
            "it runs fewer replicas than were saved".to_owned()
        } else {
            self.count_is(count)
        }
    }

    /// `3 replicas`, `minReplicas 3`.
    pub fn with_unit(self, count: Replicas) -> String {
        match self {
            Self::Minimum { .. } => format!("minReplicas {count}"),
            Self::Runners => format!("minRunners {count}"),
            _ => counted(count.get(), "replica"),
        }
    }

    /// As in a column: `3`, `min 3`, `suspended`, `active`.
    pub fn short_text(self, count: Replicas) -> String {
        let is_down = count == Replicas::ZERO;
        match self {
            Self::Replicas | Self::Exact => count.to_string(),
            Self::Minimum { .. } | Self::Runners => format!("min {count}"),
            Self::Suspend { .. } if is_down => "suspended".to_owned(),
            Self::Pause if is_down => "paused".to_owned(),
            Self::Suspend { .. } | Self::Pause => "active".to_owned(),
            Self::Switch if is_down => "stopped".to_owned(),
            Self::Switch => "running".to_owned(),
        }
    }
}
