//! What an operation allocates and holds, but for what is done elsewhere on its behalf.

use std::{
    any::Any,
    cell::Cell,
    hint::black_box,
    sync::atomic::{AtomicBool, Ordering},
};

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, Stats};

use super::case::{Case, Operation};

/// The cost in memory of one of what a case does many of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    pub(crate) allocations: f64,
    /// All bytes that were allocated.
    pub(crate) bytes: f64,
    /// The bytes that are still there at the end.
    pub(crate) held: f64,
}

static COUNTING: AtomicBool = AtomicBool::new(false);

thread_local! {
    static ELSEWHERE: Cell<Totals> = const { Cell::new(Totals { allocations: 0, bytes: 0, held: 0 }) };
}

#[derive(Clone, Copy)]
struct Totals {
    allocations: i64,
    bytes: i64,
    held: i64,
}

impl Totals {
    fn of(stats: &Stats) -> Self {
        let number = |count: usize| i64::try_from(count).unwrap();
        Self {
            allocations: number(stats.allocations + stats.reallocations),
            bytes: number(stats.bytes_allocated),
            held: number(stats.bytes_allocated) - number(stats.bytes_deallocated),
        }
    }
}

/// Does the operation and measures it.
pub(crate) fn memory(case: &Case) -> Memory {
    let run = case.ready();
    ELSEWHERE.set(Totals {
        allocations: 0,
        bytes: 0,
        held: 0,
    });
    let region = Region::new(&INSTRUMENTED_SYSTEM);
    let result = counted_operation(run);
    let (all, other) = (Totals::of(&region.change()), ELSEWHERE.get());
    drop(result);
    #[expect(clippy::cast_precision_loss, reason = "far from 2^53")]
    let each = |all: i64, other: i64| (all - other) as f64 / f64::from(case.each_of);
    Memory {
        allocations: each(all.allocations, other.allocations),
        bytes: each(all.bytes, other.bytes),
        held: each(all.held, other.held),
    }
}

/// Callgrind counts from the beginning of this function to its end.
#[inline(never)]
pub(crate) fn counted_operation(run: Operation) -> Box<dyn Any> {
    COUNTING.store(true, Ordering::Relaxed);
    let result = black_box(run());
    COUNTING.store(false, Ordering::Relaxed);
    result
}

/// Does what is no part of the operation that is measured.
pub(crate) fn elsewhere<T>(work: impl FnOnce() -> T) -> T {
    if !COUNTING.load(Ordering::Relaxed) {
        return work();
    }
    let region = Region::new(&INSTRUMENTED_SYSTEM);
    let result = work();
    let (now, before) = (Totals::of(&region.change()), ELSEWHERE.get());
    ELSEWHERE.set(Totals {
        allocations: before.allocations + now.allocations,
        bytes: before.bytes + now.bytes,
        held: before.held + now.held,
    });
    result
}
