//! A fleet: many objects of one namespace whose writes fail at their boundary, while other objects have no
//! faults.

use chrono::{TimeDelta, Timelike as _};

use crate::{
    generators::steps::{HOUR, MINUTE, Steps},
    scenario::{
        calendar::{Plan, Rule},
        fault::Trouble,
        op::{NAMED, Op, PauseChange},
        times::{At, Style},
    },
};

/// Every day of the week, as bits.
const DAILY: u8 = 0x7f;

impl Steps<'_> {
    /// From a minute before its boundary, each write to the fleet hangs or fails, and users make other
    /// changes.
    pub(crate) fn write_fleet(&mut self) {
        self.scenario.controllers = self.random.choice([1, 1, 1, 2]).unwrap();
        self.scenario.in_flight = self.random.choice([0, 0, 0, 8]).unwrap();
        self.scenario.is_mixed = false;
        self.scenario.length = 2 * HOUR;
        self.objects = NAMED;
        let due = self.random.u32(20..50) * MINUTE;
        let fleet = self.scenario.plans.len();
        let stop = self.stop_at(due);
        self.scenario.plans.push(stop);
        for slot in 0..NAMED {
            let plan = self.random.choice([0, fleet]).unwrap();
            let (at, count) = (self.random.u32(..2000), self.count());
            self.add(at, Op::Make(slot, count, plan));
        }
        let size = self.random.choice([20, 45, 70]).unwrap();
        self.add(2000, Op::MakeFleet(size, 3, fleet));
        for controller in 0..self.scenario.controllers {
            let at = self.random.u32(2000..3000);
            self.add(at, Op::Up(controller));
        }
        let troubles = [
            Trouble::Hangs,
            Trouble::Hangs,
            Trouble::Fails,
            Trouble::Denies,
        ];
        let trouble = self.random.choice(troubles);
        self.add(due - MINUTE, Op::FleetTrouble(trouble));
        for _ in 0..self.random.u32(6..15) {
            let at = due + self.random.u32(..90_000);
            let op = self.of_a_user();
            self.add(at, op);
        }
        let over = due + self.random.u32(2 * MINUTE..9 * MINUTE);
        self.add(over, Op::FleetTrouble(None));
        self.scenario.steps.sort_by_key(|step| step.at);
    }

    /// A plan that stops each day at this time of the scenario, to the minute.
    fn stop_at(&self, at: u32) -> Plan {
        let at = self.scenario.instant(at) + TimeDelta::seconds(59);
        let local = at.with_timezone(&self.scenario.zone);
        let minute = local.hour() * 60 + local.minute();
        let stop = At::Weekly {
            days: DAILY,
            minute,
        };
        Plan {
            rule: Rule::Times {
                start: Vec::new(),
                stop: vec![stop],
            },
            except: Vec::new(),
            treated: Vec::new(),
            extra: Vec::new(),
            calendars: Vec::new(),
            zone: None,
            jitter: None,
            style: Style::Names,
        }
    }

    fn of_a_user(&mut self) -> Op {
        let slot = self.random.usize(..NAMED);
        let until = self.random.i32(60..3600);
        match self.random.u8(..8) {
            0..=1 => Op::Wake(slot, Some(until)),
            2..=3 => Op::Sleep(slot, Some(until)),
            4 => Op::Pause(slot, PauseChange::For(until)),
            5 => Op::Scale(slot, self.count()),
            _ => {
                let plan = self.random.usize(..self.scenario.plans.len());
                Op::Plan(slot, Some(plan))
            }
        }
    }
}
