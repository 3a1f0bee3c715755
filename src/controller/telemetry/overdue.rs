//! What is said of overdue objects.

use chrono::{DateTime, Utc};

use crate::controller::objects::deadlines::Deadlines;
use crate::controller::objects::entry::Entry;
use crate::workload::OVERDUE_GRACE;

/// What was said of overdue objects, and when there may be more to say.
#[derive(Debug, Default)]
pub(in crate::controller) struct OverdueLog {
    told: bool,
    next: Option<DateTime<Utc>>,
}

impl OverdueLog {
    /// Whether more may be overdue at `now` than when they were counted.
    pub(in crate::controller) fn is_due(&self, now: DateTime<Utc>) -> bool {
        self.next.is_some_and(|next| next <= now)
    }

    /// Notes how many are overdue at `now`; says so once, with one of them, and once when none is
    /// any more.
    pub(in crate::controller) fn note<'a>(
        &mut self,
        deadlines: &Deadlines,
        now: DateTime<Utc>,
        first: impl FnOnce() -> Option<&'a Entry>,
    ) {
        self.next = deadlines.next(now);
        let count = deadlines.passed(now);
        if count > 0
            && !self.told
            && let Some(entry) = first()
        {
            self.told = true;
            let object = entry.object();
            tracing::warn!(
                overdue = count, kind = %object.kind, %object,
                "not done within {} s of its time; this is said once until nothing is overdue",
                OVERDUE_GRACE.num_seconds()
            );
        } else if count == 0 && std::mem::take(&mut self.told) {
            tracing::info!("nothing is overdue any more");
        }
    }
}
