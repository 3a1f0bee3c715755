//! What waits to be sent: transitions before adoptions before Events.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};

use crate::workload::{Decision, Notice, ObjectRef};

use super::index::Id;

/// An Event to be sent.
pub(super) struct Announcement {
    pub(super) object: ObjectRef,
    pub(super) notice: Notice,
    pub(super) at: DateTime<Utc>,
    pub(super) tries: u32,
}

/// The next thing to send.
pub(super) enum Job {
    /// Decide about this object, and send what comes of it.
    Decide(Id),
    /// Send this Event.
    Announce(Box<Announcement>),
}

/// Three queues, the first that is not empty is served.
#[derive(Default)]
pub(super) struct Queue {
    transitions: VecDeque<Id>,
    adoptions: VecDeque<Id>,
    announcements: VecDeque<Announcement>,
}

/// Events beyond this many are dropped: they only tell what the labels show as well.
const MOST_ANNOUNCEMENTS: usize = 20_000;

impl Queue {
    /// Queues an object behind those that wait for the same kind of change.
    pub(super) fn push(&mut self, id: Id, decision: &Decision) {
        match decision {
            Decision::Write(change) if change.kind.is_transition() => self.push_transition(id),
            _ => self.adoptions.push_back(id),
        }
    }

    /// Queues an object whose boundary has come.
    pub(super) fn push_transition(&mut self, id: Id) {
        self.transitions.push_back(id);
    }

    /// Queues an Event; false where it is dropped.
    pub(super) fn announce(&mut self, announcement: Announcement) -> bool {
        let room = self.announcements.len() < MOST_ANNOUNCEMENTS;
        if room {
            self.announcements.push_back(announcement);
        }
        room
    }

    /// The first of what waits; a transition, where those alone are to go.
    pub(super) fn pop(&mut self, transitions_alone: bool) -> Option<Job> {
        if let Some(id) = self.transitions.pop_front() {
            return Some(Job::Decide(id));
        }
        if transitions_alone {
            return None;
        }
        self.adoptions.pop_front().map(Job::Decide).or_else(|| {
            self.announcements
                .pop_front()
                .map(|event| Job::Announce(Box::new(event)))
        })
    }

    /// Whether there is something to pop.
    pub(super) fn waits(&self, transitions_alone: bool) -> bool {
        let [transitions, rest @ ..] = self.depths().map(|(_, depth)| depth);
        transitions > 0 || !transitions_alone && rest.iter().any(|depth| *depth > 0)
    }

    /// How many wait, by kind.
    pub(super) fn depths(&self) -> [(&'static str, usize); 3] {
        [
            ("transition", self.transitions.len()),
            ("adoption", self.adoptions.len()),
            ("event", self.announcements.len()),
        ]
    }
}
