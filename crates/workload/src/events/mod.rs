//! The messages for users: the conditions of workloads, and Kubernetes Events with their reasons. No
//! other directory contains such texts. The Event texts of decisions are written here from an
//! [`EventNote`].

use dayshift_schedule::{Action, Boundary, Zone};
use dayshift_text::{cut_chars, printable};

use crate::{
    AdoptedSchedule, Adoption, Author, EventNote, Key, MAX_REASON, Override, Prefix, WorkloadRef,
    time_format::full_time,
};

mod condition;
mod event;

pub use condition::{Condition, EnforcedStop, Message, RevertEnd, Subject, specified, sync_help};
pub use event::{EventReason, EventText, STARTS_WAIT_INTERVAL};

pub use crate::workload_ref::{describe_command, restore_command};

impl EventText {
    /// The Event for a note about this object.
    pub fn from_note(note: &EventNote, object: &WorkloadRef, prefix: &Prefix) -> Self {
        Self::new(reason(note), text(note, object, prefix))
    }
}

const fn reason(note: &EventNote) -> EventReason {
    match note {
        EventNote::Scaled { boundary, .. } => match boundary.action {
            Action::Start => EventReason::Started,
            Action::Stop => EventReason::Stopped,
            Action::Scale(_) => EventReason::Scaled,
        },
        EventNote::Began { active, .. } => match active {
            Override::Pause(_) => EventReason::Paused,
            Override::Wake(_) => EventReason::Woken,
            Override::Sleep(_) => EventReason::Slept,
        },
        EventNote::Shortened { .. } => EventReason::OverrideShortened,
        EventNote::Adopted { .. } => EventReason::Adopted,
        EventNote::ScheduleChanged(_) | EventNote::ChangedDuringOverride { .. } => {
            EventReason::ScheduleChanged
        }
        EventNote::Restored { why, .. } => match why {
            Adoption::Missed => EventReason::BoundaryMissed,
            Adoption::Over => EventReason::Resumed,
            Adoption::New | Adoption::Changed | Adoption::FromFuture => {
                EventReason::ScheduleChanged
            }
        },
        EventNote::Resumed(_) => EventReason::Resumed,
        EventNote::Enforced { .. } => EventReason::Enforced,
        EventNote::StopsSoon { .. } => EventReason::StopsSoon,
        EventNote::Expired(_) | EventNote::EndedBefore(_) => EventReason::OverrideExpired,
        EventNote::Removed { .. } => EventReason::ScheduleRemoved,
        EventNote::Missed { .. } => EventReason::BoundaryMissed,
        EventNote::FromFuture { .. } => EventReason::StateFromFuture,
        EventNote::CorrectionLimitReached => EventReason::CorrectionLimitReached,
        EventNote::Invalid(_) => EventReason::InvalidSchedule,
    }
}

fn text(note: &EventNote, object: &WorkloadRef, prefix: &Prefix) -> String {
    let counts = object.kind.counts();
    let message = |condition: Condition, zone| {
        let subject = Subject::of_event(object, prefix, zone);
        condition.message(&subject).to_string()
    };
    match *note {
        EventNote::Scaled {
            boundary,
            ended,
            from,
            to,
            next,
            zone,
        } => {
            let (action, at) = (boundary.action, full_time(boundary.at, zone));
            let why = match ended {
                Some(key) => {
                    format!("at the end of `{key}`, {at}: the schedule specifies {action}")
                }
                None => format!("by the {action} of {at}"),
            };
            let scaled = counts.scaled_from(from, to);
            format!("{scaled} {why}; {}", coming(next, zone))
        }
        EventNote::Began {
            active,
            from,
            to,
            zone,
            ref author,
        } => {
            let until = holding(active, zone);
            let author = author_text(author).map(|text| format!(", {text}"));
            let until = until + &author.unwrap_or_default();
            match active {
                Override::Pause(_) => {
                    let stays = counts.count_stays(to);
                    format!("{stays}, and dayshift does nothing, {until}")
                }
                _ if from == to => format!("{} {until}", counts.count_stays(to)),
                _ => format!("{} {until}", counts.scaled_from(from, to)),
            }
        }
        EventNote::Shortened {
            active,
            before,
            zone,
            ref author,
        } => {
            let before = before.map_or_else(
                || "having no end".to_owned(),
                |before| full_time(before, zone),
            );
            let author = author_text(author).map(|text| format!(", {text}"));
            let author = author.unwrap_or_default();
            format!(
                "it is overridden {} instead of {before}{author}",
                holding(active, zone)
            )
        }
        EventNote::Adopted {
            required,
            replicas,
            until,
            zone,
        } => {
            let condition = Condition::Contradicted {
                required,
                replicas,
                until,
            };
            message(condition, zone)
        }
        EventNote::ScheduleChanged(ref adopted) => {
            adopted_text("the schedule is new or edited", adopted, object, prefix)
        }
        EventNote::Resumed(ref adopted) => {
            adopted_text("the schedule applies again", adopted, object, prefix)
        }
        EventNote::Restored {
            why,
            from,
            to,
            next,
            zone,
        } => {
            let what = match why {
                Adoption::Missed => "a boundary was missed for longer than the catch-up limit",
                Adoption::Over => "the schedule applies again",
                Adoption::New | Adoption::Changed | Adoption::FromFuture => {
                    "the schedule was edited"
                }
            };
            let scaled = counts.scaled_from(from, to);
            format!(
                "{what}, and it should be running now: {scaled}; {}",
                coming(next, zone)
            )
        }
        EventNote::ChangedDuringOverride { active, zone } => format!(
            "the schedule is new or edited: nothing is scaled now, and the object is overridden {}",
            holding(active, zone)
        ),
        EventNote::Enforced { from, to } => {
            let why = "it is stopped, and `enforce` is set";
            if counts.is_switch() {
                format!("{} again: {why}", counts.scaled_from(from, to))
            } else {
                format!(
                    "scaled from {from} back to {to}: {why}; the larger count is saved for the next start"
                )
            }
        }
        EventNote::StopsSoon { due, zone } => {
            message(Condition::StopsSoon(EnforcedStop::At(due)), zone)
        }
        EventNote::Expired(key) => {
            format!("`{key}` is in the past: dayshift removes the annotation and does nothing else")
        }
        EventNote::EndedBefore(key) => format!(
            "`{key}` ended earlier and was restored, for example by kubectl rollout undo: \
                dayshift removes the annotation and does nothing else"
        ),
        EventNote::Removed { replicas, saved } => {
            message(Condition::LeftStopped { replicas, saved }, Zone::UTC)
        }
        EventNote::Missed {
            boundary,
            next,
            zone,
        } => format!(
            "the {} of {} was missed for longer than the catch-up limit: nothing is scaled now; {}",
            boundary.action,
            full_time(boundary.at, zone),
            coming(next, zone)
        ),
        EventNote::FromFuture { last, next, zone } => format!(
            "the label `last` is ahead of the clock, at {}: nothing is scaled now; {}",
            last.format("%Y-%m-%dT%H:%M:%SZ"),
            coming(next, zone)
        ),
        EventNote::CorrectionLimitReached => {
            message(Condition::CorrectionLimitReached { until: None }, Zone::UTC)
        }
        EventNote::Invalid(ref text) => text.to_string(),
    }
}

/// The consequences of an adoption, with the command that makes the object match its schedule.
fn adopted_text(
    what: &str,
    adopted: &AdoptedSchedule,
    object: &WorkloadRef,
    prefix: &Prefix,
) -> String {
    let required = adopted.required;
    let specifies = required.map(|required| format!("it specifies {}, but ", specified(required)));
    let next = coming(adopted.next, adopted.zone);
    let message = Message {
        text: format!(
            "{what}: {}nothing is scaled now; {next}",
            specifies.unwrap_or_default()
        ),
        help: required.map(|required| sync_help(required, object, prefix)),
    };
    message.to_string()
}

/// ``by `wake-until` until Mon 2026-11-23 22:00:00 JST``
fn holding(active: Override, zone: Zone) -> String {
    let end = active.until().map_or_else(
        || "the annotation is removed".to_owned(),
        |until| full_time(until, zone),
    );
    let key = match active {
        Override::Pause(_) => Key::Pause,
        Override::Wake(_) => Key::WakeUntil,
        Override::Sleep(_) => Key::SleepUntil,
    };
    format!("by `{key}` until {end}")
}

/// `next is the stop of Mon 2026-11-23 19:00:00 JST`
fn coming(next: Option<Boundary>, zone: Zone) -> String {
    match next {
        Some(next) => format!(
            "next is the {} of {}",
            next.action,
            full_time(next.at, zone)
        ),
        None => "there is no further boundary".to_owned(),
    }
}

/// `by jane: migration of the database`; `None` if neither author nor reason is known.
pub fn author_text(author: &Author) -> Option<String> {
    match (user_text(author), reason_text(author)) {
        (Some(by), Some(reason)) => Some(format!("by {by}: {reason}")),
        (Some(by), None) => Some(format!("by {by}")),
        (None, Some(reason)) if author.is_sync() => Some(format!("by {reason}")),
        (None, Some(reason)) => Some(format!("reason: {reason}")),
        (None, None) => None,
    }
}

/// `jane`; `None` if the author is unknown.
pub fn user_text(author: &Author) -> Option<String> {
    shown(author.by.as_deref())
}

/// `load test`; `None` if there is no reason.
pub fn reason_text(author: &Author) -> Option<String> {
    shown(author.reason.as_deref())
}

/// Makes a text safe to print, because any user can have written it.
fn shown(text: Option<&str>) -> Option<String> {
    let text = printable(cut_chars(text?.trim(), MAX_REASON));
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};

    use super::*;
    use crate::{Kind, Pause, Replicas};

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    /// One note of each kind.
    fn notes() -> Vec<EventNote> {
        let zone = Zone::parse("Asia/Tokyo").unwrap();
        let (from, to) = (Replicas::new(u32::MAX), Replicas::ZERO);
        let at = at("2026-11-20T10:00:00Z");
        let stop = Boundary {
            at,
            action: Action::Stop,
        };
        let next = Some(stop);
        let adopted = AdoptedSchedule {
            required: Some(Action::Scale(u32::MAX)),
            replicas: from,
            next,
            zone,
        };
        let active = Override::Pause(Pause::Forever);
        vec![
            EventNote::Scaled {
                boundary: stop,
                ended: Some(Key::SleepUntil),
                from,
                to,
                next,
                zone,
            },
            EventNote::Began {
                active: Override::Wake(at),
                from,
                to,
                zone,
                author: Author::default().into(),
            },
            EventNote::Shortened {
                active: Override::Wake(at),
                before: Some(at),
                zone,
                author: Author {
                    by: Some("b".repeat(1000).into()),
                    reason: Some("r".repeat(1000).into()),
                }
                .into(),
            },
            EventNote::Adopted {
                required: Action::Scale(u32::MAX),
                replicas: from,
                until: Some(at),
                zone,
            },
            EventNote::ScheduleChanged(adopted),
            EventNote::Resumed(adopted),
            EventNote::Restored {
                why: Adoption::Missed,
                from: to,
                to: from,
                next,
                zone,
            },
            EventNote::ChangedDuringOverride { active, zone },
            EventNote::Enforced { from, to },
            EventNote::StopsSoon { due: at, zone },
            EventNote::Expired(Key::SleepUntil),
            EventNote::EndedBefore(Key::SleepUntil),
            EventNote::Removed {
                replicas: to,
                saved: from,
            },
            EventNote::Missed {
                boundary: stop,
                next,
                zone,
            },
            EventNote::FromFuture {
                last: at,
                next: None,
                zone,
            },
            EventNote::CorrectionLimitReached,
            EventNote::Invalid("dayshift/stop: …".into()),
        ]
    }

    #[test]
    fn an_event_with_the_longest_names_fits_into_its_limit() {
        let prefix = Prefix::parse(&"p".repeat(63)).unwrap();
        for kind in Kind::BUILT_IN {
            let object = WorkloadRef {
                kind,
                namespace: "n".repeat(63).into(),
                name: "w".repeat(253).into(),
                uid: "u".into(),
            };
            for note in notes() {
                let event = EventText::from_note(&note, &object, &prefix);
                assert!(event.text.len() <= 1024, "{note:?}: {}", event.text);
            }
        }
    }

    #[test]
    fn the_event_about_a_restored_override_explains_its_removal() {
        let object = WorkloadRef {
            kind: Kind::DEPLOYMENT,
            namespace: "dev".into(),
            name: "web".into(),
            uid: "u".into(),
        };
        let note = EventNote::EndedBefore(Key::SleepUntil);
        assert_eq!(
            EventText::from_note(&note, &object, &Prefix::default()),
            EventText::new(
                EventReason::OverrideExpired,
                "`sleep-until` ended earlier and was restored, for example by kubectl rollout \
                    undo: dayshift removes the annotation and does nothing else"
                    .to_owned()
            )
        );
    }
}
