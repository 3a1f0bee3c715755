//! The parts of an object's state that few objects have, such as reports, a patch without a response, or
//! a stop notice.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::decode::Version;
use dayshift_workload::{Change, ChangeKind, Key, Replicas, WorkloadRef};

use crate::{clock::guard::Now, ids::Id};

/// State that few objects have. It is boxed, to save memory.
#[derive(Default)]
pub(crate) struct Rare {
    /// A patch without a response, which might have taken effect.
    pub(crate) unconfirmed: Option<SentPatch>,
    /// The reports that were made about the object.
    pub(crate) reported: Reported,
    /// The next stop, for which a notice will be sent.
    pub(crate) stop_group: Option<Arc<StopGroup>>,
    /// The last stop for which a notice was sent.
    pub(crate) stop_reported: Option<DateTime<Utc>>,
    /// The elapsed time of the last edit, if the wall clock was wrong at that time.
    pub(crate) seen_elapsed: Option<Duration>,
    /// Annotations that a dry run has removed in memory, with their values.
    pub(crate) expired: Vec<(Key, Box<str>)>,
}

/// A patch that was sent.
pub(crate) struct SentPatch {
    pub(crate) id: Id,
    pub(crate) object: WorkloadRef,
    /// The count before the patch.
    pub(crate) from: Replicas,
    /// Whether the patch changes a state label.
    pub(crate) changes_labels: bool,
    pub(crate) known: KnownVersions,
    pub(crate) change: Change,
    /// When it was sent, by the wall clock.
    pub(crate) at: DateTime<Utc>,
    /// When it was sent, by the elapsed time.
    pub(crate) elapsed: Duration,
}

/// The versions that were known when a write was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KnownVersions {
    /// The version of the object that the write is for.
    pub(crate) object: Version,
    /// The newest version of any object of its kind.
    pub(crate) newest: Version,
}

/// A count that dayshift has set, which is checked for reverts.
pub(crate) struct SetCount {
    pub(crate) by: ChangeKind,
    pub(crate) from: Replicas,
    pub(crate) to: Replicas,
    /// The label `last` that was set with the count.
    pub(crate) last: Option<i64>,
    /// When the patch was sent.
    pub(crate) at: Duration,
}

/// Identifies the objects of one namespace that stop at the same time and have the same notice period.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct StopGroup {
    pub(crate) stop: DateTime<Utc>,
    pub(crate) namespace: Arc<str>,
    /// How long before the stop the notice is sent.
    pub(crate) notice: TimeDelta,
}

/// A condition that is reported to users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The API server rejects the patch of an object.
    Rejected,
    /// The permission to patch is missing.
    Forbidden,
    /// The API server fails to patch an object, or does not respond.
    Failed,
    /// The Jobs of a CronJob cannot be suspended or resumed.
    JobsFailed,
    /// The permission to list or patch Jobs is missing.
    JobsForbidden,
    /// Boundaries of an object are skipped.
    BoundariesSkipped,
    /// A later version of dayshift wrote the state of an object.
    LaterVersion,
    /// Another controller has reverted the count of an object.
    Reverted,
}

impl Reason {
    /// The conditions that a successful write ends.
    pub(crate) const WRITE_FAILURES: [Self; 2] = [Self::Rejected, Self::Failed];

    /// Whether it is reported once for all objects of a kind in a namespace.
    pub(crate) const fn is_for_all(self) -> bool {
        matches!(self, Self::Forbidden | Self::JobsForbidden)
    }

    /// How long the same condition is not reported again; `None` means until it has ended.
    const fn period(self) -> Option<Duration> {
        const HOUR: u64 = 60 * 60;
        match self {
            Self::Rejected
            | Self::Failed
            | Self::JobsFailed
            | Self::BoundariesSkipped
            | Self::LaterVersion => None,
            // By default, Events expire after an hour (`--event-ttl` of the API server).
            Self::Forbidden | Self::JobsForbidden => Some(Duration::from_secs(HOUR)),
            Self::Reverted => Some(Duration::from_secs(12 * HOUR)),
        }
    }
}

/// The last report for each reason.
#[derive(Default)]
pub(crate) struct Reported(Vec<Report>);

struct Report {
    reason: Reason,
    /// Distinguishes reports with the same reason, for example the field manager; can be empty.
    detail: Box<str>,
    at: Duration,
}

impl Report {
    fn is_recent(&self, now: Now) -> bool {
        let period = self.reason.period();
        period.is_none_or(|period| now.since(self.at) < period)
    }
}

impl Reported {
    /// Whether a condition should be reported now. If so, records the report. A condition is not reported
    /// again if the last report for its reason has the same detail and is recent.
    pub(crate) fn report_if_new(&mut self, reason: Reason, detail: &str, now: Now) -> bool {
        let report = Report {
            reason,
            detail: detail.into(),
            at: now.elapsed,
        };
        let Some(last) = self.0.iter_mut().find(|last| last.reason == reason) else {
            self.0.push(report);
            return true;
        };
        let is_new = *last.detail != *detail || !last.is_recent(now);
        if is_new {
            *last = report;
        }
        is_new
    }

    /// Records that these conditions have ended. If one of them recurs, it is reported again.
    pub(crate) fn clear(&mut self, reasons: &[Reason]) {
        self.0.retain(|report| !reasons.contains(&report.reason));
    }

    /// Removes reports that are not recent.
    pub(crate) fn prune(&mut self, now: Now) {
        self.0.retain(|report| report.is_recent(now));
    }

    /// Whether no report is stored.
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hours: u64) -> Now {
        Now {
            wall: DateTime::UNIX_EPOCH,
            elapsed: Duration::from_secs(hours * 60 * 60),
            ahead: None,
        }
    }

    #[test]
    fn a_reason_is_reported_again_after_its_period() {
        let mut reported = Reported::default();
        let mut take = |reason, hours| reported.report_if_new(reason, "helm", at(hours));
        let reverted = [0, 11, 12, 23, 24].map(|hours| take(Reason::Reverted, hours));
        assert_eq!(reverted, [true, false, true, false, true]);
        let forbidden = [24, 25].map(|hours| take(Reason::Forbidden, hours));
        assert_eq!(forbidden, [true, true]);
        let rejected = [25, 1000].map(|hours| take(Reason::Rejected, hours));
        assert_eq!(rejected, [true, false]);
    }

    #[test]
    fn a_condition_is_reported_again_with_another_detail_or_after_it_was_cleared() {
        let mut reported = Reported::default();
        assert!(reported.report_if_new(Reason::Reverted, "helm", at(0)));
        assert!(reported.report_if_new(Reason::Reverted, "kubectl", at(0)));
        assert!(reported.report_if_new(Reason::Rejected, "", at(0)));
        assert!(!reported.report_if_new(Reason::Rejected, "", at(0)));
        reported.clear(&Reason::WRITE_FAILURES);
        assert!(reported.report_if_new(Reason::Rejected, "", at(0)));
        assert!(!reported.report_if_new(Reason::Reverted, "kubectl", at(0)));
    }
}
