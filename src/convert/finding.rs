//! What there is to say about a conversion, and where.

use std::fmt;

use crate::manifest::Location;

/// How much something matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// A file cannot be read, or not be changed.
    Error,
    /// Something has no equal and is left as it is.
    Warning,
    /// Something means something else now, or has to be known.
    Note,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        })
    }
}

/// What is said; `docs/migrate.md` has a line for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// A file is not YAML, or costs too much to read.
    Syntax,
    /// A change cannot be made in the text of the file.
    NotEditable,
    /// The other tool does not read a text either.
    NotRead,
    /// A text leaves out what the other tool's flags say.
    NeedsDefault,
    /// Time spans of one object go by several zones.
    TwoZones,
    /// A span between two instants cannot be written.
    AbsoluteSpan,
    /// Two settings of the other tool contradict each other.
    Contradiction,
    /// An object has a schedule of dayshift's already.
    AlreadyScheduled,
    /// Something is forced at times, and the rest of the schedule stands elsewhere.
    ForceElsewhere,
    /// An object is excluded at times only.
    PartialExclude,
    /// A count is not a number of replicas.
    NotACount,
    /// A kind has no count to go down to.
    NoCount,
    /// A kind that dayshift does not scale.
    OtherKind,
    /// An annotation of the other tool that is not known.
    UnknownKey,
    /// A setting that has no equal.
    NoEqual,
    /// Triggers of one ScaledObject that depend on each other.
    Triggers,
    /// Dates that are left out, and cannot be for good.
    ExcludeDates,
    /// Several of the other tool's objects ask for the same object.
    Several,
    /// The zone is that of the other tool's own clock.
    ZoneOfController,
    /// A name or a label stands for objects that are not among the files.
    Elsewhere,
    /// A name stands for an object of another folder, which may be for another cluster.
    Unclear,
    /// A StatefulSet whose volumes a stop deletes, which dayshift refuses.
    Volumes,
    /// A text of another tool in values, a patch or a template, where no object stands.
    ByHand,
    /// A night that was cut off at midnight now lasts until the morning.
    WholeNights,
    /// A span or a time that is over.
    Over,
    /// A forced state has to be ended by somebody.
    Forced,
    /// A grace period became `enforce`.
    GracePeriod,
    /// What was saved, and by which label dayshift knows it.
    SavedCount,
    /// A kind that has to be turned on.
    OptIn,
    /// The object and its Namespace were laid over each other.
    BothLevels,
    /// Both uptime and downtime of one object.
    BothTimes,
    /// Starts and ends do not take turns.
    Turns,
    /// A job that runs once became a moment.
    Once,
    /// Five fields of cron, of which the other tool takes the first for seconds.
    SecondsFirst,
    /// A window, or a gap between windows, of one minute.
    OneMinute,
    /// The other tool's object has to be deleted.
    DeleteAfter,
}

impl Topic {
    /// All of them, by severity.
    pub const ALL: [Self; 36] = [
        Self::Syntax,
        Self::NotEditable,
        Self::NotRead,
        Self::NeedsDefault,
        Self::TwoZones,
        Self::AbsoluteSpan,
        Self::Contradiction,
        Self::AlreadyScheduled,
        Self::ForceElsewhere,
        Self::PartialExclude,
        Self::NotACount,
        Self::NoCount,
        Self::OtherKind,
        Self::UnknownKey,
        Self::NoEqual,
        Self::Triggers,
        Self::ExcludeDates,
        Self::Several,
        Self::ZoneOfController,
        Self::Elsewhere,
        Self::Unclear,
        Self::Volumes,
        Self::ByHand,
        Self::WholeNights,
        Self::Over,
        Self::Forced,
        Self::GracePeriod,
        Self::SavedCount,
        Self::OptIn,
        Self::BothLevels,
        Self::BothTimes,
        Self::Turns,
        Self::Once,
        Self::SecondsFirst,
        Self::OneMinute,
        Self::DeleteAfter,
    ];

    /// Its name, such as `two-zones`.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::NotEditable => "not-editable",
            Self::NotRead => "not-read",
            Self::NeedsDefault => "needs-default",
            Self::TwoZones => "two-zones",
            Self::AbsoluteSpan => "absolute-span",
            Self::Contradiction => "contradiction",
            Self::AlreadyScheduled => "already-scheduled",
            Self::ForceElsewhere => "force-elsewhere",
            Self::PartialExclude => "partial-exclude",
            Self::NotACount => "not-a-count",
            Self::NoCount => "no-count",
            Self::OtherKind => "other-kind",
            Self::UnknownKey => "unknown-key",
            Self::NoEqual => "no-equal",
            Self::Triggers => "triggers",
            Self::ExcludeDates => "exclude-dates",
            Self::Several => "several",
            Self::ZoneOfController => "zone-of-controller",
            Self::Elsewhere => "elsewhere",
            Self::Unclear => "unclear",
            Self::Volumes => "volumes",
            Self::ByHand => "by-hand",
            Self::WholeNights => "whole-nights",
            Self::Over => "over",
            Self::Forced => "forced",
            Self::GracePeriod => "grace-period",
            Self::SavedCount => "saved-count",
            Self::OptIn => "opt-in",
            Self::BothLevels => "both-levels",
            Self::BothTimes => "both-times",
            Self::Turns => "turns",
            Self::Once => "once",
            Self::SecondsFirst => "seconds-first",
            Self::OneMinute => "one-minute",
            Self::DeleteAfter => "delete-after",
        }
    }

    /// How much it matters.
    pub const fn severity(self) -> Severity {
        match self {
            Self::Syntax | Self::NotEditable => Severity::Error,
            Self::NotRead
            | Self::NeedsDefault
            | Self::TwoZones
            | Self::AbsoluteSpan
            | Self::Contradiction
            | Self::AlreadyScheduled
            | Self::ForceElsewhere
            | Self::PartialExclude
            | Self::NotACount
            | Self::NoCount
            | Self::OtherKind
            | Self::UnknownKey
            | Self::NoEqual
            | Self::Triggers
            | Self::ExcludeDates
            | Self::Several
            | Self::ZoneOfController
            | Self::Elsewhere
            | Self::Unclear
            | Self::Volumes
            | Self::ByHand => Severity::Warning,
            Self::WholeNights
            | Self::Over
            | Self::Forced
            | Self::GracePeriod
            | Self::SavedCount
            | Self::OptIn
            | Self::BothLevels
            | Self::BothTimes
            | Self::Turns
            | Self::Once
            | Self::SecondsFirst
            | Self::OneMinute
            | Self::DeleteAfter => Severity::Note,
        }
    }
}

/// One thing that there is to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is about.
    pub topic: Topic,
    /// What is so, and what comes of it.
    pub message: String,
    /// What to do.
    pub help: String,
    /// Which of the sources it is in, and where.
    pub place: Option<(usize, Location)>,
    /// The object, unless the file itself is at fault.
    pub object: Option<ObjectName>,
}

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
    pub(in crate::convert) fn is_possible(&self) -> bool {
        let is_label = |text: &str| {
            let is_inner = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
            let is_edge = |it: Option<&u8>| it.is_some_and(|it| *it != b'-');
            let bytes = text.as_bytes();
            bytes.iter().all(|it| is_inner(*it)) && is_edge(bytes.first()) && is_edge(bytes.last())
        };
        let is_subdomain = |text: &str| text.len() <= 253 && text.split('.').all(is_label);
        self.kind.starts_with(|it: char| it.is_ascii_alphabetic())
            && self.kind.bytes().all(|it| it.is_ascii_alphanumeric())
            && (self.group().is_empty() || is_subdomain(self.group()))
            && (self.namespace.is_empty() || is_label(&self.namespace))
            && is_subdomain(&self.name)
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
