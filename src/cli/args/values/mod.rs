//! From a flag's text to its value.

pub(crate) mod calendar_file;
pub(crate) mod selector;
pub(crate) mod time_flag;
pub(crate) mod until;
pub(crate) mod value_parsers;
