//! How many requests of a lane may be in flight.

use std::sync::Arc;

use crate::queue::lanes::Lane;
use crate::send::in_flight::InFlight;

/// The places of one lane: for all namespaces, and for each.
pub(crate) struct Places<'a> {
    in_flight: &'a InFlight,
    lane: Lane,
    all: usize,
    each: usize,
}

impl<'a> Places<'a> {
    /// The places of a lane when this many requests may be in flight. Adoptions have few while
    /// starts and stops wait, but never none: another namespace's may go on for ever.
    pub(crate) fn of(
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

    /// Whether one more may be in flight, of some namespace.
    pub(crate) const fn is_one_free(&self) -> bool {
        self.in_flight.taken(self.lane) < self.all
    }

    /// Whether one more may be in flight, of that namespace.
    pub(crate) fn is_one_free_for(&self, namespace: &Arc<str>) -> bool {
        self.in_flight.taken_by(self.lane, namespace) < self.each
    }
}

/// No namespace takes more than three of four places.
const fn shared(all: usize) -> (usize, usize) {
    (all, all - all / 4)
}
