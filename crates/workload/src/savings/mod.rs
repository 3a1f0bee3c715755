//! What schedules save: replicas, what those request, and what that costs. Nothing here decides.

mod bill;
mod held_down;
mod price;
mod saved;

pub use bill::{Bill, amount};
pub use held_down::{HeldDown, held_down, held_down_count, is_kept_stopped};
pub use price::{Price, PriceError};
pub use saved::{Saved, SavedSoFar};
