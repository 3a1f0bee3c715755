//! The parts of a scenario: some objects, some controllers, and the steps; and its storage.

pub mod as_text;
pub mod calendar;
pub mod definition;
pub mod fault;
pub mod holidays;
pub mod intent;
pub mod kinds;
pub mod names;
pub mod op;
pub mod prefix;
pub mod stored;
pub mod tampering;
pub mod times;
