//! Calendars that change during a scenario.

use chrono::{Days, NaiveDate, Timelike as _};
use fastrand::Rng;

use crate::{
    generators::steps::{HOUR, MINUTE, Steps},
    scenario::{
        calendar::{Plan, Rule},
        definition::Scenario,
        holidays::{Dates, NAMES, Name},
        op::Op,
        times::{At, Style},
    },
};

/// A separate generator, so that scenarios without calendars do not depend on these draws.
fn own_draws(seed: u64) -> Rng {
    Rng::with_seed(seed ^ 0xca1e_0da2)
}

impl Scenario {
    /// Draws whether there are calendars, and which schedules name them.
    pub fn draw_calendars(&mut self) {
        let random = &mut own_draws(self.seed);
        if random.u8(..4) != 0 {
            return;
        }
        self.calendars = (0..NAMES.len()).filter(|_| random.u8(..8) != 0).collect();
        for plan in &mut self.plans {
            let names = random.choice([vec![0], vec![0], vec![1], vec![0, 1], vec![]]);
            plan.calendars = names.unwrap_or_default();
            if random.u8(..4) == 0 {
                // If the calendars exclude every date, no boundary is left.
                let once = |_| {
                    let date = self.begin.date_naive() + Days::new(random.u64(..3));
                    At::Once(date.and_hms_opt(random.u32(..24), 30, 0).unwrap())
                };
                plan.rule = Rule::Times {
                    start: (0..2).map(once).collect(),
                    stop: Vec::new(),
                };
            }
        }
        let is_named = self.plans.iter().any(|plan| !plan.calendars.is_empty());
        if !is_named {
            self.plans[0].calendars = vec![0];
        }
    }
}

impl Scenario {
    /// Draws whether schedules are named. Kinds with an on/off field ignore counts of a named schedule
    /// that they reject in an annotation, so these are left to other tests.
    pub fn draw_names(&mut self) {
        let random = &mut Rng::with_seed(self.seed ^ 0x6e61_6d65);
        let has_switches = self.switches || self.is_mixed;
        self.are_named = !has_switches && random.u8(..3) == 0;
    }
}

impl Steps<'_> {
    /// Draws the changes of calendars: the first dates, and later ones. Each controller reads a change at its
    /// own time.
    pub(crate) fn change_calendars(&mut self, boundaries: &[u32]) {
        let random = &mut own_draws(!self.scenario.seed);
        let is_named = |plan: &Plan| !plan.calendars.is_empty();
        if !self.scenario.plans.iter().any(is_named) {
            return;
        }
        let mut files: [Dates; NAMES.len()] = Default::default();
        for (name, dates) in files.iter_mut().enumerate() {
            for _ in 0..random.usize(..3) {
                self.toggle(random, dates, 0);
            }
            self.add(0, Op::Calendar(name, dates.clone()));
        }
        for _ in 0..random.u32(1..6) {
            let at = match random.choice(boundaries) {
                Some(boundary) if random.bool() => {
                    (boundary + random.u32(..40 * MINUTE)).saturating_sub(20 * MINUTE)
                }
                _ => random.u32(3000..self.scenario.length),
            };
            let name = random.usize(..NAMES.len());
            match random.u8(..12) {
                0 => {
                    let back = at + random.u32(..40 * MINUTE);
                    let was_given = self.scenario.calendars.contains(&name);
                    self.add(at, Op::NameCalendar(name, !was_given));
                    self.add(back, Op::NameCalendar(name, was_given));
                }
                1 => self.lose(random, at, name, &mut files[name]),
                _ => {
                    self.toggle(random, &mut files[name], at);
                    self.add(at, Op::Calendar(name, files[name].clone()));
                    self.read(random, at);
                }
            }
        }
        if random.u8(..3) == 0 {
            self.include_date_again(random, &files);
        }
    }

    /// A schedule has a single boundary. First a calendar excludes its date, so that no boundary is left, and
    /// then includes it again, before or after the boundary has passed.
    fn include_date_again(&mut self, random: &mut Rng, files: &[Dates; NAMES.len()]) {
        let name = self.scenario.calendars.first().copied().unwrap_or_default();
        let zone = self.scenario.zone;
        let at = random.u32(self.scenario.length / 4..self.scenario.length);
        let local = self.scenario.instant(at).with_timezone(&zone).naive_local();
        let date = local.date();
        let once = At::Once(date.and_hms_opt(local.hour(), local.minute(), 0).unwrap());
        let rule = if random.u8(..4) == 0 {
            Rule::Scale(vec![(once, random.u32(1..6))])
        } else {
            Rule::Times {
                start: vec![once],
                stop: Vec::new(),
            }
        };
        self.scenario.plans.push(Plan {
            rule,
            except: Vec::new(),
            treated: Vec::new(),
            extra: Vec::new(),
            calendars: vec![name],
            zone: Some(zone),
            jitter: (random.u8(..4) == 0).then(|| random.u32(1..30)),
            style: Style::Names,
        });
        let plan = Some(self.scenario.plans.len() - 1);
        let taken = at.saturating_sub(random.u32(MINUTE..6 * HOUR)).max(3000);
        let covered = (date - Days::new(1), date + Days::new(1));
        let dates = [&files[name][..], &[covered]].concat();
        self.add(taken, Op::Calendar(name, dates));
        self.read(random, taken);
        let asked = taken + random.u32(..20_000);
        let slot = random.usize(..self.objects);
        self.add(asked, Op::Plan(slot, plan));
        let given = match random.u8(..4) {
            0 => asked + random.u32(..10 * MINUTE),
            _ => at + random.choice([1, MINUTE, HOUR, 5 * HOUR]).unwrap(),
        };
        self.add(given, Op::Calendar(name, files[name].clone()));
        self.read(random, given);
    }

    /// A file is missing for some time: a controller that starts meanwhile waits for it.
    fn lose(&mut self, random: &mut Rng, at: u32, name: Name, dates: &mut Dates) {
        self.add(at, Op::LoseCalendar(name));
        self.read(random, at);
        let back = at + random.u32(1000..40 * MINUTE);
        if random.bool() {
            let controller = random.usize(..self.scenario.controllers);
            self.add(at + (back - at) / 2, Op::Kill(controller));
            self.add(at + (back - at) / 2, Op::Up(controller));
        }
        if random.bool() {
            self.toggle(random, dates, back);
        }
        self.add(back, Op::Calendar(name, dates.clone()));
        for controller in 0..self.scenario.controllers {
            self.add(back, Op::Up(controller));
        }
        self.read(random, back);
    }

    /// Each controller reads the files every 10 s, after its kubelet has written them. One controller might
    /// be restarted instead, or read later.
    fn read(&mut self, random: &mut Rng, at: u32) {
        for controller in 0..self.scenario.controllers {
            let late = random.choice([0, 1, 10_000, 2 * MINUTE]).unwrap();
            let at = at + random.u32(..=late);
            match random.u8(..6) {
                0 => {
                    let back = at + random.choice([0, 500, 30 * MINUTE]).unwrap();
                    self.add(at, Op::Kill(controller));
                    self.add(back, Op::Up(controller));
                }
                _ => self.add(at, Op::ReadCalendars(controller)),
            }
        }
    }

    /// Adds a date near a time of the scenario, or removes it.
    fn toggle(&self, random: &mut Rng, dates: &mut Dates, at: u32) {
        let local = self.scenario.instant(at).with_timezone(&self.scenario.zone);
        let today: NaiveDate = local.date_naive();
        let place = (!dates.is_empty() && random.u8(..3) == 0).then(|| random.usize(..dates.len()));
        if let Some(place) = place {
            dates.remove(place);
            return;
        }
        let first = today + Days::new(random.choice([0, 0, 0, 1, 1, 2, 3]).unwrap());
        let first = if random.u8(..4) == 0 {
            first - Days::new(1)
        } else {
            first
        };
        let last = first + Days::new(random.choice([0, 0, 0, 1, 4]).unwrap());
        let is_there = dates.iter().position(|range| *range == (first, last));
        match is_there {
            Some(place) => drop(dates.remove(place)),
            None => dates.push((first, last)),
        }
    }
}
