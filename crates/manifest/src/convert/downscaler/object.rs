//! All annotations of an object.

use super::outcome::{Context, EXCLUDE, Old, Outcome, Remark, is_schedule};
use super::schedule::Schedule;
use super::single::{Single, one};
use crate::convert::finding::Topic;
use crate::convert::times::moments::Texts;

/// Converts all of an object's.
pub(crate) fn convert(olds: &[Old<'_>], context: Context<'_>) -> Outcome {
    let mut outcome = Outcome::default();
    let schedule = Schedule::read(olds, context);
    match schedule.and_then(|it| it.texts(&mut outcome.remarks)) {
        Ok(texts) => replace_schedule(olds, texts, &mut outcome),
        Err(remark) => {
            // It stays with the other tool as a whole.
            outcome.remarks = vec![remark];
            return outcome;
        }
    }
    for (at, (key, text)) in olds.iter().enumerate() {
        match one(at, key, text, context) {
            Ok(None) => {}
            Ok(Some(Single {
                texts,
                saved,
                remarks,
            })) => {
                outcome.replaced.push((at, texts));
                outcome.saved = outcome.saved.or(saved);
                outcome.remarks.extend(remarks);
            }
            Err(remark) => outcome.remarks.push(remark),
        }
    }
    let holds = |it: &(usize, Vec<(&str, String)>)| it.1.iter().any(|it| it.0 == EXCLUDE);
    if outcome.saved.is_some() && outcome.replaced.iter().any(holds) {
        outcome.remarks.retain(|it| it.rule != Topic::SavedCount);
        if let Some(at) = olds.iter().position(|it| it.0 == "original-replicas") {
            outcome.remarks.push(Remark::new(
                Topic::SavedCount,
                (at, 0..olds[at].1.len()),
                "the object is stopped and excluded, so that nothing starts it",
                "dayshift restore brings it back to the saved count",
            ));
        }
    }
    outcome.replaced.sort_by_key(|it| it.0);
    outcome
}

fn replace_schedule(olds: &[Old<'_>], texts: Texts, outcome: &mut Outcome) {
    let mut texts = Some(texts);
    for (at, (key, _)) in olds.iter().enumerate() {
        if is_schedule(key) {
            let texts = texts.take().unwrap_or_default();
            let texts = texts.into_iter().map(|(key, text)| (key.name(), text));
            outcome.replaced.push((at, texts.collect()));
        }
    }
}
