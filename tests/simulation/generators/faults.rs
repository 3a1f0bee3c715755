//! Controllers that are killed and restarted, and faults between them and the API.

use fastrand::Rng;

use crate::{
    generators::steps::{HOUR, MINUTE, Steps},
    scenario::{
        fault::{Fault, Stage},
        op::Op,
    },
};

impl Steps<'_> {
    pub(crate) fn back(&mut self, at: u32) -> u32 {
        at + match self.random.u8(..4) {
            0 => self.random.u32(..2000),
            1..=2 => self.random.u32(..20 * MINUTE),
            _ => self.random.u32(..6 * HOUR),
        }
    }

    pub(super) fn restart(&mut self, at: u32) {
        let controller = self.controller();
        let op = if self.random.bool() {
            Op::Stop(controller)
        } else {
            Op::Kill(controller)
        };
        self.add(at, op);
        let back = self.back(at);
        self.add(back, Op::Up(controller));
    }

    pub(super) fn kill(&mut self, at: u32) {
        let controller = self.controller();
        let stage = self
            .random
            .choice([Stage::Before, Stage::OnTheWay, Stage::After])
            .unwrap();
        let writes = self.random.u32(..3);
        self.add(at, Op::KillIn(controller, writes, stage));
        let back = self.back(at);
        self.add(back, Op::Up(controller));
    }

    pub(super) fn faults(&mut self, at: u32) {
        let controller = self.controller();
        let faults: Vec<_> = (0..self.random.usize(1..6)).map(|_| self.fault()).collect();
        let percent = self.random.choice([10, 30, 60, 90, 100]).unwrap();
        let op = if self.random.u8(..4) == 0 {
            Op::NamespaceFaults(controller, faults, percent)
        } else {
            Op::Faults(controller, faults, percent)
        };
        self.add(at, op);
        if self.random.bool() {
            let cut = at + self.random.u32(..5000);
            self.add(cut, Op::Cut(controller));
        }
        let back = at
            + self
                .random
                .choice([1000, 20_000, 3 * MINUTE, 20 * MINUTE])
                .unwrap();
        self.add(back, Op::Faults(controller, Vec::new(), 0));
    }

    fn fault(&mut self) -> Fault {
        let late = |random: &mut Rng| random.choice([1, 90, 2000, 11_000, 40_000]).unwrap();
        match self.random.u8(..26) {
            0..=1 => Fault::Lost,
            2..=4 => Fault::AnswerLost,
            5 => Fault::Hangs,
            6..=7 => Fault::AnswerHangs,
            8..=9 => Fault::Late(late(self.random)),
            10..=11 => Fault::AnswerLate(late(self.random)),
            12 => Fault::Torn,
            13 => Fault::Refused,
            14 => Fault::Busy(self.random.u16(1..30)),
            15..=19 => {
                let codes = [401, 403, 409, 410, 422, 429, 500, 503];
                Fault::Code(self.random.choice(codes).unwrap())
            }
            20 => Fault::EventLate(late(self.random)),
            21 => Fault::EventTwice,
            22..=23 => Fault::EventStale,
            24 => self.random.choice([Fault::Cut, Fault::Broken]).unwrap(),
            _ => Fault::Silent,
        }
    }
}
