//! What schedules save: replicas, what those request, and what that costs.

pub(super) mod bill;
pub(super) mod held_down;
pub(super) mod price;
mod quantity;
pub(super) mod requests;
pub(super) mod saved;
