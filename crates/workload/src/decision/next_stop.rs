//! The stop that people are told of beforehand.

use chrono::{DateTime, Utc};

use crate::inputs::overrides::Override;
use crate::inputs::parsed::ParsedInputs;
use crate::observed::Observed;
use crate::overdue::action_at;

/// When an object that runs is next stopped, by its schedule or where its wake ends; `None` where it is
/// stopped already, where it may be started before that, and where nobody knows: it is paused, put to
/// sleep or not taken up yet.
pub fn next_stop(
    parsed: &ParsedInputs,
    observed: &Observed,
    now: DateTime<Utc>,
) -> Option<DateTime<Utc>> {
    let spec = parsed.spec()?;
    let is_stopped = observed.replicas <= spec.stop_replicas;
    if is_stopped || observed.deleting || observed.labels.are_of_a_later_version() {
        return None;
    }
    let state = observed.state();
    state.phase?;
    let object = &observed.object;
    let from = match observed.overrides(spec, &state, now).at(now) {
        None => now,
        Some(Override::Wake(until)) => {
            let action = action_at(parsed, observed, until);
            if action.is_some_and(|it| !it.brings_up()) {
                return Some(until);
            }
            until
        }
        Some(Override::Pause(_) | Override::Sleep(_)) => return None,
    };
    let stop = spec.next_that(false, object, from)?.at;
    let starts_before = || {
        let start = spec.next_that(true, object, from);
        start.is_some_and(|it| it.at < stop)
    };
    let says_stopped = spec.says(object, from).is_some_and(|it| !it.brings_up());
    (!says_stopped || !starts_before()).then_some(stop)
}
