//! How many requests of a lane may be under way.

use std::sync::Arc;

use crate::controller::queue::lanes::Lane;
use crate::controller::send::in_flight::InFlight;

/// The places of one lane: of all namespaces, and of each.
pub(in crate::controller) struct Places<'a> {
    in_flight: &'a InFlight,
    lane: Lane,
    all: usize,
    each: usize,
}

impl<'a> Places<'a> {
    /// The places of a lane where there is room for this many requests. Adoptions have few while
    /// starts and stops wait, but never none: those of another namespace may go on for ever.
    pub(in crate::controller) fn of(
        in_flight: &'a InFlight,
        lane: Lane,
        room: usize,
        transitions_wait: bool,
    ) -> Self {
        let (all, each) = match lane {
            Lane::Transition => (room + room / 4, room),
            Lane::Slow | Lane::Event => shared(room),
            Lane::Adoption if transitions_wait => shared((room / 8).max(1)),
            Lane::Adoption => shared((room / 2).max(1)),
        };
        Self {
            in_flight,
            lane,
            all,
            each,
        }
    }

    /// Whether one more may be under way, of some namespace.
    pub(in crate::controller) const fn is_one_free(&self) -> bool {
        self.in_flight.taken(self.lane) < self.all
    }

    /// Whether one more may be under way, of that namespace.
    pub(in crate::controller) fn is_one_free_for(&self, namespace: &Arc<str>) -> bool {
        self.in_flight.taken_by(self.lane, namespace) < self.each
    }
}

/// No namespace takes more than three of four.
const fn shared(all: usize) -> (usize, usize) {
    (all, all - all / 4)
}
