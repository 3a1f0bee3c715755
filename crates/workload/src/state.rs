//! What dayshift remembers of an object, in the labels on the object itself.

use std::fmt;

use chrono::{DateTime, NaiveDateTime, SecondsFormat, SubsecRound, TimeDelta, Utc};

use crate::{fingerprint::Fingerprint, keys::Label, replicas::Replicas};

/// What was done to an object last: the label `state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// Its schedule was seen; nothing has been scaled since.
    Adopted,
    /// The last boundary was a start.
    Running,
    /// The last boundary was a stop.
    Stopped,
    /// `wake-until` is active: the object runs.
    Woken,
    /// `sleep-until` is active: the object is stopped.
    Slept,
    /// A pause is active: dayshift leaves the object alone.
    Paused,
}

impl Phase {
    /// Every phase, in the order of the documentation.
    pub const ALL: [Self; 6] = [
        Self::Adopted,
        Self::Running,
        Self::Stopped,
        Self::Woken,
        Self::Slept,
        Self::Paused,
    ];

    /// The text of the label.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Adopted => "adopted",
            Self::Running => "running",
            Self::Stopped => "stopped",
            Self::Woken => "woken",
            Self::Slept => "slept",
            Self::Paused => "paused",
        }
    }

    /// Reads the text of the label `state`.
    pub(super) fn from_label(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.name() == text)
    }

    /// Whether the last thing done was a start of ours, so that a 0 seen since is somebody's wish.
    pub const fn follows_a_start(self) -> bool {
        matches!(self, Self::Running | Self::Woken)
    }

    /// Whether the last thing done was a stop of ours, so that nothing more should run.
    pub const fn follows_a_stop(self) -> bool {
        matches!(self, Self::Stopped | Self::Slept)
    }

    /// Whether an override holds the object.
    pub const fn is_override(self) -> bool {
        matches!(self, Self::Woken | Self::Slept | Self::Paused)
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The state labels of one object, parsed. What is absent or unreadable is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct State {
    /// What was done last.
    pub phase: Option<Phase>,
    /// Everything up to this instant, in whole seconds, has been considered.
    pub last: Option<DateTime<Utc>>,
    /// The next boundary, or the end of the active override, as it was when the state was written.
    pub next: Option<Next>,
    /// The count to come back to.
    pub saved: Option<Replicas>,
    /// What the field of a switch held before it was turned off, as its label says it; `None` for
    /// every other kind.
    pub saved_value: Option<Box<str>>,
    /// Which schedule, on which object, the rest belongs to.
    pub fingerprint: Option<Fingerprint>,
}

/// What comes next for an object: the label `next`. Every state that dayshift writes says it.
///
/// No boundary before it is ever carried out, so that a schedule that another zone, other calendars
/// or a new version reads differently does not act backwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Next {
    /// A boundary, or the end of an override. The label holds whole seconds.
    At(DateTime<Utc>),
    /// Nothing. It is later than every instant.
    Never,
}

impl Next {
    /// The text of the label where nothing comes.
    const NEVER: &'static str = "never";

    /// That instant, or never.
    pub fn or_never(at: Option<DateTime<Utc>>) -> Self {
        at.map_or(Self::Never, Self::At)
    }

    /// When, if ever.
    pub const fn at(self) -> Option<DateTime<Utc>> {
        match self {
            Self::At(at) => Some(at),
            Self::Never => None,
        }
    }

    /// Reads the text of the label `next`.
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

/// The texts of the state labels, as they stand on the object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Labels([Option<Box<str>>; Label::ALL.len()]);

impl Labels {
    /// The text of a label.
    pub fn text(&self, label: Label) -> Option<&str> {
        self.0[label as usize].as_deref()
    }

    /// Puts a text in place of another, or takes it away.
    pub fn set(&mut self, label: Label, text: Option<String>) {
        self.0[label as usize] = text.map(String::into_boxed_str);
    }

    /// Whether a later version of dayshift wrote them, whose object is left alone.
    pub fn are_from_later_version(&self) -> bool {
        self.text(Label::Fingerprint)
            .is_some_and(Fingerprint::is_of_a_later_version)
    }

    /// Whether no label of ours is there.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }
}

/// How an instant stands in a label, which takes no colon: RFC 3339 in UTC with dots in the time.
const LABEL_TIME: &str = "%Y-%m-%dT%H.%M.%SZ";

impl State {
    /// Reads the labels; one that cannot be read is as good as absent.
    pub fn from_labels(labels: &Labels) -> Self {
        let text = |label| labels.text(label);
        Self {
            phase: text(Label::State).and_then(Phase::from_label),
            last: text(Label::Last).and_then(parse_time),
            next: text(Label::Next).and_then(Next::from_label),
            saved: text(Label::SavedReplicas).and_then(|text| Replicas::parse(text).ok()),
            saved_value: text(Label::SavedValue).map(Into::into),
            fingerprint: text(Label::Fingerprint).and_then(Fingerprint::parse),
        }
    }

    /// The labels that hold this state.
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
        labels
    }

    /// The count to come back to, as far as it is known. Where nothing has been saved since
    /// a start of ours it is 0: less than what runs, and a 0 seen since is somebody's wish.
    pub fn remembered(&self) -> Option<Replicas> {
        let has_started = self.phase.is_some_and(Phase::follows_a_start);
        self.saved.or(has_started.then_some(Replicas::ZERO))
    }

    /// When the next boundary comes, or the active override ends; `None` where neither does, or no
    /// label says so.
    pub fn next_at(&self) -> Option<DateTime<Utc>> {
        self.next?.at()
    }

    /// Whether a saved count is all there is: the schedule was removed.
    pub fn is_only_saved(&self) -> bool {
        let rest = Self {
            saved: None,
            saved_value: None,
            ..self.clone()
        };
        self.saved.is_some() && rest.is_empty()
    }

    /// What stays when the schedule is removed and this many run: a saved count that is
    /// more than that.
    pub(super) fn after_removal(&self, running: Replicas) -> Self {
        let saved = self.saved.filter(|saved| *saved > running);
        Self {
            saved,
            saved_value: self.saved_value.clone().filter(|_| saved.is_some()),
            ..Self::default()
        }
    }

    /// The text of the annotation `override-began` beside this state; `None` while no override
    /// holds.
    pub fn override_began(&self) -> Option<Box<str>> {
        self.phase.filter(|phase| phase.is_override())?;
        let began = self.last?.to_rfc3339_opts(SecondsFormat::Secs, true);
        Some(began.into())
    }

    /// Whether none of the labels is there.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// How far ahead of the clock a `last` may be before it is not believed.
const AHEAD: TimeDelta = TimeDelta::hours(1);

/// Whether a `last` is too far ahead of a good clock to be believed.
pub(super) fn is_from_future(last: DateTime<Utc>, now: DateTime<Utc>) -> bool {
    last - now > AHEAD
}

/// `at` without its fraction of a second: all that a label can hold.
pub(super) fn whole_second(at: DateTime<Utc>) -> DateTime<Utc> {
    at.trunc_subsecs(0)
}

/// The text of a label that holds an instant.
fn label_time(at: DateTime<Utc>) -> String {
    at.format(LABEL_TIME).to_string()
}

/// Reads the text of a label that holds an instant.
pub(super) fn parse_time(text: &str) -> Option<DateTime<Utc>> {
    NaiveDateTime::parse_from_str(text, LABEL_TIME)
        .ok()
        .map(|at| at.and_utc())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_hold_a_state_and_give_it_back() {
        let state = State {
            phase: Some(Phase::Stopped),
            last: parse_time("2026-11-20T10.00.00Z"),
            next: Next::from_label("2026-11-23T00.00.00Z"),
            saved: Some(Replicas::new(3)),
            saved_value: Some("off".into()),
            fingerprint: Fingerprint::parse("v2-0123456789abcdef-0123456789abcdef"),
        };
        let labels = state.to_labels();
        assert_eq!(labels.text(Label::Last), Some("2026-11-20T10.00.00Z"));
        assert_eq!(labels.text(Label::SavedReplicas), Some("3"));
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
    fn a_start_that_nothing_was_saved_since_is_remembered_as_0() {
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
    fn when_an_override_began_is_when_it_was_considered() {
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
    fn what_cannot_be_read_is_absent() {
        let mut labels = Labels::default();
        labels.set(Label::State, Some("asleep".into()));
        labels.set(Label::Last, Some("yesterday".into()));
        labels.set(Label::SavedReplicas, Some("-3".into()));
        assert!(State::from_labels(&labels).is_empty());
    }
}
