//! Events about reverted counts, if many in one namespace are reverted at once.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use dayshift_cluster::write::EventObject;
use dayshift_workload::{Prefix, events::EventText};
use tokio::time::Instant;

/// How many objects of a namespace get an Event of their own within [`PERIOD`]; one Event sums up
/// the rest.
const MAX_EVENTS: usize = 5;

/// The period of [`MAX_EVENTS`].
const PERIOD: Duration = Duration::from_secs(10 * 60);

/// How long the first summary of a period gathers objects.
const GATHERED_FOR: Duration = Duration::from_secs(5);

/// How many managers a summary names.
const MAX_MANAGERS: usize = 3;

/// Recent Events of each namespace, and the next summary.
#[derive(Default)]
pub(crate) struct RevertNotes {
    namespaces: HashMap<Arc<str>, Told>,
}

struct Told {
    since: Instant,
    events: usize,
    summed: bool,
    rest: Option<Rest>,
}

/// The objects without an Event of their own.
struct Rest {
    first: EventObject,
    count: usize,
    managers: BTreeMap<String, usize>,
    due: Instant,
}

impl RevertNotes {
    /// Takes one of the Events of a namespace for an object, or adds the object to the Event that
    /// sums up the others; true for an Event of its own.
    pub(super) fn admit(&mut self, object: &EventObject, manager: &str, now: Instant) -> bool {
        let told = self
            .namespaces
            .entry(object.namespace.clone())
            .or_insert_with(|| Told::new(now));
        if now >= told.since + PERIOD && told.rest.is_none() {
            *told = Told::new(now);
        }
        if told.events < MAX_EVENTS {
            told.events += 1;
            return true;
        }
        let due = if told.summed {
            told.since + PERIOD
        } else {
            now + GATHERED_FOR
        };
        let rest = told.rest.get_or_insert_with(|| Rest {
            first: object.clone(),
            count: 0,
            managers: BTreeMap::new(),
            due: due.max(now),
        });
        rest.count += 1;
        if let Some(count) = rest.managers.get_mut(manager) {
            *count += 1;
        } else if rest.managers.len() < MAX_MANAGERS {
            rest.managers.insert(manager.to_owned(), 1);
        }
        false
    }

    /// When the next summary is due.
    pub(crate) fn next(&self) -> Option<Instant> {
        let all = self.namespaces.values();
        all.filter_map(|told| Some(told.rest.as_ref()?.due)).min()
    }

    /// Takes a summary that is due, as an Event of the first of its objects.
    pub(super) fn take_due(
        &mut self,
        now: Instant,
        prefix: &Prefix,
    ) -> Option<(EventObject, EventText)> {
        let is_due = |told: &Told| told.rest.as_ref().is_some_and(|rest| rest.due <= now);
        let told = self.namespaces.values_mut().find(|told| is_due(told))?;
        let rest = told.rest.take()?;
        told.summed = true;
        let namespace = &rest.first.namespace;
        let event = EventText::reverted_together(namespace, rest.count, &rest.managers, prefix);
        self.namespaces
            .retain(|_, told| now < told.since + PERIOD || told.rest.is_some());
        Some((rest.first, event))
    }
}

impl Told {
    const fn new(since: Instant) -> Self {
        Self {
            since,
            events: 0,
            summed: false,
            rest: None,
        }
    }
}
