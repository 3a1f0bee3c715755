//! Right texts, to be shown beside wrong ones.

use dayshift_workload::{Key, Prefix};

/// A right text for a key.
pub(crate) fn right_text(key: Key) -> &'static str {
    match key {
        Key::Start => "Mon-Fri 09:00",
        Key::Stop => "Mon-Fri 19:00",
        Key::Hours => "Mon-Fri 09:00-19:00; Sat 10:00-14:00",
        Key::Scale => "Mon-Fri 08:00 = 5; 19:00 = 0",
        Key::Timezone => "Europe/Berlin",
        Key::Replicas => "3",
        Key::StopReplicas => "0",
        Key::Jitter => "5m",
        Key::Notice => "15m",
        Key::ReadyWithin => "20m",
        Key::Except => "2026-12-28..2027-01-03; 2027-01-11",
        Key::TreatAs => "2026-10-10 = Mon",
        Key::After => "sts/db; deploy/cache, 5m",
        Key::Pause | Key::Enforce | Key::Exclude | Key::AllowVolumeDeletion | Key::StopJobs => {
            "true"
        }
        Key::WakeUntil | Key::SleepUntil => "2026-12-24 22:00",
        Key::Reason => "migration of the database",
        Key::OverrideBy => "jane@example.com",
        Key::WakeOnRequest => "2h",
        Key::WakeOnRequestIgnore => "/healthz; /metrics",
    }
}

/// A right line for a key, as it would stand in a manifest.
pub(crate) fn right_line(prefix: &Prefix, key: Key) -> String {
    format!("{}: \"{}\"", prefix.annotation(key), right_text(key))
}
