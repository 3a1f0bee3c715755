//! The only part of the checker that uses dayshift's code: it takes error texts from there, because they have
//! their own tests. Whether there is an error, and whether it concerns only the Namespace, must match
//! [`refusal`].

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use chrono_tz::Tz;
use dayshift_manifest::SourceFile;
use dayshift_schedule::{Calendar, CalendarName, Calendars, Zone};
use dayshift_workload::{
    Annotations, Inheritance, Inputs, Key, Kind, KindTable, NamedSchedule, NamedSchedules,
    ParseContext, ParsedInputs, Prefix, read,
};

use crate::{
    checker::objects::{
        object::Object,
        refusal::{Wrong, refusal},
        texts,
    },
    scenario::{
        holidays::Holidays,
        kinds::{self, KindInfo},
        names, prefix,
    },
};

#[derive(Clone)]
pub struct Assumptions {
    pub annotation_error: Option<String>,
    /// Whether the error concerns only the Namespace.
    pub is_inherited: bool,
    /// The delay of the object's starts, in seconds.
    pub delay: i64,
}

/// The same calendars as dayshift's type.
pub fn calendars(holidays: &Holidays) -> Calendars {
    Calendars::new(holidays.files().map(|(name, file)| {
        let calendar = Calendar::parse(file.as_bytes()).unwrap();
        (CalendarName::parse(name).unwrap(), Arc::new(calendar))
    }))
}

/// The named schedules as dayshift's type.
pub fn schedules() -> NamedSchedules {
    let entries = names::entries().into_iter();
    NamedSchedules::from_file(entries.map(|(name, texts)| {
        let texts = texts.into_iter();
        let texts = texts.map(|(key, text)| (Key::from_name(&key).unwrap(), text));
        NamedSchedule::new(&name, texts)
    }))
}

/// The kind as dayshift's type.
pub fn kind_of(row: &KindInfo) -> Kind {
    static WIDGET: LazyLock<Kind> = LazyLock::new(|| {
        let found = SourceFile::new("kinds.yaml", kinds::KIND_FILE).kind_definitions();
        let (widget, _) = found.definitions.into_iter().next().unwrap();
        KindTable::default().add(widget).unwrap()
    });
    match row.name {
        "Deployment" => Kind::DEPLOYMENT,
        "StatefulSet" => Kind::STATEFUL_SET,
        "CronJob" => Kind::CRON_JOB,
        "ScaledObject" => Kind::SCALED_OBJECT,
        "Widget" => WIDGET.clone(),
        _ => KindTable::default().resource(row.plural, row.custom().unwrap()[0]),
    }
}

/// Computes them from the annotations. Of the calendars only the names matter.
pub fn of(object: &Object, zone: Tz, holidays: &Holidays) -> Assumptions {
    let prefix = Prefix::parse(&prefix::current()).unwrap();
    let kind = kind_of(object.kind);
    let named = |texts: &BTreeMap<String, String>| -> Vec<_> {
        let texts = texts.iter();
        let named = texts.map(|(key, text)| (prefix::full(key), text.clone()));
        named.collect()
    };
    let under = |texts: &BTreeMap<String, String>| {
        let texts = named(texts);
        Annotations::under(&prefix, texts.iter().map(|(key, text)| (&**key, &**text)))
    };
    let own = named(&object.texts);
    let own = own.iter().map(|(key, text)| (&**key, &**text));
    let inputs = Inputs::from_annotations(&prefix, own).with_counts(kind.counts());
    let inheritance = Inheritance {
        schedules: schedules(),
        ..Inheritance::default()
    };
    let defaults = inheritance.resolved(&Arc::new(under(&object.defaults)));
    let inputs = inputs.with_defaults(Some(defaults));
    let inputs = inputs.with_schedules(&inheritance.schedules);
    let context = ParseContext {
        default_zone: Zone::parse(zone.name()).unwrap(),
        calendars: calendars(holidays),
        schedules: inheritance.schedules,
        ..ParseContext::default()
    };
    let parsed = read(&inputs, &context);
    let refused = match &parsed {
        ParsedInputs::Invalid(refusal) if refusal.is_inherited() => Some(Wrong::OnTheNamespace),
        ParsedInputs::Invalid(_) => Some(Wrong::OnTheObject),
        ParsedInputs::Scheduled(_) | ParsedInputs::Unscheduled => None,
    };
    let expected = refusal(object, holidays);
    let inputs = object.inputs();
    assert_eq!(refused, expected, "rejected annotations of {inputs:?}");
    match parsed {
        ParsedInputs::Invalid(refusal) => Assumptions {
            annotation_error: Some(refusal.text(&prefix)),
            is_inherited: refusal.is_inherited(),
            delay: 0,
        },
        ParsedInputs::Scheduled(_) => Assumptions {
            annotation_error: None,
            is_inherited: false,
            delay: delay(object),
        },
        ParsedInputs::Unscheduled => Assumptions {
            annotation_error: None,
            is_inherited: false,
            delay: 0,
        },
    }
}

/// The delay of an object's starts, in seconds: derived from its name, up to the jitter, which
/// scenarios write in minutes (`docs/reference/times.md`).
fn delay(object: &Object) -> i64 {
    let in_force = object.in_force();
    let Some(jitter) = in_force.get("jitter") else {
        return 0;
    };
    let minutes = jitter
        .strip_suffix('m')
        .and_then(|it| it.parse::<u64>().ok());
    let spread = minutes.expect("the jitter is in minutes") * 60;
    let name = format!("{}/{}", object.namespace, object.name);
    let digits = u64::from_str_radix(&texts::digits(&name), 16).unwrap();
    i64::try_from(digits % (spread + 1)).unwrap()
}
