//! From a flag's text to its value.

pub(in crate::cli) mod calendar_file;
pub(in crate::cli) mod selector;
pub(in crate::cli) mod time_flag;
pub(in crate::cli) mod until;
pub(in crate::cli) mod value_parsers;
