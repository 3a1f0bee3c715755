//! What holds for every change, whatever led to it.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift::{
    schedule::Action,
    workload::{Change, ChangeKind, Key, Label, Observed, Phase, State},
};

use crate::world::Checked;

pub fn check(observed: &Observed, change: &Change, now: DateTime<Utc>) -> Checked {
    let labels = change.state.to_labels();
    if State::from_labels(&labels) != change.state {
        return Err(format!("not to be read again: {:?}", change.state));
    }
    for label in Label::ALL {
        if labels.text(label).is_some_and(|text| !is_label_value(text)) {
            return Err(format!("no label value: {label:?} of {labels:?}"));
        }
    }
    if let Some(error) = &change.error {
        check_error(observed, error)?;
    }
    if change.boundary.is_some_and(|boundary| boundary.at > now) {
        return Err(format!("before its instant: {change:?}"));
    }
    let scales = change.replicas != observed.replicas;
    let may_scale = change.kind.is_transition() || change.kind == ChangeKind::Enforce;
    if scales && !may_scale {
        return Err(format!("scales without a boundary: {change:?}"));
    }
    let carries_out = matches!(change.kind, ChangeKind::Start | ChangeKind::Stop);
    if carries_out != change.boundary.is_some() {
        return Err(format!(
            "a transition and its boundary belong together: {change:?}"
        ));
    }
    if let Some(boundary) = change.boundary {
        let phase = match boundary.action {
            Action::Start => Phase::Running,
            Action::Stop => Phase::Stopped,
        };
        // An override may end before a `last` that a clock has left that was set back since.
        let (last, ahead) = (change.state.last, change.state.last > Some(now));
        if change.state.phase != Some(phase) || last != Some(boundary.at) && !ahead {
            return Err(format!("not the state after its boundary: {change:?}"));
        }
    }
    let held = [Phase::Woken, Phase::Slept, Phase::Paused];
    let begins = [ChangeKind::Wake, ChangeKind::Sleep, ChangeKind::Pause];
    if let Some(at) = begins.iter().position(|kind| *kind == change.kind)
        && change.state.phase != Some(held[at])
    {
        return Err(format!("not the state of its override: {change:?}"));
    }
    if let Some(key) = change
        .expired
        .iter()
        .find(|key| observed.inputs.text(**key).is_none())
    {
        return Err(format!("{key} is not there to be removed: {change:?}"));
    }
    let lowers = [ChangeKind::Stop, ChangeKind::Sleep, ChangeKind::Enforce];
    if lowers.contains(&change.kind) && change.replicas > observed.replicas {
        return Err(format!("a stop raises: {change:?}"));
    }
    check_last(observed, change, now)
}

/// `last` goes back only where it was too far ahead, or with the rest of the state.
fn check_last(observed: &Observed, change: &Change, now: DateTime<Utc>) -> Checked {
    let (before, after) = (observed.state().last, change.state.last);
    let ahead = before.is_some_and(|last| last > now + TimeDelta::hours(1));
    let foreign = matches!(change.kind, ChangeKind::Adopt(_)) && before > Some(now);
    let may_go_back = ahead || foreign;
    if after < before && change.kind != ChangeKind::Remove && !may_go_back {
        return Err(format!("`last` goes back from {before:?}: {change:?}"));
    }
    let adopts = matches!(change.kind, ChangeKind::Adopt(_) | ChangeKind::Reschedule);
    if adopts && after > Some(now) && after > before {
        return Err(format!("`last` is still to come at {now}: {change:?}"));
    }
    Ok(())
}

/// <https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/>
fn is_label_value(text: &str) -> bool {
    let alphanumeric = |byte: &u8| byte.is_ascii_alphanumeric();
    let middle = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let bytes = text.as_bytes();
    bytes.len() <= 63
        && bytes.iter().copied().all(middle)
        && bytes.first().is_none_or(alphanumeric)
        && bytes.last().is_none_or(alphanumeric)
}

fn check_error(observed: &Observed, error: &str) -> Checked {
    if error.len() > 1024 {
        return Err(format!("an error of {} bytes", error.len()));
    }
    for text in Key::ALL
        .into_iter()
        .filter_map(|key| observed.inputs.text(key))
    {
        let characters: Vec<char> = text.chars().collect();
        let mut pieces = characters
            .windows(61)
            .map(|piece| piece.iter().collect::<String>());
        if pieces.any(|piece| error.contains(&piece)) {
            return Err(format!("quotes too much: {error}"));
        }
    }
    Ok(())
}
