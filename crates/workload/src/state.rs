//! The state that dayshift stores in labels on the object itself, and the label `fingerprint`, which
//! ties it to one schedule text on one object: a copied object or an edited schedule has another
//! fingerprint.

use std::fmt;

use chrono::{DateTime, SecondsFormat, SubsecRound, TimeDelta, Utc};
use dayshift_text::{named_enum, number};
use ring::digest::{Context, SHA256};

use crate::{keys::Label, replicas::Replicas};

named_enum! {
    /// The last change of an object: the label `state`.
    pub enum Phase {
        /// Its schedule was observed, and nothing has been scaled since.
        Adopted = "adopted",
        /// The last boundary was a start.
        Running = "running",
        /// The last boundary was a stop.
        Stopped = "stopped",
        /// `wake-until` is active: the object runs.
        Woken = "woken",
        /// `sleep-until` is active: the object is stopped.
        Slept = "slept",
        /// A pause is active: dayshift does not change the object.
        Paused = "paused",
    }
}

impl Phase {
    /// The word in text: `awake` and `asleep`. The label has `woken` and `slept`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Woken => "awake",
            Self::Slept => "asleep",
            _ => self.name(),
        }
    }

    /// Whether the last change was a start. Then a count of 0 was set by a user.
    pub const fn follows_a_start(self) -> bool {
        matches!(self, Self::Running | Self::Woken)
    }

    /// Whether the last change was a stop. Then at most the count in `stop-replicas` should run (0
    /// by default).
    pub const fn follows_a_stop(self) -> bool {
        matches!(self, Self::Stopped | Self::Slept)
    }

    /// Whether an override is active.
    pub const fn is_override(self) -> bool {
        matches!(self, Self::Woken | Self::Slept | Self::Paused)
    }
}

/// The parsed state labels of one object. Missing and invalid labels are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct State {
    /// The last change.
    pub phase: Option<Phase>,
    /// All boundaries up to this time, in whole seconds, have been considered.
    pub last: Option<DateTime<Utc>>,
    /// The next boundary or the end of the active override, at the time of the write.
    pub next: Option<Next>,
    /// The count that the next start restores.
    pub saved: Option<Replicas>,
    /// The value of an on/off field before the stop, as in its label; `None` for other kinds.
    pub saved_value: Option<Box<str>>,
    /// The schedule and the object to which the other labels belong.
    pub fingerprint: Option<Fingerprint>,
    /// The last start from which `stop-after` counts; `None` without `stop-after`, and if something
    /// other than its timer has stopped the object.
    pub started: Option<Started>,
}

/// A start of an object from which `stop-after` counts: the label `started`, such as
/// `2026-11-20T10.20.00Z-7`.
///
/// It stays after the timer has stopped the object. Then it shows that the timer was the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Started {
    /// The time of the start, in whole seconds.
    pub at: DateTime<Utc>,
    /// The revision of the pod template at that time; `None` if it was unknown.
    pub revision: Option<Revision>,
}

/// A revision of a pod template. Another revision shows a deploy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Revision(u32);

impl Revision {
    /// The first revision of a template that has a revision number.
    pub const FIRST: Self = Self(1);

    /// The revision with this number or name. Two names have the same revision with a probability of
    /// 2^-32.
    pub fn from_name(name: &str) -> Self {
        let hash = || u32::try_from(sha256_prefix(name) >> 32).unwrap_or_default();
        Self(number(name).unwrap_or_else(hash))
    }
}

impl Started {
    /// Parses the label `started`.
    pub(super) fn from_label(text: &str) -> Option<Self> {
        let (at, revision) = match text.split_once("Z-") {
            Some((at, revision)) => (format!("{at}Z"), Some(Revision(number(revision)?))),
            None => (text.to_owned(), None),
        };
        let at = parse_time(&at)?;
        Some(Self { at, revision })
    }

    fn to_label(self) -> String {
        let at = label_time(self.at);
        match self.revision {
            Some(Revision(revision)) => format!("{at}-{revision}"),
            None => at,
        }
    }

    /// Whether the clock allows this start. A label with a later time is not ours, or the clock was
    /// set back. It is treated as missing, so that no label keeps an object running.
    pub(super) fn is_possible_at(self, now: DateTime<Utc>) -> bool {
        self.at <= now
    }
}

/// The time of the next change: the label `next`. dayshift always writes it.
///
/// A boundary before it is never due. So if another zone, other calendars or a new version
/// interprets a schedule differently, the schedule does not act on the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Next {
    /// A boundary, or the end of an override. The label has whole seconds.
    At(DateTime<Utc>),
    /// No further boundary. Sorts after every time.
    Never,
}

impl Next {
    /// The label value without a next boundary.
    const NEVER: &'static str = "never";

    /// This time, or never.
    pub fn or_never(at: Option<DateTime<Utc>>) -> Self {
        at.map_or(Self::Never, Self::At)
    }

    /// The time, if any.
    pub const fn at(self) -> Option<DateTime<Utc>> {
        match self {
            Self::At(at) => Some(at),
            Self::Never => None,
        }
    }

    /// Parses the label `next`.
    pub(super) fn from_label(text: &str) -> Option<Self> {
        if text == Self::NEVER {
            return Some(Self::Never);
        }
        parse_time(text).map(Self::At)
    }

    fn to_label(self) -> String {
        self.at().map_or_else(|| Self::NEVER.into(), label_time)
    }
}

/// The values of the state labels on the object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Labels([Option<Box<str>>; Label::ALL.len()]);

impl Labels {
    /// The value of a label.
    pub fn text(&self, label: Label) -> Option<&str> {
        self.0[label as usize].as_deref()
    }

    /// Replaces or removes a value.
    pub fn set(&mut self, label: Label, text: Option<String>) {
        self.0[label as usize] = text.map(String::into_boxed_str);
    }

    /// The `phase` of [`State::from_labels`].
    pub(super) fn phase(&self) -> Option<Phase> {
        self.text(Label::State).and_then(Phase::from_name)
    }

    fn saved(&self) -> Option<Replicas> {
        let text = self.text(Label::SavedReplicas)?;
        Replicas::parse(text).ok()
    }

    /// [`State::remembered`] of [`State::from_labels`].
    pub(super) fn remembered(&self) -> Option<Replicas> {
        remembered(self.phase(), self.saved())
    }

    /// Whether a later version of dayshift wrote them. Such an object must not be changed.
    pub fn are_from_later_version(&self) -> bool {
        self.text(Label::Fingerprint)
            .is_some_and(Fingerprint::is_of_a_later_version)
    }

    /// Whether the object has none of our labels.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }
}

/// The format of a time in a label, where colons are not allowed: RFC 3339 in UTC with dots in the
/// time.
const LABEL_TIME: &str = "%Y-%m-%dT%H.%M.%SZ";

impl State {
    /// Parses the labels. An invalid label is treated as missing.
    pub fn from_labels(labels: &Labels) -> Self {
        let text = |label| labels.text(label);
        Self {
            phase: labels.phase(),
            last: text(Label::Last).and_then(parse_time),
            next: text(Label::Next).and_then(Next::from_label),
            saved: labels.saved(),
            saved_value: text(Label::SavedValue).map(Into::into),
            fingerprint: text(Label::Fingerprint).and_then(Fingerprint::parse),
            started: text(Label::Started).and_then(Started::from_label),
        }
    }

    /// The labels for this state.
    pub fn to_labels(&self) -> Labels {
        let mut labels = Labels::default();
        labels.set(Label::State, self.phase.map(|phase| phase.to_string()));
        labels.set(Label::Last, self.last.map(label_time));
        labels.set(Label::Next, self.next.map(Next::to_label));
        labels.set(
            Label::SavedReplicas,
            self.saved.map(|count| count.to_string()),
        );
        let value = self.saved_value.as_deref();
        labels.set(Label::SavedValue, value.map(str::to_owned));
        labels.set(
            Label::Fingerprint,
            self.fingerprint.as_ref().map(ToString::to_string),
        );
        labels.set(Label::Started, self.started.map(Started::to_label));
        labels
    }

    /// The count that the next start should restore, if known. After a start, this is 0 until a count
    /// is saved. Then the next start keeps the current count. If that count is 0, a user has set it.
    pub fn remembered(&self) -> Option<Replicas> {
        remembered(self.phase, self.saved)
    }

    /// The time of the next boundary or the end of the active override; `None` if there is neither,
    /// or if the label is missing.
    pub fn next_at(&self) -> Option<DateTime<Utc>> {
        self.next?.at()
    }

    /// Whether only a saved count is left, because the schedule was removed.
    pub fn is_only_saved(&self) -> bool {
        let rest = Self {
            saved: None,
            saved_value: None,
            ..self.clone()
        };
        self.saved.is_some() && rest.is_empty()
    }

    /// The state after the schedule is removed while this many run: a larger saved count is kept.
    pub(super) fn after_removal(&self, running: Replicas) -> Self {
        let saved = self.saved.filter(|saved| *saved > running);
        Self {
            saved,
            saved_value: self.saved_value.clone().filter(|_| saved.is_some()),
            ..Self::default()
        }
    }

    /// The value of the annotation `override-began` for this state; `None` without an active
    /// override.
    pub fn override_began(&self) -> Option<Box<str>> {
        self.phase.filter(|phase| phase.is_override())?;
        let began = self.last?.to_rfc3339_opts(SecondsFormat::Secs, true);
        Some(began.into())
    }

    /// Whether all labels are missing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

fn remembered(phase: Option<Phase>, saved: Option<Replicas>) -> Option<Replicas> {
    let has_started = phase.is_some_and(Phase::follows_a_start);
    saved.or(has_started.then_some(Replicas::ZERO))
}

/// Why an object with labels of a later version is not changed.
pub const LATER_VERSION: &str = "its state was written by a later version of dayshift, so this version \
    leaves it unchanged; use that version";

/// How far the label `last` can be ahead of the clock.
const AHEAD: TimeDelta = TimeDelta::hours(1);

/// Whether a `last` is too far ahead of a correct clock to be valid.
pub(super) fn is_from_future(last: DateTime<Utc>, now: DateTime<Utc>) -> bool {
    last - now > AHEAD
}

/// The time without fractions of a second, as in a label.
pub(super) fn whole_second(at: DateTime<Utc>) -> DateTime<Utc> {
    at.trunc_subsecs(0)
}

fn label_time(at: DateTime<Utc>) -> String {
    at.format(LABEL_TIME).to_string()
}

/// Parses a label with a time. The parser for RFC 3339 is many times faster than that for a format, and the labels of
/// thousands of objects are parsed for one page of the dashboard.
pub(super) fn parse_time(text: &str) -> Option<DateTime<Utc>> {
    let mut bytes: [u8; 20] = text.as_bytes().try_into().ok()?;
    if (bytes[10], bytes[13], bytes[16], bytes[19]) != (b'T', b'.', b'.', b'Z') {
        return None;
    }
    (bytes[13], bytes[16]) = (b':', b':');
    let text = str::from_utf8(&bytes).ok()?;
    let at = DateTime::parse_from_rfc3339(text).ok()?;
    Some(at.to_utc())
}

/// A hash of the object's UID, and one of the schedule text.
///
/// The text form is `v2-`, the first 16 hexadecimal digits of the SHA-256 of the UID, `-`, and the
/// first 16 of the SHA-256 of the schedule text. That text consists of the annotations `start stop
/// hours scale timezone except treat-as jitter extra stop-after` in this order, without the missing
/// ones: a line feed, the name, `=`, the length of the value in bytes, `:` and the value. Flags and versions are
/// not included, so an object keeps its fingerprint if dayshift is upgraded or started with another
/// `--timezone`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint {
    /// The hash of the UID.
    object: u64,
    /// The hash of the schedule text.
    text: u64,
}

/// The version in the text form, after `v`.
const VERSION: u32 = 2;

impl Fingerprint {
    /// The fingerprint of a schedule on the object with this UID. `schedule` has the names and
    /// values of its annotations in the documented order.
    pub(crate) fn new<'a>(
        uid: &str,
        schedule: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let mut hash = Context::new(&SHA256);
        for (name, text) in schedule {
            let length = text.len().to_string();
            for part in ["\n", name, "=", &length, ":", text] {
                hash.update(part.as_bytes());
            }
        }
        Self {
            object: sha256_prefix(uid),
            text: first_bytes(hash),
        }
    }

    /// Whether it was made for the object with this UID.
    pub fn belongs_to(self, uid: &str) -> bool {
        self.object == sha256_prefix(uid)
    }

    /// Parses a label value; `None` if it is not a fingerprint of this version.
    pub fn parse(text: &str) -> Option<Self> {
        let hash = |text: &str| {
            let is_hash = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
            u64::from_str_radix(text, 16).ok().filter(|_| is_hash)
        };
        let (version, hashes) = split(text)?;
        let (object, text) = hashes.split_once('-').filter(|_| version == VERSION)?;
        Some(Self {
            object: hash(object)?,
            text: hash(text)?,
        })
    }

    /// Whether a label value is a fingerprint of a later dayshift version. Such an object must not
    /// be changed.
    pub(crate) fn is_of_a_later_version(text: &str) -> bool {
        split(text).is_some_and(|(version, _)| version > VERSION)
    }
}

/// The version of a fingerprint, and the rest.
fn split(text: &str) -> Option<(u32, &str)> {
    let (version, rest) = text.strip_prefix('v')?.split_once('-')?;
    Some((number(version)?, rest))
}

/// The first eight bytes of the SHA-256 of a string. They are the same in every version of
/// dayshift.
pub fn sha256_prefix(text: &str) -> u64 {
    let mut hash = Context::new(&SHA256);
    hash.update(text.as_bytes());
    first_bytes(hash)
}

fn first_bytes(hash: Context) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&hash.finish().as_ref()[..8]);
    u64::from_be_bytes(first)
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{VERSION}-{:016x}-{:016x}", self.object, self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_preserve_the_state() {
        let state = State {
            phase: Some(Phase::Stopped),
            last: parse_time("2026-11-20T10.00.00Z"),
            next: Next::from_label("2026-11-23T00.00.00Z"),
            saved: Some(Replicas::new(3)),
            saved_value: Some("off".into()),
            fingerprint: Fingerprint::parse("v2-0123456789abcdef-0123456789abcdef"),
            started: Started::from_label("2026-11-20T02.00.00Z-7"),
        };
        let labels = state.to_labels();
        assert_eq!(labels.text(Label::Last), Some("2026-11-20T10.00.00Z"));
        assert_eq!(labels.text(Label::SavedReplicas), Some("3"));
        assert_eq!(labels.text(Label::Started), Some("2026-11-20T02.00.00Z-7"));
        assert_eq!(State::from_labels(&labels), state);
        let never = State {
            next: Some(Next::Never),
            ..state
        };
        let labels = never.to_labels();
        assert_eq!(labels.text(Label::Next), Some("never"));
        assert_eq!(State::from_labels(&labels), never);
    }

    #[test]
    fn a_phase_after_a_start_implies_a_remembered_0() {
        for phase in Phase::ALL {
            let state = State {
                phase: Some(phase),
                ..State::default()
            };
            let has_started = matches!(phase, Phase::Running | Phase::Woken);
            let expected = has_started.then_some(Replicas::ZERO);
            assert_eq!(state.remembered(), expected, "{phase}");
            let saved = Some(Replicas::new(3));
            assert_eq!(State { saved, ..state }.remembered(), saved, "{phase}");
        }
    }

    #[test]
    fn override_began_is_the_time_of_the_label_last() {
        let state = |phase| State {
            phase: Some(phase),
            last: parse_time("2026-11-20T10.00.00Z"),
            ..State::default()
        };
        let began = state(Phase::Slept).override_began();
        assert_eq!(began.as_deref(), Some("2026-11-20T10:00:00Z"));
        assert_eq!(state(Phase::Stopped).override_began(), None);
    }

    #[test]
    fn a_time_has_exactly_the_form_in_which_it_is_written() {
        for text in [
            "2026-11-20T10.00.00Z",
            "2024-02-29T23.59.59Z",
            "0001-01-01T00.00.00Z",
        ] {
            assert_eq!(parse_time(text).map(label_time).as_deref(), Some(text));
        }
        for text in [
            "",
            "2026-11-20T10:00:00Z",
            "2026-11-20t10.00.00Z",
            "2026-11-20T10.00.00z",
            "2026-11-20T10.00.00",
            "2026-11-20T10.00.00ZZ",
            "2026-11-20T10.00.0ZZ",
            "2026-02-29T10.00.00Z",
            "2026-11-20T24.00.00Z",
            "2026-11-2\u{e9}T10.00.0Z",
        ] {
            assert_eq!(parse_time(text), None, "{text}");
        }
    }

    #[test]
    fn invalid_labels_are_treated_as_missing() {
        let mut labels = Labels::default();
        labels.set(Label::State, Some("asleep".into()));
        labels.set(Label::Last, Some("yesterday".into()));
        labels.set(Label::SavedReplicas, Some("-3".into()));
        for started in [
            "now",
            "2026-11-20T02.00.00Z-x",
            "2026-11-20T02.00.00Z-",
            "Z-",
            "Z-1",
        ] {
            labels.set(Label::Started, Some(started.into()));
            assert!(State::from_labels(&labels).is_empty(), "{started}");
        }
    }

    #[test]
    fn a_revision_is_its_number_or_a_hash_of_its_name() {
        assert_eq!(Revision::from_name("1"), Revision::FIRST);
        assert_eq!(Revision::from_name("7"), Revision(7));
        let name = Revision::from_name("web-7d9f8c6b5");
        assert_eq!(name, Revision::from_name("web-7d9f8c6b5"));
        assert_ne!(name, Revision::from_name("web-7d9f8c6b6"));
        let started = Started::from_label("2026-11-20T02.00.00Z").unwrap();
        assert_eq!(started.revision, None);
        assert_eq!(started.to_label(), "2026-11-20T02.00.00Z");
    }

    #[test]
    fn parsing_and_printing_are_inverse() {
        let text = "v2-0123456789abcdef-0000000000000000";
        assert_eq!(Fingerprint::parse(text).unwrap().to_string(), text);
        for text in [
            "",
            "v2-",
            "2-0123456789abcdef-0123456789abcdef",
            "vx-0123456789abcdef-0123456789abcdef",
            "v1-0123456789abcdef",
            "v1-0123456789abcdef-0123456789abcdef",
            "v3-0123456789abcdef-0123456789abcdef",
            "v2-0123456789abcdef",
            "v2-0123456789abcdef-",
            "v2-zz23456789abcdef-0123456789abcdef",
            "v2-+123456789abcdef-0123456789abcdef",
            "v2-0123456789abcdef-0123456789abcdef-0",
        ] {
            assert_eq!(Fingerprint::parse(text), None, "{text}");
        }
    }

    #[test]
    fn recognizes_a_fingerprint_of_a_later_version() {
        for (text, is_later) in [
            ("v3-whatever", true),
            ("v10-0123456789abcdef", true),
            ("v2-0123456789abcdef-0000000000000000", false),
            ("v1-0123456789abcdef", false),
            ("v0-0", false),
            ("v3", false),
            ("vx-1", false),
            ("3-x", false),
            ("v99999999999-x", false),
            ("", false),
        ] {
            assert_eq!(Fingerprint::is_of_a_later_version(text), is_later, "{text}");
        }
    }
}
