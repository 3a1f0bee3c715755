//! An Event in words: its reason and its text.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_text::cut_bytes;

use crate::{Kind, Observed};

use super::reason::EventReason;

/// An Event that is to be sent: its reason and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventText {
    /// Its reason.
    pub reason: EventReason,
    /// Its text, plain, at most 1 kB.
    pub text: String,
    /// The instant that it tells of, where each object is told once of that, by whichever scaler.
    pub once_of: Option<DateTime<Utc>>,
}

/// How long a text may be, in bytes.
const MAX_TEXT: usize = 1000;

/// How much of what Kubernetes says is told, in bytes.
const MAX_WHY: usize = 500;

/// `10 min`, `90 s`.
fn length(time: TimeDelta) -> String {
    let (minutes, seconds) = (time.num_minutes(), time.num_seconds());
    if seconds == minutes * 60 {
        format!("{minutes} min")
    } else {
        format!("{seconds} s")
    }
}

impl EventText {
    pub(super) const fn new(reason: EventReason, text: String) -> Self {
        Self {
            reason,
            text,
            once_of: None,
        }
    }

    /// What the annotations of a Namespace ask for is refused.
    pub const fn invalid(text: String) -> Self {
        Self::new(EventReason::InvalidSchedule, text)
    }

    /// An object of that kind cannot be written to. With `namespace` a permission is missing, perhaps
    /// for all of its kind there.
    pub fn scale_failed(kind: Kind, why: &str, namespace: Option<&str>) -> Self {
        let mut text = format!("cannot write to the {kind}: {why}; retrying with backoff");
        if let Some(namespace) = namespace {
            text += &format!(
                ". The permission may be missing for every {kind} in namespace {namespace}, and \
                    this Event is on one of them"
            );
        }
        Self::new(EventReason::ScaleFailed, text)
    }

    /// A request to its Service, or to that of `needed_by`, wakes it: which, and until when. `without` is
    /// what it needs and what stays stopped, each with the reason.
    pub fn woken_by_request(
        request: &str,
        until: &str,
        needed_by: Option<&str>,
        without: &[String],
    ) -> Self {
        let needed_by =
            needed_by.map_or_else(String::new, |it| format!(" with {it}, which needs it"));
        let mut text = format!("{request} wakes it until {until}{needed_by}");
        for one in without {
            text += &format!("; it needs {one}");
        }
        Self::new(
            EventReason::WokenByRequest,
            cut_bytes(&text, MAX_TEXT).to_owned(),
        )
    }

    /// What was started is not ready after so long, and what Kubernetes says of it.
    pub fn not_ready(observed: &Observed, within: TimeDelta, why: Option<&str>) -> Self {
        let object = &observed.object;
        let ready = match observed.readiness.replicas() {
            Some(ready) => format!("{ready} of {} replicas are ready", observed.replicas),
            None => "it is not ready".to_owned(),
        };
        let within = length(within);
        let why = why.map_or_else(String::new, |why| format!(": {}", cut_bytes(why, MAX_WHY)));
        let text = format!(
            "{ready} {within} after the start{why}. To see more, run kubectl describe {}/{} -n {}",
            object.kind.unambiguous(),
            object.name,
            object.namespace
        );
        Self::new(EventReason::NotReady, text)
    }

    /// Boundaries come faster than they can be carried out.
    pub fn boundaries_skipped() -> Self {
        let text = "boundaries come faster than dayshift can carry them out: it skips all but the \
            newest. Set them further apart";
        Self::new(EventReason::BoundariesSkipped, text.to_owned())
    }
}
