//! Fixtures: sequences of steps that random steps seldom produce.

use chrono::Days;
use fastrand::Rng;

use crate::{
    generators::steps::{HOUR, MINUTE, Steps},
    scenario::{
        definition::Kind,
        fault::{Fault, Trouble},
        op::{Op, PauseChange, Slot},
    },
};

const SECOND: u32 = 1000;

/// The state of an object before a fixture.
const WITHOUT_OVERRIDES: [fn(Slot) -> Op; 4] = [
    |slot| Op::Pause(slot, PauseChange::Lifted),
    |slot| Op::Wake(slot, None),
    |slot| Op::Sleep(slot, None),
    |slot| Op::Fix(slot),
];

impl Steps<'_> {
    /// Adds a fixture to every other scenario.
    pub(super) fn add_fixture(&mut self) {
        let lead = |random: &mut Rng| random.u32(2 * MINUTE..12 * MINUTE);
        self.add_with_draws(0x05ce_4e05, lead, |fixture, slot, at| {
            let has_faults = fixture.scenario.kind == Kind::Faults;
            match fixture.random.u8(..if has_faults { 6 } else { 4 }) {
                0 => fixture.undo_an_override(slot, at),
                1 => fixture.raise_within_a_grace(slot, at),
                2 => fixture.set_the_clock_over(at),
                3 => fixture.delete_before(slot, at),
                4 => fixture.scale_unseen(slot, at),
                _ => fixture.show_old_events(slot, at),
            }
        });
    }

    /// Adds conditions that cause Events to some of the scenarios without faults.
    pub(super) fn add_reportable(&mut self) {
        if self.scenario.kind == Kind::Faults {
            return;
        }
        self.add_with_draws(
            0x7e11_0f17,
            |_| 10 * SECOND,
            |fixture, slot, at| match fixture.random.u8(..3) {
                0 => fixture.deny_for_minutes(slot, at),
                1 => {
                    let count = fixture.random.u32(1..9);
                    let scaled = at + fixture.random.u32(SECOND..10 * MINUTE);
                    fixture.add(scaled, Op::Scale(slot, count));
                }
                _ => {
                    let replaced = at + fixture.random.u32(SECOND..5 * MINUTE);
                    fixture.add(replaced, Op::ReplaceFromManifest(slot, true));
                    fixture.add(replaced + 6 * MINUTE, Op::Quiet);
                }
            },
        );
    }

    /// Adds a fixture to half of the scenarios: it begins at a boundary, and its object has a plan and no
    /// override for some time before. The draws come from a separate generator, so that other scenarios do
    /// not depend on them.
    fn add_with_draws(
        &mut self,
        salt: u64,
        lead: impl FnOnce(&mut Rng) -> u32,
        play: impl FnOnce(&mut Steps<'_>, Slot, u32),
    ) {
        let random = &mut Rng::with_seed(self.scenario.seed ^ salt);
        if random.bool() {
            return;
        }
        let mut fixture = Steps {
            random,
            scenario: self.scenario,
            objects: self.objects,
        };
        let slot = fixture.random.usize(..fixture.objects);
        let plan = fixture.random.usize(..fixture.scenario.plans.len());
        let Some(at) = fixture.boundary_of(plan) else {
            return;
        };
        let before = at.saturating_sub(lead(fixture.random));
        for op in WITHOUT_OVERRIDES {
            fixture.add(before, op(slot));
        }
        fixture.add(before, Op::Plan(slot, Some(plan)));
        play(&mut fixture, slot, at);
    }

    /// An admission webhook denies the transitions of a boundary for some minutes.
    fn deny_for_minutes(&mut self, slot: Slot, at: u32) {
        let begun = at.saturating_sub(SECOND);
        self.add(begun, Op::Trouble(slot, Some(Trouble::Denies)));
        self.add(at + 6 * MINUTE, Op::Quiet);
        self.add(at + 7 * MINUTE, Op::Trouble(slot, None));
    }

    /// A random boundary of a plan that has enough time before and after it, in milliseconds since the
    /// beginning.
    fn boundary_of(&mut self, plan: usize) -> Option<u32> {
        let scenario = &*self.scenario;
        let begin = scenario.begin.timestamp_millis();
        let end = scenario.instant(scenario.length).date_naive() + Days::new(2);
        let dates = (scenario.begin.date_naive() - Days::new(1), end);
        let all = scenario.plans[plan].boundaries(scenario.zone, dates, 0);
        let offsets = all.into_iter().map(|(at, _)| at * 1000 - begin);
        let offsets = offsets.filter_map(|at| u32::try_from(at).ok());
        let within = 13 * MINUTE..scenario.length.saturating_sub(5 * MINUTE);
        let fitting: Vec<_> = offsets.filter(|at| within.contains(at)).collect();
        self.random.choice(fitting)
    }

    /// An override is removed early, and a rollout undo restores it.
    fn undo_an_override(&mut self, slot: Slot, at: u32) {
        let until = self.random.i32(3600..6 * 3600);
        let (begin, lift) = match self.random.u8(..4) {
            0 => (Op::Wake(slot, Some(until)), Op::Wake(slot, None)),
            1 => (
                Op::Pause(slot, PauseChange::Forever),
                Op::Pause(slot, PauseChange::Lifted),
            ),
            _ => (Op::Sleep(slot, Some(until)), Op::Sleep(slot, None)),
        };
        let begun = at.saturating_sub(self.random.u32(..MINUTE));
        self.add(begun, begin);
        let count = self.count();
        let held = begun + self.random.u32(SECOND..MINUTE);
        self.add(held, Op::Scale(slot, count));
        let lifted = held + self.random.u32(SECOND..10 * MINUTE);
        self.add(lifted, lift);
        let undone = lifted + self.random.u32(SECOND..10 * MINUTE);
        self.add(undone, Op::UndoToOverride(slot));
    }

    /// A user raises the count of a stopped workload within its grace period.
    fn raise_within_a_grace(&mut self, slot: Slot, at: u32) {
        let grace = self.random.choice([60, 300, 1800]).unwrap();
        self.add(at.saturating_sub(MINUTE), Op::Grace(slot, Some(grace)));
        if self.random.bool() {
            let until = self.random.i32(3600..6 * 3600);
            self.add(at, Op::Sleep(slot, Some(until)));
        }
        let count = self.random.u32(3..9);
        let raised = at + self.random.u32(SECOND..MINUTE);
        self.add(raised, Op::Scale(slot, count));
    }

    /// A clock that deviates by one to five times the allowed skew passes a boundary too early or too late.
    fn set_the_clock_over(&mut self, at: u32) {
        let controller = self.controller();
        let wrong = self.random.i32(31_100..150_000);
        let by = if self.random.bool() { wrong } else { -wrong };
        let set = at.saturating_sub(self.random.u32(160 * SECOND..5 * MINUTE));
        self.add(set, Op::Clock(controller, by));
        let right = at + self.random.u32(3 * MINUTE..5 * MINUTE);
        self.add(right, Op::ClockRight(controller));
    }

    /// An object is being deleted when its boundary is due.
    fn delete_before(&mut self, slot: Slot, at: u32) {
        let deleted = at.saturating_sub(self.random.u32(SECOND..MINUTE));
        self.add(deleted, Op::DeleteWithFinalizer(slot));
        let gone = at + self.random.u32(MINUTE..HOUR);
        self.add(gone, Op::Delete(slot));
    }

    /// A user scales at the boundary, but the controller observes that late, or its own requests arrive late.
    fn scale_unseen(&mut self, slot: Slot, at: u32) {
        let late = self.random.choice([2000, 11_000]).unwrap();
        let (controller, count) = (self.controller(), self.random.u32(1..9));
        if self.random.bool() {
            let faults = vec![Fault::EventLate(late)];
            self.add(at.saturating_sub(1500), Op::Faults(controller, faults, 100));
            let scaled = at.saturating_sub(self.random.u32(1..1000));
            self.add(scaled, Op::Scale(slot, count));
        } else {
            let faults = vec![Fault::Late(late)];
            self.add(at.saturating_sub(1500), Op::Faults(controller, faults, 100));
            let scaled = at + self.random.u32(1..2000);
            self.add(scaled, Op::Scale(slot, count));
        }
        self.add(at + 20 * SECOND, Op::Faults(controller, Vec::new(), 0));
    }

    /// Each watch event is followed by an older one, while a user scales.
    fn show_old_events(&mut self, slot: Slot, at: u32) {
        let controller = self.controller();
        let begun = at.saturating_sub(MINUTE);
        self.add(begun, Op::Cut(controller));
        self.add(begun, Op::Faults(controller, vec![Fault::EventStale], 100));
        for _ in 0..3 {
            let (scaled, count) = (begun + self.random.u32(..2 * MINUTE), self.count());
            self.add(scaled, Op::Scale(slot, count));
        }
        self.add(at + 2 * MINUTE, Op::Faults(controller, Vec::new(), 0));
    }
}
