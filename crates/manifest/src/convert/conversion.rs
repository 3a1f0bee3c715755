//! The input and output of a conversion: its settings, the changes of objects, and its findings.

use std::{cmp::Reverse, collections::BTreeMap, fmt};

use chrono::{DateTime, Utc};
use dayshift_schedule::{Tzdata, Zone};
use dayshift_workload::{
    Key, Kind, Prefix,
    names::{is_dns_label, is_dns_subdomain},
};

use crate::{
    convert::week::day,
    finding::{self, Severity, rules},
    yaml::node::Location,
};

/// A change of one object, or of a set of objects that is not in the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectChange {
    /// The changed objects.
    pub target: ChangeTarget,
    /// The index of the source and the place of the object; `None` if it is not in the files.
    pub place: Option<(usize, Location)>,
    /// Added annotations, with their full names.
    pub set: Vec<(String, String)>,
    /// Removed annotations.
    pub remove: Vec<String>,
    /// Added labels.
    pub labels: Vec<(String, String)>,
}

/// The objects of a change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeTarget {
    /// One object.
    Object(ObjectRef),
    /// All objects of some kinds in a namespace that match the selectors.
    All {
        /// The kinds in kubectl's syntax, such as `deployments,statefulsets`.
        kinds: String,
        /// The namespace.
        namespace: String,
        /// The label selector; `None` for all labels.
        selector: Option<String>,
        /// The field selector, which is about names; `None` for all names.
        field_selector: Option<String>,
    },
}

/// The result of a conversion.
#[derive(Clone, Debug, Default)]
pub struct Conversion {
    /// The new text of each source; `None` if it is unchanged.
    pub texts: Vec<Option<String>>,
    /// The changes in the order of the files, and then those of objects that are not in the files.
    pub changes: Vec<ObjectChange>,
    /// The findings in the order of the files.
    pub findings: Vec<ConversionFinding>,
}

impl Conversion {
    /// The number of findings of this severity.
    pub fn count(&self, severity: Severity) -> usize {
        let findings = self.findings.iter();
        findings
            .filter(|finding| finding.rule.severity() == severity)
            .count()
    }
}

/// A schedule that many converted objects have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedSchedule {
    /// The number of objects.
    pub objects: usize,
    /// The keys of a named schedule and their values, sorted by key.
    pub texts: BTreeMap<Key, String>,
}

/// The number of objects with equal schedules from which on a named schedule is proposed.
const MANY: usize = 5;

impl Conversion {
    /// The schedules that at least five of the converted objects have, most objects first.
    pub fn shared_schedules(&self, prefix: &Prefix) -> Vec<SharedSchedule> {
        let mut counts: BTreeMap<BTreeMap<Key, String>, usize> = BTreeMap::new();
        for change in &self.changes {
            let texts = change.set.iter().filter_map(|(name, text)| {
                let key = Key::from_name(prefix.strip(name)?)?;
                key.describes_schedule().then(|| (key, text.clone()))
            });
            let texts: BTreeMap<_, _> = texts.collect();
            if Key::SCHEDULE.iter().any(|key| texts.contains_key(key)) {
                *counts.entry(texts).or_default() += 1;
            }
        }
        let many = counts.into_iter().filter(|(_, objects)| *objects >= MANY);
        let mut many: Vec<_> = many
            .map(|(texts, objects)| SharedSchedule { objects, texts })
            .collect();
        many.sort_by_key(|shared| Reverse(shared.objects));
        many
    }
}

/// Converts the schedules of other tools in files. The fields are its settings.
#[derive(Clone, Debug)]
pub struct Converter {
    /// Times before this one are left out.
    pub now: DateTime<Utc>,
    /// The prefix of the written annotations.
    pub prefix: Prefix,
    /// The namespace of objects that name none.
    pub namespace: String,
    /// The other tool's defaults for time spans.
    pub defaults: SpanDefaults,
    /// The other tool's flags, as annotations such as `uptime`. They apply to every Namespace that
    /// does not override them.
    pub flags: Vec<(String, String)>,
    /// Namespaces that the flags apply to, besides those in the files.
    pub flagged: Vec<String>,
    /// Whether the other tool's annotations are kept.
    pub keeps: bool,
}

rules! {
    /// The rule of a finding. `docs/guides/migrate.md` documents each.
    Topic {
        Error Syntax "syntax" "A file that is not YAML, or is too expensive to read.",
        Error NotEditable "not-editable" "A change that cannot be made in the text of the file.",
        Warning NotRead "not-read" "A value or a field that the other tool does not read either.",
        Warning NeedsDefault "needs-default" "A span without zone or days, whose defaults are in the other tool's flags.",
        Warning TwoZones "two-zones" "Time spans of one object in several zones.",
        Warning AbsoluteSpan "absolute-span" "A span between two absolute times that cannot be expressed.",
        Warning Contradiction "contradiction" "Two settings of the other tool contradict each other.",
        Warning AlreadyScheduled "already-scheduled" "An object that already has annotations of dayshift.",
        Warning ForceElsewhere "force-elsewhere" "A force-uptime or force-downtime for certain times, if the schedule is on the Namespace or in a flag.",
        Warning PartialExclude "partial-exclude" "An object that is excluded only at certain times.",
        Warning NotACount "not-a-count" "A count that is not a number of replicas.",
        Warning NoCount "no-count" "A count on a kind that only stops and starts.",
        Warning OtherKind "other-kind" "A kind that dayshift does not scale.",
        Warning UnknownKey "unknown-key" "An unknown annotation of the other tool.",
        Warning NoEquivalent "no-equivalent" "A setting without an equivalent.",
        Warning Triggers "triggers" "Triggers of one ScaledObject that depend on each other.",
        Warning ExcludeDates "exclude-dates" "Excluded dates that are written out for some years only, or cannot be expressed.",
        Warning Several "several" "Several objects of the other tool that specify the same setting.",
        Warning ZoneOfController "zone-of-controller" "The zone is that of the other tool's own clock.",
        Warning Elsewhere "elsewhere" "A name or a label of objects that are not in the files.",
        Warning Unclear "unclear" "A name of an object in another directory, which might be for another cluster.",
        Warning ByHand "by-hand" "An annotation of another tool in values, a patch or a template, which must be replaced manually.",
        Info WholeNights "whole-nights" "A night that ended at midnight and now ends in the morning.",
        Info Over "over" "A span or a time in the past.",
        Info Forced "forced" "A forced state that a user must end.",
        Info GracePeriod "grace-period" "A grace period became `enforce`.",
        Info SavedCount "saved-count" "A saved count that became a label.",
        Info OptIn "opt-in" "A kind that `--kinds` must contain.",
        Info BothLevels "both-levels" "Settings of the object and of its Namespace, which were combined.",
        Info BothTimes "both-times" "Both uptime and downtime of one object.",
        Info Turns "turns" "Starts and ends that do not alternate.",
        Info Once "once" "A job that runs once and became a single time.",
        Info SecondsFirst "seconds-first" "Five fields of cron, of which the other tool reads the first as seconds.",
        Info OneMinute "one-minute" "A window, or a gap between windows, of one minute.",
        Info DeleteAfter "delete-after" "An object of the other tool that must be deleted at the end.",
    }
}

/// A finding of a conversion.
pub type ConversionFinding = finding::Finding<Topic>;

/// A finding about a document, at a place in its file.
pub(crate) type PlacedFinding = finding::Finding<Topic, Location>;

/// The other tool's defaults for spans: its `DEFAULT_TIMEZONE` and `DEFAULT_WEEKFRAME`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpanDefaults {
    /// The zone.
    pub zone: Option<Zone>,
    /// The first and the last day, where 0 is Monday.
    pub days: Option<(u32, u32)>,
    /// The database in which zones are looked up.
    pub tzdata: Tzdata,
}

impl SpanDefaults {
    /// Parses the value of `DEFAULT_WEEKFRAME`, such as `Mon-Fri`.
    pub fn week_frame(text: &str) -> Option<(u32, u32)> {
        let (first, last) = text.trim().split_once('-')?;
        Some((day(first)?, day(last)?))
    }
}

/// An object of a file or a cluster, with its API version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectRef {
    /// The API version, such as `apps/v1`.
    pub api_version: String,
    /// The kind, such as `Deployment`.
    pub kind: String,
    /// The namespace; empty for a Namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl ObjectRef {
    /// A Namespace.
    pub fn namespace(name: &str) -> Self {
        Self {
            api_version: "v1".to_owned(),
            kind: "Namespace".to_owned(),
            namespace: String::new(),
            name: name.to_owned(),
        }
    }

    /// An object of a known kind. Its version is not known, and only the group counts.
    pub(crate) fn of_kind(kind: &Kind, namespace: &str, name: String) -> Self {
        Self {
            api_version: format!("{}/v1", kind.group()),
            kind: kind.name().to_owned(),
            namespace: namespace.to_owned(),
            name,
        }
    }

    /// The kind in kubectl's syntax: `deployment`, or `rollout.argoproj.io`.
    pub fn resource(&self) -> String {
        let kind = self.kind.to_lowercase();
        match self.group() {
            "" | "apps" | "batch" | "autoscaling" => kind,
            group => format!("{kind}.{group}"),
        }
    }

    /// The API group; empty for the core group.
    pub(crate) fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |parts| parts.0)
    }

    /// Whether the API server can have such an object. Another tool's object can name anything as
    /// its target, and the name becomes part of a command.
    pub fn is_possible(&self) -> bool {
        let kind = self.kind.to_ascii_lowercase();
        let is_group = self.group().is_empty() || is_dns_subdomain(self.group());
        kind.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && is_dns_label(&kind)
            && is_group
            && (self.namespace.is_empty() || is_dns_label(&self.namespace))
            && is_dns_subdomain(&self.name)
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
        finding::ObjectName::from(self).fmt(f)
    }
}
