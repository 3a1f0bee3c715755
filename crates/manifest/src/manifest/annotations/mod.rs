//! Annotations and labels of the objects in a file, and where they stand.

pub(crate) mod annotation;
pub(crate) mod annotation_map;
pub(crate) mod misplaced_key;
