//! The same story without all that can be left out of it.

use crate::{story::Story, told};

/// The story with some of its steps alone, `1,4,5`, and that text.
pub fn only(story: &Story, steps: &str) -> (Story, String) {
    let numbers: Vec<usize> = steps.split(',').filter_map(|it| it.parse().ok()).collect();
    (with(story, &numbers), steps.to_owned())
}

/// The shortest story found that still fails, and the numbers of its steps.
pub fn shortest(story: &Story) -> (Story, String) {
    let fails = |numbers: &[usize]| told(&with(story, numbers)).failure.is_some();
    let mut left: Vec<usize> = (0..story.steps.len()).collect();
    let mut size = left.len();
    while size > 0 {
        let before = left.len();
        let mut from = 0;
        while from < left.len() {
            let mut shorter = left.clone();
            shorter.drain(from..(from + size).min(left.len()));
            if fails(&shorter) {
                left = shorter;
            } else {
                from += size;
            }
        }
        if left.len() == before {
            size /= 2;
        }
    }
    let numbers: Vec<_> = left.iter().map(ToString::to_string).collect();
    (with(story, &left), numbers.join(","))
}

fn with(story: &Story, numbers: &[usize]) -> Story {
    let kept = numbers.iter().filter_map(|number| story.steps.get(*number));
    Story {
        steps: kept.cloned().collect(),
        ..story.clone()
    }
}
