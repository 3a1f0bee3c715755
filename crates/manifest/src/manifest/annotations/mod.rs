//! Annotations and labels of the objects in a file, and where they stand.

pub(in crate::manifest) mod annotation;
pub(in crate::manifest) mod annotation_map;
pub(in crate::manifest) mod misplaced_key;
