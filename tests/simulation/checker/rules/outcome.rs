//! An outcome: one write that the rules allow.

use std::fmt;

use crate::{
    checker::objects::object::{NEVER, Object, State},
    scenario::calendar::show,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub kind: WriteKind,
    pub state: State,
    /// The latest possible value of `last`, if the value is not known to the second.
    pub last_until: Option<i64>,
    /// Whether `next` must be the first boundary after `last`.
    pub follows: bool,
    pub replicas: u32,
    pub expired: Vec<&'static str>,
    pub error: Option<String>,
    /// When the write is due.
    pub due: Option<i64>,
    /// Whether the write considers a new boundary.
    pub considers: bool,
    /// Whether the write adopts the current schedule.
    pub adopts: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteKind {
    Start,
    Stop,
    Scale,
    Wake,
    Sleep,
    Pause,
    Adopt,
    Refuse,
    Remove,
    Tidy,
    Enforce,
}

impl WriteKind {
    /// Whether it is a start or a stop, by a boundary or an override.
    pub const fn is_transition(self) -> bool {
        matches!(
            self,
            Self::Start | Self::Stop | Self::Scale | Self::Wake | Self::Sleep
        )
    }

    /// Whether the count of corrections starts again.
    pub const fn restarts_correction_count(self) -> bool {
        matches!(
            self,
            Self::Start
                | Self::Stop
                | Self::Scale
                | Self::Wake
                | Self::Sleep
                | Self::Adopt
                | Self::Remove
        )
    }
}

impl Outcome {
    /// Whether the write changes only `next`, which another controller might have written with its own value.
    pub(crate) fn corrects_only_next(&self, object: &Object, now: i64) -> bool {
        let state = State {
            next: object.state.next,
            ..self.state.clone()
        };
        object.state.next.is_some_and(|next| next > now)
            && self.kind == WriteKind::Tidy
            && self.expired.is_empty()
            && (state, self.replicas) == (object.state.clone(), object.replicas)
            && self.error == object.error
            && self.state.began() == object.began
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |at: Option<i64>| at.map_or_else(|| "-".to_owned(), show);
        let Self {
            kind,
            state,
            replicas,
            expired,
            ..
        } = self;
        write!(
            f,
            "{kind:?}: -> {replicas}, {:?}, last {}",
            state.phase,
            at(state.last)
        )?;
        if let Some(until) = self.last_until {
            write!(f, " to {}", show(until))?;
        }
        let next = if self.follows {
            "what follows".to_owned()
        } else {
            at(state.next.filter(|next| *next != NEVER))
        };
        write!(
            f,
            ", next {next}, saved {:?}, removes {expired:?}",
            state.saved
        )
    }
}
