//! What users were told last, so that nobody is told the same twice.

use std::{collections::HashMap, time::Duration};

use tokio::time::Instant;

use crate::retry::backoff::Key;

/// Why users are told something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The API server refuses the patch of an object.
    Refused,
    /// The permission to patch is missing.
    Forbidden,
    /// The API server fails to patch an object, or does not answer.
    Failed,
    /// The Jobs of a CronJob cannot be suspended or resumed.
    JobsFailed,
    /// The permission for that is missing.
    JobsForbidden,
    /// Boundaries of an object are skipped.
    BoundariesSkipped,
    /// Somebody has set back the count of an object.
    Reverted,
}

impl Reason {
    /// The reasons why an object cannot be written to; a success ends them.
    pub(crate) const TROUBLES: [Self; 2] = [Self::Refused, Self::Failed];

    /// For how long the same is not repeated; `None`: until it is over.
    const fn period(self) -> Option<Duration> {
        const HOUR: u64 = 60 * 60;
        match self {
            Self::Refused | Self::Failed | Self::JobsFailed | Self::BoundariesSkipped => None,
            // An Event lives for an hour (`--event-ttl` of the API server).
            Self::Forbidden | Self::JobsForbidden => Some(Duration::from_secs(HOUR)),
            Self::Reverted => Some(Duration::from_secs(12 * HOUR)),
        }
    }
}

/// The last message for each key.
#[derive(Default)]
pub(crate) struct Notifier {
    told: HashMap<Key, Vec<Told>>,
    /// How many keys were left after the last pruning.
    kept: usize,
}

struct Told {
    reason: Reason,
    /// Who or what it was about, if that makes a difference.
    detail: Box<str>,
    at: Instant,
}

impl Told {
    fn is_recent(&self, now: Instant) -> bool {
        let period = self.reason.period();
        period.is_none_or(|period| now < self.at + period)
    }
}

/// With fewer keys than this nothing is pruned.
const MIN_PRUNED: usize = 64;

impl Notifier {
    /// Whether to tell this now: it was not the last message for this reason, or is long ago. Then
    /// it counts as told.
    pub(crate) fn take_news(
        &mut self,
        key: &Key,
        reason: Reason,
        detail: &str,
        now: Instant,
    ) -> bool {
        let told = Told {
            reason,
            detail: detail.into(),
            at: now,
        };
        let Some(known) = self.told.get_mut(key) else {
            self.prune(now);
            self.told.insert(key.clone(), vec![told]);
            return true;
        };
        let Some(last) = known.iter_mut().find(|it| it.reason == reason) else {
            known.push(told);
            return true;
        };
        let is_news = *last.detail != *detail || !last.is_recent(now);
        if is_news {
            *last = told;
        }
        is_news
    }

    /// These reasons are over: when they come again, they are news.
    pub(crate) fn clear(&mut self, key: &Key, reasons: &[Reason]) {
        if let Some(known) = self.told.get_mut(key) {
            known.retain(|it| !reasons.contains(&it.reason));
            if known.is_empty() {
                self.told.remove(key);
            }
        }
    }

    /// Forgets a key whose object is unknown by now.
    pub(crate) fn remove(&mut self, key: &Key) {
        self.told.remove(key);
    }

    /// Forgets messages that may be repeated, whenever the keys have doubled since the last
    /// pruning.
    fn prune(&mut self, now: Instant) {
        if self.told.len() < 2 * self.kept.max(MIN_PRUNED) {
            return;
        }
        self.told.retain(|_, known| {
            known.retain(|it| it.is_recent(now));
            !known.is_empty()
        });
        self.kept = self.told.len();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use dayshift_workload::Kind;

    const HOUR: Duration = Duration::from_secs(60 * 60);

    fn permission(namespace: usize) -> Key {
        Key::Permission(Kind::DEPLOYMENT, Arc::from(format!("team-{namespace}")))
    }

    #[test]
    fn a_reason_is_told_again_after_its_period() {
        let begun = Instant::now();
        let key = Key::Object(1);
        let mut notifier = Notifier::default();
        let mut tell = |reason, hours: u32| {
            let now = begun + HOUR * hours;
            notifier.take_news(&key, reason, "helm", now)
        };
        assert_eq!(
            [0, 11, 12, 23, 24].map(|hours| tell(Reason::Reverted, hours)),
            [true, false, true, false, true]
        );
        assert_eq!(
            [24, 25].map(|hours| tell(Reason::Forbidden, hours)),
            [true, true]
        );
        assert_eq!(
            [25, 1000].map(|hours| tell(Reason::Refused, hours)),
            [true, false]
        );
    }

    #[test]
    fn another_reason_or_text_is_news_and_so_is_the_same_after_it_was_cleared() {
        let now = Instant::now();
        let (one, other) = (Key::Object(1), Key::Object(2));
        let mut notifier = Notifier::default();
        assert!(notifier.take_news(&one, Reason::Reverted, "helm", now));
        assert!(notifier.take_news(&one, Reason::Reverted, "kubectl", now));
        assert!(notifier.take_news(&other, Reason::Reverted, "kubectl", now));
        assert!(notifier.take_news(&one, Reason::Refused, "", now));
        assert!(!notifier.take_news(&one, Reason::Refused, "", now));
        notifier.clear(&one, &Reason::TROUBLES);
        assert!(notifier.take_news(&one, Reason::Refused, "", now));
        assert!(!notifier.take_news(&one, Reason::Reverted, "kubectl", now));
    }

    #[test]
    fn namespaces_that_come_and_go_leave_nothing_behind() {
        let mut now = Instant::now();
        let mut notifier = Notifier::default();
        for number in 0..10_000 {
            now += Duration::from_secs(60);
            assert!(notifier.take_news(&permission(number), Reason::Forbidden, "", now));
        }
        assert!(notifier.told.len() <= 2 * MIN_PRUNED + 60);
        for number in 0..100 {
            notifier.take_news(&Key::Object(number), Reason::Failed, "", now);
            notifier.clear(&Key::Object(number), &Reason::TROUBLES);
            notifier.take_news(&Key::Object(number), Reason::Refused, "", now);
            notifier.remove(&Key::Object(number));
        }
        assert!(
            !notifier
                .told
                .keys()
                .any(|key| matches!(key, Key::Object(_)))
        );
    }
}
