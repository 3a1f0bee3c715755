//! The names of all annotations and labels, and their prefix. No other file spells them.

use std::{fmt, sync::Arc};

use dayshift_text::{nearest, quote};

use crate::names::is_dns_label;

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

/// A label that dayshift writes on an object: its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Label {
    /// What was done last, a [`crate::Phase`].
    State,
    /// Everything up to here has been considered.
    Last,
    /// The next boundary, or the end of the active override; absent where there is neither.
    Next,
    /// The count to come back to.
    SavedReplicas,
    /// What the field of a switch held before it was turned off.
    SavedValue,
    /// Which schedule, on which object, the others belong to.
    Fingerprint,
}

impl Label {
    /// Every label, in the order of the documentation.
    pub const ALL: [Self; 6] = [
        Self::State,
        Self::Last,
        Self::Next,
        Self::SavedReplicas,
        Self::SavedValue,
        Self::Fingerprint,
    ];

    /// The name after the prefix, such as `saved-replicas`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Last => "last",
            Self::Next => "next",
            Self::SavedReplicas => "saved-replicas",
            Self::SavedValue => "saved-value",
            Self::Fingerprint => "fingerprint",
        }
    }
}

/// The name of the annotation in which dayshift writes why a schedule is refused.
const ERROR: &str = "error";

/// The name of the annotation in which dayshift writes when the active override began.
///
/// `kubectl rollout undo` brings it back together with its override, so dayshift can tell an
/// override that has ended (`docs/decisions/state/ended-overrides.md`).
pub const OVERRIDE_BEGAN: &str = "override-began";

/// The name of the annotation in which dayshift writes what an object goes by that is written
/// elsewhere: on its Namespace, or among the flags of the scaler.
pub const INHERITED: &str = "inherited";

/// The name of the label of a Job that dayshift has suspended: the UID of its CronJob.
const SUSPENDED_BY: &str = "suspended-by";

/// The names of the annotations that dayshift writes itself.
pub const OWN_ANNOTATIONS: [&str; 3] = [ERROR, OVERRIDE_BEGAN, INHERITED];

/// What stands before the `/` of every annotation and label, `dayshift` by default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix(Arc<str>);

/// A text that cannot stand before the `/` of an annotation or label key, cut where it is long.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a prefix of Kubernetes keys; write a DNS name in lower case of at most 253 characters, such as dayshift or scaling.example.com"
)]
pub struct PrefixError(String);

impl Prefix {
    /// Reads a prefix; it is a DNS subdomain (RFC 1123), as Kubernetes wants of key prefixes.
    ///
    /// # Errors
    /// The text is not such a name, or is longer than 253 characters.
    pub fn parse(text: &str) -> Result<Self, PrefixError> {
        if text.len() <= 253 && text.split('.').all(is_dns_label) {
            Ok(Self(text.into()))
        } else {
            Err(PrefixError(quote(text)))
        }
    }

    /// The full name of an input annotation, such as `dayshift/start`.
    pub fn annotation(&self, key: Key) -> String {
        self.full(key.name())
    }

    /// The full name of a state label, such as `dayshift/next`.
    pub fn label(&self, label: Label) -> String {
        self.full(label.name())
    }

    /// The full name of the annotation that says why a schedule is refused.
    pub fn error(&self) -> String {
        self.full(ERROR)
    }

    /// The full name of the annotation that says when the active override began.
    pub fn override_began(&self) -> String {
        self.full(OVERRIDE_BEGAN)
    }

    /// The full name of the annotation that says what an object inherits.
    pub fn inherited(&self) -> String {
        self.full(INHERITED)
    }

    /// The full name of the label of a Job that dayshift has suspended.
    pub fn suspended_by(&self) -> String {
        self.full(SUSPENDED_BY)
    }

    /// ` --annotation-prefix scaling.example.com`, for a command; nothing for the default.
    pub fn flag(&self) -> String {
        if *self == Self::default() {
            String::new()
        } else {
            format!(" --annotation-prefix {self}")
        }
    }

    /// `name` behind this prefix and a slash.
    pub fn full(&self, name: &str) -> String {
        format!("{}/{name}", self.0)
    }

    /// What follows this prefix and the slash in a full name, if it stands there.
    pub fn strip<'a>(&self, full: &'a str) -> Option<&'a str> {
        full.strip_prefix(&*self.0)?.strip_prefix('/')
    }

    /// Whether a full name stands behind this prefix, or may have been meant to: the prefix is in
    /// it in any case and with anything around it, or a key follows one that is spelt much alike.
    pub fn resembles(&self, full: &str) -> bool {
        let ours = self.0.as_bytes();
        let holds = |name: &str| {
            let mut parts = name.as_bytes().windows(ours.len());
            parts.any(|part| part.eq_ignore_ascii_case(ours))
        };
        holds(full)
            || full.split_once('/').is_some_and(|(prefix, name)| {
                Key::from_name(name).is_some() && nearest(prefix, [&*self.0]).is_some()
            })
    }
}

impl Default for Prefix {
    fn default() -> Self {
        Self("dayshift".into())
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
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

    #[test]
    fn a_prefix_is_a_dns_name() {
        for good in ["dayshift", "scaling.example.com", "a-1"] {
            assert_eq!(Prefix::parse(good).unwrap().to_string(), good);
        }
        for bad in ["", "Dayshift", "a/b", "-a", "a..b", "a_b", &"a".repeat(64)] {
            assert!(Prefix::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_name_may_have_been_meant_to_be_ours() {
        let prefix = Prefix::default();
        for (name, expected) in [
            ("dayshift/start", true),
            ("lint.dayshift/same-instant", true),
            ("Dayshift/start", true),
            ("dayshift.io/start", true),
            ("dayshift-start", true),
            ("dayshfit/start", true),
            ("dayshfit/owner", false),
            ("downscaler/replicas", false),
            ("app", false),
        ] {
            assert_eq!(prefix.resembles(name), expected, "{name}");
        }
    }

    #[test]
    fn another_prefix_that_begins_alike_is_not_ours() {
        let prefix = Prefix::default();
        assert_eq!(prefix.strip("dayshift/start"), Some("start"));
        assert_eq!(prefix.strip("dayshift.io/start"), None);
        assert_eq!(prefix.strip("dayshifts/start"), None);
    }
}
