//! The annotations of GoKubeDownscaler and py-kube-downscaler on one object or Namespace.

mod object;
mod outcome;
mod schedule;
mod single;

pub(super) use object::convert;
pub(super) use outcome::{Context, is_force, is_same, laid_over};
