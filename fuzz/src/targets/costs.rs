//! The cost of parsing annotations and of one decision, in steps that the fuzzer counts.

use chrono::{DateTime, Utc};
use dayshift_schedule::Zone;
use dayshift_workload::{Decision, DecisionContext, Inputs, Labels, Memory, Prefix, decide, read};

use super::super::{scenario::observed, texts::is_label_value};

/// The maximum number of steps to parse all annotations of a workload. Text of more than 4 kB is
/// not parsed; two long texts of cron take 0.9 million.
const MAX_PARSE_STEPS: u64 = 10_000_000;

/// The maximum number of steps of one decision. The most expensive texts of the corpus take 0.5
/// million.
const MAX_DECISION_STEPS: u64 = 5_000_000;

/// Checks one input: its lines `name: text` are annotations. `steps` returns the number of steps
/// since the start of the process.
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
    assert!(
        taken <= MAX_PARSE_STEPS,
        "{taken} steps to parse {annotations:?}"
    );
    let mut now: DateTime<Utc> = "2026-11-20T18:00:00Z".parse().expect("the time is valid");
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
            taken <= MAX_DECISION_STEPS,
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
