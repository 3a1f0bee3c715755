//! What has to hold whatever somebody writes; the targets bring the texts.

mod boundaries;
mod story;
mod texts;

pub use boundaries::check_boundaries;
pub use story::tell;
pub use texts::{check_error, check_printable, is_label_value, lines, reversed};
