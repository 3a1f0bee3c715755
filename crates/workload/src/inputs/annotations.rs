//! The annotations on one object or Namespace as strings, the named schedules that they can refer to, and
//! the origin of an annotation in force.
//!
//! The table of named schedules is a value that is passed along, like the table of kinds. Annotations hold
//! the schedule that they name, so that no lookup of a key needs the table.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{Hash, Hasher},
    ops::{Bound, Range},
    sync::Arc,
};

use dayshift_schedule::{
    Diagnostic, DiagnosticKind, ExtraWindows, MAX_TEXT, Proposal, cut_too_long, is_too_long,
    unread_bytes,
};
use dayshift_text::{cut_bytes, named_enum, nearest};

use crate::{
    keys::{Key, OWN_ANNOTATIONS, Prefix},
    names::is_dns_label,
};

/// The maximum length of all annotations of one object that users write, in bytes: the values of
/// the keys, and the names and values of unknown annotations. If there is more, none of it is kept.
pub const MAX_TEXTS: usize = 2 * MAX_TEXT;

named_enum! {
    /// Where an annotation in force is written.
    pub enum Origin {
        /// On the object itself.
        Own = "object",
        /// In the ConfigMap of its team in its namespace ([`TEAM_CONFIG_MAP`](crate::TEAM_CONFIG_MAP)),
        /// as a default.
        Team = "team",
        /// On its Namespace, as a default.
        Namespace = "namespace",
        /// Not in the cluster: it is a default from the controller's flags, for example
        /// `--default-hours`.
        Controller = "scaler",
    }
}

impl Origin {
    /// The place in a sentence.
    pub(crate) const fn place(self) -> &'static str {
        match self {
            Self::Own => "on the object",
            Self::Team => "in the ConfigMap `dayshift`",
            Self::Namespace => "on the Namespace",
            Self::Controller => "by the default of the controller",
        }
    }
}

/// The annotations with our prefix on one object: the value of each [`Key`], and the names that are
/// not keys. A guarded patch tests these values, unless they were dropped. The values in force can
/// also come from elsewhere: see [`Inputs`](crate::Inputs).
///
/// Values that are rejected for their length are dropped: an object can have 256 KiB of annotations,
/// and a cluster has many objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Annotations {
    texts: [Option<Box<str>>; Key::ALL.len()],
    /// Set if any value was dropped.
    dropped: Option<Box<Dropped>>,
    unknown: Box<[UnknownAnnotation]>,
    /// The number of further unknown names.
    unknown_more: u32,
    /// The schedule that the key `schedule` names, if it is known.
    named: Option<Arc<NamedSchedule>>,
    /// The other levels of defaults, if these annotations are defaults and there are any.
    others: Option<Arc<OtherLevels>>,
}

/// The levels of defaults beside the annotations of a Namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct OtherLevels {
    /// The team's defaults, which come before the annotations of the Namespace.
    team: Option<Arc<Annotations>>,
    /// The controller's default schedule, for objects to which the levels before it give none. If
    /// it was read from an object, it includes the controller's time zone.
    default_schedule: Option<Arc<Annotations>>,
}

/// An annotation with our prefix whose name is not a [`Key`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnknownAnnotation {
    /// The name after the prefix, at most 63 bytes of it.
    pub name: Box<str>,
    /// The length of its value in bytes.
    pub length: usize,
}

/// Values that are not kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Dropped {
    /// Their keys, each with the bytes of its value that are not read.
    unread: Vec<(Key, Range<usize>)>,
    /// Why all values were dropped; `None` if each of them is too long by itself.
    excess: Option<Excess>,
}

/// Why none of the values of an object are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Excess {
    /// They have at least this many bytes, more than [`MAX_TEXTS`].
    Object(usize),
    /// The long annotations in the namespace have more bytes together than the controller keeps.
    Namespace {
        /// The bytes of this object.
        bytes: usize,
        /// The bytes that are kept for all objects in the namespace.
        limit: usize,
    },
}

/// The maximum number of unknown names that are kept. 256 kB can hold 17,000, and each has a
/// message.
const MAX_UNKNOWN: usize = 16;

/// The maximum length of an unknown name that is kept, in bytes. The API server allows no more.
const MAX_NAME: usize = 63;

/// Unknown names while annotations are read.
#[derive(Default)]
struct Unknown {
    first: Vec<UnknownAnnotation>,
    more: u32,
}

impl Unknown {
    /// Keeps the first names in alphabetical order, in whatever order they come.
    fn add(&mut self, name: &str, length: usize) {
        let name = cut_bytes(name, MAX_NAME);
        let at = self.first.partition_point(|known| &*known.name < name);
        if at < MAX_UNKNOWN {
            let name = name.into();
            self.first.insert(at, UnknownAnnotation { name, length });
        }
        if at >= MAX_UNKNOWN || self.first.len() > MAX_UNKNOWN {
            self.first.truncate(MAX_UNKNOWN);
            self.more += 1;
        }
    }
}

impl Annotations {
    /// The annotations with this prefix, from all annotations of an object.
    pub fn under<'a>(
        prefix: &Prefix,
        annotations: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let mut found = Self::default();
        let mut unknown = Unknown::default();
        let mut long = Vec::new();
        let mut bytes = 0;
        for (full, text) in annotations {
            let Some(name) = prefix.strip(full) else {
                continue;
            };
            // A watch keeps only the beginning of a value that is too long.
            let text = cut_too_long(text);
            match Key::from_name(name) {
                Some(key) if is_too_long(text) => long.push((key, unread_bytes(text))),
                Some(key) => found.texts[key as usize] = Some(text.into()),
                None if OWN_ANNOTATIONS.contains(&name) => continue,
                None => {
                    bytes += name.len();
                    unknown.add(name, text.len());
                }
            }
            bytes += text.len();
        }
        found.unknown = unknown.first.into();
        found.unknown_more = unknown.more;
        if !long.is_empty() {
            long.sort_unstable_by_key(|(key, _)| *key);
            found.dropped = Some(Box::new(Dropped {
                unread: long,
                excess: None,
            }));
        }
        if bytes > MAX_TEXTS {
            found.drop_texts(Excess::Object(bytes));
        }
        found
    }

    /// Drops all values and unknown names, and keeps only which keys are set.
    pub(crate) fn drop_texts(&mut self, excess: Excess) {
        let set = Key::ALL.into_iter().filter(|key| self.has(*key));
        self.dropped = Some(Box::new(Dropped {
            unread: set.map(|key| (key, 0..0)).collect(),
            excess: Some(excess),
        }));
        self.texts = Default::default();
        self.unknown = Box::default();
        self.unknown_more = 0;
    }

    /// Why all values were dropped.
    pub fn excess(&self) -> Option<Excess> {
        self.dropped.as_ref()?.excess
    }

    /// The bytes of a value that are not read, if it was dropped.
    pub(super) fn unread(&self, key: Key) -> Option<Range<usize>> {
        let mut unread = self.dropped.as_ref()?.unread.iter();
        unread
            .find(|(of, _)| *of == key)
            .map(|(_, span)| span.clone())
    }

    /// The length of everything that is kept of it, in bytes.
    pub fn kept_bytes(&self) -> usize {
        let texts = self.texts.iter().flatten().map(|text| text.len());
        let unknown = self.unknown.iter().map(|unknown| unknown.name.len());
        texts.chain(unknown).sum()
    }

    /// The bytes that count toward a limit of memory: those that are kept, and those of the windows of
    /// `extra`, because a short range of dates can contain hundreds of windows.
    pub fn counted_bytes(&self) -> usize {
        let windows = self
            .text(Key::Extra)
            .map(|text| ExtraWindows::parse(text).map_or(0, |windows| windows.bytes()));
        self.kept_bytes() + windows.unwrap_or_default()
    }

    /// Whether the annotation of a key is set, even if its value was dropped.
    pub fn has(&self, key: Key) -> bool {
        self.text(key).is_some() || self.is_dropped(key)
    }

    /// Whether the value of a key was dropped.
    pub fn is_dropped(&self, key: Key) -> bool {
        self.unread(key).is_some()
    }

    /// Sets or removes the value of a key.
    pub(crate) fn set(&mut self, key: Key, text: Option<&str>) {
        if let Some(dropped) = &mut self.dropped {
            dropped.unread.retain(|(of, _)| *of != key);
            let is_over = dropped.unread.is_empty() && dropped.excess.is_none();
            self.dropped = self.dropped.take().filter(|_| !is_over);
        }
        self.texts[key as usize] = text.map(Into::into);
        if key == Key::NamedSchedule {
            self.named = None;
        }
    }

    /// Annotations with only these values.
    pub fn from_texts(texts: impl IntoIterator<Item = (Key, String)>) -> Self {
        let mut annotations = Self::default();
        for (key, text) in texts {
            annotations.set(key, Some(&text));
        }
        annotations
    }

    /// The same annotations with the schedule that they name in this table.
    pub(crate) fn resolved(self: &Arc<Self>, schedules: &NamedSchedules) -> Arc<Self> {
        let named = self.text(Key::NamedSchedule);
        let named = named.and_then(|name| schedules.get(name));
        if self.named.as_ref() == named {
            return Arc::clone(self);
        }
        Arc::new(Self {
            named: named.cloned(),
            ..(**self).clone()
        })
    }

    /// The schedule that the key `schedule` names; `None` if it is unknown or not set.
    pub(super) fn named(&self) -> Option<&NamedSchedule> {
        self.named.as_deref()
    }

    /// Adds the other levels of defaults: the team's defaults, and the controller's default
    /// schedule.
    #[must_use]
    pub(super) fn with_levels(
        &self,
        team: Option<Arc<Self>>,
        default_schedule: Option<Arc<Self>>,
    ) -> Self {
        let is_any = team.is_some() || default_schedule.is_some();
        let others = OtherLevels {
            team,
            default_schedule,
        };
        Self {
            others: is_any.then(|| Arc::new(others)),
            ..self.clone()
        }
    }

    /// The value of a key as the user wrote it; `None` if it is not set, or [dropped](Self::is_dropped).
    pub fn text(&self, key: Key) -> Option<&str> {
        self.texts[key as usize].as_deref()
    }

    /// Whether any value was dropped.
    pub(super) const fn has_dropped(&self) -> bool {
        self.dropped.is_some()
    }

    /// The first annotations that are not keys, in alphabetical order.
    pub fn unknown(&self) -> &[UnknownAnnotation] {
        &self.unknown
    }

    /// The number of further annotations that are not keys.
    pub const fn unknown_more(&self) -> usize {
        self.unknown_more as usize
    }

    /// Replaces the team's defaults.
    #[must_use]
    pub(crate) fn with_team(&self, team: Option<Arc<Self>>) -> Self {
        let others = self.others.as_ref();
        let default_schedule = others.and_then(|others| others.default_schedule.clone());
        self.with_levels(team, default_schedule)
    }

    /// The team's defaults.
    pub fn team(&self) -> Option<&Self> {
        self.others.as_ref()?.team.as_deref()
    }

    /// The controller's default schedule.
    pub(super) fn default_schedule(&self) -> Option<&Self> {
        self.others.as_ref()?.default_schedule.as_deref()
    }

    /// Whether `start`, `stop`, `hours` or `scale` is set.
    pub fn has_schedule(&self) -> bool {
        Key::SCHEDULE.iter().any(|key| self.has(*key))
    }

    /// Whether no annotation has the prefix and there are no other levels of defaults.
    pub fn is_empty(&self) -> bool {
        self.unknown.is_empty()
            && self.dropped.is_none()
            && self.texts.iter().all(Option::is_none)
            && self.others.is_none()
    }
}

/// One named schedule: the values of its keys, and the mistakes in its form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedSchedule {
    name: Box<str>,
    texts: Annotations,
    problems: Box<[(Box<str>, Diagnostic)]>,
}

/// Equal schedules have equal names. The rest would cost time in each lookup of parsed inputs.
impl Hash for NamedSchedule {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl NamedSchedule {
    /// A schedule from the values of its keys. Keys that do not
    /// [describe a schedule](Key::describes_schedule) are left out.
    pub fn new(name: &str, texts: impl IntoIterator<Item = (Key, String)>) -> Self {
        let texts = texts.into_iter();
        let texts = texts.filter(|(key, _)| key.describes_schedule());
        Self {
            name: name.into(),
            texts: Annotations::from_texts(texts),
            problems: Box::default(),
        }
    }

    /// Adds mistakes in its form, each with the key of the entry that it is about. All objects that
    /// use the schedule are rejected with them.
    #[must_use]
    pub fn with_problems(self, problems: Vec<(Box<str>, Diagnostic)>) -> Self {
        let problems = problems.into();
        Self { problems, ..self }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The values.
    pub const fn texts(&self) -> &Annotations {
        &self.texts
    }

    /// The mistakes in its form, each with the key that it is about.
    pub fn problems(&self) -> impl Iterator<Item = (&str, &Diagnostic)> {
        let problems = self.problems.iter();
        problems.map(|(key, diagnostic)| (&**key, diagnostic))
    }

    /// Whether a text can be the name of a schedule: a DNS label, such as `office-tokyo`.
    pub fn is_name(text: &str) -> bool {
        is_dns_label(text)
    }
}

/// The values of named schedules that the controller has recorded on workloads, for readers without its file.
///
/// Users can write any values on workloads of their own, so the values in most namespaces are used.
#[derive(Debug, Default)]
pub struct RecordedSchedules(BTreeMap<Box<str>, RecordedSchedule>);

#[derive(Debug, Default)]
struct RecordedSchedule {
    /// The namespaces of the workloads.
    namespaces: BTreeSet<Arc<str>>,
    /// For each key, the namespaces in which each value is recorded. A workload with a value of its own does not
    /// record that of the schedule.
    values: BTreeMap<Key, BTreeMap<Box<str>, BTreeSet<Arc<str>>>>,
}

impl RecordedSchedules {
    /// Adds a schedule as a workload in a namespace has recorded it.
    pub fn add(&mut self, namespace: &Arc<str>, recorded: &NamedSchedule) {
        let known = self.0.entry(recorded.name.clone()).or_default();
        known.namespaces.insert(Arc::clone(namespace));
        for key in Key::ALL {
            if let Some(text) = recorded.texts.text(key) {
                let values = known.values.entry(key).or_default();
                let namespaces = values.entry(text.into()).or_default();
                namespaces.insert(Arc::clone(namespace));
            }
        }
    }

    /// The values that most namespaces have recorded, by the name of the schedule. `Err` if as many have recorded
    /// another value of this key.
    pub fn agreed(&self) -> impl Iterator<Item = (&str, Result<NamedSchedule, Key>)> {
        let all = self.0.iter();
        all.map(|(name, recorded)| (&**name, recorded.agreed(name)))
    }
}

impl RecordedSchedule {
    fn agreed(&self, name: &str) -> Result<NamedSchedule, Key> {
        let mut agreed = Vec::new();
        for (key, values) in &self.values {
            let most = values.values().map(BTreeSet::len).max().unwrap_or_default();
            let with_any: BTreeSet<_> = values.values().flatten().collect();
            if self.namespaces.len() - with_any.len() >= most {
                continue;
            }
            let mut in_most = values
                .iter()
                .filter(|(_, namespaces)| namespaces.len() == most);
            match (in_most.next(), in_most.next()) {
                (Some((text, _)), None) => agreed.push((*key, text.to_string())),
                _ => return Err(*key),
            }
        }
        Ok(NamedSchedule::new(name, agreed))
    }
}

/// All named schedules. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedSchedules {
    known: Arc<BTreeMap<Box<str>, Arc<NamedSchedule>>>,
    origin: TableOrigin,
}

/// Where the schedules come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum TableOrigin {
    /// There is no file.
    #[default]
    None,
    /// A file.
    File,
    /// A file that could not be read yet, and why.
    Unreadable(Arc<str>),
    /// The file of a controller, which is not known here: any name is accepted.
    Elsewhere,
}

/// The maximum number of names in an error message.
const MAX_LISTED: usize = 5;

/// The maximum length of an unknown name for which a similar one is searched, in bytes. Any user can
/// write unknown names, so the search must be cheap.
const MAX_COMPARED: usize = 40;

/// The number of names before an unknown one in alphabetical order, and after it, with which it is
/// compared.
const NEIGHBORS: usize = 50;

impl NamedSchedules {
    /// The schedules of a file. If two have the same name, the later one is used.
    pub fn from_file(schedules: impl IntoIterator<Item = NamedSchedule>) -> Self {
        let schedules = schedules.into_iter();
        let known = schedules.map(|schedule| (schedule.name.clone(), Arc::new(schedule)));
        Self {
            known: Arc::new(known.collect()),
            origin: TableOrigin::File,
        }
    }

    /// No schedules yet, because the file cannot be read. `why` includes the name of the file.
    pub fn unreadable(why: &str) -> Self {
        Self {
            known: Arc::default(),
            origin: TableOrigin::Unreadable(why.into()),
        }
    }

    /// The same, but an unknown name is no mistake: only the controller has the file.
    #[must_use]
    pub fn accepting_any(self) -> Self {
        Self {
            origin: TableOrigin::Elsewhere,
            ..self
        }
    }

    /// The schedule with this name.
    pub fn get(&self, name: &str) -> Option<&Arc<NamedSchedule>> {
        self.known.get(name.trim())
    }

    /// All schedules, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &NamedSchedule> {
        self.known.values().map(|schedule| &**schedule)
    }

    /// Why a name that is not [known](Self::get) is rejected; `None` if it is accepted.
    pub(crate) fn rejection(&self, text: &str) -> Option<Diagnostic> {
        let whole = 0..text.len();
        let diagnostic = match &self.origin {
            TableOrigin::Elsewhere => return None,
            TableOrigin::None => Diagnostic::new(
                whole,
                text,
                "names a schedule, but there is no file of schedules",
                "give it with --schedules FILE, or write hours, such as Mon-Fri 09:00-19:00",
            ),
            TableOrigin::Unreadable(why) => Diagnostic::new(
                whole,
                text,
                format!("is not known, because the file of schedules cannot be read: {why}"),
                "correct the file",
            ),
            TableOrigin::File => {
                let word = Some(text.trim()).filter(|word| word.len() <= MAX_COMPARED);
                let meant = word.and_then(|word| nearest(word, self.neighbors(word)));
                let meant = meant.map(|name| Proposal::replace_all(text, name));
                let wrong = "is not a schedule of the file of --schedules";
                Diagnostic::new(whole, text, wrong, self.names_known()).with_proposal(meant)
            }
        };
        Some(diagnostic.with_kind(DiagnosticKind::Schedules))
    }

    /// The names around a word in alphabetical order.
    fn neighbors<'n>(&'n self, word: &str) -> impl Iterator<Item = &'n str> {
        let (before, after) = (Bound::Excluded(word), Bound::Included(word));
        let before = self.known.range::<str, _>((Bound::Unbounded, before));
        let after = self.known.range::<str, _>((after, Bound::Unbounded));
        let before = before.rev().take(NEIGHBORS);
        before.chain(after.take(NEIGHBORS)).map(|(name, _)| &**name)
    }

    /// Advice with the first names.
    fn names_known(&self) -> String {
        let first: Vec<&str> = self
            .known
            .keys()
            .take(MAX_LISTED)
            .map(|name| &**name)
            .collect();
        let first = first.join(", ");
        match self.known.len() {
            0 => "the file has no schedules".to_owned(),
            all if all > MAX_LISTED => format!("write one of its {all} names, such as {first}"),
            _ => format!("write one of {first}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn under<'a>(texts: impl IntoIterator<Item = &'a (String, String)>) -> Annotations {
        let texts = texts.into_iter();
        Annotations::under(
            &Prefix::default(),
            texts.map(|(key, text)| (&**key, &**text)),
        )
    }

    #[test]
    fn keeps_the_first_unknown_names_and_counts_the_rest() {
        let names: Vec<_> = (0..1_000)
            .map(|n| (format!("dayshift/k{n:03}"), "x".to_owned()))
            .collect();
        let annotations = under(&names);
        assert_eq!(annotations, under(names.iter().rev()));
        assert_eq!(annotations.unknown().len(), MAX_UNKNOWN);
        assert_eq!(&*annotations.unknown()[0].name, "k000");
        assert_eq!(annotations.unknown_more(), 1_000 - MAX_UNKNOWN);
    }

    #[test]
    fn counts_the_windows_of_a_short_range() {
        for (extra, expected) in [
            ("2026-12-05 09:00-18:00", 16),
            ("2026-01-01..2027-05-01 09:00-09:01", 486 * 16),
            ("never", 0),
        ] {
            let annotations = Annotations::from_texts([(Key::Extra, extra.to_owned())]);
            assert_eq!(
                annotations.counted_bytes(),
                extra.len() + expected,
                "{extra}"
            );
        }
    }

    #[test]
    fn drops_everything_if_all_texts_together_are_too_long() {
        let hours = |length: usize| ("dayshift/hours".to_owned(), "x".repeat(length));
        let stop = ("dayshift/stop".to_owned(), "x".repeat(MAX_TEXT));
        let unknown = |length: usize| ("dayshift/other".to_owned(), "x".repeat(length));
        let error = ("dayshift/error".to_owned(), "x".repeat(MAX_TEXT));
        for (texts, dropped) in [
            (vec![hours(MAX_TEXT), stop.clone()], None),
            (vec![hours(MAX_TEXT), error], None),
            (vec![hours(1), unknown(MAX_TEXT)], None),
            (
                vec![hours(MAX_TEXT - 5), stop.clone(), unknown(1)],
                Some(MAX_TEXTS + 1),
            ),
            (
                vec![hours(9 * MAX_TEXT), stop, unknown(0)],
                Some(MAX_TEXTS + 6),
            ),
        ] {
            let annotations = under(&texts);
            let excess = dropped.map(Excess::Object);
            assert_eq!(annotations.excess(), excess);
            assert!(annotations.has_schedule() && annotations.has(Key::Hours));
            assert!(!annotations.has(Key::Start));
            if dropped.is_some() {
                assert_eq!(annotations.kept_bytes(), 0);
                assert!(annotations.unknown().is_empty() && annotations.is_dropped(Key::Stop));
            }
        }
    }

    #[test]
    fn drops_a_value_that_is_too_long_and_keeps_the_others() {
        let long = ("dayshift/stop".to_owned(), "x".repeat(MAX_TEXT + 1));
        let mut annotations = under(&[("dayshift/start".to_owned(), "09:00".to_owned()), long]);
        assert_eq!(annotations.text(Key::Start), Some("09:00"));
        assert_eq!(annotations.text(Key::Stop), None);
        assert!(annotations.is_dropped(Key::Stop) && annotations.has_dropped());
        annotations.set(Key::Stop, None);
        assert!(!annotations.has_dropped() && !annotations.has(Key::Stop));
    }

    fn named(names: &[&str]) -> NamedSchedules {
        let hours = || [(Key::Hours, "09:00-19:00".to_owned())];
        let schedules = names.iter().map(|name| NamedSchedule::new(name, hours()));
        NamedSchedules::from_file(schedules)
    }

    #[test]
    fn rejects_an_unknown_name_with_the_most_similar_one() {
        let offices = named(&["office-berlin", "office-tokyo"]);
        let many: Vec<String> = (10..99).map(|number| format!("s{number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        for (schedules, text, expected) in [
            (
                &offices,
                "office-toyko",
                "`office-toyko` is not a schedule of the file of --schedules; write `office-tokyo`",
            ),
            (
                &offices,
                "night",
                "`night` is not a schedule of the file of --schedules; write one of office-berlin, \
                 office-tokyo",
            ),
            (
                &named(&many),
                "night",
                "`night` is not a schedule of the file of --schedules; write one of its 89 names, \
                 such as s10, s11, s12, s13, s14",
            ),
            (
                &named(&[]),
                "night",
                "`night` is not a schedule of the file of --schedules; the file has no schedules",
            ),
            (
                &NamedSchedules::default(),
                "night",
                "`night` names a schedule, but there is no file of schedules; give it with \
                 --schedules FILE, or write hours, such as Mon-Fri 09:00-19:00",
            ),
            (
                &NamedSchedules::unreadable("s.yaml: not found"),
                "night",
                "`night` is not known, because the file of schedules cannot be read: s.yaml: not \
                 found; correct the file",
            ),
        ] {
            let rejection = schedules.rejection(text).unwrap();
            assert_eq!(rejection.to_string(), expected);
        }
        assert_eq!(offices.accepting_any().rejection("night"), None);
    }

    #[test]
    fn values_that_one_namespace_records_replace_those_of_no_other() {
        let office = [(Key::Hours, "09:00-19:00"), (Key::Notice, "15m")];
        let agreed = |recorded: &[(&str, &[(Key, &str)])]| {
            let mut schedules = RecordedSchedules::default();
            for (namespace, texts) in recorded {
                let texts = texts.iter().map(|(key, text)| (*key, (*text).to_owned()));
                schedules.add(&Arc::from(*namespace), &NamedSchedule::new("office", texts));
            }
            let agreed = schedules.agreed().next().unwrap();
            agreed.1.map(|agreed| {
                let texts = agreed.texts;
                let text = |key| Some((key, texts.text(key)?.to_owned()));
                Key::ALL.into_iter().filter_map(text).collect::<Vec<_>>()
            })
        };
        let all = Ok(office.map(|(key, text)| (key, text.to_owned())).into());
        // A workload with a notice of its own does not record that of the schedule.
        let of_one = [("dev", &office[..]), ("dev", &office[..1])];
        assert_eq!(agreed(&of_one), all);
        let hostile = [
            (Key::Hours, "00:00-00:01"),
            (Key::Notice, "15m"),
            (Key::Except, "1970-01-01..2199-12-31"),
        ];
        let evil = [("evil", &hostile[..]); 9];
        let of_three = [("dev", &office[..]), ("ops", &office), ("evil", &hostile)];
        assert_eq!(agreed(&of_three), all);
        assert_eq!(agreed(&[&of_three[..], &evil].concat()), all);
        assert_eq!(agreed(&of_three[1..]), Err(Key::Hours));
        let added = [office[0], office[1], hostile[2]];
        assert_eq!(agreed(&[("dev", &office), ("evil", &added)]), all);
    }

    #[test]
    fn keeps_only_keys_that_describe_a_schedule() {
        let all = Key::ALL.map(|key| (key, "x".to_owned()));
        let schedule = NamedSchedule::new("all", all);
        for key in Key::ALL {
            let is_kept = schedule.texts().has(key);
            assert_eq!(is_kept, key.describes_schedule(), "{key}");
        }
    }
}
