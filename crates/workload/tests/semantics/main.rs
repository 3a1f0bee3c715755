//! Rules for one workload, without a cluster, and linked only with the pure crates.
//!
//! - `decide/`: each rule of behavior, on the pure function
//! - `fallback`: where each key comes from

mod decide;
mod fallback;
