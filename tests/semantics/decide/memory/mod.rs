//! Rules 4 and 9 to 13: what the labels remember, and what becomes of it.

mod labels;
mod outlives;
mod versions;
