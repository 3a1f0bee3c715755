//! Invariants of every write, regardless of its cause. They do not use the rules: a mistake in the model of
//! the rules must not hide the same mistake in the code.

use serde_json::Value;

use crate::{
    checker::{
        objects::object::Object,
        rules::outcome::{Outcome, WriteKind},
    },
    scenario::prefix,
};

/// The maximum length of an error, in bytes.
const MAX_ERROR: usize = 1024;

/// The maximum number of quoted characters.
const MAX_QUOTE: usize = 60;

/// How far `last` can be ahead of the clock, in seconds.
const AHEAD: i64 = 3600;

/// Checks a write at `now`, in seconds of the controller's clock. `outcome` specifies whether the
/// start has an exact count.
pub fn check(
    old: &Object,
    new: &Object,
    outcome: &Outcome,
    is_exact: bool,
    now: i64,
) -> Result<(), String> {
    let kind = outcome.kind;
    let lowers = matches!(
        kind,
        WriteKind::Stop | WriteKind::Sleep | WriteKind::Enforce
    );
    let raises = matches!(kind, WriteKind::Start | WriteKind::Wake);
    if new.replicas != old.replicas && !lowers && !raises && kind != WriteKind::Scale {
        return Err(format!("{kind:?} scales"));
    }
    if lowers && new.replicas > old.replicas {
        return Err(format!("{kind:?} raises"));
    }
    if raises && !is_exact && new.replicas < old.replicas {
        return Err(format!("{kind:?} lowers the count"));
    }
    if outcome.adopts && new.replicas < old.replicas {
        return Err(format!("{kind:?} lowers the count at an adoption"));
    }
    let removed = old.texts.keys().filter(|key| !new.texts.contains_key(*key));
    let may_be_removed = ["pause", "sleep-until", "wake-until"];
    for key in removed {
        if !may_be_removed.contains(&&**key) {
            return Err(format!("the user's {key} was removed"));
        }
    }
    if let Some(error) = &new.error {
        check_error(old, error)?;
    }
    check_last(old, new, outcome, now)
}

/// `last` moves back only if it was ahead of the clock, and is ahead only if it was ahead before.
fn check_last(old: &Object, new: &Object, outcome: &Outcome, now: i64) -> Result<(), String> {
    let (before, after) = (old.state.last, new.state.last);
    let was_ahead = before.is_some_and(|last| last > now + AHEAD);
    let is_adopted = outcome.adopts && before > Some(now);
    if after < before && outcome.kind != WriteKind::Remove && !was_ahead && !is_adopted {
        return Err(format!("`last` moves back from {before:?} to {after:?}"));
    }
    if outcome.adopts && after > Some(now) && after > before {
        return Err(format!("`last` is in the future: {after:?} at {now}"));
    }
    Ok(())
}

fn check_error(old: &Object, error: &str) -> Result<(), String> {
    if error.len() > MAX_ERROR {
        return Err(format!("an error of {} bytes", error.len()));
    }
    for text in old.texts.values() {
        let characters: Vec<char> = text.chars().collect();
        let mut pieces = characters.windows(MAX_QUOTE + 1);
        if pieces.any(|piece| error.contains(&piece.iter().collect::<String>())) {
            return Err(format!("it quotes too much: {error}"));
        }
    }
    Ok(())
}

/// Checks that the labels which dayshift wrote are valid in Kubernetes.
pub fn check_labels(new: &Value) -> Result<(), String> {
    for (key, text) in new["metadata"]["labels"].as_object().into_iter().flatten() {
        let text = text.as_str().unwrap_or_default();
        if prefix::strip(key).is_some() && !is_label_value(text) {
            return Err(format!("{key} is not a label value: {text}"));
        }
    }
    Ok(())
}

/// <https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/>
fn is_label_value(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    let is_outer = |byte: &u8| byte.is_ascii_alphanumeric();
    bytes.len() <= 63
        && bytes.iter().all(is_inner)
        && bytes.first().is_none_or(is_outer)
        && bytes.last().is_none_or(is_outer)
}
