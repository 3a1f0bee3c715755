//! Annotations that exclude each other.

use dayshift_schedule::DiagnosticKind;

use super::effective::{Inputs, Origin};
use super::problem::Problem;
use crate::keys::Key;

/// Each key, those beside which it is refused, and what to write instead.
const EXCLUSIVE: [(Key, &[Key], &str); 3] = [
    (
        Key::Hours,
        &[Key::Start, Key::Stop],
        "write either hours, such as Mon-Fri 09:00-19:00, or start and stop",
    ),
    (
        Key::Scale,
        &[Key::Start, Key::Stop, Key::Hours],
        "write either exact counts, such as Mon-Fri 08:00 = 5; 19:00 = 0, or start and stop, or hours",
    ),
    (
        Key::Scale,
        &[Key::Replicas, Key::StopReplicas],
        "each time has its own count, such as Mon-Fri 08:00 = 5; 19:00 = 0: remove the other annotation",
    ),
];

/// The annotations in force that exclude each other.
///
/// Where both are written in one place, the problem is there. Where one is on the object and the
/// other is inherited, the problem is the object's: its Namespace may be right for everything else
/// in it, and is told nothing.
pub(super) fn exclusive(inputs: &Inputs) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut refuse = |key: Key, wrong: String, help: String| {
        let text = inputs.text(key).unwrap_or_default();
        let problem = Problem::of_text(key, text, wrong, help);
        problems.push(problem.of_kind(DiagnosticKind::Beside));
    };
    for (key, others, advice) in EXCLUSIVE {
        let Some(origin) = inputs.origin(key) else {
            continue;
        };
        let is_from = |it: Origin| move |other: &&Key| inputs.origin(**other) == Some(it);
        if let Some(other) = others.iter().find(is_from(origin)) {
            refuse(
                key,
                format!("cannot be combined with `{other}`"),
                advice.to_owned(),
            );
        }
        let own = others.iter().filter(is_from(Origin::Own));
        for own in own.filter(|_| origin != Origin::Own) {
            let place = origin.place();
            let wrong = format!("on the object cannot be combined with `{key}` {place}");
            let help = format!(
                "remove `{own}` from the object, or write a schedule there too, such as hours: Mon-Fri 09:00-19:00"
            );
            refuse(*own, wrong, help);
        }
    }
    problems
}
