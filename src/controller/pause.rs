//! Nothing is sent for a while after the server was away or asked to be left alone, and less at
//! once after it was too busy.

use tokio::time::Instant;

use crate::cluster::Unavailable;

use super::backoff::Backoff;

/// A pause of all sending, longer each time the server fails again.
#[derive(Debug)]
pub(super) struct Pause {
    until: Option<Instant>,
    failures: u32,
    most: usize,
    room: usize,
    answers: usize,
}

impl Pause {
    /// None yet, with at most so many requests under way.
    pub(super) const fn new(most: usize) -> Self {
        Self {
            until: None,
            failures: 0,
            most,
            room: most,
            answers: 0,
        }
    }

    /// The server did not answer, or asked to be left alone.
    pub(super) fn stand_back(
        &mut self,
        now: Instant,
        why: &Unavailable,
        random: &mut fastrand::Rng,
    ) {
        // Requests that were under way together fail together: that is one failure.
        if self.is_over(now) {
            self.failures = self.failures.saturating_add(1);
            self.answers = 0;
            if why.is_overload {
                self.room = (self.room / 2).max(1);
            }
        }
        let delay = Backoff::SERVER.delay(self.failures, random);
        let until = now + delay.max(why.retry_after.unwrap_or_default());
        self.until = Some(self.until.map_or(until, |known| known.max(until)));
    }

    /// The server has answered. After as many answers as may be under way at most there is room
    /// for one more: too slow to be in the way of a server that is busy for good.
    pub(super) fn answered(&mut self) {
        self.failures = 0;
        self.answers += 1;
        if self.answers >= self.most {
            self.answers = 0;
            self.room = (self.room + 1).min(self.most);
        }
    }

    /// How many requests may be under way now.
    pub(super) const fn room(&self) -> usize {
        self.room
    }

    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.until.is_none_or(|until| now >= until)
    }

    /// When it is over, or was; none where there was none.
    pub(super) const fn until(&self) -> Option<Instant> {
        self.until
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const MOST: usize = 32;

    fn failure(is_overload: bool) -> Unavailable {
        Unavailable {
            reason: String::new(),
            retry_after: None,
            is_overload,
        }
    }

    /// A pause after so many failures, of which each is over when the next one comes.
    fn after(failures: u32, is_overload: bool) -> Pause {
        let mut random = fastrand::Rng::with_seed(1);
        let (mut pause, mut now) = (Pause::new(MOST), Instant::now());
        for _ in 0..failures {
            pause.stand_back(now, &failure(is_overload), &mut random);
            // What was under way with it counts no more.
            pause.stand_back(now, &failure(is_overload), &mut random);
            now += Duration::from_secs(5);
        }
        pause
    }

    #[test]
    fn sends_half_as_much_at_once_to_a_server_that_is_too_busy() {
        for (failures, room) in [(0, 32), (1, 16), (2, 8), (5, 1), (9, 1)] {
            assert_eq!(after(failures, true).room(), room, "{failures}");
            assert_eq!(after(failures, false).room(), MOST, "it was away");
        }
    }

    #[test]
    fn sends_more_again_while_it_answers() {
        let mut pause = after(5, true);
        for (answers, room) in [(31, 1), (1, 2), (32, 3), (32 * 100, 32)] {
            (0..answers).for_each(|_| pause.answered());
            assert_eq!(pause.room(), room);
        }
    }
}
