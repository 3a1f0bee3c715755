//! A story, told to dayshift and to the oracle, minute by minute.

use std::{collections::HashMap, rc::Rc, sync::Arc};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift::workload::{Fingerprint, Label, Labels, Observed, Phase, Replicas, State};

use crate::{
    asked::Asked,
    calendar::{Plan, show},
    labels::{self, Owner},
    mind::Object,
    oracle::Oracle,
    phase,
    story::Story,
    world::{Checked, ParseCache, World, inputs, object_ref},
};

pub struct Run {
    pub(crate) world: World,
    pub(crate) oracle: Oracle<ParseCache>,
    pub(crate) plans: Rc<[Plan]>,
    pub(crate) snapshots: Vec<(Object, Observed)>,
    pub(crate) now: DateTime<Utc>,
    pub(crate) uids: u32,
    fingerprints: HashMap<(String, u32), Fingerprint>,
    horizon: i64,
    compared: (usize, usize),
}

/// How much happened in a story, to see that stories are worth telling.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub minutes: usize,
    pub writes: usize,
    pub transitions: usize,
}

pub fn tell(story: &Story) -> Result<Tally, String> {
    let mut run = Run::new(story);
    let ended = run.tell(story);
    let logs = || {
        let last = |log: &[String]| log[log.len().saturating_sub(12)..].join("\n    ");
        let (ours, its) = (last(&run.world.log), last(&run.oracle.log));
        format!("  dayshift:\n    {ours}\n  oracle:\n    {its}")
    };
    ended.map_err(|why| format!("{why}\n{}", logs()))?;
    let log = &run.world.log;
    Ok(Tally {
        minutes: usize::try_from(story.days).unwrap() * 1440,
        writes: run.world.writes,
        transitions: log
            .iter()
            .filter(|it| {
                ["Start", "Stop ", "Wake", "Sleep"]
                    .iter()
                    .any(|kind| it.contains(kind))
            })
            .count(),
    })
}

impl Run {
    fn new(story: &Story) -> Self {
        let plans: Rc<[Plan]> = story.plans.clone().into();
        let object = Object {
            uid: 0,
            replicas: story.replicas,
            wish: Asked::default(),
            labels: labels::Labels::default(),
            error: None,
            began: None,
        };
        let parse_cache = ParseCache {
            plans: plans.clone(),
        };
        let dates = story.dates();
        let mut run = Self {
            world: World::new(story.begin, story.scalers, story.replicas),
            oracle: Oracle::new(object, plans.clone(), dates, story.zone, parse_cache),
            plans,
            snapshots: Vec::new(),
            now: story.begin,
            uids: 0,
            fingerprints: HashMap::new(),
            horizon: dates.1.and_hms_opt(0, 0, 0).unwrap().and_utc().timestamp() - 2 * 86400,
            compared: (0, 0),
        };
        for scaler in 0..story.scalers {
            run.world.start(scaler, story.zone).unwrap();
        }
        run.oracle.start(story.begin.timestamp());
        run
    }

    fn tell(&mut self, story: &Story) -> Checked {
        let mut steps = story.steps.iter().peekable();
        for minute in 0..story.days * 1440 {
            if minute > 0 {
                self.now += TimeDelta::minutes(1);
                self.world.first = usize::try_from(minute).unwrap() % story.scalers;
                self.world.advance(self.now)?;
                self.oracle.advance(self.now.timestamp());
                self.compare(false).map_err(|why| self.dated(&why))?;
            }
            while let Some((_, op)) = steps.next_if(|(at, _)| *at == minute) {
                self.snapshots
                    .push((self.oracle.object.clone(), self.world.object.clone()));
                let compared = self.happen(op).and_then(|()| self.compare(true));
                compared.map_err(|why| self.dated(&format!("{op:?}: {why}")))?;
            }
        }
        Ok(())
    }

    fn dated(&self, why: &str) -> String {
        format!("{}: {why}", show(self.now.timestamp()))
    }

    /// Shows what happened to all who look.
    pub(crate) fn look(&mut self) -> Checked {
        self.world.settle()?;
        self.oracle.look(self.now.timestamp());
        Ok(())
    }

    pub(crate) fn wish(&mut self, change: impl FnOnce(&mut Asked)) {
        let wish = &mut self.oracle.object.wish;
        change(wish);
        let inputs = inputs(wish, &self.plans);
        self.world.object.inputs = Arc::new(inputs);
    }

    pub(crate) fn scale(&mut self, count: u32) {
        self.oracle.object.replicas = count;
        self.world.object.replicas = Replicas::new(count);
        self.world.promise.scaled(&self.world.object);
    }

    pub(crate) fn rename(&mut self) {
        self.uids += 1;
        self.oracle.object.uid = self.uids;
        self.world.object.object = object_ref(self.uids);
    }

    pub(crate) fn unlabel(&mut self) {
        self.oracle.object.labels = labels::Labels::default();
        self.oracle.object.error = None;
        self.world.object.labels = Labels::default();
        self.world.object.error = None;
        self.began(None);
    }

    /// Writes the annotation that says when an override began, or takes it away.
    pub(crate) fn began(&mut self, at: Option<i64>) {
        self.oracle.object.began = at;
        self.world.object.override_began = at.map(began_text);
    }

    pub(crate) fn label(&mut self, label: Label, text: Option<String>) {
        self.world.object.labels.set(label, text);
    }

    fn compare(&mut self, looked: bool) -> Checked {
        self.newest_has_won()?;
        let (world, oracle) = (&self.world, &self.oracle);
        let writes = (world.writes, oracle.writes);
        if writes == self.compared && !looked {
            return Ok(());
        }
        self.compared = writes;
        let (ours, its) = (&world.object, &oracle.object);
        same("writes", writes.0, writes.1)?;
        same("replicas", ours.replicas.get(), its.replicas)?;
        same("error", ours.error.as_deref(), its.error.as_deref())?;
        let began = its.began.map(began_text);
        same("began", ours.override_began.clone(), began)?;
        let wished = inputs(&its.wish, &self.plans);
        same("annotations", &*ours.inputs, &wished)?;
        let state = State::from_labels(&ours.labels);
        let instant = |at: Option<DateTime<Utc>>| at.map(|at| at.timestamp());
        same("saved", state.saved.map(Replicas::get), its.labels.saved)?;
        same("phase", state.phase.map(phase_of), its.labels.phase)?;
        same(
            "last",
            instant(state.last).map(show),
            its.labels.last.map(show),
        )?;
        let next = instant(state.next).filter(|next| *next < self.horizon);
        let its_next = its.labels.next.filter(|next| *next < self.horizon);
        same("next", next.map(show), its_next.map(show))?;
        let owner = its.labels.owner.clone();
        self.compare_owner(state.fingerprint, owner)?;
        self.check_promise()
    }

    /// A hash is as good as any that always stands for the same schedule and object.
    fn compare_owner(&mut self, fingerprint: Option<Fingerprint>, owner: Option<Owner>) -> Checked {
        match (fingerprint, owner) {
            (Some(fingerprint), Some(Owner::Of(text, uid))) => {
                let hashes = &mut self.fingerprints;
                let other = hashes.iter().find(|(known, hash)| {
                    **hash == fingerprint && (&known.0, known.1) != (&text, uid)
                });
                if let Some(other) = other {
                    return Err(format!("{other:?} has the fingerprint of {text}, {uid}"));
                }
                let known = hashes
                    .entry((text, uid))
                    .or_insert_with(|| fingerprint.clone());
                same("fingerprint", &fingerprint, &*known)
            }
            (Some(Fingerprint::Newer(_)), Some(Owner::Later))
            | (Some(Fingerprint::V1(_)), Some(Owner::Other))
            | (None, None) => Ok(()),
            (fingerprint, owner) => Err(format!("fingerprint {fingerprint:?} of {owner:?}")),
        }
    }

    /// No boundary lies between what was done last and now.
    fn newest_has_won(&mut self) -> Checked {
        let labels = &self.oracle.object.labels;
        if labels.phase.is_some_and(phase::Phase::is_held) {
            return Ok(());
        }
        let last = labels.last;
        let Some(last) = last.filter(|_| self.is_healed()) else {
            return Ok(());
        };
        let calendar = self.oracle.calendar();
        let first = calendar.partition_point(|(at, _)| *at <= last);
        match calendar.get(first) {
            Some((at, turn)) if *at <= self.now.timestamp() => {
                Err(format!("{turn:?} of {} was not done", show(*at)))
            }
            _ => Ok(()),
        }
    }

    fn check_promise(&self) -> Checked {
        if !self.is_healed() || self.world.promise.is_kept(&self.world.object) {
            return Ok(());
        }
        let (promise, object) = (self.world.promise, &self.world.object);
        Err(format!(
            "lost {promise:?}: {} and {:?}",
            object.replicas,
            object.state()
        ))
    }

    /// Whether somebody looks after the labels.
    pub(crate) fn is_healed(&self) -> bool {
        let object = &self.oracle.object;
        self.oracle.remembers()
            && !self.oracle.outage
            && self.oracle.corrections() < 3
            && object.labels.owner != Some(Owner::Later)
            && object.wish.plan.is_some()
    }
}

fn began_text(at: i64) -> Box<str> {
    let at = DateTime::from_timestamp(at, 0).unwrap();
    at.format("%Y-%m-%dT%H:%M:%SZ").to_string().into()
}

fn phase_of(phase: Phase) -> phase::Phase {
    match phase {
        Phase::Adopted => phase::Phase::Adopted,
        Phase::Running => phase::Phase::Running,
        Phase::Stopped => phase::Phase::Stopped,
        Phase::Woken => phase::Phase::Woken,
        Phase::Slept => phase::Phase::Slept,
        Phase::Paused => phase::Phase::Paused,
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it reads better where it is called"
)]
fn same<T: PartialEq + std::fmt::Debug>(what: &str, ours: T, its: T) -> Checked {
    if ours == its {
        Ok(())
    } else {
        Err(format!("{what}: dayshift has {ours:?}, the oracle {its:?}"))
    }
}
