//! Deployments to be patched, and the strings in them.

use fastrand::Rng;
use serde_json::{Map, Value, json};

use crate::api_parity::cases;

/// Possible values of annotations, which dayshift must guard.
pub const TEXTS: [&str; 16] = [
    "Mon-Fri 09:00",
    "Mon-Fri 10:00",
    "0 9 * * 1-5",
    "Asia/Tokyo",
    "3",
    "true",
    "",
    " ",
    "a<b>&c",
    "\u{2028}|\u{2029}",
    "\u{1b}[31mred\u{7}",
    "tab\tline\nreturn\r",
    "quote\" back\\slash /",
    "überall 日本 🕘",
    "\u{202e}\u{200b}\u{9b}\u{7f}",
    "\u{8}\u{c}\u{1}",
];
/// Possible values of labels.
pub const LABELS: [&str; 6] = ["", "stopped", "2026-11-20T10.00.00Z", "3", "v1-0123", "web"];
pub const ANNOTATION_KEYS: [&str; 7] = [
    "dayshift/start",
    "dayshift/stop",
    "dayshift/error",
    "dayshift/pause",
    "dayshift/jitter",
    "plain",
    "tilde.example.com/a_b",
];
pub const LABEL_KEYS: [&str; 6] = [
    "dayshift/state",
    "dayshift/last",
    "dayshift/next",
    "dayshift/saved-replicas",
    "app",
    "tier",
];

pub fn random(rng: &mut Rng) -> Value {
    let mut object = cases::deployment("web");
    let metadata = &mut object["metadata"];
    for (key, names, texts) in [
        ("annotations", &ANNOTATION_KEYS[..], &TEXTS[..]),
        ("labels", &LABEL_KEYS[..], &LABELS[..]),
    ] {
        match rng.u8(..8) {
            0 | 1 => {}
            2 => metadata[key] = json!({}),
            _ => metadata[key] = map(rng, names, texts),
        }
    }
    if rng.u8(..8) == 0 {
        metadata["finalizers"] = json!(["example.com/wait"]);
    }
    if rng.u8(..4) > 0 {
        object["spec"]["replicas"] = json!(rng.u32(..5));
    }
    object
}

fn map(rng: &mut Rng, names: &[&str], texts: &[&str]) -> Value {
    let count = rng.usize(1..=names.len());
    let members = (0..count).map(|_| (pick(rng, names).to_owned(), json!(pick(rng, texts))));
    Value::Object(members.collect::<Map<_, _>>())
}

pub fn pick<'a>(rng: &mut Rng, texts: &[&'a str]) -> &'a str {
    texts[rng.usize(..texts.len())]
}
