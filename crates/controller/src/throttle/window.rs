//! The AIMD window: the maximum number of requests in flight, which decreases if the server is
//! overloaded.

use dayshift_cluster::write::FailureKind;

/// The maximum number of requests in flight: additive increase, multiplicative decrease (AIMD).
#[derive(Debug)]
pub(crate) struct Window {
    max: usize,
    size: usize,
    /// The number of responses since the size last changed or the server failed.
    responses: usize,
}

impl Window {
    /// Creates a window with this initial and maximum size.
    pub(crate) const fn new(max: usize) -> Self {
        Self {
            max,
            size: max,
            responses: 0,
        }
    }

    /// The current size.
    pub(crate) const fn size(&self) -> usize {
        self.size
    }

    /// Applies a failure of the server. Halves the window if the server is overloaded.
    pub(crate) fn failed(&mut self, why: FailureKind) {
        self.responses = 0;
        if why == FailureKind::Overloaded {
            self.size = (self.size / 2).max(1);
        }
    }

    /// Applies a response. The window grows by one after `max` responses, which is slow enough for a
    /// server that remains overloaded.
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

    /// A window after this many failures.
    fn after(failures: u32, kind: FailureKind) -> Window {
        let mut window = Window::new(MAX);
        (0..failures).for_each(|_| window.failed(kind));
        window
    }

    #[test]
    fn halves_if_the_server_is_overloaded_but_not_if_it_is_unreachable() {
        for (failures, size) in [(0, 32), (1, 16), (2, 8), (5, 1), (9, 1)] {
            let overloaded = after(failures, FailureKind::Overloaded);
            assert_eq!(overloaded.size(), size, "{failures}");
            let unreachable = after(failures, FailureKind::Unreachable);
            assert_eq!(unreachable.size(), MAX, "{failures}: unreachable");
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
