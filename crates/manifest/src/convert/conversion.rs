//! What comes of a conversion.
//!
//! How files are converted.
//!
//! What there is to say about a conversion, and where.

use std::fmt;

use chrono::{DateTime, Utc};
use dayshift_schedule::Zone;
use dayshift_workload::Prefix;

use crate::{
    convert::week::day,
    finding::{self, Severity, rules},
    yaml::node::Location,
};

/// A change of one object, or of some that are not among the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectChange {
    /// Which objects.
    pub target: ChangeTarget,
    /// Which of the sources it is made in, and where the object stands; `None` for an object that
    /// is not among the files.
    pub place: Option<(usize, Location)>,
    /// Annotations that come, under their full names, with their texts.
    pub set: Vec<(String, String)>,
    /// Annotations that go.
    pub remove: Vec<String>,
    /// Labels that come.
    pub labels: Vec<(String, String)>,
}

/// What is changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeTarget {
    /// One object.
    Object(ObjectRef),
    /// All objects of some kinds in a namespace.
    All {
        /// As kubectl takes them, such as `deployments,statefulsets`.
        kinds: String,
        /// The namespace.
        namespace: String,
        /// The label selector; `None` for all.
        selector: Option<String>,
        /// The field selector, which is about names; `None` for any name.
        field_selector: Option<String>,
    },
}

/// What comes of a conversion.
#[derive(Clone, Debug, Default)]
pub struct Conversion {
    /// The new text of each source; `None` where it stays as it is.
    pub texts: Vec<Option<String>>,
    /// Every change, in the order of the files; those of objects elsewhere come last.
    pub changes: Vec<ObjectChange>,
    /// What there is to say, in the order of the files.
    pub findings: Vec<ConversionFinding>,
}

impl Conversion {
    /// How many findings are of that severity.
    pub fn count(&self, severity: Severity) -> usize {
        let findings = self.findings.iter();
        findings
            .filter(|finding| finding.rule.severity() == severity)
            .count()
    }
}

/// Converts the schedules of other tools in files.
#[derive(Clone, Debug)]
pub struct Converter {
    /// What is over by then is left out.
    pub now: DateTime<Utc>,
    /// The prefix of the annotations that are written.
    pub prefix: Prefix,
    /// Where objects are that name no namespace.
    pub namespace: String,
    /// The other tool's defaults of time spans.
    pub defaults: SpanDefaults,
    /// The other tool's flags, as annotations such as `uptime`; they are for every Namespace, but
    /// for those that it has of its own.
    pub flags: Vec<(String, String)>,
    /// The Namespaces that the flags are for besides those among the files.
    pub flagged: Vec<String>,
    /// Whether the other tool's annotations stay.
    pub keeps: bool,
}

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
pub type ConversionFinding = finding::Finding<Topic>;

/// What the other tool takes where a span leaves it out: its `DEFAULT_TIMEZONE` and
/// `DEFAULT_WEEKFRAME`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpanDefaults {
    /// The zone.
    pub zone: Option<Zone>,
    /// The first and the last day, from Monday as 0.
    pub days: Option<(u32, u32)>,
}

impl SpanDefaults {
    /// Reads the days of `DEFAULT_WEEKFRAME`, such as `Mon-Fri`.
    pub fn week_frame(text: &str) -> Option<(u32, u32)> {
        let (first, last) = text.trim().split_once('-')?;
        Some((day(first)?, day(last)?))
    }
}

/// An object of a file or a cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectRef {
    /// The API version, such as `apps/v1`.
    pub api_version: String,
    /// Such as `Deployment`.
    pub kind: String,
    /// Its namespace; empty for a Namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl ObjectRef {
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

impl ObjectRef {
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
        self.api_version.split_once('/').map_or("", |parts| parts.0)
    }

    /// Whether an API server could have such an object: another tool's object may name anything as its
    /// target, and a command is made of it.
    pub fn is_possible(&self) -> bool {
        let is_label = |text: &str| {
            let is_inner =
                |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
            let is_edge = |edge: Option<&u8>| edge.is_some_and(|byte| *byte != b'-');
            let bytes = text.as_bytes();
            bytes.iter().all(|byte| is_inner(*byte))
                && is_edge(bytes.first())
                && is_edge(bytes.last())
        };
        let is_subdomain = |text: &str| text.len() <= 253 && text.split('.').all(is_label);
        self.kind
            .starts_with(|letter: char| letter.is_ascii_alphabetic())
            && is_label(&self.kind.to_ascii_lowercase())
            && (self.group().is_empty() || is_subdomain(self.group()))
            && (self.namespace.is_empty() || is_label(&self.namespace))
            && is_subdomain(&self.name)
    }
}

impl From<&ObjectRef> for finding::ObjectName {
    fn from(object: &ObjectRef) -> Self {
        Self {
            kind: (*object.kind).into(),
            namespace: (*object.namespace).into(),
            name: (*object.name).into(),
        }
    }
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, name, .. } = self;
        if self.namespace.is_empty() {
            write!(f, "{kind} {name}")
        } else {
            write!(f, "{kind} {}/{name}", self.namespace)
        }
    }
}
