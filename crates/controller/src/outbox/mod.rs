//! The order in which patches are sent, and the requests in flight.

pub(crate) mod fair_queue;
pub(crate) mod flight;
#[expect(
    clippy::module_inception,
    reason = "the queues themselves, beside their parts"
)]
pub(crate) mod outbox;
pub(crate) mod slots;
