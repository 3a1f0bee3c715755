//! Annotations that users write.

use std::fmt;

use dayshift_text::nearest;

/// An annotation that a user writes. The order is the one in which they are documented.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    /// When to start: a list of times.
    Start,
    /// When to stop: a list of times.
    Stop,
    /// Running hours, in place of start and stop.
    Hours,
    /// Exact counts at times, in place of start, stop and hours.
    Scale,
    /// IANA zone of every local time on the object.
    Timezone,
    /// The exact count after a start.
    Replicas,
    /// The count after a stop.
    StopReplicas,
    /// How long starts are spread over.
    Jitter,
    /// Local dates on which no start happens.
    Except,
    /// Local dates on which the schedule does what it does on another day of the week.
    TreatAs,
    /// What has to be ready before a start.
    After,
    /// `true`, or a time until which dayshift leaves the object alone.
    Pause,
    /// Running until a time, whatever the schedule says.
    WakeUntil,
    /// Stopped until a time, whatever the schedule says.
    SleepUntil,
    /// A change made by hand while stopped is put back.
    Enforce,
    /// How long before a stop people are told of it.
    Notice,
    /// How long a start may take before somebody is told that the object is not ready.
    ReadyWithin,
    /// `true`: the object is left alone, whatever its Namespace says.
    Exclude,
    /// `true`: the object is scaled down although its volumes are deleted then.
    AllowVolumeDeletion,
    /// `true`: a stop of this CronJob suspends the Jobs that it has running, and a start resumes them.
    StopJobs,
    /// Why somebody woke, paused or put it to sleep, in their words.
    Reason,
    /// Who did, as the API server knows them (`manifests/policy/stamp.yaml`).
    OverrideBy,
    /// How long a connection to its Service wakes the object, for `dayshift activator`.
    WakeOnRequest,
    /// Paths of HTTP requests that do not wake it.
    WakeOnRequestIgnore,
}

impl Key {
    /// Every key, in the order of the documentation.
    pub const ALL: [Self; 24] = [
        Self::Start,
        Self::Stop,
        Self::Hours,
        Self::Scale,
        Self::Timezone,
        Self::Replicas,
        Self::StopReplicas,
        Self::Jitter,
        Self::Except,
        Self::TreatAs,
        Self::After,
        Self::Pause,
        Self::WakeUntil,
        Self::SleepUntil,
        Self::Enforce,
        Self::Notice,
        Self::ReadyWithin,
        Self::Exclude,
        Self::AllowVolumeDeletion,
        Self::StopJobs,
        Self::Reason,
        Self::OverrideBy,
        Self::WakeOnRequest,
        Self::WakeOnRequestIgnore,
    ];

    /// Those that make a schedule: an object needs one of them to have one.
    pub const SCHEDULE: [Self; 4] = [Self::Start, Self::Stop, Self::Hours, Self::Scale];

    /// Those that lay something over it.
    pub const OVERRIDES: [Self; 3] = [Self::Pause, Self::WakeUntil, Self::SleepUntil];

    /// Those that say whose override it is and why. Nothing is decided by them.
    pub const AUTHOR: [Self; 2] = [Self::OverrideBy, Self::Reason];

    /// Whether decisions rest on it: not on who wrote an override and why, nor on when people are told,
    /// nor on what becomes of the Jobs of a CronJob, nor on what is for `dayshift activator` alone.
    pub const fn is_decided_by(self) -> bool {
        !matches!(
            self,
            Self::OverrideBy
                | Self::Reason
                | Self::Notice
                | Self::ReadyWithin
                | Self::StopJobs
                | Self::WakeOnRequest
                | Self::WakeOnRequestIgnore
        )
    }

    /// The name after the prefix, such as `stop-replicas`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Hours => "hours",
            Self::Scale => "scale",
            Self::Timezone => "timezone",
            Self::Replicas => "replicas",
            Self::StopReplicas => "stop-replicas",
            Self::Jitter => "jitter",
            Self::Except => "except",
            Self::TreatAs => "treat-as",
            Self::After => "after",
            Self::Pause => "pause",
            Self::WakeUntil => "wake-until",
            Self::SleepUntil => "sleep-until",
            Self::Enforce => "enforce",
            Self::Notice => "notice",
            Self::ReadyWithin => "ready-within",
            Self::Exclude => "exclude",
            Self::AllowVolumeDeletion => "allow-volume-deletion",
            Self::StopJobs => "stop-jobs",
            Self::Reason => "reason",
            Self::OverrideBy => "override-by",
            Self::WakeOnRequest => "wake-on-request",
            Self::WakeOnRequestIgnore => "wake-on-request-ignore",
        }
    }

    /// The key with that name; `None` for other names.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.name() == name)
    }

    /// The key whose name is nearest to a misspelt one; `None` where no name is near.
    pub fn nearest(name: &str) -> Option<Self> {
        // No key is half as long, and a name in a file may be as long as the file.
        let name: String = name.chars().take(64).collect::<String>().to_lowercase();
        // What other tools, and other people, call it.
        let synonym = match &*name {
            "uptime" | "schedule" | "window" | "windows" | "working-hours" => Some(Self::Hours),
            "tz" => Some(Self::Timezone),
            "on" | "up" | "begin" => Some(Self::Start),
            "off" | "down" | "end" => Some(Self::Stop),
            "count" | "scale-to" => Some(Self::Replicas),
            "downtime-replicas" | "min-replicas" => Some(Self::StopReplicas),
            "holidays" | "exclude-dates" => Some(Self::Except),
            "makeup" | "workdays" | "working-days" => Some(Self::TreatAs),
            "depends-on" | "needs" | "requires" | "wait-for" => Some(Self::After),
            "force-uptime" | "wake" => Some(Self::WakeUntil),
            "force-downtime" | "sleep" => Some(Self::SleepUntil),
            "why" | "comment" | "message" => Some(Self::Reason),
            "suspend" | "disable" | "disabled" => Some(Self::Pause),
            "notify" | "warn" | "warning" | "announce" => Some(Self::Notice),
            "ready-timeout" | "timeout" => Some(Self::ReadyWithin),
            "ignore" | "skip" | "excluded" => Some(Self::Exclude),
            "scale-children" | "suspend-jobs" | "jobs" => Some(Self::StopJobs),
            _ => None,
        };
        if synonym.is_some() {
            return synonym;
        }
        nearest(&name, Self::ALL.map(Self::name)).and_then(Self::from_name)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_key_is_told_the_nearest_right_one() {
        for (typo, expected) in [
            ("strat", Some(Key::Start)),
            ("Start", Some(Key::Start)),
            ("stpo", Some(Key::Stop)),
            ("time-zone", Some(Key::Timezone)),
            ("stop_replicas", Some(Key::StopReplicas)),
            ("wake", Some(Key::WakeUntil)),
            ("uptime", Some(Key::Hours)),
            ("TZ", Some(Key::Timezone)),
            ("qqq", None),
        ] {
            assert_eq!(Key::nearest(typo), expected, "{typo}");
        }
    }
}
