//! What follows from a wish.

use crate::{
    asked::{Asked, Bad, Pause},
    calendar::Plan,
    phase::Phase,
};

impl Asked {
    /// The texts that make a schedule what it is, in a form to compare.
    pub fn schedule_text(&self, plans: &[Plan]) -> String {
        let mut texts = self.annotations(plans);
        let all = ["start", "stop", "hours", "timezone", "except", "jitter"];
        texts.retain(|(key, _)| all.contains(&&**key));
        texts.sort();
        format!("{texts:?}")
    }

    /// Whether any of `start`, `stop` and `hours` is there, right or wrong.
    pub fn names_a_schedule(&self) -> bool {
        let named = [Bad::Day, Bad::NoHoursBeside, Bad::Long, Bad::Foreign];
        self.plan.is_some() || self.bad.is_some_and(|bad| named.contains(&bad))
    }

    /// All ends that are written.
    pub fn ends(&self) -> impl Iterator<Item = i64> {
        let phases = [Phase::Paused, Phase::Woken, Phase::Slept];
        let ends = phases.map(|phase| self.end_of(phase));
        ends.into_iter().flatten()
    }

    /// The same with nothing laid over it.
    pub fn without_overrides(&self) -> Self {
        Self {
            pause: None,
            wake: None,
            sleep: None,
            ..self.clone()
        }
    }

    /// Takes away what is over; whether anything was.
    pub fn lift(&mut self, now: i64) -> bool {
        let before = self.clone();
        self.pause = self.pause.filter(|pause| match pause {
            Pause::Forever => true,
            Pause::Until(at) => *at > now,
        });
        self.wake = self.wake.filter(|at| *at > now);
        self.sleep = self.sleep.filter(|at| *at > now);
        *self != before
    }

    /// The count after a stop; an unreadable one counts as none.
    pub fn stop_count(&self) -> u32 {
        match self.bad {
            Some(Bad::StopReplicas) => 0,
            _ => self.stop_replicas.unwrap_or(0),
        }
    }
}
