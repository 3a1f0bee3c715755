//! The allocations of an operation and the memory that it holds.

use std::{
    any::Any,
    env,
    hint::black_box,
    process::{Command, Stdio},
};

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

/// The name of the case that this process measures.
const MEASURED: &str = "DAYSHIFT_COSTS_MEASURED";

/// Measures a case and prints the result, if this program was started by [`memory`].
pub(crate) fn is_measured(cases: &[Case]) -> bool {
    let Ok(name) = env::var(MEASURED) else {
        return false;
    };
    let case = cases.iter().find(|case| case.name == name).unwrap();
    let memory = memory_here(case);
    println!("{} {} {}", memory.allocations, memory.bytes, memory.held);
    true
}

/// Measures a case in a process of its own, because the allocator counts for the whole process.
pub(crate) fn memory(case: &Case) -> Memory {
    let mut child = Command::new(env::current_exe().unwrap());
    let child = child.env(MEASURED, case.name).stdin(Stdio::null());
    let output = child.stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "{}", case.name);
    let text = String::from_utf8(output.stdout).unwrap();
    let numbers: Vec<f64> = text
        .split_whitespace()
        .map(|number| number.parse().unwrap())
        .collect();
    let [allocations, bytes, held] = numbers[..] else {
        panic!("{}: {text}", case.name);
    };
    Memory {
        allocations,
        bytes,
        held,
    }
}

/// Runs the operation and measures it.
///
/// For a whole cluster, the held memory is the minimum of three runs, because hash tables grow at random
/// times.
fn memory_here(case: &Case) -> Memory {
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
