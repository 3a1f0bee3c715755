//! The endpoints of controllers: `/readyz` and metrics.

use crate::harness::run::Harness;

/// The maximum deviation of a clock that is not certainly wrong, in milliseconds: 30 s, and rounding, because
/// a `Date` has whole seconds.
const MAX_OFF: i64 = 31_000;

/// The time in which a controller detects a wrong clock, after its start or after the clock was set, in
/// milliseconds.
const NOTICED: i64 = 5_000;

impl Harness<'_> {
    /// Checks, without faults, that each running controller is ready, and that its metrics count its writes.
    pub(super) fn are_ready(&self) {
        let now = self.now();
        let running = self.controllers.iter().filter_map(|it| it.process.as_ref());
        for it in running.filter(|it| !it.task.is_finished()) {
            if let Err(why) = it.telemetry.ready() {
                let why = format!("{} is not ready: {why:?}", it.by);
                self.observer().fail(now, &why);
            }
            if self.is_fault_free() && self.observer().lost_answers(&it.by, None) == 0 {
                let metrics = it.telemetry.render();
                let counted = self.observer().reports.is_counted(&it.by, &metrics);
                if let Err(why) = counted {
                    self.observer().fail(now, &why);
                }
            }
        }
    }

    /// Checks that each controller whose clock is certainly wrong is not ready, if it compares its clock with
    /// the server's.
    pub(super) fn are_unready_by_wrong_clocks(&self) {
        let now = self.now();
        for controller in &self.controllers {
            let Some(process) = controller.process.as_ref() else {
                continue;
            };
            let since = {
                let observer = self.observer();
                let known = &observer.processes[&process.by];
                known.started.max(known.clock_set)
            };
            let is_known = since + NOTICED <= now;
            let is_wrong = controller.off.num_milliseconds().abs() > MAX_OFF;
            let is_ready = !process.task.is_finished() && process.telemetry.ready().is_ok();
            if is_wrong && is_known && is_ready {
                let why = format!("{} is ready, {} off", process.by, controller.off);
                self.observer().fail(now, &why);
            }
        }
    }
}
