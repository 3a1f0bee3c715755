//! What reading annotations and one decision from them costs, in steps that the fuzzer counts.

use chrono::{DateTime, Utc};
use dayshift_schedule::Zone;
use dayshift_workload::{Decision, DecisionContext, Inputs, Labels, Memory, Prefix, decide, read};

use super::super::{story::observed, texts::is_label_value};

/// The most steps to read all annotations of an object. A text of more than 4 kB is not read; two of crons
/// take 0.9 million.
const READING: u64 = 10_000_000;

/// The most steps of one decision. What the most costly texts of the corpus are asked takes 0.5 million.
const DECIDING: u64 = 5_000_000;

/// Checks one input: lines `name: text` are annotations. `steps` says how many steps have been taken
/// since the beginning.
pub fn run(bytes: &[u8], steps: impl Fn() -> u64) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let prefix = Prefix::default();
    let lines = text.lines().filter_map(|line| line.split_once(": "));
    let annotations: Vec<_> = lines
        .filter(|(name, _)| is_label_value(name))
        .map(|(name, text)| (prefix.full(name), text))
        .collect();
    let texts = annotations.iter().map(|(name, text)| (&**name, *text));
    let mut observed = observed(Inputs::from_annotations(&prefix, texts), Labels::default());
    let begun = steps();
    let parsed = read(&observed.inputs, &Zone::UTC.into());
    let taken = steps() - begun;
    assert!(taken <= READING, "{taken} steps to read {annotations:?}");
    let mut now: DateTime<Utc> = "2026-11-20T18:00:00Z".parse().expect("it is a moment");
    for _ in 0..4 {
        let memory = Memory::new(&observed);
        let context = DecisionContext {
            parsed: &parsed,
            observed: &observed,
            memory: &memory,
            seen: now,
            catch_up: chrono::TimeDelta::hours(72),
            prefix: &prefix,
        };
        let begun = steps();
        let decision = decide(&context, now);
        let taken = steps() - begun;
        assert!(
            taken <= DECIDING,
            "{taken} steps at {now} for {annotations:?}"
        );
        match decision {
            Decision::Write(change) => {
                observed.replicas = change.replicas;
                observed.labels = change.state.to_labels();
                observed.error = change.error;
                observed.override_began = change.override_began;
            }
            Decision::Wait { due: Some(due) } | Decision::StopsSoon { due, .. } => now = due,
            Decision::Wait { due: None } | Decision::CorrectionLimitReached { .. } => return,
        }
    }
}
