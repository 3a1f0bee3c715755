//! What the checker takes from dayshift's own code: the text of errors, and the jitter of an
//! object. Both have tests of their own.

use chrono_tz::Tz;
use dayshift::{
    schedule::Zone,
    workload::{Inputs, Kind, ParsedInputs, Prefix, WorkloadRef, read},
};

use crate::checker::objects::object::Object;

#[derive(Clone)]
pub struct Assumptions {
    pub complaint: Option<String>,
    /// How much later the object starts, in seconds.
    pub delay: i64,
}

pub fn of(object: &Object, zone: Tz) -> Assumptions {
    let prefix = Prefix::default();
    let texts: Vec<_> = object
        .texts
        .iter()
        .map(|(key, text)| (format!("dayshift/{key}"), text))
        .collect();
    let texts = texts.iter().map(|(key, text)| (&**key, text.as_str()));
    let kind = if object.is_switch {
        Kind::CronJob
    } else {
        Kind::Deployment
    };
    let inputs = Inputs::from_annotations(&prefix, texts).of(kind.counts());
    match read(&inputs, Zone::parse(zone.name()).unwrap()) {
        ParsedInputs::Invalid(refusal) => Assumptions {
            complaint: Some(refusal.text(&prefix)),
            delay: 0,
        },
        ParsedInputs::Scheduled(spec) => Assumptions {
            complaint: None,
            delay: spec
                .delay(&WorkloadRef {
                    kind,
                    namespace: object.namespace.as_str().into(),
                    name: object.name.as_str().into(),
                    uid: object.uid.as_str().into(),
                })
                .num_seconds(),
        },
        ParsedInputs::Unscheduled => Assumptions {
            complaint: None,
            delay: 0,
        },
    }
}
