//! The kinds of workload, and the meaning and text of the count of each. For example, a CronJob is
//! not scaled to 0 but suspended.

use dayshift_text::counted;

use crate::{keys::Key, replicas::Replicas};

pub mod definition;
pub mod kind;
pub mod operators;
pub mod table;

/// The meaning of the count of a kind, which determines the counts that a user can set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CountKind {
    /// The number of replicas.
    #[default]
    Replicas,
    /// The minimum of an autoscaler.
    Minimum {
        /// Whether the minimum can be 0. That requires a metric that does not come from pods.
        may_be_zero: bool,
    },
    /// 0 while suspended, else 1.
    Suspend {
        /// Whether it creates Jobs, which continue while it is suspended.
        has_jobs: bool,
    },
    /// 0 while paused at the count in `stop-replicas`, else 1.
    Pause,
    /// 0 while an on/off field stops it, else 1.
    Switch,
    /// The number of replicas: either 0, or the same number as before.
    Exact,
    /// The minimum number of runners in a set.
    Runners,
}

/// Whether a metric of this type does not come from pods, so that an autoscaler can have a minimum
/// of 0.
pub fn allows_zero(metric: &str) -> bool {
    matches!(metric, "Object" | "External")
}

impl CountKind {
    /// A kind that is only suspended and resumed, and creates no Jobs.
    pub(super) const SUSPEND: Self = Self::Suspend { has_jobs: false };

    /// Whether it is only on or off. Then a count of 0 is always set by a user.
    pub const fn is_switch(self) -> bool {
        matches!(self, Self::Suspend { .. } | Self::Pause | Self::Switch)
    }

    /// Whether the count is a number of replicas with requests.
    pub const fn is_replicas(self) -> bool {
        matches!(self, Self::Replicas | Self::Exact)
    }

    /// Whether a count of 0 is kept if nothing is saved, because a user has set it.
    pub const fn keeps_zero(self) -> bool {
        self.is_switch() || matches!(self, Self::Exact | Self::Runners | Self::Minimum { .. })
    }

    /// Allows an autoscaler to have a minimum of 0.
    #[must_use]
    pub const fn with_zero_minimum(self) -> Self {
        match self {
            Self::Minimum { .. } => Self::Minimum { may_be_zero: true },
            other => other,
        }
    }

    /// The minimum count.
    pub const fn least(self) -> Replicas {
        match self {
            Self::Minimum { may_be_zero: false } => Replicas::ONE,
            _ => Replicas::ZERO,
        }
    }

    /// The default count after a stop.
    pub const fn stopped(self) -> Replicas {
        match self {
            Self::Minimum { .. } => Replicas::ONE,
            _ => Replicas::ZERO,
        }
    }

    /// Limits a count to 1 for on/off kinds, whatever a user has written into `saved-replicas`.
    pub fn capped(self, count: Replicas) -> Replicas {
        if self.is_switch() {
            count.min(Replicas::ONE)
        } else {
            count
        }
    }

    /// Whether a key applies to objects of such a kind.
    pub const fn has(self, key: Key) -> bool {
        if matches!(key, Key::StopJobs) {
            return matches!(self, Self::Suspend { has_jobs: true });
        }
        match self {
            Self::Replicas | Self::Minimum { .. } | Self::Runners => true,
            // A kind that is only suspended is not started by a user.
            Self::Suspend { .. } if matches!(key, Key::StopAfter) => false,
            Self::Suspend { .. } | Self::Switch | Self::Exact => {
                !matches!(key, Key::Replicas | Key::StopReplicas | Key::Scale)
            }
            Self::Pause => !matches!(key, Key::Replicas | Key::Scale),
        }
    }

    /// `scaled from 3 to 0`, `minReplicas set from 3 to 1`, `suspended`
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

    /// A revert of a count of ours, where `from` was the count before: `set 3 again`, `set the
    /// count to 4,`, `set minReplicas 3 again`, `reverted it to active`.
    pub fn reverted_to(self, from: Replicas, now: Replicas) -> String {
        match self {
            Self::Replicas | Self::Exact if from == now => format!("set {now} again"),
            Self::Replicas | Self::Exact => format!("set the count to {now},"),
            Self::Minimum { .. } if from == now => format!("set minReplicas {now} again"),
            Self::Minimum { .. } => format!("set minReplicas to {now},"),
            Self::Runners if from == now => format!("set minRunners {now} again"),
            Self::Runners => format!("set minRunners to {now},"),
            Self::Suspend { .. } | Self::Pause => {
                format!("reverted it to {}", self.short_text(now))
            }
            Self::Switch if now == Replicas::ZERO => "stopped it again".to_owned(),
            Self::Switch => "started it again".to_owned(),
        }
    }

    /// `the count stays 3`, `minReplicas stays 3`, `it stays suspended`
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

    /// `it stays at 3`, `minReplicas stays 3`, `it stays suspended`
    pub fn it_stays_at(self, at: Replicas) -> String {
        match self {
            Self::Replicas | Self::Exact => format!("it stays at {at}"),
            _ => self.count_stays(at),
        }
    }

    /// `the count is 3`, `minReplicas is 3`, `it is suspended`
    pub fn count_is(self, at: Replicas) -> String {
        match self {
            Self::Replicas | Self::Exact => format!("the count is {at}"),
            Self::Minimum { .. } => format!("minReplicas is {at}"),
            Self::Runners => format!("minRunners is {at}"),
            _ => format!("it is {}", self.short_text(at)),
        }
    }

    /// `scaled to 3`, `suspended`.
    pub fn scaled_to(self, at: Replicas) -> String {
        if self.is_switch() {
            self.short_text(at)
        } else {
            format!("scaled to {at}")
        }
    }

    /// The goal of a command that restores a count: `restore it to 3`, `set minReplicas to 3`, `make
    /// it active again`, `start it again`.
    pub fn restore(self, count: Replicas) -> String {
        let is_down = count == Replicas::ZERO;
        match self {
            Self::Replicas | Self::Exact => format!("restore it to {count}"),
            Self::Minimum { .. } => format!("set minReplicas to {count}"),
            Self::Runners => format!("set minRunners to {count}"),
            Self::Switch if !is_down => "start it again".to_owned(),
            Self::Suspend { .. } | Self::Pause | Self::Switch => {
                format!("make it {} again", self.short_text(count))
            }
        }
    }

    /// The result of a stop that was not followed by a start: `it runs fewer replicas than were
    /// saved`, `minReplicas is 1`, `it is stopped`.
    pub fn left_at(self, count: Replicas) -> String {
        if self.is_replicas() {
            "it runs fewer replicas than were saved".to_owned()
        } else {
            self.count_is(count)
        }
    }

    /// `3 replicas`, `minReplicas 3`
    pub fn with_unit(self, count: Replicas) -> String {
        match self {
            Self::Minimum { .. } => format!("minReplicas {count}"),
            Self::Runners => format!("minRunners {count}"),
            _ => counted(count.get(), "replica"),
        }
    }

    /// A table cell: `3`, `min 3`, `suspended`, `active`.
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
