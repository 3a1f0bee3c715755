//! The side under test: an object on a server, and one or two scalers that obey `decide`.

use std::{collections::VecDeque, rc::Rc, sync::Arc};

use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;
use dayshift::{
    schedule::Zone,
    workload::{
        Change, ChangeKind, Decision, DecisionContext, Inputs, Kind, Labels, Memory, Observed,
        ParsedInputs, Prefix, Replicas, WorkloadRef, decide, read,
    },
};

use crate::{asked::Asked, calendar::Plan, promise::Promise};

pub type Checked = Result<(), String>;

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Fine,
    Lost,
    AnswerLost,
}

pub struct World {
    pub object: Observed,
    pub writes: usize,
    pub outage: bool,
    pub scalers: Vec<Scaler>,
    pub fates: VecDeque<Fate>,
    pub log: Vec<String>,
    pub promise: Promise,
    /// The scaler that is asked first.
    pub first: usize,
    pub now: DateTime<Utc>,
}

/// One scaler: up while it has a memory.
pub struct Scaler {
    mind: Option<Mind>,
    /// It gets no events, and sees what is new only where a write of its own is refused.
    pub lags: bool,
}

struct Mind {
    view: Observed,
    memory: Memory,
    parsed: ParsedInputs,
    seen: DateTime<Utc>,
    zone: Zone,
    due: Option<DateTime<Utc>>,
}

const CATCH_UP: TimeDelta = TimeDelta::hours(72);

pub fn inputs(wish: &Asked, plans: &[Plan]) -> Inputs {
    let texts: Vec<_> = wish
        .annotations(plans)
        .into_iter()
        .map(|(key, text)| (format!("dayshift/{key}"), text))
        .collect();
    let texts = texts.iter().map(|(key, text)| (&**key, &**text));
    Inputs::from_annotations(&Prefix::default(), texts)
}

pub fn object_ref(uid: u32) -> WorkloadRef {
    WorkloadRef {
        kind: Kind::Deployment,
        namespace: format!("dev-{uid}").into(),
        name: "web".into(),
        uid: format!("uid-{uid}").into(),
    }
}

impl World {
    pub fn new(now: DateTime<Utc>, scalers: usize, replicas: u32) -> Self {
        Self {
            object: Observed {
                object: object_ref(0),
                replicas: Replicas::new(replicas),
                inputs: Arc::default(),
                labels: Labels::default(),
                error: None,
                override_began: None,
                has_labels: true,
                has_annotations: true,
                deleting: false,
            },
            writes: 0,
            outage: false,
            scalers: (0..scalers)
                .map(|_| Scaler {
                    mind: None,
                    lags: false,
                })
                .collect(),
            fates: VecDeque::new(),
            log: Vec::new(),
            promise: Promise::new(replicas),
            first: 0,
            now,
        }
    }

    pub fn start(&mut self, scaler: usize, zone: Tz) -> Checked {
        let zone = Zone::parse(zone.name()).unwrap();
        self.scalers[scaler].lags = false;
        self.scalers[scaler].mind = Some(Mind::of(&self.object, zone, self.now));
        self.settle()
    }

    pub fn end(&mut self, scaler: usize) {
        self.scalers[scaler].mind = None;
    }

    pub fn runs(&self, scaler: usize) -> bool {
        self.scalers[scaler].mind.is_some()
    }

    /// Lets time pass; every instant that a scaler waits for is kept.
    pub fn advance(&mut self, to: DateTime<Utc>) -> Checked {
        loop {
            let awaited = self.scalers.iter().filter_map(|it| it.mind.as_ref()?.due);
            let Some(due) = awaited.min().filter(|due| *due <= to) else {
                self.now = to;
                return Ok(());
            };
            self.now = self.now.max(due);
            for scaler in self.order() {
                let mind = self.scalers[scaler].mind.as_mut();
                if mind.is_some_and(|mind| mind.due.take_if(|due| *due <= self.now).is_some()) {
                    self.obey(scaler)?;
                }
            }
            self.settle()?;
        }
    }

    /// Shows the object to every scaler that gets events, until none has anything more to do.
    pub fn settle(&mut self) -> Checked {
        for _ in 0..9 {
            let before = self.log.len();
            for scaler in self.order() {
                self.show(scaler);
                if !self.scalers[scaler].lags {
                    self.obey(scaler)?;
                }
            }
            if self.log.len() == before {
                return Ok(());
            }
        }
        Err("it never has enough".into())
    }

    fn order(&self) -> Vec<usize> {
        let count = self.scalers.len();
        (0..count).map(|next| (self.first + next) % count).collect()
    }

    fn show(&mut self, scaler: usize) {
        let scaler = &mut self.scalers[scaler];
        if let Some(mind) = scaler.mind.as_mut().filter(|_| !scaler.lags) {
            mind.show(&self.object, self.now);
        }
    }

    /// Asks one scaler what to do until it says to wait.
    fn obey(&mut self, scaler: usize) -> Checked {
        for _ in 0..30 {
            let now = self.now;
            let Some(mind) = &mut self.scalers[scaler].mind else {
                return Ok(());
            };
            let change = match mind.decide(now) {
                Decision::Wait { due } | Decision::CorrectionLimitReached { due, .. } => {
                    return mind.wait(due, now);
                }
                Decision::Write(change) => change,
            };
            if mind.decide(now) != Decision::Write(change.clone()) {
                return Err("asked twice, it says two things".into());
            }
            crate::legal::check(&mind.view, &change, now)?;
            if self.outage {
                return Ok(());
            }
            if mind.view != self.object {
                mind.show(&self.object, now);
                continue;
            }
            let fate = self.fates.pop_front().unwrap_or(Fate::Fine);
            if fate == Fate::Lost {
                continue;
            }
            let view = mind.view.clone();
            self.make(&change);
            if fate == Fate::Fine
                && let Some(mind) = &mut self.scalers[scaler].mind
            {
                mind.memory.wrote(&view, &change);
                mind.show(&self.object, now);
            }
        }
        Err("it never has enough".into())
    }

    fn make(&mut self, change: &Change) {
        let at = self.now.format("%a %F %T");
        let (from, to) = (self.object.replicas, change.replicas);
        self.log.push(format!(
            "{at} {:?} {from} -> {to}, {:?}",
            change.kind, change.state
        ));
        self.promise.made(&self.object, change);
        self.writes += usize::from(!self.is_echo(change));
        self.object.replicas = change.replicas;
        self.object.labels = change.state.to_labels();
        self.object.error.clone_from(&change.error);
        self.object
            .override_began
            .clone_from(&change.override_began);
        let inputs = Inputs::clone(&self.object.inputs);
        self.object.inputs = Arc::new(inputs.without(&change.expired));
    }
}

impl World {
    /// After a clock was set back each scaler finds for itself that what it knows is from the
    /// future, and adopts; the second time changes nothing.
    fn is_echo(&self, change: &Change) -> bool {
        let same = change.state == self.object.state() && change.error == self.object.error;
        self.scalers.len() > 1 && matches!(change.kind, ChangeKind::Adopt(_)) && same
    }
}

impl Mind {
    fn of(object: &Observed, zone: Zone, now: DateTime<Utc>) -> Self {
        Self {
            parsed: read(&object.inputs, zone),
            view: object.clone(),
            memory: Memory::of(object),
            seen: now,
            zone,
            due: None,
        }
    }

    fn show(&mut self, object: &Observed, now: DateTime<Utc>) {
        if self.view.object != object.object {
            *self = Self::of(object, self.zone, now);
            return;
        }
        if self.view.inputs != object.inputs {
            self.parsed = read(&object.inputs, self.zone);
            self.seen = now;
        }
        self.memory.observe(object, now);
        self.view = object.clone();
    }

    fn decide(&self, now: DateTime<Utc>) -> Decision {
        let context = DecisionContext {
            parsed: &self.parsed,
            observed: &self.view,
            memory: &self.memory,
            seen: self.seen,
            catch_up: CATCH_UP,
            prefix: &Prefix::default(),
        };
        decide(&context, now)
    }

    /// Waits for what is due, which is to come, and before which there is nothing to do.
    fn wait(&mut self, due: Option<DateTime<Utc>>, now: DateTime<Utc>) -> Checked {
        self.due = due;
        let Some(due) = due else { return Ok(()) };
        if due <= now {
            return Err(format!("it waits for {due}, which has gone by"));
        }
        let just_before = self.decide(due - TimeDelta::nanoseconds(1));
        let waits = match just_before {
            Decision::Wait { due: same } | Decision::CorrectionLimitReached { due: same, .. } => {
                same == Some(due)
            }
            Decision::Write(_) => false,
        };
        if waits {
            Ok(())
        } else {
            Err(format!("just before {due} it says {just_before:?}"))
        }
    }
}

/// The parts of reading that the oracle takes as given.
pub struct ParseCache {
    pub plans: Rc<[Plan]>,
}

impl crate::oracle::Given for ParseCache {
    fn complaint(&self, wish: &Asked) -> Option<String> {
        match read(&inputs(wish, &self.plans), Zone::UTC) {
            ParsedInputs::Invalid(refusal) => Some(refusal.text(&Prefix::default())),
            _ => None,
        }
    }

    fn delay(&self, wish: &Asked, uid: u32) -> i64 {
        match read(&inputs(wish, &self.plans), Zone::UTC) {
            ParsedInputs::Scheduled(spec) => spec.delay(&object_ref(uid)).num_seconds(),
            _ => 0,
        }
    }
}
