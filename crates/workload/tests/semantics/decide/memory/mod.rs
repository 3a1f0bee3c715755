//! The state in labels.

mod labels;
mod outlives;
mod versions;
