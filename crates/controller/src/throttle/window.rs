//! The number of requests in flight, which falls while the server is too busy.

use dayshift_cluster::write::FailureKind;

/// How many requests may be in flight at once: additive increase, multiplicative decrease.
#[derive(Debug)]
pub(crate) struct Window {
    max: usize,
    size: usize,
    /// How many responses came since the size last changed.
    responses: usize,
}

impl Window {
    /// A window of this size at most, and at first.
    pub(crate) const fn new(max: usize) -> Self {
        Self {
            max,
            size: max,
            responses: 0,
        }
    }

    /// How many may be in flight now.
    pub(crate) const fn size(&self) -> usize {
        self.size
    }

    /// The server has failed: halves the window if the server is too busy.
    pub(crate) fn failed(&mut self, why: FailureKind) {
        self.responses = 0;
        if why == FailureKind::Overloaded {
            self.size = (self.size / 2).max(1);
        }
    }

    /// The server has responded. After as many responses as may be in flight at most, one more
    /// request may: slowly enough to spare a server that stays busy.
    pub(crate) fn responded(&mut self) {
        self.responses += 1;
        if self.responses >= self.max {
            self.responses = 0;
            self.size = (self.size + 1).min(self.max);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = 32;

    /// The window after so many failures.
    fn after(failures: u32, kind: FailureKind) -> Window {
        let mut window = Window::new(MAX);
        (0..failures).for_each(|_| window.failed(kind));
        window
    }

    #[test]
    fn halves_when_the_server_is_too_busy_and_not_when_it_is_away() {
        for (failures, size) in [(0, 32), (1, 16), (2, 8), (5, 1), (9, 1)] {
            let busy = after(failures, FailureKind::Overloaded);
            assert_eq!(busy.size(), size, "{failures}");
            let away = after(failures, FailureKind::Unreachable);
            assert_eq!(away.size(), MAX, "{failures}: it was away");
        }
    }

    #[test]
    fn grows_by_one_after_a_full_window_of_responses() {
        let mut window = after(5, FailureKind::Overloaded);
        for (responses, size) in [(31, 1), (1, 2), (32, 3), (32 * 100, 32)] {
            (0..responses).for_each(|_| window.responded());
            assert_eq!(window.size(), size);
        }
    }
}
