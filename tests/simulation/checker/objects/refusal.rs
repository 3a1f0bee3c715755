//! Whether annotations are rejected, implemented independently from the pages of
//! `docs/reference/annotations.md` and `times.md`: in scenarios, every value comes from a plan, from a user,
//! or from a short list of invalid values.

use std::collections::BTreeMap;

use super::{object::Object, texts};
use crate::scenario::{
    holidays::{Holidays, NAMES},
    intent::Bad,
};

/// Larger values are rejected without parsing.
const MAX_TEXT: usize = 4096;

const OVERRIDES: [&str; 3] = ["pause", "wake-until", "sleep-until"];

/// Annotations that cannot be combined.
const BESIDE: [(&str, &[&str]); 2] = [
    ("hours", &["start", "stop"]),
    (
        "scale",
        &["start", "stop", "hours", "replicas", "stop-replicas"],
    ),
];

/// Where an annotation is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    OnTheObject,
    /// Only on its Namespace.
    OnTheNamespace,
}

/// Whether the annotations of an object are rejected if these calendars are known.
pub fn refusal(object: &Object, holidays: &Holidays) -> Option<Wrong> {
    let in_force = object.in_force();
    let too_long = in_force.iter().filter(|(_, text)| text.len() > MAX_TEXT);
    let mut are_own: Vec<bool> = too_long
        .map(|(key, _)| texts::is_own(&object.texts, key))
        .collect();
    if are_own.is_empty() && in_force.get("exclude").is_none_or(|it| it != "true") {
        are_own = wrong(object, &in_force, holidays);
        are_own.extend(beside(object, &in_force));
    }
    let is_own = are_own.iter().any(|is_own| *is_own);
    (!are_own.is_empty()).then_some(if is_own {
        Wrong::OnTheObject
    } else {
        Wrong::OnTheNamespace
    })
}

/// For each invalid annotation, whether it is on the object itself.
fn wrong(object: &Object, in_force: &BTreeMap<String, String>, holidays: &Holidays) -> Vec<bool> {
    let is_scheduled = texts::has_schedule(in_force);
    let is_inherited = |key: &String| key != Bad::UNKNOWN_KEY && !texts::is_own(&object.texts, key);
    let inherits = in_force.keys().any(is_inherited);
    let refuses = object.kind.switch.map_or(&[][..], |it| it.refuses);
    // Overrides apply from both objects, so those of the Namespace are checked too.
    let hidden = object
        .defaults
        .iter()
        .filter(|(key, _)| OVERRIDES.contains(&&***key) && object.texts.contains_key(*key));
    let in_force = in_force.iter();
    let all = in_force.map(|it| (it, texts::is_own(&object.texts, it.0)));
    let all = all.chain(hidden.map(|it| (it, false)));
    let wrong = all.filter(|((key, text), is_own)| {
        let is_override = ["wake-until", "sleep-until"].contains(&&***key);
        let is_about_nothing = *is_own && is_override && !is_scheduled;
        let is_count = is_scheduled && refuses.contains(&&***key);
        // If the schedule is inherited, the annotation might be a misspelled part of it.
        let is_unknown = **key == Bad::UNKNOWN_KEY && (*is_own || inherits);
        is_unknown || is_about_nothing || is_count || is_wrong(key, text, is_scheduled, holidays)
    });
    wrong.map(|(_, is_own)| is_own).collect()
}

/// Whether the value of this key is invalid.
fn is_wrong(key: &str, text: &str, is_scheduled: bool, holidays: &Holidays) -> bool {
    let is_of_bad = |bad: &Bad| {
        bad.texts()
            .iter()
            .any(|it| *it == (key.to_owned(), text.to_owned()))
    };
    let spoilt = [
        Bad::Day,
        Bad::Zone,
        Bad::Replicas,
        Bad::StopReplicas,
        Bad::Foreign,
        Bad::Override,
    ];
    let names = |name: &str| text.split("; ").any(|it| it == format!("calendar:{name}"));
    let mut unknown = NAMES
        .iter()
        .zip(holidays.known())
        .filter(|(_, is_known)| !is_known);
    match key {
        _ if !is_scheduled => false,
        "except" => unknown.any(|(name, _)| names(name)),
        _ => spoilt.iter().any(is_of_bad),
    }
}

/// For each forbidden combination, whether at least one of the two annotations is on the object itself.
fn beside<'a>(
    object: &'a Object,
    in_force: &'a BTreeMap<String, String>,
) -> impl Iterator<Item = bool> + 'a {
    let is_own = |key: &str| texts::is_own(&object.texts, key);
    BESIDE.into_iter().flat_map(move |(key, others)| {
        let there = others
            .iter()
            .filter(move |it| in_force.contains_key(key) && in_force.contains_key(**it));
        there.map(move |other| is_own(key) || is_own(other))
    })
}
