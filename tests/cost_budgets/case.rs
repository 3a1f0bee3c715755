//! One operation with a recorded cost.

use std::any::Any;

/// An operation that is ready to run once. Its return value is the memory that it holds at its end.
pub(crate) type Operation = Box<dyn FnOnce() -> Box<dyn Any>>;

/// A name, and a function that prepares the measured operation.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// The number of units by which the cost is divided.
    pub(crate) each_of: u32,
    /// Whether the operation first runs once without being measured, to exclude one-time allocations.
    pub(crate) twice: bool,
    /// Whether instructions are counted too, which takes fifty times as long.
    pub(crate) instructions: bool,
    pub(crate) prepare: fn() -> Operation,
}

impl Case {
    /// Prepares the operation.
    pub(crate) fn ready(&self) -> Operation {
        if self.twice {
            drop((self.prepare)()());
        }
        (self.prepare)()
    }
}

/// An operation on a value that is created before and dropped after the measurement.
pub(crate) fn operation<T: 'static, U: 'static>(
    mut with: T,
    run: impl FnOnce(&mut T) -> U + 'static,
) -> Operation {
    Box::new(move || {
        let result = run(&mut with);
        Box::new((with, result))
    })
}
