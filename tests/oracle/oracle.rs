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
    mind::{Demand, Mind, Object},
    phase::Phase,
};

pub(crate) const HOUR: i64 = 3600;
pub(crate) const CATCH_UP: i64 = 72 * HOUR;
const MAX_CORRECTIONS: u32 = 3;

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
    /// Corrections count from here again, if something new is behind it.
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
        mind.known = mind.newest(object, &self.plans, now);
        if !object.wish.names_a_schedule() && object.labels.read() == mind.after_removal(object) {
            // All is gone that goes; the same schedule given back later is a new one.
            mind.known = object.labels.read();
        }
        let (write, demand) = match (object.wish.plan, &asked.complaint) {
            (_, Some(complaint)) => (
                self.refuse(complaint.clone()),
                Demand::Complaint(complaint.clone()),
            ),
            (None, None) => (self.remove(), Demand::Nothing),
            (Some(_), None) => {
                let text = object.wish.schedule_text(&self.plans);
                let held = self.wish_that_counts(now).held(now);
                (Some(self.follow(now, &asked)), Demand::Schedule(text, held))
            }
        };
        let Some(write) = write else { return false };
        self.make(now, write, demand, &asked.calendar)
    }

    /// Rule 7: what `rollout undo` has brought back of an override that had ended is no wish.
    pub(crate) fn wish_that_counts(&self, now: i64) -> Asked {
        let wish = &self.object.wish;
        let (Some(began), Some(mind)) = (self.object.began, &self.mind) else {
            return wish.clone();
        };
        let phase = mind.known.phase.filter(|phase| phase.is_held());
        let is_known = phase.is_some() && mind.known.last == Some(began);
        let is_alike =
            phase.is_some() && wish.held(now) == phase.map(|phase| (phase, mind.known.next));
        if is_known || is_alike {
            wish.clone()
        } else {
            wish.without_overrides()
        }
    }

    fn make(&mut self, now: i64, write: Write, demand: Demand, calendar: &[(i64, Turn)]) -> bool {
        let counts = self.wish_that_counts(now);
        let object = &mut self.object;
        let mut expired = object.wish.clone();
        let lifts = if counts == expired {
            write.lifts && expired.lift(now)
        } else {
            expired = counts;
            write.lifts
        };
        let held = write.labels.phase.is_some_and(Phase::is_held);
        let began = match write.what {
            "refuse" => object.began,
            _ => write.labels.last.filter(|_| held),
        };
        let nothing_new = !lifts
            && write.labels == object.labels
            && write.replicas == object.replicas
            && write.error == object.error
            && began == object.began;
        let Some(mind) = &mut self.mind else {
            return false;
        };
        // Rule 12: a boundary that nobody has looked at yet, or something that is asked for only
        // now; all else is said once more.
        let newest = calendar.iter().rev().find(|(at, _)| *at <= now);
        let passes = newest.is_some_and(|(at, _)| {
            mind.known.last.is_none_or(|last| last < *at) && write.labels.last >= Some(*at)
        });
        // Or the clock was set back, and what is known is from the future.
        let ahead = |labels: &Labels| labels.last > Some(now + HOUR);
        let passes = passes || ahead(&mind.known) && !ahead(&write.labels);
        let is_new = passes || mind.asked.as_ref() != Some(&demand);
        if nothing_new || self.outage || !is_new && mind.corrections >= MAX_CORRECTIONS {
            return false;
        }
        if !is_new {
            mind.corrections += 1;
        } else if write.fresh {
            mind.corrections = 0;
        }
        mind.known = write.labels.clone();
        mind.asked = Some(demand);
        object.began = began;
        if lifts {
            mind.wish = expired.clone();
            mind.seen = now;
            object.wish = expired;
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
            error: Some(complaint),
            ..Write::default()
        })
    }

    /// Rule 11.
    fn remove(&self) -> Option<Write> {
        let mind = self.mind.as_ref()?;
        let is_marked = self.object.error.is_some() || self.object.began.is_some();
        if mind.known.is_only_a_count() && !is_marked {
            return None;
        }
        Some(Write {
            what: "remove",
            labels: mind.after_removal(&self.object),
            replicas: self.object.replicas,
            fresh: true,
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
        let held = self.wish_that_counts(now).held(now);
        if let Some(held) = held.filter(|held| state.phase != Some(held.0)) {
            return self.begin(now, held, owner);
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
        let is_ahead = self.object.labels.last > Some(now + HOUR);
        if held.is_some() {
            return match is_ahead {
                true => self.adopt(now, owner, held, calendar),
                false => self.tidy(now, held, asked),
            };
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
            None if is_ahead => self.adopt(now, owner, None, calendar),
            None => self.tidy(now, None, asked),
        }
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
