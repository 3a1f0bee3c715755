//! What a story is: some objects, some scalers, and what happens to them; and how it is stored.

pub mod as_text;
pub mod calendar;
pub mod definition;
pub mod fault;
pub mod holidays;
pub mod intent;
pub mod kinds;
pub mod op;
pub mod prefix;
pub mod stored;
pub mod tampering;
pub mod times;
