//! The words that come before a stop.

use chrono::{DateTime, Utc};
use dayshift_schedule::Zone;

use crate::{Prefix, WorkloadRef};

use super::commands::{wake_all_command, wake_command, wake_namespace_command};
use super::event_text::EventText;
use super::note_text::local;
use super::reason::EventReason;

/// How many of a namespace are named.
const MAX_NAMES: usize = 5;

impl EventText {
    /// An object is stopped at an instant to come.
    pub fn stop_notice(
        object: &WorkloadRef,
        at: DateTime<Utc>,
        zone: Zone,
        prefix: &Prefix,
    ) -> Self {
        let text = format!(
            "dayshift stops it at {}. To keep it running, run {}",
            local(at, zone),
            wake_command(object, prefix)
        );
        Self::once(text, at)
    }

    /// Several objects of one namespace are stopped at an instant to come.
    pub fn stop_notice_of_all(
        objects: &[&WorkloadRef],
        at: DateTime<Utc>,
        zone: Zone,
        prefix: &Prefix,
    ) -> Self {
        let namespace = objects.first().map_or("", |it| &it.namespace);
        let names = objects.iter().take(MAX_NAMES).map(|it| it.short_name());
        let names = names.collect::<Vec<_>>().join(", ");
        let (more, command) = match objects.len().saturating_sub(MAX_NAMES) {
            0 => (String::new(), wake_all_command(objects, prefix)),
            more => (
                format!(" and {more} more"),
                wake_namespace_command(namespace, prefix),
            ),
        };
        let text = format!(
            "dayshift stops {} workloads at {}: {names}{more}. To keep them running, run {command}",
            objects.len(),
            local(at, zone),
        );
        Self::once(text, at)
    }

    fn once(text: String, at: DateTime<Utc>) -> Self {
        Self {
            once_of: Some(at),
            ..Self::new(EventReason::StopsSoon, text)
        }
    }
}
