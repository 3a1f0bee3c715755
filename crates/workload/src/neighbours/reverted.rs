//! A count that dayshift set, and somebody else has set back.

use std::time::Duration;

use super::field_manager::ManagerKind;
use crate::{ChangeKind, Kind, Replicas};

/// For how long after dayshift has set a count it is said who sets it back, where nobody says
/// otherwise.
pub const REVERT_WINDOW: Duration = Duration::from_secs(15 * 60);

/// What was set, and what it was set back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reverted {
    /// By what dayshift set it.
    pub by: ChangeKind,
    /// The count before that.
    pub from: Replicas,
    /// What dayshift set.
    pub to: Replicas,
    /// What it was seen to be afterwards.
    pub now: Replicas,
    /// How much later.
    pub after: Duration,
}

impl Reverted {
    /// Whether somebody has moved a count back where we have moved it: after a stop a raise, after
    /// a start what lowers it.
    pub fn is_back(from: Replicas, to: Replicas, now: Replicas) -> bool {
        if from > to { now > to } else { now < to }
    }

    /// Whether a manager does what it is there for: an autoscaler that scales down what runs.
    pub fn needs_no_warning(&self, manager: ManagerKind) -> bool {
        match manager {
            ManagerKind::Dayshift | ManagerKind::Person => true,
            ManagerKind::Owner(owner) => self.to > self.from && owner.scales_by_load(),
            ManagerKind::Unknown => false,
        }
    }

    /// What has become of it, as in `set 3 again 12 s after the stop`.
    pub fn words(&self, kind: Kind) -> String {
        let undone = kind.counts().set_back(self.from, self.now);
        format!("{undone} {} {}", later(self.after), deed(self.by))
    }
}

/// `the stop`, after which a count was set back.
fn deed(by: ChangeKind) -> String {
    match by {
        ChangeKind::Enforce => "it was put back by `enforce`".to_owned(),
        ChangeKind::Scale(count) => format!("the count of {count}"),
        by => format!("the {by}"),
    }
}

/// `12 s after`, `3 min after`.
pub fn later(after: Duration) -> String {
    match after.as_secs() {
        0 => "less than 1 s after".to_owned(),
        short @ 1..120 => format!("{short} s after"),
        long => format!("{} min after", long / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbours::Owner;

    fn count(count: u32) -> Replicas {
        Replicas::new(count)
    }

    #[test]
    fn a_revert_goes_back_where_it_came_from() {
        for (from, to, now, is_back) in [
            (3, 0, 3, true),
            (3, 0, 1, true),
            (3, 0, 0, false),
            (5, 2, 1, false),
            (0, 3, 0, true),
            (0, 3, 2, true),
            (0, 3, 5, false),
        ] {
            let found = Reverted::is_back(count(from), count(to), count(now));
            assert_eq!(found, is_back, "{from} {to} {now}");
        }
    }

    #[test]
    fn an_autoscaler_may_scale_down_what_was_started() {
        let after_start = Reverted {
            by: ChangeKind::Start,
            from: count(0),
            to: count(5),
            now: count(3),
            after: Duration::ZERO,
        };
        let after_stop = Reverted {
            by: ChangeKind::Stop,
            from: count(5),
            to: count(1),
            now: count(2),
            ..after_start
        };
        for owner in Owner::ALL {
            let kind = ManagerKind::Owner(owner);
            let scales = matches!(owner, Owner::Hpa | Owner::Keda);
            assert_eq!(after_start.needs_no_warning(kind), scales, "{owner:?}");
            assert!(!after_stop.needs_no_warning(kind), "{owner:?}");
        }
    }
}
