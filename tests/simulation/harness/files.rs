//! The current calendar files, and the files that the controllers have flags for.

use std::sync::Arc;

use dayshift_controller::CalendarPublisher;

use crate::{
    checker::{assumptions, observer::Observer},
    harness::{controller::Running, run::Harness},
    scenario::holidays::{Dates, Holidays, NAMES, Name},
};

/// The two possible names, each with a file that has no dates at first.
#[derive(Clone, Default)]
pub struct Files {
    dates: [Dates; NAMES.len()],
    is_lost: [bool; NAMES.len()],
    /// Whether the controllers have a flag for the file.
    is_given: [bool; NAMES.len()],
}

impl Files {
    pub fn given(names: &[Name]) -> Self {
        Self {
            is_given: std::array::from_fn(|name| names.contains(&name)),
            ..Self::default()
        }
    }

    pub fn give(&mut self, name: Name, is_given: bool) {
        self.is_given[name] = is_given;
    }

    pub fn write(&mut self, name: Name, dates: Dates) {
        self.dates[name] = dates;
        self.is_lost[name] = false;
    }

    pub const fn lose(&mut self, name: Name) {
        self.is_lost[name] = true;
    }

    /// Makes each file readable again.
    pub const fn make_readable(&mut self) {
        self.is_lost = [false; NAMES.len()];
    }

    /// The calendars of a controller that starts. `None` if a file is unreadable, because the controller then
    /// does not start.
    pub fn at_start(&self) -> Option<Holidays> {
        let mut lost = self.is_given.iter().zip(self.is_lost);
        let is_good = !lost.any(|(is_given, is_lost)| *is_given && is_lost);
        is_good.then(|| self.read_after(&Holidays::default()))
    }

    /// The calendars of a running controller that reads the files again: it keeps the previous dates of an
    /// unreadable file.
    fn read_after(&self, known: &Holidays) -> Holidays {
        let mut now = known.clone();
        for name in 0..NAMES.len() {
            if self.is_given[name] && !self.is_lost[name] {
                now.put(name, Some(self.dates[name].clone()));
            }
        }
        now
    }
}

/// The calendars of one process, as it read them.
pub struct ReadFiles {
    pub publisher: CalendarPublisher,
    pub holidays: Holidays,
}

impl ReadFiles {
    /// Reads the files, and publishes changes.
    fn read(&mut self, files: &Files, by: &str, observer: &mut Observer) {
        let now = files.read_after(&self.holidays);
        if now != self.holidays {
            self.publisher.publish(assumptions::calendars(&now));
            self.holidays = now.clone();
            observer.reads(by, &Arc::new(now));
        }
    }
}

impl Harness<'_> {
    /// A running controller reads the files.
    pub(super) fn read_calendars(&mut self, number: usize) {
        let mut observer = self.observer.lock().unwrap();
        if let Some(Running { by, files, .. }) = &mut self.controllers[number].process {
            files.read(&self.files, by, &mut observer);
        }
    }
}
