//! A start without what it needs, in words.

use chrono::TimeDelta;
use dayshift_schedule::Zone;
use dayshift_text::cut_chars;

use crate::{Lack, NeededKind, NeededState};

use super::event_text::EventText;
use super::note_text::local;
use super::reason::EventReason;

/// How many objects are named that were not ready at a start, and how much of a name.
const MAX_LACKS: usize = 4;
const MAX_NAME: usize = 100;

const UNWATCHED_SERVICE: &str = "whose endpoints dayshift does not watch (run --services, with the \
    permission of manifests/kinds/services.yaml; in the chart services: true)";

impl EventText {
    /// A start that waited so long was carried out without something that it needs.
    pub fn started_without(without: &[Lack], waited: TimeDelta, zone: Zone) -> Self {
        let lacks = without.iter().take(MAX_LACKS).map(|(needed, standing)| {
            let name = needed.to_string();
            let name = cut_chars(&name, MAX_NAME);
            let lack = match (needed.kind, standing) {
                (NeededKind::Service, NeededState::Missing) => {
                    "which is not there, or has no EndpointSlice".to_owned()
                }
                (NeededKind::Service, NeededState::Unwatched) => UNWATCHED_SERVICE.to_owned(),
                _ => lack_text(*standing, waited, zone),
            };
            format!("{name}, {lack}")
        });
        let mut text = format!(
            "started without {}",
            lacks.collect::<Vec<_>>().join("; without ")
        );
        let more = without.len().saturating_sub(MAX_LACKS);
        if more > 0 {
            text += &format!("; and without {more} more");
        }
        Self::new(EventReason::StartedWithout, text)
    }
}

/// `which was not ready after 10 min`
fn lack_text(standing: NeededState, waited: TimeDelta, zone: Zone) -> String {
    match standing {
        NeededState::Ready | NeededState::NotReady => {
            let waited = match (waited.num_minutes(), waited.num_seconds()) {
                (0, seconds) => format!("{seconds} s"),
                (minutes, _) => format!("{minutes} min"),
            };
            format!("which was not ready after {waited}")
        }
        NeededState::Stopped { until: Some(at) } => {
            format!("which is stopped until {}", local(at, zone))
        }
        NeededState::Stopped { until: None } => {
            "which is stopped, and no schedule starts it".to_owned()
        }
        NeededState::Missing => "which is not there, or which dayshift may not see".to_owned(),
        NeededState::Unwatched => "whose kind dayshift does not watch (--kinds)".to_owned(),
        NeededState::Silent => "whose status does not say whether it is ready".to_owned(),
        NeededState::Circle => "which waits for this one".to_owned(),
    }
}
