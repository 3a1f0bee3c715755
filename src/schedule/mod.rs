//! Times, hours, zones and the boundaries they make. No Kubernetes, no runtime, no clock.

mod boundary;

pub use boundary::{Action, Boundary};
