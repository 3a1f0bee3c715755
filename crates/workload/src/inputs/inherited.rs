//! What an object goes by that is written elsewhere, as the annotation `inherited` on it says.

use std::{borrow::Cow, sync::Arc};

use dayshift_schedule::{Zone, is_too_long, notice_text};
use serde_json::{Map, Value};

use super::annotations::Annotations;
use super::effective::{Inputs, Origin};
use super::spec::ScheduleSpec;
use crate::keys::Key;
use crate::observed::Observed;

/// Where the keys of the document are written.
const FROM: &str = "from";
const OF_NAMESPACE: &str = "Namespace";
/// The value of `from`, and the key of what is the scaler's beside what is the Namespace's.
const OF_SCALER: &str = "scaler";
/// The keys that are left out.
const LEFT_OUT: &str = "left-out";

/// What an object inherits, as dayshift writes it on the object and as the commands read it there.
///
/// It is a JSON object of keys and their texts, and `from`, which is `Namespace` or `scaler`:
/// `{"from":"Namespace","hours":"Mon-Fri 09:00-19:00"}`. Where both give something, the rest is in
/// `scaler`: `{"from":"Namespace","timezone":"Asia/Tokyo","scaler":{"hours":"09:00-19:00"}}`. It is at
/// most as long as a text of a user: the longest texts of one that were longer are left out, and
/// `left-out` names them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inherited {
    namespace: Annotations,
    scaler: Annotations,
    left_out: Vec<Key>,
}

impl Inherited {
    /// What these inputs have that is not the object's own, and what the scaler adds to them where no
    /// annotation names it: the zone, and lengths of time. UTC is left out: without a word it is what
    /// everybody takes.
    pub(crate) fn of(inputs: &Inputs, spec: &ScheduleSpec) -> Self {
        let mut inherited = Self::of_annotations(inputs);
        let zone = Some(spec.schedule.zone()).filter(|it| *it != Zone::UTC);
        for (key, text) in [
            (Key::Timezone, zone.map(|it| Cow::from(it.name()))),
            (Key::Notice, spec.notice.map(notice_text).map(Cow::from)),
            (
                Key::ReadyWithin,
                spec.ready_within.map(notice_text).map(Cow::from),
            ),
        ] {
            if inputs.text(key).is_none() {
                inherited.scaler.set(key, text.as_deref());
            }
        }
        inherited
    }

    fn of_annotations(inputs: &Inputs) -> Self {
        let mut inherited = Self::default();
        let keys = inputs.defaults().map(|_| Key::ALL);
        for key in keys.into_iter().flatten() {
            // An override of the object's own may be over while one of its Namespace holds.
            let is_beside = Key::OVERRIDES.contains(&key) || Key::AUTHOR.contains(&key);
            match inputs.origin(key) {
                Some(Origin::Own) if is_beside => {
                    let text = inputs.defaults().and_then(|it| it.text(key));
                    inherited.namespace.set(key, text);
                }
                Some(Origin::Namespace) => inherited.namespace.set(key, inputs.text(key)),
                Some(Origin::Scaler) => inherited.scaler.set(key, inputs.text(key)),
                Some(Origin::Own) | None => {}
            }
        }
        inherited
    }

    /// The text of the annotation; `None` where nothing is inherited.
    pub(crate) fn text(mut self) -> Option<Box<str>> {
        if self == Self::default() {
            return None;
        }
        loop {
            let text = self.document()?.to_string();
            if !is_too_long(&text) {
                return Some(text.into());
            }
            self.leave_out_longest()?;
        }
    }

    fn document(&self) -> Option<Value> {
        let [mut document, scaler] = [&self.namespace, &self.scaler].map(|from| {
            let text = |key: Key| {
                let text = from.text(key)?;
                Some((key.name().to_owned(), text.into()))
            };
            Key::ALL
                .into_iter()
                .filter_map(text)
                .collect::<Map<_, Value>>()
        });
        let from = if document.is_empty() {
            document = scaler;
            OF_SCALER
        } else {
            if !scaler.is_empty() {
                document.insert(OF_SCALER.to_owned(), scaler.into());
            }
            OF_NAMESPACE
        };
        if !self.left_out.is_empty() {
            let names = self.left_out.iter().map(|key| key.name());
            document.insert(LEFT_OUT.to_owned(), names.collect());
        }
        if document.is_empty() {
            return None;
        }
        document.insert(FROM.to_owned(), from.into());
        Some(document.into())
    }

    fn leave_out_longest(&mut self) -> Option<()> {
        let length = |from: &Annotations, key: Key| from.text(key).map_or(0, str::len);
        let of = |key: &Key| length(&self.namespace, *key).max(length(&self.scaler, *key));
        let longest = Key::ALL.into_iter().max_by_key(of)?;
        for from in [&mut self.namespace, &mut self.scaler] {
            from.set(longest, None);
        }
        self.left_out.push(longest);
        Some(())
    }

    /// Reads the annotation; `None` where it is not one that dayshift has written. What a later
    /// version may have added is passed over.
    fn parse(text: &str) -> Option<Self> {
        let document: Map<String, Value> = serde_json::from_str(text).ok()?;
        let read = |document: &Map<String, Value>| {
            let text = |key: Key| Some((key, document.get(key.name())?.as_str()?.to_owned()));
            Annotations::of(Key::ALL.into_iter().filter_map(text))
        };
        let all = read(&document);
        let left_out = document.get(LEFT_OUT).and_then(Value::as_array);
        let left_out = left_out.into_iter().flatten().filter_map(Value::as_str);
        let mut inherited = Self {
            left_out: left_out.filter_map(Key::from_name).collect(),
            ..Self::default()
        };
        match document.get(FROM)?.as_str()? {
            OF_NAMESPACE => {
                inherited.namespace = all;
                let scaler = document.get(OF_SCALER).and_then(Value::as_object);
                inherited.scaler = scaler.map(read).unwrap_or_default();
            }
            OF_SCALER => inherited.scaler = all,
            _ => return None,
        }
        Some(inherited)
    }

    /// It as defaults of the object.
    fn defaults(self) -> Arc<Annotations> {
        Arc::new(self.namespace.with_default_schedule(self.scaler.into()))
    }

    /// The same without what makes a schedule.
    fn without_schedule(mut self) -> Self {
        for from in [&mut self.namespace, &mut self.scaler] {
            for key in Key::SCHEDULE {
                from.set(key, None);
            }
        }
        self
    }
}

impl Observed {
    /// The object with what it inherits, as its annotation `inherited` says, in place of any other.
    ///
    /// `kubectl rollout undo` brings back an old one, and anybody may write another: a schedule whose
    /// hash is not the one among the labels is not what dayshift goes by, and is left out.
    #[must_use]
    pub fn with_inherited(self) -> Self {
        let inherited = self.inherited.as_deref().and_then(Inherited::parse);
        let Some(inherited) = inherited else {
            return self.with_defaults(None);
        };
        let fingerprint = self.state().fingerprint;
        let uid = self.object.uid.clone();
        let is_known = inherited.left_out.is_empty();
        let candidate = self.with_defaults(Some(inherited.clone().defaults()));
        let is_of = fingerprint.is_none_or(|it| it.is_of(&candidate.inputs, &uid));
        if is_known && is_of || candidate.inputs.own().has_schedule() {
            return candidate;
        }
        candidate.with_defaults(Some(inherited.without_schedule().defaults()))
    }

    /// Whether its Namespace, which has these annotations, gives it something that is not in what a
    /// scaler has written on it: no scaler has taken that up.
    pub fn lags_behind(&self, namespace: &Arc<Annotations>) -> bool {
        let Some(inherited) = self.inherited.as_deref().and_then(Inherited::parse) else {
            return false;
        };
        let given = self.inputs.clone();
        let given = given.with_defaults(Some(Arc::clone(namespace)));
        // Overrides that are over stay on a Namespace. What no decision rests on brings about no write.
        let is_kept = |key: &Key| {
            key.is_decided_by()
                && !Key::OVERRIDES.contains(key)
                && !inherited.left_out.contains(key)
        };
        let mut keys = Key::ALL.into_iter().filter(is_kept);
        keys.any(|key| {
            let is_given = given.origin(key) == Some(Origin::Namespace);
            is_given && given.text(key) != inherited.namespace.text(key)
        })
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::inputs::inheritance::{DefaultSchedule, Inheritance};
    use crate::inputs::parse_context::ParseContext;
    use crate::inputs::parsed::{ParsedInputs, read};

    fn annotations(texts: &[(Key, &str)]) -> Arc<Annotations> {
        let texts = texts.iter().map(|(key, text)| (*key, (*text).to_owned()));
        Arc::new(Annotations::of(texts))
    }

    fn inputs(own: &[(Key, &str)], namespace: &[(Key, &str)], hours: Option<&str>) -> Inputs {
        let hours = hours.map(|text| (Key::Hours, text.to_owned()));
        let levels = Inheritance {
            default_schedule: DefaultSchedule::of(hours),
            ..Inheritance::default()
        };
        let defaults = levels.in_force("dev", Some(&annotations(namespace)));
        Inputs::of_own(annotations(own)).with_defaults(defaults)
    }

    fn text(inputs: &Inputs, context: &ParseContext) -> Option<Box<str>> {
        match read(inputs, context) {
            ParsedInputs::Scheduled(spec) => Inherited::of(inputs, &spec).text(),
            other => panic!("{other:?}"),
        }
    }

    const HOURS: (Key, &str) = (Key::Hours, "Mon-Fri 09:00-19:00");
    const ZONE: (Key, &str) = (Key::Timezone, "Asia/Tokyo");

    #[test]
    fn says_what_an_object_goes_by_and_from_where() {
        let tokyo = Zone::parse("Asia/Tokyo").unwrap();
        let night = Some("20:00-22:00");
        for (inputs, zone, expected) in [
            (inputs(&[HOURS, ZONE], &[], None), tokyo, None),
            (inputs(&[HOURS], &[], None), Zone::UTC, None),
            (
                inputs(&[HOURS], &[], night),
                tokyo,
                Some(r#"{"from":"scaler","timezone":"Asia/Tokyo"}"#),
            ),
            (
                inputs(&[], &[HOURS, ZONE], night),
                Zone::UTC,
                Some(
                    r#"{"from":"Namespace","hours":"Mon-Fri 09:00-19:00","timezone":"Asia/Tokyo"}"#,
                ),
            ),
            (
                inputs(&[], &[ZONE], night),
                Zone::UTC,
                Some(
                    r#"{"from":"Namespace","scaler":{"hours":"20:00-22:00"},"timezone":"Asia/Tokyo"}"#,
                ),
            ),
            (
                inputs(
                    &[HOURS, (Key::WakeUntil, "2026-11-20 10:00")],
                    &[(Key::WakeUntil, "2026-11-20 12:00"), (Key::Enforce, "true")],
                    None,
                ),
                Zone::UTC,
                Some(r#"{"enforce":"true","from":"Namespace","wake-until":"2026-11-20 12:00"}"#),
            ),
        ] {
            let text = text(&inputs, &zone.into());
            assert_eq!(text.as_deref(), expected);
            let Some(text) = text else { continue };
            let read = Inherited::parse(&text).unwrap();
            assert_eq!(read.text().as_deref(), expected, "read again");
        }
    }

    #[test]
    fn has_the_lengths_of_time_of_the_scaler_where_no_annotation_names_them() {
        let flags = ParseContext {
            notice: Some(TimeDelta::minutes(15)),
            ready_within: Some(TimeDelta::seconds(150)),
            ..ParseContext::default()
        };
        let notice = (Key::Notice, "0");
        let within = (Key::ReadyWithin, "1h");
        for (own, namespace, expected) in [
            (
                &[HOURS][..],
                &[][..],
                Some(r#"{"from":"scaler","notice":"15m","ready-within":"150s"}"#),
            ),
            (
                &[HOURS, notice],
                &[within],
                Some(r#"{"from":"Namespace","ready-within":"1h"}"#),
            ),
            (
                &[HOURS, within],
                &[ZONE],
                Some(r#"{"from":"Namespace","scaler":{"notice":"15m"},"timezone":"Asia/Tokyo"}"#),
            ),
            (&[HOURS, within, notice], &[], None),
        ] {
            let given = inputs(own, namespace, None);
            let text = text(&given, &flags);
            assert_eq!(text.as_deref(), expected);
            // Who knows no flags reads the same from it.
            let defaults = text.map(|it| Inherited::parse(&it).unwrap().defaults());
            let seen = inputs(own, &[], None).with_defaults(defaults);
            let [by_flags, by_text] = [read(&given, &flags), read(&seen, &ParseContext::default())];
            let lengths = |it: &ParsedInputs| (it.notice(), it.ready_within());
            assert_eq!(lengths(&by_text), lengths(&by_flags));
        }
    }

    #[test]
    fn what_is_read_from_it_is_what_was_in_force() {
        let inherited = inputs(&[], &[ZONE], Some("20:00-22:00"));
        let read = Inherited::parse(&text(&inherited, &ParseContext::default()).unwrap());
        let read = Inputs::default().with_defaults(Some(read.unwrap().defaults()));
        for key in Key::ALL {
            assert_eq!(read.text(key), inherited.text(key), "{key}");
            assert_eq!(read.origin(key), inherited.origin(key), "{key}");
        }
    }

    #[test]
    fn is_no_longer_than_a_text_of_a_user() {
        let long = "2026-12-24;".repeat(370);
        let quoted = "\"".repeat(3000);
        for texts in [
            &[HOURS, ZONE, (Key::Except, &*long), (Key::Enforce, &*quoted)][..],
            &[(Key::Except, &*long), (Key::TreatAs, &*long), HOURS],
            &[(Key::Hours, &*quoted)],
        ] {
            let text = Inherited::of_annotations(&inputs(&[], texts, None)).text();
            let text = text.unwrap();
            assert!(!is_too_long(&text), "{}", text.len());
            let left_out = Inherited::parse(&text).unwrap().left_out;
            assert!(!left_out.is_empty(), "{text}");
        }
    }

    #[test]
    fn what_nobody_of_us_has_written_says_nothing() {
        for text in ["", "{}", "[]", "true", r#"{"from":"me"}"#, r#"{"from":1}"#] {
            assert_eq!(Inherited::parse(text), None, "{text}");
        }
    }
}
