//! A count that dayshift set, and somebody else has set back.

use std::time::Duration;

use super::field_manager::{ADMISSION, FieldManager, ManagerKind};
use crate::text::counted;
use crate::workload::{
    Change, ChangeKind, EventNote, EventReason, Kind, Prefix, Replicas, WorkloadRef,
};

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
    pub fn is_wanted(&self, manager: ManagerKind) -> bool {
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

/// `12 s after`, `3 minutes after`.
pub fn later(after: Duration) -> String {
    match after.as_secs() {
        0 => "less than 1 s after".to_owned(),
        short @ 1..120 => format!("{short} s after"),
        long => format!("{} after", counted(long / 60, "minute")),
    }
}

impl EventNote {
    /// The API server has stored another count, `made`, than the change asked for.
    pub fn overruled(change: &Change, made: Replicas, kind: Kind) -> Self {
        let counts = kind.counts();
        let to = counts.in_a_word(change.replicas);
        let made = counts.in_a_word(made);
        let by = match change.kind {
            ChangeKind::Enforce => "`enforce`".to_owned(),
            ChangeKind::Scale(_) => "the schedule".to_owned(),
            by => format!("the {by}"),
        };
        let pointer = counts.pointer();
        let text = format!(
            "{ADMISSION} made it {made} as {by} set {to}. To end that, have it leave {pointer} alone where \
             dayshift writes"
        );
        Self {
            reason: EventReason::Reverted,
            text,
        }
    }

    /// Somebody else has set a count back; none where that is what they are there for. With
    /// `gave_up` it was put back, and is no more before the next boundary.
    pub fn reverted(
        reverted: &Reverted,
        object: &WorkloadRef,
        manager: Option<&FieldManager>,
        gave_up: bool,
        prefix: &Prefix,
    ) -> Option<Self> {
        let kind = manager.map_or(ManagerKind::Unknown, FieldManager::kind);
        if reverted.is_wanted(kind) {
            return None;
        }
        let name = manager.map_or_else(|| "somebody".to_owned(), FieldManager::name);
        let words = reverted.words(object.kind);
        let mut text = format!("{name} {words}");
        if gave_up {
            text += "; `enforce` has put it back, and leaves it until the next start or stop";
        }
        match (kind, manager) {
            (ManagerKind::Owner(owner), _) => {
                text += &format!(". To end that, {}", owner.cure(&[object.kind], prefix));
            }
            (_, Some(_)) => {
                let pointer = object.kind.counts().pointer();
                text += &format!(". To end that, have it leave {pointer} alone");
            }
            (_, None) => text += ". Its managedFields do not say who",
        }
        Some(Self {
            reason: EventReason::Reverted,
            text,
        })
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
    fn an_event_fits_whatever_the_names_are() {
        let object = WorkloadRef {
            kind: Kind::ScaledObject,
            namespace: "n".repeat(63).into(),
            name: "w".repeat(253).into(),
            uid: "u".into(),
        };
        let reverted = Reverted {
            by: ChangeKind::Enforce,
            from: count(u32::MAX),
            to: count(0),
            now: count(u32::MAX),
            after: Duration::MAX,
        };
        for manager in [
            "argocd-controller",
            "helm-controller",
            "kubectl-client-side-apply",
            &"\u{1b}[2J\u{202e}é".repeat(10_000),
        ] {
            let manager = FieldManager {
                manager: manager.to_owned(),
                applies: false,
                scales: false,
                at: None,
            };
            let prefix = Prefix::parse(&"p".repeat(63)).unwrap();
            let note = EventNote::reverted(&reverted, &object, Some(&manager), true, &prefix);
            let text = note.unwrap().text;
            assert!(text.len() <= 1024, "{}: {text}", text.len());
            assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
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
            assert_eq!(after_start.is_wanted(kind), scales, "{owner:?}");
            assert!(!after_stop.is_wanted(kind), "{owner:?}");
        }
    }
}
