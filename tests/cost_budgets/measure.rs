//! The allocations of an operation and the memory that it holds.

use std::{any::Any, hint::black_box};

use super::{
    alloc_accounting::Totals,
    case::{Case, Operation},
};

/// The memory cost of one unit of a case.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    pub(crate) allocations: f64,
    /// All allocated bytes.
    pub(crate) bytes: f64,
    /// The bytes that are still allocated at the end.
    pub(crate) held: f64,
}

/// Runs the operation and measures it.
///
/// For a whole cluster, the held memory is the minimum of three runs, because hash tables grow at random
/// times.
pub(crate) fn memory(case: &Case) -> Memory {
    let times = if case.twice { 3 } else { 1 };
    // One-time allocations exist after the first run.
    let ready = |time| match time {
        0 => case.ready(),
        _ => (case.prepare)(),
    };
    let measured = (0..times).map(|time| once(case, ready(time)));
    let least = measured.min_by(|one, other| one.held.total_cmp(&other.held));
    least.unwrap_or_default()
}

fn once(case: &Case, run: Operation) -> Memory {
    let before = Totals::here();
    let result = counted_operation(run);
    let after = Totals::here();
    drop(result);
    #[expect(clippy::cast_precision_loss, reason = "far from 2^53")]
    let each = |sum: i64| sum as f64 / f64::from(case.each_of);
    Memory {
        allocations: each(after.allocations - before.allocations),
        bytes: each(after.bytes - before.bytes),
        held: each(after.held - before.held),
    }
}

/// The name of [`counted_operation`] in callgrind, which dumps only after functions that a pattern
/// names.
pub(crate) const NAME: &str = concat!(module_path!(), "::counted_operation");

/// Callgrind counts from the beginning of this function to its end.
#[inline(never)]
pub(crate) fn counted_operation(run: Operation) -> Box<dyn Any> {
    black_box(run())
}
