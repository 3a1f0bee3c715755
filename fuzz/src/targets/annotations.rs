//! An object's story, as [`tell`] reads it.

use super::super::story::tell;

/// Checks one input.
pub fn run(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        tell(text);
    }
}
