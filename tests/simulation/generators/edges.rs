//! Edge cases: slightly wrong clocks, faults of single objects, and the ways to select the objects
//! in scope.

use fastrand::Rng;

use crate::{
    generators::{
        schedules::PLACES,
        steps::{MINUTE, Steps},
    },
    scenario::{
        definition::{Kind, Scenario},
        fault::Trouble,
        kinds::{SCALED_OBJECT, SWITCHES},
        op::{Op, SELECTED, Step},
        prefix,
        tampering::{Label, Tampering},
    },
};

const SELECTORS: [&str; 4] = [
    "shift in (on, half)",
    "shift,shift!=off",
    "shift==on,!retired",
    "shift notin (off),shift",
];

impl Scenario {
    /// Draws which objects each controller has in scope.
    pub fn draw_scope(&mut self, random: &mut Rng) {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        if self.scoped && random.bool() {
            self.selector = random.choice(SELECTORS).map(str::to_owned);
        }
        match random.u8(..16) {
            0 => self.namespaces = names(&["dev"]),
            1 => self.namespaces = names(&["prod", "dev"]),
            2 => self.namespaces = names(&["dev", "stage"]),
            3 => self.excluded = names(&["prod"]),
            4 => self.excluded = names(&["stage", "dev"]),
            _ => {}
        }
        // Three controllers with different settings could conflict more often than they may correct.
        if self.controllers == 2 && random.u8(..3) == 0 {
            let place = |_| PLACES[random.usize(..PLACES.len())].0.name().to_owned();
            self.zones = (0..self.controllers).map(place).collect();
        }
        if random.u8(..12) == 0 {
            self.dry.push(self.controllers - 1);
        }
        self.in_flight = random.choice([0, 0, 1, 2, 4]).unwrap();
    }
}

impl Scenario {
    /// Draws, from its own generator, whether labels of Namespaces limit the scope.
    pub fn draw_namespace_selector(&mut self) {
        let random = &mut Rng::with_seed(self.seed ^ 0x5e1_ec7ed);
        if self.namespaces.is_empty() && random.u8(..6) == 0 {
            let (selector, _) = SELECTED[random.usize(..SELECTED.len())];
            self.namespace_selector = Some(selector.to_owned());
        }
    }
}

impl Scenario {
    /// Draws rare flags from its own generator.
    pub fn draw_flags(&mut self) {
        let random = &mut Rng::with_seed(self.seed ^ 0x0f1a_65ed);
        if random.u8(..5) == 0 {
            self.prefix = Some(prefix::OTHER.to_owned());
        }
        self.without_defaults = random.u8(..6) == 0 && self.namespace_selector.is_none();
        // In the controllers' own namespace their default schedule does not apply, and the checker does not
        // model that.
        let has_flag = self.steps.iter().any(|it| matches!(it.op, Op::Flag(_)));
        self.scales_itself = random.u8(..6) == 0 && !has_flag && !self.is_switch(0);
    }
}

impl Scenario {
    /// In every other scenario, users pause ScaledObjects at a count of their own.
    pub fn pause_at_counts(&mut self) {
        let is_scaled = SWITCHES[self.switch_kind] == &SCALED_OBJECT;
        let made = self.steps.iter().filter_map(|step| match step.op {
            Op::Make(slot, ..) if self.is_switch(slot) => Some((step.at + 1, slot)),
            _ => None,
        });
        let made: Vec<_> = made
            .filter(|_| is_scaled && self.seed.is_multiple_of(4))
            .collect();
        let paused = made.into_iter().map(|(at, slot)| Step {
            at,
            op: Op::StopReplicas(slot, Some(2)),
        });
        self.steps.extend(paused);
        self.steps.sort_by_key(|step| step.at);
    }
}

impl Steps<'_> {
    /// Sets a clock, or lets it drift, for a while.
    pub(crate) fn clock(&mut self, at: u32) {
        let controller = self.controller();
        let is_fault_free = self.scenario.kind == Kind::NoFaults;
        let by = if is_fault_free || self.random.bool() {
            // A deviation of 30 s might be detected, and one of 31 s must be.
            let edges = [500, 20_000, 29_900, 30_000, 31_100, 33_000, 900_000];
            self.random.choice(edges)
        } else {
            self.random.choice([20_000, 3_600_000, 172_800_000])
        };
        let by = if self.random.bool() {
            by
        } else {
            by.map(|by| -by)
        };
        if self.random.u8(..4) == 0 {
            let drift = self.random.choice([200, 25_000, 100_000]).unwrap();
            let drift = if by > Some(0) { drift } else { -drift };
            self.add(at, Op::Drift(controller, drift));
            let back = at + self.random.u32(MINUTE..20 * MINUTE);
            self.add(back, Op::ClockRight(controller));
            return;
        }
        self.add(at, Op::Clock(controller, by.unwrap()));
        let back = if is_fault_free {
            at + self.random.u32(2000..20 * MINUTE)
        } else {
            self.back(at)
        };
        self.add(back, Op::ClockRight(controller));
    }

    /// For some time, writes to one object, or Events, have a fault.
    pub(crate) fn trouble(&mut self, at: u32) {
        let all = [
            Trouble::Hangs,
            Trouble::Fails,
            Trouble::Denies,
            Trouble::Forbidden,
        ];
        let back = at + self.random.u32(1000..40 * MINUTE);
        if self.random.u8(..3) == 0 {
            let events = [
                Trouble::Hangs,
                Trouble::Fails,
                Trouble::Busy,
                Trouble::Denies,
            ];
            let trouble = self.random.choice(events);
            self.add(at, Op::EventTrouble(trouble));
            self.add(back, Op::EventTrouble(None));
            return;
        }
        let (slot, trouble) = (self.random.usize(..self.objects), self.random.choice(all));
        self.add(at, Op::Trouble(slot, trouble));
        self.add(back, Op::Trouble(slot, None));
    }

    /// Draws a change of the labels that dayshift wrote.
    pub(crate) fn tampering(&mut self) -> Tampering {
        let label = self.random.choice(Label::ALL).unwrap();
        match self.random.u8(..10) {
            0..=2 => Tampering::Drop(label),
            3..=4 => Tampering::Garble(label),
            5 => Tampering::Saved(self.random.u32(..9)),
            6 => {
                let minutes = [-4000, -300, -60, 0, 1, 30, 59, 61, 200];
                Tampering::Last(self.random.choice(minutes).unwrap())
            }
            7 => {
                let minutes = [-300, -60, 0, 30, 200, 4000];
                Tampering::Next(self.random.choice(minutes).unwrap())
            }
            8 => Tampering::DropError,
            _ => {
                let fingerprints = [
                    Tampering::LaterFingerprint,
                    Tampering::OtherFingerprint,
                    Tampering::ForeignFingerprint,
                ];
                self.random.choice(fingerprints).unwrap()
            }
        }
    }
}
