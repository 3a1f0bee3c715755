//! A scenario of one workload; see [`run_scenario`].

use super::super::scenario::run_scenario;

/// Checks one input.
pub fn run(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        run_scenario(text);
    }
}
