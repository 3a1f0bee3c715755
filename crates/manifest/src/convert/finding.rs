//! What there is to say about a conversion, and where.

use std::fmt;

use crate::manifest::{self, rules};

rules! {
    /// What is said; `docs/guides/migrate.md` has a line for each.
    Topic {
        Error Syntax "syntax" "A file is not YAML, or costs too much to read.",
        Error NotEditable "not-editable" "A change cannot be made in the text of the file.",
        Warning NotRead "not-read" "The other tool does not read a text either.",
        Warning NeedsDefault "needs-default" "A text leaves out what the other tool's flags say.",
        Warning TwoZones "two-zones" "Time spans of one object go by several zones.",
        Warning AbsoluteSpan "absolute-span" "A span between two instants cannot be written.",
        Warning Contradiction "contradiction" "Two settings of the other tool contradict each other.",
        Warning AlreadyScheduled "already-scheduled" "An object has a schedule of dayshift's already.",
        Warning ForceElsewhere "force-elsewhere" "Something is forced at times, and the rest of the schedule stands elsewhere.",
        Warning PartialExclude "partial-exclude" "An object is excluded at times only.",
        Warning NotACount "not-a-count" "A count is not a number of replicas.",
        Warning NoCount "no-count" "A kind has no count to go down to.",
        Warning OtherKind "other-kind" "A kind that dayshift does not scale.",
        Warning UnknownKey "unknown-key" "An annotation of the other tool that is not known.",
        Warning NoEquivalent "no-equivalent" "A setting that has no equivalent.",
        Warning Triggers "triggers" "Triggers of one ScaledObject that depend on each other.",
        Warning ExcludeDates "exclude-dates" "Dates that are left out, and cannot be for good.",
        Warning Several "several" "Several of the other tool's objects ask for the same object.",
        Warning ZoneOfController "zone-of-controller" "The zone is that of the other tool's own clock.",
        Warning Elsewhere "elsewhere" "A name or a label stands for objects that are not among the files.",
        Warning Unclear "unclear" "A name stands for an object of another folder, which may be for another cluster.",
        Warning Volumes "volumes" "A StatefulSet whose volumes a stop deletes, which dayshift refuses.",
        Warning ByHand "by-hand" "A text of another tool in values, a patch or a template, where no object stands.",
        Info WholeNights "whole-nights" "A night that was cut off at midnight now lasts until the morning.",
        Info Over "over" "A span or a time that is over.",
        Info Forced "forced" "A forced state has to be ended by somebody.",
        Info GracePeriod "grace-period" "A grace period became `enforce`.",
        Info SavedCount "saved-count" "What was saved, and by which label dayshift knows it.",
        Info OptIn "opt-in" "A kind that has to be turned on.",
        Info BothLevels "both-levels" "The object and its Namespace were laid over each other.",
        Info BothTimes "both-times" "Both uptime and downtime of one object.",
        Info Turns "turns" "Starts and ends do not take turns.",
        Info Once "once" "A job that runs once became a moment.",
        Info SecondsFirst "seconds-first" "Five fields of cron, of which the other tool takes the first for seconds.",
        Info OneMinute "one-minute" "A window, or a gap between windows, of one minute.",
        Info DeleteAfter "delete-after" "The other tool's object has to be deleted.",
    }
}

/// One thing that there is to say.
pub type Finding = manifest::Finding<Topic>;

/// An object of a file or a cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectName {
    /// The API version, such as `apps/v1`.
    pub api_version: String,
    /// Such as `Deployment`.
    pub kind: String,
    /// Its namespace; empty for a Namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl ObjectName {
    /// A Namespace by its name.
    pub fn namespace(name: &str) -> Self {
        Self {
            api_version: "v1".to_owned(),
            kind: "Namespace".to_owned(),
            namespace: String::new(),
            name: name.to_owned(),
        }
    }
}

impl ObjectName {
    /// Its kind as kubectl takes it: `deployment`, or `rollout.argoproj.io`.
    pub fn resource(&self) -> String {
        let kind = self.kind.to_lowercase();
        match self.group() {
            "" | "apps" | "batch" | "autoscaling" => kind,
            group => format!("{kind}.{group}"),
        }
    }

    /// The API group of its version; empty for the core.
    fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |it| it.0)
    }

    /// Whether an API server could have such an object: another tool's object may name anything as its
    /// target, and a command is made of it.
    pub fn is_possible(&self) -> bool {
        let is_label = |text: &str| {
            let is_inner = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
            let is_edge = |it: Option<&u8>| it.is_some_and(|it| *it != b'-');
            let bytes = text.as_bytes();
            bytes.iter().all(|it| is_inner(*it)) && is_edge(bytes.first()) && is_edge(bytes.last())
        };
        let is_subdomain = |text: &str| text.len() <= 253 && text.split('.').all(is_label);
        self.kind.starts_with(|it: char| it.is_ascii_alphabetic())
            && is_label(&self.kind.to_ascii_lowercase())
            && (self.group().is_empty() || is_subdomain(self.group()))
            && (self.namespace.is_empty() || is_label(&self.namespace))
            && is_subdomain(&self.name)
    }
}

impl From<&ObjectName> for manifest::ObjectName {
    fn from(object: &ObjectName) -> Self {
        Self {
            kind: (*object.kind).into(),
            namespace: (*object.namespace).into(),
            name: (*object.name).into(),
        }
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, name, .. } = self;
        if self.namespace.is_empty() {
            write!(f, "{kind} {name}")
        } else {
            write!(f, "{kind} {}/{name}", self.namespace)
        }
    }
}
