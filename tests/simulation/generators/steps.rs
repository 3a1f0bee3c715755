//! Draws the steps of a scenario from a seed.

use chrono::{Days, NaiveDate, TimeDelta};
use chrono_tz::Tz;
use fastrand::Rng;

use crate::{
    generators::schedules::{PLACES, edited, plan},
    scenario::{
        definition::{Kind, Scenario},
        intent::Bad,
        op::{NAMED, NamespaceChange, Op, PauseChange, Step},
    },
};

pub(crate) const MINUTE: u32 = 60_000;
pub(crate) const HOUR: u32 = 60 * MINUTE;

impl Scenario {
    pub fn of(seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let random = &mut random;
        let kind = if random.u8(..4) == 0 {
            Kind::NoFaults
        } else {
            Kind::Faults
        };
        let (place, dates) = random.choice(PLACES).unwrap();
        let date: NaiveDate = random.choice(dates).unwrap().parse().unwrap();
        let begin = (date - Days::new(random.u64(0..2)))
            .and_hms_opt(0, 0, 0)
            .unwrap()
            .and_utc()
            + TimeDelta::seconds(random.i64(0..86_400));
        let zone = if random.u8(..4) == 0 { Tz::UTC } else { place };
        let mut plans: Vec<_> = (0..random.usize(1..4))
            .map(|_| plan(random, zone, begin))
            .collect();
        if random.bool() {
            let edited = edited(random, &plans[0], zone, begin);
            plans.push(edited);
        }
        let controllers = random.choice([1, 1, 1, 1, 1, 2, 2, 3]).unwrap();
        let mut scenario = Self {
            seed,
            kind,
            begin,
            length: match kind {
                Kind::NoFaults => random.u32(HOUR..8 * HOUR),
                Kind::Faults => random.u32(HOUR..5 * 24 * HOUR),
            },
            zone,
            plans,
            controllers,
            guarded: random.u8(..3) != 0,
            catch_up: random.choice([72, 72, 72, 1, 7, 24]).unwrap(),
            scoped: random.u8(..5) == 0,
            selector: None,
            namespaces: Vec::new(),
            excluded: Vec::new(),
            namespace_selector: None,
            prefix: None,
            without_defaults: false,
            scales_itself: false,
            zones: Vec::new(),
            dry: Vec::new(),
            in_flight: 0,
            is_local: random.u8(..4) == 0,
            switches: random.u8(..4) == 0,
            // A third of these objects are CronJobs.
            switch_kind: [0, 0, 1, 2, 3, 4][usize::try_from(seed % 6).unwrap()],
            has_sets: seed % 3 == 1,
            is_mixed: random.u8(..3) == 0,
            calendars: Vec::new(),
            are_named: false,
            steps: Vec::new(),
        };
        let has_fleet = kind == Kind::NoFaults && random.u8(..6) == 0;
        if !has_fleet {
            scenario.draw_scope(random);
            scenario.draw_namespace_selector();
            scenario.draw_calendars();
            scenario.draw_odd_days();
            scenario.draw_extra();
            scenario.draw_names();
        }
        let mut steps = Steps {
            random,
            scenario: &mut scenario,
            objects: 1,
        };
        if has_fleet {
            steps.write_fleet();
        } else {
            steps.write();
        }
        scenario.draw_flags();
        scenario.pause_at_counts();
        scenario
    }
}

pub(crate) struct Steps<'a> {
    pub(crate) random: &'a mut Rng,
    pub(crate) scenario: &'a mut Scenario,
    pub(crate) objects: usize,
}

impl Steps<'_> {
    fn write(&mut self) {
        self.objects = self.random.choice([1, 1, 1, 2, 2, 3, 4]).unwrap();
        let with_state = self.random.u8(..8) == 0;
        for slot in 0..self.objects {
            let (count, plan) = (self.count(), self.random.usize(..self.scenario.plans.len()));
            let at = self.random.u32(..2000);
            let op = if self.random.u8(..5) == 0 {
                let before = at.saturating_sub(self.random.u32(..2000));
                self.add(
                    before,
                    Op::Defaults(usize::from(slot > 1), NamespaceChange::Plan(Some(plan))),
                );
                Op::MakePlain(slot, count)
            } else if with_state {
                let hours = self.random.choice([0, 0, 1, 9, 30]).unwrap();
                Op::MakeWithState(slot, count, plan, hours)
            } else {
                Op::Make(slot, count, plan)
            };
            self.add(at, op);
        }
        for controller in 0..self.scenario.controllers {
            let at = self.random.u32(..3000);
            self.add(at, Op::Up(controller));
        }
        let boundaries = self.boundaries();
        let mut at: Vec<u32> = (0..self.random.u32(3..14))
            .map(|_| match self.random.choice(&boundaries) {
                Some(boundary) if self.random.u8(..5) < 2 => {
                    (boundary + self.random.u32(0..4000)).saturating_sub(2000)
                }
                _ => self.random.u32(3000..self.scenario.length),
            })
            .collect();
        at.sort_unstable();
        for next in 1..at.len() {
            match self.random.u8(..6) {
                0 => at[next] = at[next - 1] + self.random.choice([0, 0, 3, 500, 9000]).unwrap(),
                1 => at[next] = at[next - 1] + self.random.u32(..20 * MINUTE),
                _ => {}
            }
        }
        for at in at {
            self.happen(at);
        }
        self.change_calendars(&boundaries);
        self.end_pauses_at(&boundaries);
        self.add_fixture();
        self.add_reportable();
        self.scenario.steps.sort_by_key(|step| step.at);
        if self.scenario.kind == Kind::Faults {
            self.sleep_over();
        }
    }

    /// Lets some pauses end exactly at a boundary, or a second before or after it.
    fn end_pauses_at(&mut self, boundaries: &[u32]) {
        for step in &mut self.scenario.steps {
            let (Op::Pause(_, hold) | Op::Defaults(_, NamespaceChange::Pause(hold))) = &mut step.op
            else {
                continue;
            };
            let later = boundaries.iter().filter(|boundary| **boundary > step.at);
            let later: Vec<_> = later.take(4).collect();
            let Some(boundary) = self.random.choice(later) else {
                continue;
            };
            if matches!(hold, PauseChange::For(_)) && self.random.bool() {
                let seconds = boundary / 1000 - step.at / 1000;
                let beside = self.random.choice([0, 0, 0, -1, 1, 600]).unwrap();
                *hold = PauseChange::For(i32::try_from(seconds).unwrap() + beside);
            }
        }
    }

    pub(crate) fn add(&mut self, at: u32, op: Op) {
        self.scenario.steps.push(Step { at, op });
    }

    /// The boundaries of the first schedules, in milliseconds since the beginning.
    fn boundaries(&self) -> Vec<u32> {
        let scenario = &*self.scenario;
        let begin = scenario.begin.timestamp_millis();
        let end = scenario.instant(scenario.length).date_naive() + Days::new(2);
        let dates = (scenario.begin.date_naive() - Days::new(1), end);
        let all = scenario
            .plans
            .iter()
            .flat_map(|it| it.boundaries(scenario.zone, dates, 0));
        let offsets = all.filter_map(|(at, _)| u32::try_from(at * 1000 - begin).ok());
        offsets
            .filter(|at| (3000..scenario.length).contains(at))
            .collect()
    }

    /// Suspends the cluster if nothing happens for a long time: an idle hour costs a watch request every five
    /// minutes, and tests little more than an idle minute.
    fn sleep_over(&mut self) {
        let ends = self
            .scenario
            .steps
            .iter()
            .map(|step| step.at)
            .skip(1)
            .chain([self.scenario.length]);
        let gaps: Vec<_> = self
            .scenario
            .steps
            .iter()
            .map(|step| step.at)
            .zip(ends)
            .collect();
        for (from, to) in gaps {
            let awake = self
                .random
                .choice([1, 10, MINUTE, 5 * MINUTE, 17 * MINUTE])
                .unwrap();
            let before = self.random.choice([1, 5000, MINUTE, 10 * MINUTE]).unwrap();
            if to.saturating_sub(from) > 30 * MINUTE && self.random.u8(..20) != 0 {
                self.add(from + awake, Op::Suspend(to - from - awake - before));
            }
        }
        self.scenario.steps.sort_by_key(|step| step.at);
    }

    fn happen(&mut self, at: u32) {
        let slot = self.random.usize(..self.objects);
        let has_faults = self.scenario.kind == Kind::Faults;
        if self.random.u8(..6) == 0 {
            return self.default(at);
        }
        let op = match self.random.u8(..if has_faults { 64 } else { 44 }) {
            0..=4 => Op::Scale(slot, self.count()),
            5..=6 => Op::Autoscale(slot, self.random.u32(1..9)),
            7..=9 => {
                let plan = self.random.usize(..self.scenario.plans.len());
                Op::Plan(slot, (self.random.u8(..5) != 0).then_some(plan))
            }
            10 => Op::Replicas(slot, self.maybe(0..6)),
            11 if self.random.bool() => {
                let plan = self.random.usize(..self.scenario.plans.len());
                let plan = self.random.bool().then_some(plan);
                Op::PlanAndStopReplicas(slot, plan, self.maybe(1..3))
            }
            11 => Op::StopReplicas(slot, self.maybe(1..3)),
            12..=14 => self.overlay(slot),
            15 if self.random.u8(..3) == 0 => Op::Exclude(slot, self.random.bool()),
            15 if self.random.bool() => {
                let grace = self.random.choice([1, 30, 300, 1800, 4 * 3600]);
                Op::Grace(slot, grace.filter(|_| self.random.u8(..4) != 0))
            }
            15 => Op::Enforce(slot, self.random.bool()),
            16 => Op::Break(slot, self.random.choice(Bad::ALL).unwrap()),
            17..=18 => Op::Fix(slot),
            19 => Op::Delete(slot),
            20 => Op::Recreate(slot, self.count()),
            21 => Op::DeleteWithFinalizer(slot),
            22 => Op::Undo(slot, self.random.usize(..9)),
            23 => Op::ReplaceFromManifest(slot, self.random.bool()),
            24 => return self.gitops(at, slot),
            25 => Op::Restore(slot, self.random.usize(..9)),
            26 => Op::Copy(slot, self.random.usize(..NAMED)),
            27 => Op::Scope(slot, self.random.bool()),
            28..=29 => return self.restart(at),
            30 if self.random.bool() => {
                let plan = self.random.usize(..self.scenario.plans.len());
                Op::Flag((self.random.u8(..4) != 0).then_some(plan))
            }
            30 => Op::Rezone(PLACES[self.random.usize(..PLACES.len())].0),
            31..=33 => Op::Quiet,
            _ if self.random.u8(..6) == 0 => Op::Tamper(slot, self.tampering()),
            34..=38 if !has_faults => return self.trouble(at),
            _ if !has_faults => return self.clock(at),
            34..=35 => return self.trouble(at),
            36..=39 => return self.kill(at),
            40..=43 => return self.clock(at),
            44 => Op::Compact,
            45 => Op::Cut(self.controller()),
            _ => return self.faults(at),
        };
        self.add(at, op);
    }

    pub(crate) fn controller(&mut self) -> usize {
        self.random.usize(..self.scenario.controllers)
    }

    pub(crate) fn count(&mut self) -> u32 {
        self.random.choice([0, 0, 1, 1, 2, 3, 5, 8]).unwrap()
    }

    fn maybe(&mut self, range: std::ops::Range<u32>) -> Option<u32> {
        self.random.bool().then(|| self.random.u32(range))
    }

    /// A user changes the annotations of a Namespace.
    fn default(&mut self, at: u32) {
        let place = usize::from(self.random.u8(..4) == 0);
        let change = match self.random.u8(..14) {
            10 => NamespaceChange::Exclude(self.random.bool()),
            11..=13 => match self.overlay(0) {
                Op::Wake(_, until) => NamespaceChange::Wake(until),
                Op::Sleep(_, until) => NamespaceChange::Sleep(until),
                Op::Pause(_, hold) => NamespaceChange::Pause(hold),
                _ => NamespaceChange::Fix,
            },
            0..=4 => {
                let plan = self.random.usize(..self.scenario.plans.len());
                NamespaceChange::Plan((self.random.u8(..5) != 0).then_some(plan))
            }
            5 => NamespaceChange::Replicas(self.maybe(0..6)),
            6 => NamespaceChange::StopReplicas(self.maybe(1..3)),
            7 => NamespaceChange::Break(self.random.choice(Bad::ALL).unwrap()),
            _ => NamespaceChange::Fix,
        };
        self.add(at, Op::Defaults(place, change));
        let is_override = matches!(
            change,
            NamespaceChange::Pause(_)
                | NamespaceChange::Wake(_)
                | NamespaceChange::Sleep(_)
                | NamespaceChange::Exclude(_)
        );
        if is_override && self.random.u8(..3) != 0 {
            // An object in the Namespace has its own schedule at the same time.
            let slot = (2 * place + self.random.usize(..2)).min(self.objects - 1);
            let op = self.overlay(slot);
            let later = self.random.u32(..20 * MINUTE);
            self.add((at + later).saturating_sub(5 * MINUTE), op);
        }
    }

    fn overlay(&mut self, slot: usize) -> Op {
        let until = match self.random.u8(..8) {
            0 => self.random.i32(-9000..1),
            1..=2 => self.random.i32(1..5),
            3..=5 => self.random.i32(1..9 * 3600),
            _ => self.random.i32(3600..3 * 86_400),
        };
        let is_set = self.random.u8(..4) != 0;
        match self.random.u8(..8) {
            0..=2 => Op::Wake(slot, is_set.then_some(until)),
            3..=5 => Op::Sleep(slot, is_set.then_some(until)),
            _ if !is_set => Op::Pause(slot, PauseChange::Lifted),
            _ if self.random.bool() => Op::Pause(slot, PauseChange::For(until)),
            _ => Op::Pause(slot, PauseChange::Forever),
        }
    }

    /// A GitOps tool restores the manifest repeatedly, for some minutes.
    fn gitops(&mut self, at: u32, slot: usize) {
        let keeps_labels = self.random.u8(..3) != 0;
        let (every, times) = (self.random.u32(1000..5 * MINUTE), self.random.u32(2..8));
        for time in 0..times {
            self.add(
                at + time * every,
                Op::ReplaceFromManifest(slot, keeps_labels),
            );
        }
    }
}
