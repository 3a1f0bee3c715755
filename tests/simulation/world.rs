//! A cluster in memory in which a story happens.

use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use chrono::TimeDelta;
use chrono_tz::Tz;
use dayshift::{
    clock::Clock,
    controller::{Scope, Settings},
    schedule::Zone,
};
use kube_in_memory::Api;
use serde_json::Value;
use tokio::time::sleep;

use crate::{
    asked::Asked,
    known::Shown,
    listen::listen,
    object::{Object, SCOPE},
    scaler::{Crashes, Running, Scaler},
    story::{Kind, Op, SLOTS, Story},
    timeline::Timelines,
    troubles::Troubles,
    witness::{BLIND, Process, Witness},
};

/// How long after the last fault everything has to be in order: as long as a watch can be blind,
/// and a refused patch is not tried again (ten minutes).
const CALMING: i64 = BLIND + 60_000;
/// How long after the last refusal of a write to one object it has been tried again.
pub const REFUSED: i64 = 11 * 60_000;
/// How long after what a user does, where nothing goes wrong.
const SETTLING: i64 = 20;

pub struct World<'a> {
    pub(crate) story: &'a Story,
    pub(crate) api: Api,
    truth: Clock,
    witness: Arc<Mutex<Witness>>,
    scalers: Vec<Scaler>,
    crashes: Crashes,
    troubles: Troubles,
    pub(crate) wishes: [Wish; SLOTS.len()],
    pub(crate) snapshots: Vec<Vec<(Value, Asked)>>,
    zone: Tz,
    /// Until when not everything has to be in order, in milliseconds.
    troubled: i64,
}

/// What the user of a slot has in mind, and in the repository.
#[derive(Clone, Default)]
pub(crate) struct Wish {
    pub(crate) asked: Asked,
    pub(crate) manifest: Asked,
    pub(crate) replicas: u32,
}

/// What came of a story.
#[derive(Debug, Default)]
pub struct Told {
    pub trace: Vec<String>,
    pub failure: Option<String>,
    pub writes: usize,
    pub faults: usize,
}

/// Tells a story from its beginning to its end.
pub fn tell(story: &Story) -> Told {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut world = World::new(story);
        world.live().await;
        world.told()
    })
}

impl<'a> World<'a> {
    fn new(story: &'a Story) -> Self {
        let truth = Clock::simulated(story.begin);
        let api = Api::new({
            let truth = truth.clone();
            move || truth.now()
        });
        api.namespace("dev");
        api.namespace("prod");
        let mut witness = Witness::new(
            story.plans.clone().into(),
            Timelines::new(story.dates()),
            truth.clone(),
            story.kind == Kind::Calm,
        );
        witness.scoped = story.scoped;
        witness.namespaces = story.namespaces.clone();
        witness.excluded = story.excluded.clone();
        let witness = Arc::new(Mutex::new(witness));
        listen(&api, &truth, &witness);
        let crashes = Crashes::default();
        let scaler = |number: usize| {
            let seed = story.seed.wrapping_mul(31).wrapping_add(number as u64);
            Scaler::of(seed, story.begin, crashes.clone())
        };
        Self {
            story,
            truth,
            witness,
            scalers: (0..story.scalers).map(scaler).collect(),
            wishes: std::array::from_fn(|_| Wish::default()),
            snapshots: vec![Vec::new(); SLOTS.len()],
            crashes,
            troubles: Troubles::default(),
            zone: story.zone,
            troubled: 0,
            api,
        }
    }

    fn witness(&self) -> MutexGuard<'_, Witness> {
        self.witness.lock().unwrap()
    }

    /// Whether something was wrong; that a scaler has ended goes before what came of it.
    fn has_failed(&self) -> bool {
        let crash = self.crashes.lock().unwrap().first().cloned();
        let mut witness = self.witness();
        witness.failure = crash.or(witness.failure.take());
        witness.failure.is_some()
    }

    pub(crate) fn now(&self) -> i64 {
        self.truth.now().timestamp_millis()
    }

    async fn live(&mut self) {
        for step in &self.story.steps {
            self.pass_until(self.story.instant(step.at).timestamp_millis())
                .await;
            if self.story.kind == Kind::Calm {
                self.look();
            }
            if self.has_failed() {
                return;
            }
            let now = self.now();
            self.witness().note(now, &format!("{:?}", step.op));
            self.witness().since = 0;
            self.happen(&step.op).await;
        }
        self.end().await;
    }

    /// Everything is well again: soon all has to be in order, and what is due then is done in
    /// its very instant.
    async fn end(&mut self) {
        for number in 0..self.scalers.len() {
            self.scalers[number].weather.calm();
            self.scalers[number].is_stormy = false;
            self.set_clock(number, Scaler::clock_right);
            self.start(number);
        }
        self.troubles.end();
        let now = self.now();
        let had_troubles = self.witness().all_is_well(now);
        self.trouble(match (self.is_calm(), had_troubles) {
            (true, false) => SETTLING,
            (true, true) => REFUSED + SETTLING,
            _ => CALMING,
        });
        let now = self.now();
        self.witness().note(now, "all is well");
        self.pass(self.troubled - now).await;
        self.look();
        let now = self.now();
        let next = self
            .objects()
            .into_iter()
            .filter_map(|object| Object::of(&object).state.next);
        let next = next
            .map(|next| next * 1000)
            .filter(|next| *next > now)
            .min();
        let Some(next) = next.filter(|next| *next < now + 3 * 86_400_000) else {
            return;
        };
        let awake = 6 * 60_000;
        if !self.is_calm() && next - now > 2 * awake {
            self.nap(next - now - awake);
        } else if next - now > 86_400_000 {
            return;
        }
        self.pass(next + SETTLING - self.now()).await;
        self.troubled = 0;
        self.look();
    }

    /// While clocks drift they are set wrong a little every few seconds.
    async fn pass_until(&mut self, at: i64) {
        while self.now() < at {
            let drifting: Vec<_> = (0..self.scalers.len())
                .filter(|number| self.scalers[*number].drift != 0)
                .collect();
            let begun = self.now();
            let left = at - begun;
            self.pass(if drifting.is_empty() {
                left
            } else {
                left.min(5000)
            })
            .await;
            let passed = self.now() - begun;
            for number in drifting {
                self.set_clock(number, |scaler| scaler.drifts(passed));
            }
        }
    }

    async fn pass(&self, milliseconds: i64) {
        sleep(Duration::from_millis(milliseconds.max(0).unsigned_abs())).await;
    }

    pub(crate) fn is_calm(&self) -> bool {
        self.story.kind == Kind::Calm
    }

    /// Not everything has to be in order for so many milliseconds.
    pub(crate) fn trouble(&mut self, time: i64) {
        self.troubled = self.troubled.max(self.now() + time);
    }

    fn objects(&self) -> Vec<Value> {
        self.api.list("Deployment")
    }

    /// Looks whether all is in order, where it has to be.
    fn look(&mut self) {
        let now = self.now();
        let (is_guarded, is_calm) = (self.story.guarded, self.is_calm());
        let is_stormy = |it: &Scaler| {
            let off = it.off.num_milliseconds().abs();
            let is_right = off == 0 || is_calm && (!is_guarded || off <= 30_000);
            // One that is surely wrong does nothing, and has nothing to do.
            it.is_stormy || !is_right && (!is_calm || off < 31_000)
        };
        // What is due in this very second may be done in this millisecond, and not yet.
        let is_instant = now % 1000 == 0;
        // Where something befalls others, what is due may be late by a little.
        let has_troubles = is_calm && now < self.witness().troubles;
        if is_instant || has_troubles || now < self.troubled || self.scalers.iter().any(is_stormy) {
            return;
        }
        for number in 0..self.scalers.len() {
            let ended = |it: &Running| it.task.is_finished();
            if self.scalers[number]
                .process
                .take_if(|it| ended(it))
                .is_some()
            {
                let text = format!("scaler {number} has been ended");
                self.witness().note(now, &text);
            }
        }
        let is_asked = |it: &&Scaler| !is_guarded || it.off.num_milliseconds().abs() <= 30_000;
        let running = self.scalers.iter().filter(is_asked);
        let running = running.filter_map(|it| it.process.as_ref());
        let running: Vec<_> = running.map(|it| it.by.clone()).collect();
        for object in self.objects() {
            self.witness().is_settled(&object, &running, now);
        }
    }

    async fn happen(&mut self, op: &Op) {
        self.trouble_by(op);
        self.do_it(op).await;
        self.trouble_by(op); // a nap takes the time along
    }

    fn trouble_by(&mut self, op: &Op) {
        let is_users = crate::hands::slot(op).is_some();
        match (self.is_calm(), is_users) {
            _ if matches!(op, Op::Quiet) => {}
            (true, _) => self.trouble(SETTLING),
            (false, true) => self.trouble(60_000),
            (false, false) => self.trouble(CALMING),
        }
    }

    async fn do_it(&mut self, op: &Op) {
        match op {
            Op::Up(number) => self.start(*number),
            Op::Kill(number) => self.scalers[*number].kill(),
            Op::Stop(number) => self.scalers[*number].stop().await,
            Op::KillIn(number, writes, stage) => {
                self.scalers[*number].weather.kill_in(*writes, *stage);
            }
            Op::Rezone(zone) => {
                self.zone = *zone;
                for number in 0..self.scalers.len() {
                    self.scalers[number].kill();
                }
                for number in 0..self.scalers.len() {
                    self.start(number);
                }
            }
            Op::Clock(number, by) => self.set_clock(*number, |scaler| scaler.step(*by)),
            Op::ClockRight(number) => self.set_clock(*number, Scaler::clock_right),
            Op::Weather(number, faults, percent) => {
                let scaler = &mut self.scalers[*number];
                scaler.weather.turn(faults, *percent);
                scaler.is_stormy = !faults.is_empty();
            }
            Op::Drift(number, by) => self.scalers[*number].drift = *by,
            Op::Trouble(slot, trouble) => {
                let (namespace, name) = SLOTS[*slot];
                self.troubles.set(namespace, name, *trouble);
                let now = self.now();
                self.witness().troubled(namespace, name, *trouble, now);
            }
            Op::EventTrouble(trouble) => {
                self.troubles.set_events(*trouble);
                let now = self.now();
                self.witness().events_troubled(now);
            }
            Op::Cut(number) => self.scalers[*number].weather.cut(),
            Op::Compact => self.api.compact(),
            Op::Nap(time) => self.nap((*time).into()),
            Op::Quiet => self.look(),
            users => {
                self.act(users);
                let now = self.now();
                for object in self.objects() {
                    let object_ref = Object::of(&object);
                    if crate::hands::touches(users, &object_ref) {
                        self.witness().touched(&object, now);
                    }
                }
            }
        }
    }

    fn set_clock(&mut self, number: usize, set: impl FnOnce(&mut Scaler)) {
        set(&mut self.scalers[number]);
        if let Some(process) = &self.scalers[number].process {
            self.witness().clock_set(&process.by);
        }
    }

    fn nap(&mut self, milliseconds: i64) {
        let by = TimeDelta::milliseconds(milliseconds);
        self.truth.step(by);
        for scaler in &self.scalers {
            scaler.clock.step(by);
        }
        let now = self.truth.now().timestamp_millis();
        let mut witness = self.witness();
        witness.woke = (now, milliseconds);
        witness.slept += milliseconds;
    }

    fn start(&mut self, number: usize) {
        let scaler = &mut self.scalers[number];
        let started = self.truth.now().timestamp_millis();
        let story = self.story;
        let own = story.zones.get(number).filter(|_| self.zone == story.zone);
        let zone = own.map_or(self.zone, |zone| zone.parse().unwrap());
        let selector = || story.selector.clone().unwrap_or(format!("{SCOPE}=on"));
        let is_dry = story.dry.contains(&number);
        let settings = Settings {
            default_zone: Zone::parse(zone.name()).unwrap(),
            scope: Scope {
                kinds: vec![dayshift::workload::Kind::Deployment],
                selector: story.scoped.then(selector),
                namespaces: story.namespaces.clone(),
                excluded_namespaces: story.excluded.clone(),
            },
            dry_run: is_dry,
            max_in_flight: NonZeroUsize::new(story.in_flight)
                .unwrap_or(Settings::default().max_in_flight),
            catch_up: TimeDelta::hours(self.story.catch_up.into()),
            max_clock_skew: self.story.guarded.then(|| TimeDelta::seconds(30)),
            seed: self.story.seed,
            ..Settings::default()
        };
        if let Some(by) = scaler.start(
            number,
            &self.api,
            &self.truth,
            settings,
            &self.witness,
            &self.troubles,
        ) {
            let process = Process {
                zone,
                is_dry,
                clock_set: 0,
                guarded: self.story.guarded,
                catch_up: self.story.catch_up,
                started,
                clock: scaler.clock.clone(),
                shown: Shown::default(),
                late: 0,
            };
            self.witness().processes.insert(by, process);
        }
    }

    fn told(self) -> Told {
        let faults = self
            .scalers
            .iter()
            .map(|scaler| scaler.weather.happened())
            .sum::<usize>()
            + self.troubles.happened();
        self.has_failed();
        let mut witness = self.witness();
        Told {
            trace: std::mem::take(&mut witness.trace),
            failure: witness.failure.take(),
            writes: witness.writes,
            faults,
        }
    }
}
