//! Shrinks a failing scenario: removes every step without which it still fails.

use crate::{outcome_of, scenario::definition::Scenario};

/// The shortest scenario found that still fails.
pub fn shortest(scenario: &Scenario) -> Scenario {
    let mut left = scenario.clone();
    let mut size = left.steps.len();
    while size > 0 {
        let before = left.steps.len();
        let mut from = 0;
        while from < left.steps.len() {
            let mut shorter = left.clone();
            shorter
                .steps
                .drain(from..(from + size).min(left.steps.len()));
            if outcome_of(&shorter).failure.is_some() {
                left = shorter;
            } else {
                from += size;
            }
        }
        if left.steps.len() == before {
            size /= 2;
        }
    }
    left
}
