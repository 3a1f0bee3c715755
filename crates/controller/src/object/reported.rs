//! The conditions that were reported to users, so that each is reported once.

use std::time::Duration;

use crate::clock::guard::Now;

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

    /// The conditions that are reported again after an edit, so that its author learns that it has no effect.
    pub(crate) const ENDED_BY_EDIT: [Self; 3] =
        [Self::Rejected, Self::Failed, Self::BoundariesSkipped];

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
        Now::at_second(hours * 60 * 60)
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
