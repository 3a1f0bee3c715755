//! What users hear of objects.

pub(super) mod notifier;
pub(super) mod reporter;
