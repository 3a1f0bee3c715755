//! One check for each fuzz target. The input is any text.

mod activator_head;
mod annotations;
mod calendar;
mod costs;
mod hours;
mod manifest;
mod moments;
mod schedules;
mod slices;
mod state;
mod times;

pub use activator_head::run as activator_head;
pub use annotations::run as annotations;
pub use calendar::run as calendar;
pub use costs::run as costs;
pub use hours::run as hours;
pub use manifest::run as manifest;
pub use moments::run as moments;
pub use schedules::run as schedules;
pub use slices::run as slices;
pub use state::run as state;
pub use times::run as times;
