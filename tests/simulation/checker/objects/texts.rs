//! The values of annotations: which are effective, and their fingerprint.

use std::{borrow::Cow, collections::BTreeMap};

use chrono::DateTime;
use chrono_tz::Tz;
use serde_json::Value;

use crate::scenario::{names, prefix};

const SCHEDULE: [&str; 4] = ["start", "stop", "hours", "scale"];
const FINGERPRINTED: [&str; 10] = [
    "start",
    "stop",
    "hours",
    "scale",
    "timezone",
    "except",
    "treat-as",
    "jitter",
    "extra",
    "stop-after",
];

/// The annotations or labels with the prefix in this metadata, without the prefix.
pub fn under_prefix(metadata: &Value) -> BTreeMap<String, String> {
    let texts = metadata["annotations"].as_object().into_iter().flatten();
    let ours = texts.filter_map(|(key, text)| {
        let key = prefix::strip(key)?;
        Some((key.to_owned(), text.as_str()?.to_owned()))
    });
    ours.collect()
}

/// The effective annotations of an object with `own` in a Namespace with `defaults`: each key falls
/// back by itself, first to the schedule that the same annotations name. A schedule comes from one
/// place only, and exact counts do not combine with those of a later place.
pub fn in_force<'a>(
    own: &'a BTreeMap<String, String>,
    defaults: &BTreeMap<String, String>,
) -> Cow<'a, BTreeMap<String, String>> {
    let mut all = Cow::Borrowed(own);
    let places = [
        names::named_by(own),
        (!defaults.is_empty()).then(|| defaults.clone()),
        names::named_by(defaults),
    ];
    for place in places.into_iter().flatten() {
        all = fall_back(all, &place);
    }
    all
}

/// Adds the annotations of a later place.
fn fall_back<'a>(
    own: Cow<'a, BTreeMap<String, String>>,
    defaults: &BTreeMap<String, String>,
) -> Cow<'a, BTreeMap<String, String>> {
    let own = own.into_owned();
    let mut all = own.clone();
    for (key, text) in defaults {
        // The name counts only for an object that has it or gets its times there.
        let is_name = key == names::KEY && has_times(&own);
        let is_time = SCHEDULE.contains(&&**key);
        let is_count = matches!(
            &**key,
            "replicas" | "stop-replicas" | "extra" | "stop-after"
        );
        let is_hidden =
            is_name || is_time && has_times(&own) || is_count && own.contains_key("scale");
        if !is_hidden && !all.contains_key(key) {
            all.insert(key.clone(), text.clone());
        }
    }
    Cow::Owned(all)
}

/// Whether the effective annotations contain a schedule, unless `exclude` is set.
pub fn is_scheduled(in_force: &BTreeMap<String, String>) -> bool {
    has_schedule(in_force) && in_force.get("exclude").is_none_or(|it| it != "true")
}

pub fn has_schedule(texts: &BTreeMap<String, String>) -> bool {
    has_times(texts) || names::named_by(texts).is_some_and(|named| has_times(&named))
}

fn has_times(texts: &BTreeMap<String, String>) -> bool {
    SCHEDULE.iter().any(|key| texts.contains_key(*key))
}

/// Whether the value of a key is on the object itself, or in the schedule that it names.
pub fn is_own(own: &BTreeMap<String, String>, key: &str) -> bool {
    own.contains_key(key) || names::named_by(own).is_some_and(|named| named.contains_key(key))
}

/// Whether the dates of this calendar are excluded.
pub fn names_calendar(in_force: &BTreeMap<String, String>, name: &str) -> bool {
    let except = in_force.get("except");
    except.is_some_and(|text| text.contains(&format!("calendar:{name}")))
}

/// The values that are part of the fingerprint.
pub fn schedule(texts: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut schedule = texts.clone();
    schedule.retain(|key, _| FINGERPRINTED.contains(&&**key));
    schedule
}

/// The label `fingerprint`, as documented: anyone can compute it.
pub fn fingerprint(texts: &BTreeMap<String, String>, uid: &str) -> String {
    let text = digits(&fingerprinted(texts));
    format!("v2-{}-{text}", digits(uid))
}

/// Whether a label `fingerprint` matches the schedule of this object.
pub fn is_fingerprint(label: &str, texts: &BTreeMap<String, String>, uid: &str) -> bool {
    label == fingerprint(texts, uid)
}

/// Whether a value is a fingerprint of this version or of a later one.
pub fn is_any_fingerprint(label: &str) -> bool {
    let is_hash = |text: &str| text.len() == 16 && text.bytes().all(|it| it.is_ascii_hexdigit());
    let Some((version, rest)) = label.strip_prefix('v').and_then(|it| it.split_once('-')) else {
        return false;
    };
    match version.parse() {
        Ok(2_u32) => rest.split('-').count() == 2 && rest.split('-').all(is_hash),
        Ok(version) => version > 2,
        Err(_) => false,
    }
}

/// Whether the fingerprint has the form of a later version.
pub fn is_of_later_version(label: &str) -> bool {
    !label.starts_with("v2-")
}

/// Whether a label `fingerprint` was written for this object; `None` for a later version.
pub fn is_of_object(label: &str, uid: &str) -> Option<bool> {
    let (object, _) = label.strip_prefix("v2-")?.split_once('-')?;
    Some(object == digits(uid))
}

fn fingerprinted(texts: &BTreeMap<String, String>) -> String {
    let there = FINGERPRINTED
        .iter()
        .chain([&names::KEY])
        .filter_map(|key| Some((key, texts.get(*key)?)));
    there
        .map(|(key, text)| format!("\n{key}={}:{text}", text.len()))
        .collect()
}

/// The first sixteen hexadecimal digits of the SHA-256 hash.
pub fn digits(text: &str) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    digest.as_ref()[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The local form of an RFC 3339 time, to the minute; other values unchanged.
pub fn local(text: &str, zone: Tz) -> String {
    DateTime::parse_from_rfc3339(text).map_or_else(
        |_| text.to_owned(),
        |at| at.with_timezone(&zone).format("%Y-%m-%d %H:%M").to_string(),
    )
}

/// Anyone can compute it: `printf uid-1 | sha256sum` and `printf '
/// start=13:Mon-Fri 09:00' | sha256sum`.
#[test]
fn fingerprint_is_the_documented_hash() {
    let texts = BTreeMap::from([("start".to_owned(), "Mon-Fri 09:00".to_owned())]);
    let documented = "v2-4a49acf8a6bd7277-cdb276bb89557700";
    assert_eq!(fingerprint(&texts, "uid-1"), documented);
}
