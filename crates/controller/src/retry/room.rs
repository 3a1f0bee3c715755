//! The number of requests in flight, which falls when the server is too busy.

use dayshift_cluster::write::FailureKind;

/// How many requests may be under way at once.
#[derive(Debug)]
pub(crate) struct Room {
    max: usize,
    now: usize,
    /// How many answers came since the number last changed.
    answers: usize,
}

impl Room {
    /// Room for this many at most, all of it free to use.
    pub(crate) const fn new(max: usize) -> Self {
        Self {
            max,
            now: max,
            answers: 0,
        }
    }

    /// How many may be under way now.
    pub(crate) const fn size(&self) -> usize {
        self.now
    }

    /// The server has failed: halves the number if the server is too busy.
    pub(crate) fn failed(&mut self, why: FailureKind) {
        self.answers = 0;
        if why == FailureKind::Overloaded {
            self.now = (self.now / 2).max(1);
        }
    }

    /// The server has answered. After as many answers as may be in flight at most, one more may:
    /// slowly enough to spare a server that stays busy.
    pub(crate) fn answered(&mut self) {
        self.answers += 1;
        if self.answers >= self.max {
            self.answers = 0;
            self.now = (self.now + 1).min(self.max);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = 32;

    /// What is left after so many failures.
    fn after(failures: u32, kind: FailureKind) -> Room {
        let mut room = Room::new(MAX);
        (0..failures).for_each(|_| room.failed(kind));
        room
    }

    #[test]
    fn a_server_that_is_too_busy_is_sent_half_as_much_at_once() {
        for (failures, size) in [(0, 32), (1, 16), (2, 8), (5, 1), (9, 1)] {
            let busy = after(failures, FailureKind::Overloaded);
            assert_eq!(busy.size(), size, "{failures}");
            let away = after(failures, FailureKind::Unreachable);
            assert_eq!(away.size(), MAX, "{failures}: it was away");
        }
    }

    #[test]
    fn a_server_that_answers_is_sent_more_again() {
        let mut room = after(5, FailureKind::Overloaded);
        for (answers, size) in [(31, 1), (1, 2), (32, 3), (32 * 100, 32)] {
            (0..answers).for_each(|_| room.answered());
            assert_eq!(room.size(), size);
        }
    }
}
