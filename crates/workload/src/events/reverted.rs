//! The words of counts that somebody else has set back.

use std::collections::BTreeMap;

use crate::neighbours::{ADMISSION, FieldManager, ManagerKind, Reverted};
use crate::{Change, ChangeKind, Kind, Prefix, Replicas, WorkloadRef};

use super::event_text::EventText;
use super::reason::EventReason;

impl EventText {
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
        let pointer = kind.pointer();
        let text = format!(
            "{ADMISSION} made it {made} as {by} set {to}. To end that, have it leave {pointer} alone where \
             dayshift writes"
        );
        Self::new(EventReason::Reverted, text)
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
        if reverted.needs_no_warning(kind) {
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
                let pointer = object.kind.pointer();
                text += &format!(". To end that, have it leave {pointer} alone");
            }
            (_, None) => text += ". Its managedFields do not say who",
        }
        Some(Self::new(EventReason::Reverted, text))
    }

    /// Many counts of one namespace were set back, by these managers, each so often.
    pub fn reverted_together(
        namespace: &str,
        count: usize,
        managers: &BTreeMap<String, usize>,
        prefix: &Prefix,
    ) -> Self {
        let named: usize = managers.values().sum();
        let others = count.saturating_sub(named);
        let others = (others > 0).then(|| format!("others ({others})"));
        let each = managers.iter();
        let each = each.map(|(manager, count)| format!("{manager} ({count})"));
        let each: Vec<_> = each.chain(others).collect();
        let text = format!(
            "{count} more in namespace {namespace} were set back after dayshift had set them, by {}. \
             To see who and what ends it, run dayshift status -n {namespace}{}",
            each.join(", "),
            prefix.flag()
        );
        Self::new(EventReason::Reverted, text)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn count(count: u32) -> Replicas {
        Replicas::new(count)
    }

    #[test]
    fn an_event_fits_whatever_the_names_are() {
        let object = WorkloadRef {
            kind: Kind::SCALED_OBJECT,
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
            let note = EventText::reverted(&reverted, &object, Some(&manager), true, &prefix);
            let text = note.unwrap().text;
            assert!(text.len() <= 1024, "{}: {text}", text.len());
            assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
        }
    }
}
