//! The names of all annotations and labels, and their prefix. No other file spells them.

use std::{fmt, sync::Arc};

use dayshift_text::{named_enum, nearest, quote};

use crate::names::is_dns_label;

named_enum! {
    /// An annotation that a user writes, in the order of the documentation.
    pub enum Key {
        /// Start times.
        Start = "start",
        /// Stop times.
        Stop = "stop",
        /// Running hours, instead of `start` and `stop`.
        Hours = "hours",
        /// Exact counts at times, instead of `start`, `stop` and `hours`.
        Scale = "scale",
        /// The name of a schedule, whose keys apply where the object or Namespace has none of its own.
        NamedSchedule = "schedule",
        /// The IANA time zone of all local times on the object.
        Timezone = "timezone",
        /// The exact count after a start.
        Replicas = "replicas",
        /// The count after a stop.
        StopReplicas = "stop-replicas",
        /// The duration over which starts are spread.
        Jitter = "jitter",
        /// Excluded local dates, on which nothing starts.
        Except = "except",
        /// Local dates that the schedule treats as another day of the week.
        TreatAs = "treat-as",
        /// Additional running windows on local dates.
        Extra = "extra",
        /// How long it runs after a start before it is stopped.
        StopAfter = "stop-after",
        /// Dependencies that must be ready before a start.
        After = "after",
        /// `true`, or the time until which dayshift does not change the object.
        Pause = "pause",
        /// The time until which the object runs, regardless of the schedule.
        WakeUntil = "wake-until",
        /// The time until which the object is stopped, regardless of the schedule.
        SleepUntil = "sleep-until",
        /// Whether manual changes are reverted while the object is stopped.
        Enforce = "enforce",
        /// How long before a stop dayshift sends a notice.
        Notice = "notice",
        /// How long a start can take before dayshift sends a warning that the object is not ready.
        ReadyWithin = "ready-within",
        /// `true`: dayshift ignores the object, regardless of its Namespace.
        Exclude = "exclude",
        /// `false` on a Namespace: the team's defaults do not apply in it.
        TeamDefaults = "team-defaults",
        /// `true`: dayshift stops the object even if that deletes its volumes.
        AllowVolumeDeletion = "allow-volume-deletion",
        /// `true`: a stop of this CronJob suspends its running Jobs, and a start resumes them.
        StopJobs = "stop-jobs",
        /// The reason for an override, in a user's words.
        Reason = "reason",
        /// The author of an override, as authenticated by the API server
        /// (`manifests/policy/stamp.yaml`).
        OverrideBy = "override-by",
        /// How long a connection to a Service wakes the object, for `dayshift activator`.
        WakeOnRequest = "wake-on-request",
        /// Paths of HTTP requests that do not wake it.
        WakeOnRequestIgnore = "wake-on-request-ignore",
        /// Paths of HTTP requests that get a response with status 200 while it is stopped, and do not wake it.
        WakeOnRequestAnswer = "wake-on-request-answer",
    }
}

impl Key {
    /// The keys of the times of a schedule. Without any of them, and without `stop-after`, an object
    /// has no schedule.
    pub const SCHEDULE: [Self; 4] = [Self::Start, Self::Stop, Self::Hours, Self::Scale];

    /// The keys of overrides.
    pub const OVERRIDES: [Self; 3] = [Self::Pause, Self::WakeUntil, Self::SleepUntil];

    /// The keys that describe an override's author and reason. No decision depends on them.
    pub const AUTHOR: [Self; 2] = [Self::OverrideBy, Self::Reason];

    /// Whether a named schedule can have it. A schedule describes times and their effect. Overrides,
    /// permissions to lose data, and exclusions are the decision of one workload or Namespace.
    pub const fn describes_schedule(self) -> bool {
        !matches!(
            self,
            Self::NamedSchedule
                | Self::Pause
                | Self::WakeUntil
                | Self::SleepUntil
                | Self::Exclude
                | Self::TeamDefaults
                | Self::AllowVolumeDeletion
                | Self::StopJobs
                | Self::Reason
                | Self::OverrideBy
        )
    }

    /// Whether decisions depend on it. They do not depend on the author of an override, on notices,
    /// on the Jobs of a CronJob, or on settings of `dayshift activator`.
    pub const fn is_decided_by(self) -> bool {
        !matches!(
            self,
            Self::OverrideBy
                | Self::Reason
                | Self::TeamDefaults
                | Self::Notice
                | Self::ReadyWithin
                | Self::StopJobs
                | Self::WakeOnRequest
                | Self::WakeOnRequestIgnore
                | Self::WakeOnRequestAnswer
        )
    }

    /// The key with the most similar name; `None` if no name is similar.
    pub fn nearest(name: &str) -> Option<Self> {
        // No key is half as long, but a name in a file can be as long as the file.
        let name: String = name.chars().take(64).collect::<String>().to_lowercase();
        // Names in other tools, and common guesses.
        let synonym = match &*name {
            "uptime" | "window" | "windows" | "working-hours" => Some(Self::Hours),
            "schedule-name" | "profile" => Some(Self::NamedSchedule),
            "tz" => Some(Self::Timezone),
            "on" | "up" | "begin" => Some(Self::Start),
            "off" | "down" | "end" => Some(Self::Stop),
            "count" | "scale-to" => Some(Self::Replicas),
            "downtime-replicas" | "min-replicas" => Some(Self::StopReplicas),
            "holidays" | "exclude-dates" => Some(Self::Except),
            "makeup" | "workdays" | "working-days" => Some(Self::TreatAs),
            "auto-stop" | "autostop" | "max-uptime" | "ttl" | "idle-after" => Some(Self::StopAfter),
            "overtime" | "additional" | "extra-hours" => Some(Self::Extra),
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

named_enum! {
    /// A label with state that dayshift writes on an object.
    pub enum Label {
        /// The last change: a [`crate::Phase`].
        State = "state",
        /// All boundaries up to this time have been considered.
        Last = "last",
        /// The next boundary or the end of the active override; absent if there is neither.
        Next = "next",
        /// The count that the next start restores.
        SavedReplicas = "saved-replicas",
        /// The value of an on/off field before the stop.
        SavedValue = "saved-value",
        /// The schedule and the object to which the other labels belong.
        Fingerprint = "fingerprint",
        /// When the timer of `stop-after` began, and the revision of the pod template.
        Started = "started",
    }
}

/// The annotation in which dayshift explains why a schedule is rejected.
const ERROR: &str = "error";

/// The annotation with the time at which the active override began.
///
/// `kubectl rollout undo` restores it together with its override, so dayshift can recognize an
/// override that has ended (`docs/decisions/state/ended-overrides.md`).
pub const OVERRIDE_BEGAN: &str = "override-began";

/// The annotation in which dayshift writes the settings that an object inherits from its Namespace
/// and from the controller's flags.
pub const INHERITED: &str = "inherited";

/// The label of a Job that dayshift has suspended. Its value is the UID of the CronJob.
const SUSPENDED_BY: &str = "suspended-by";

/// The annotations that dayshift writes.
pub const OWN_ANNOTATIONS: [&str; 3] = [ERROR, OVERRIDE_BEGAN, INHERITED];

/// The prefix before the `/` of every annotation and label, `dayshift` by default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix(Arc<str>);

/// A string that is not a valid prefix of annotation and label keys, truncated if it is long.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a prefix of Kubernetes keys; write a DNS name in lower case of at most 253 characters, such as dayshift or scaling.example.com"
)]
pub struct PrefixError(String);

impl Prefix {
    /// Parses a prefix. As Kubernetes requires, it must be a DNS subdomain (RFC 1123).
    ///
    /// # Errors
    /// If the string is not a DNS subdomain, or is longer than 253 characters.
    pub fn parse(text: &str) -> Result<Self, PrefixError> {
        if text.len() <= 253 && text.split('.').all(is_dns_label) {
            Ok(Self(text.into()))
        } else {
            Err(PrefixError(quote(text)))
        }
    }

    /// The full name of an annotation, such as `dayshift/start`.
    pub fn annotation(&self, key: Key) -> String {
        self.full(key.name())
    }

    /// The full name of a label, such as `dayshift/next`.
    pub fn label(&self, label: Label) -> String {
        self.full(label.name())
    }

    /// The full name of the annotation `error`.
    pub fn error(&self) -> String {
        self.full(ERROR)
    }

    /// The full name of the annotation [`OVERRIDE_BEGAN`].
    pub fn override_began(&self) -> String {
        self.full(OVERRIDE_BEGAN)
    }

    /// The full name of the annotation [`INHERITED`].
    pub fn inherited(&self) -> String {
        self.full(INHERITED)
    }

    /// The full name of the label `suspended-by`.
    pub fn suspended_by(&self) -> String {
        self.full(SUSPENDED_BY)
    }

    /// ` --annotation-prefix scaling.example.com` for a command; empty for the default.
    pub fn flag(&self) -> String {
        if *self == Self::default() {
            String::new()
        } else {
            format!(" --annotation-prefix {self}")
        }
    }

    /// The prefix, a slash and `name`.
    pub fn full(&self, name: &str) -> String {
        format!("{}/{name}", self.0)
    }

    /// The part after this prefix and the slash; `None` if the name has another prefix.
    pub fn strip<'a>(&self, full: &'a str) -> Option<&'a str> {
        full.strip_prefix(&*self.0)?.strip_prefix('/')
    }

    /// Whether a full name has this prefix, or was probably meant to: it contains the prefix in any
    /// case, or has a similar prefix before the name of a key.
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
    fn finds_the_key_with_the_most_similar_name() {
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
    fn recognizes_names_that_probably_mean_our_prefix() {
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
    fn a_longer_prefix_is_not_ours() {
        let prefix = Prefix::default();
        assert_eq!(prefix.strip("dayshift/start"), Some("start"));
        assert_eq!(prefix.strip("dayshift.io/start"), None);
        assert_eq!(prefix.strip("dayshifts/start"), None);
    }
}
