//! One operation whose cost is recorded.

use std::any::Any;

/// The operation, ready to be done once. What it returns is what it holds at its end.
pub(crate) type Operation = Box<dyn FnOnce() -> Box<dyn Any>>;

/// A name, and how to make ready what is measured.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Over how many the cost is divided.
    pub(crate) each_of: u32,
    /// Whether it is done once unmeasured before, for the sake of what is made only once.
    pub(crate) twice: bool,
    /// Whether instructions are counted too, which takes fifty times as long.
    pub(crate) instructions: bool,
    pub(crate) prepare: fn() -> Operation,
}

impl Case {
    /// Makes it ready to be measured.
    pub(crate) fn ready(&self) -> Operation {
        if self.twice {
            drop((self.prepare)()());
        }
        (self.prepare)()
    }
}

/// What is done with something that was there before and stays.
pub(crate) fn operation<T: 'static, U: 'static>(
    mut with: T,
    run: impl FnOnce(&mut T) -> U + 'static,
) -> Operation {
    Box::new(move || {
        let result = run(&mut with);
        Box::new((with, result))
    })
}
