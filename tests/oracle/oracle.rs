//! What is to become of an object by the rules that the documentation gives users, one small step
//! at a time. No code is shared with `decide`: texts are not parsed but painted, instants are
//! plain seconds, and what was missed is looked up in the painted calendar.

use std::{collections::HashMap, rc::Rc};

use chrono::NaiveDate;
use chrono_tz::Tz;

use crate::{
    asked::Asked,
    calendar::{Plan, Turn, show},
    labels::{Labels, Owner},
    mind::{Mind, Object},
    phase::Phase,
};

const HOUR: i64 = 3600;
pub(crate) const CATCH_UP: i64 = 72 * HOUR;
const PATIENCE: u32 = 3;

/// What the oracle takes as given: how texts that are wrong are complained of, and how long this
/// object's starts wait.
pub trait Given {
    fn complaint(&self, wish: &Asked) -> Option<String>;
    fn delay(&self, wish: &Asked, uid: u32) -> i64;
}

pub struct Oracle<G> {
    pub object: Object,
    pub writes: usize,
    pub outage: bool,
    pub zone: Tz,
    pub log: Vec<String>,
    plans: Rc<[Plan]>,
    dates: (NaiveDate, NaiveDate),
    given: G,
    calendars: HashMap<(usize, Tz, i64), Calendar>,
    asked: Option<Rc<Question>>,
    pub(crate) mind: Option<Mind>,
    clock: i64,
}

pub type Calendar = Rc<[(i64, Turn)]>;

/// What the annotations ask for, until they or the zone change.
pub(crate) struct Question {
    by: (Asked, u32, Tz),
    complaint: Option<String>,
    pub(crate) calendar: Calendar,
    /// What the schedule says before its first boundary.
    pub(crate) before: Option<Turn>,
}

/// A write that is called for.
#[derive(Default)]
pub(crate) struct Write {
    pub(crate) what: &'static str,
    pub(crate) labels: Labels,
    pub(crate) replicas: u32,
    pub(crate) error: Option<String>,
    pub(crate) corrective: bool,
    /// Corrections count from here again.
    pub(crate) fresh: bool,
    /// The annotations that are over go with it.
    pub(crate) lifts: bool,
}

impl<G: Given> Oracle<G> {
    pub fn new(
        object: Object,
        plans: Rc<[Plan]>,
        dates: (NaiveDate, NaiveDate),
        zone: Tz,
        given: G,
    ) -> Self {
        Self {
            object,
            writes: 0,
            outage: false,
            zone,
            log: Vec::new(),
            plans,
            dates,
            given,
            calendars: HashMap::new(),
            asked: None,
            mind: None,
            clock: 0,
        }
    }

    /// Whether a scaler remembers a state that it can put back.
    pub fn remembers(&self) -> bool {
        self.mind
            .as_ref()
            .is_some_and(|mind| mind.known.last.is_some())
    }

    pub fn corrections(&self) -> u32 {
        self.mind.as_ref().map_or(0, |mind| mind.corrections)
    }

    /// A scaler starts: all it knows is on the object.
    pub fn start(&mut self, now: i64) {
        self.mind = Some(Mind::of(&self.object, now));
        self.look(now);
    }

    pub fn end(&mut self) {
        self.mind = None;
    }

    /// Whether a scaler runs.
    pub fn runs(&self) -> bool {
        self.mind.is_some()
    }

    /// The boundaries of the schedule as it stands on the object; none where it is refused.
    pub fn calendar(&mut self) -> Calendar {
        self.asked().calendar.clone()
    }

    /// One step of time: what lies on the way is done at its instant.
    pub fn advance(&mut self, to: i64) {
        let calendar = self.calendar();
        let ends = self.object.wish.ends();
        let mut instants: Vec<i64> = calendar.iter().map(|(at, _)| *at).chain(ends).collect();
        instants.retain(|at| self.clock < *at && *at <= to);
        instants.sort_unstable();
        for at in instants {
            self.settle(at);
        }
        self.clock = to;
    }

    /// The clock is set: nothing lies on the way.
    pub fn jump(&mut self, to: i64) {
        self.clock = to;
        self.look(to);
    }

    /// The scaler is shown the object as it is now.
    pub fn look(&mut self, now: i64) {
        self.clock = now;
        let Some(mind) = &mut self.mind else { return };
        if mind.uid != self.object.uid {
            *mind = Mind::of(&self.object, now);
        }
        let texts = |wish: &Asked| wish.annotations(&self.plans);
        if texts(&mind.wish) != texts(&self.object.wish) {
            mind.wish = self.object.wish.clone();
            mind.seen = now;
        }
        self.settle(now);
    }

    fn settle(&mut self, now: i64) {
        while self.step(now) {}
    }

    /// At most one write; whether there was one.
    fn step(&mut self, now: i64) -> bool {
        let asked = self.asked();
        let object = &self.object;
        let Some(mind) = &mut self.mind else {
            return false;
        };
        if object.labels.owner == Some(Owner::Later) {
            return false;
        }
        let newest = mind.newest(object);
        if newest.last != mind.known.last {
            mind.stop = object.wish.stop_count();
            mind.next = newest.next;
        }
        mind.known = newest;
        if !object.wish.names_a_schedule() && object.labels.read() == mind.after_removal(object) {
            // All is gone that goes; the same schedule given back later is a new one.
            mind.known = object.labels.read();
        }
        let write = match (object.wish.plan, &asked.complaint) {
            (_, Some(complaint)) => self.refuse(complaint.clone()),
            (None, None) => self.remove(),
            (Some(_), None) => Some(self.follow(now, &asked)),
        };
        let Some(write) = write else { return false };
        self.make(now, write)
    }

    fn make(&mut self, now: i64, write: Write) -> bool {
        let object = &mut self.object;
        let mut lifted = object.wish.clone();
        let lifts = write.lifts && lifted.lift(now);
        let nothing_new = !lifts
            && write.labels == object.labels
            && write.replicas == object.replicas
            && write.error == object.error;
        let Some(mind) = &mut self.mind else {
            return false;
        };
        if nothing_new || self.outage || write.corrective && mind.corrections >= PATIENCE {
            return false;
        }
        if write.fresh {
            mind.corrections = 0;
        } else if write.corrective {
            mind.corrections += 1;
        }
        if write.labels.last != mind.known.last {
            mind.stop = object.wish.stop_count();
        }
        mind.known = write.labels.clone();
        mind.error.clone_from(&write.error);
        mind.next = write.labels.next;
        if lifts {
            mind.wish = lifted.clone();
            mind.seen = now;
            object.wish = lifted;
        }
        object.labels = write.labels;
        object.replicas = write.replicas;
        object.error = write.error;
        self.writes += 1;
        self.log.push(format!("{} {}", show(now), write.what));
        true
    }

    /// Rule 8.
    fn refuse(&self, complaint: String) -> Option<Write> {
        let mind = self.mind.as_ref()?;
        Some(Write {
            what: "refuse",
            labels: Labels {
                next: None,
                ..mind.known.clone()
            },
            replicas: self.object.replicas,
            corrective: mind.error.as_ref() == Some(&complaint),
            error: Some(complaint),
            ..Write::default()
        })
    }

    /// Rule 11.
    fn remove(&self) -> Option<Write> {
        let mind = self.mind.as_ref()?;
        if mind.known.is_only_a_count() && self.object.error.is_none() {
            return None;
        }
        Some(Write {
            what: "remove",
            labels: mind.after_removal(&self.object),
            replicas: self.object.replicas,
            ..Write::default()
        })
    }

    fn follow(&self, now: i64, asked: &Question) -> Write {
        let Some(mind) = &self.mind else {
            unreachable!()
        };
        let (state, calendar) = (&mind.known, &asked.calendar);
        let owner = Owner::Of(self.object.wish.schedule_text(&self.plans), self.object.uid);
        let is_ours = state.last.is_some() && state.owner.as_ref() == Some(&owner);
        // Rule 7: what is laid over the schedule.
        let held = self.object.wish.held(now);
        if let Some(held) = held.filter(|held| state.phase != Some(held.0)) {
            return self.begin(now, held, is_ours, owner);
        }
        if matches!(held, Some((Phase::Paused, _))) {
            return self.tidy(now, held, asked);
        }
        // Rules 3 and 10: what is not the state of this schedule on this object is adopted, as of
        // when it was seen.
        let Some(last) = state.last.filter(|_| is_ours) else {
            let considered = state.last.filter(|last| *last <= now);
            let seen = self.let_go(now).unwrap_or(mind.seen.min(now));
            return self.adopt(considered.unwrap_or(seen).max(seen), owner, held, calendar);
        };
        // Rule 13.
        if last > now + HOUR {
            return self.adopt(now, owner, held, calendar);
        }
        if held.is_some() {
            return self.tidy(now, held, asked);
        }
        if state.phase.is_some_and(Phase::is_held) {
            return self.release(now, owner, asked);
        }
        // Rule 1.
        let mut passed = calendar
            .iter()
            .filter(|(at, _)| last < *at && *at <= now)
            .filter(|(at, _)| state.next.is_none_or(|next| next <= *at));
        match passed.next_back() {
            Some((at, _)) if now - at > CATCH_UP => self.adopt(now, owner, None, calendar),
            Some((at, turn)) => self.turn(*at, *turn, calendar),
            None => self.tidy(now, None, asked),
        }
    }

    pub(crate) fn adopt(
        &self,
        last: i64,
        owner: Owner,
        held: Option<(Phase, Option<i64>)>,
        calendar: &[(i64, Turn)],
    ) -> Write {
        let saved = self.mind.as_ref().and_then(|mind| mind.known.saved);
        let (phase, next) = held.unwrap_or((Phase::Adopted, next_after(calendar, last)));
        Write {
            what: "adopt",
            labels: Labels {
                phase: Some(phase),
                last: Some(last),
                next,
                saved: saved.filter(|_| self.is_down()),
                owner: Some(owner),
                ..Labels::default()
            },
            replicas: self.object.replicas,
            fresh: true,
            lifts: true,
            ..Write::default()
        }
    }

    /// Rule 4.
    pub(crate) fn turn(&self, at: i64, turn: Turn, calendar: &[(i64, Turn)]) -> Write {
        let Some(mind) = &self.mind else {
            unreachable!()
        };
        let state = mind.known.clone();
        let (seen, wish) = (self.object.replicas, &self.object.wish);
        let after_our_start = matches!(state.phase, Some(Phase::Running | Phase::Woken));
        let (what, phase, replicas, saved) = match turn {
            Turn::On => {
                let least = match state.saved {
                    Some(saved) => saved,
                    None if after_our_start => 0,
                    None => 1,
                };
                let count = wish.replicas.unwrap_or(seen.max(least));
                ("start", Phase::Running, count, None)
            }
            Turn::Off => {
                let wanted = (seen > 0 || after_our_start).then_some(seen);
                let count = seen.min(wish.stop_count());
                ("stop", Phase::Stopped, count, state.saved.max(wanted))
            }
        };
        let last = state.last.map_or(at, |last| last.max(at));
        Write {
            what,
            labels: Labels {
                phase: Some(phase),
                last: Some(last),
                next: next_after(calendar, last),
                saved,
                ..state
            },
            replicas,
            fresh: true,
            lifts: true,
            ..Write::default()
        }
    }

    pub(crate) fn is_down(&self) -> bool {
        self.mind
            .as_ref()
            .is_some_and(|mind| mind.is_down(&self.object))
    }

    fn asked(&mut self) -> Rc<Question> {
        let (wish, uid) = (&self.object.wish, self.object.uid);
        let unchanged =
            |asked: &&Rc<Question>| (&asked.by.0, asked.by.1, asked.by.2) == (wish, uid, self.zone);
        if let Some(asked) = self.asked.as_ref().filter(unchanged) {
            return asked.clone();
        }
        let complaint = self.given.complaint(wish);
        let calendar = match wish.plan.filter(|_| complaint.is_none()) {
            Some(plan) => {
                let delay = self.given.delay(wish, uid);
                let paint = || {
                    self.plans[plan]
                        .boundaries(self.zone, self.dates, delay)
                        .into()
                };
                let key = (plan, self.zone, delay);
                self.calendars.entry(key).or_insert_with(paint).clone()
            }
            None => Rc::new([]),
        };
        let by = (wish.clone(), uid, self.zone);
        let plan = wish.plan.map(|plan| &self.plans[plan]);
        let asked = Rc::new(Question {
            before: plan.and_then(|plan| plan.before(&calendar)),
            by,
            complaint,
            calendar,
        });
        self.asked = Some(asked.clone());
        asked
    }
}

pub(crate) fn next_after(calendar: &[(i64, Turn)], after: i64) -> Option<i64> {
    let mut later = calendar.iter().map(|(at, _)| *at);
    later.find(|at| *at > after)
}
