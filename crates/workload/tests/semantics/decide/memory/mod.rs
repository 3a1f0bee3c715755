//! What the labels remember, and what becomes of it.

mod labels;
mod outlives;
mod versions;
