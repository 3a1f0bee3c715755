//! The state of a controller in this process, as the pages show it, at a pace that leaves the controller its
//! processor.

use std::{cell::OnceCell, collections::HashMap, convert::Infallible, sync::Arc, time::Duration};

use chrono::TimeDelta;
use dayshift_cluster::clock::Clock;
use dayshift_controller::{CalendarFeed, ObjectSnapshot, Snapshot, Telemetry, WorkStatus};
use dayshift_operations::status::{
    DependencyChecks, DependencyLookup, WorkloadStatus, ignored_dependencies,
};
use dayshift_workload::{Dependency, ParseContext, ParsedInputs};
use tokio::{
    sync::{Mutex, OwnedMutexGuard},
    time::{Instant, sleep},
};

use crate::dashboard::view::{LastRows, Row, Settings, View};

/// A view is cached for this long. Making one takes some microseconds for each object.
const FRESH: TimeDelta = TimeDelta::seconds(1);
/// A cached view is dropped after this time without a request.
const KEPT: Duration = Duration::from_secs(60);

/// The state that the controller publishes, read when a page is requested.
pub(super) struct Published {
    pub(super) pace: Pace,
    telemetry: Arc<Telemetry>,
    calendars: CalendarFeed,
    last: Mutex<Option<Last>>,
}

/// The cached view.
struct Last {
    view: Arc<View>,
    looked: Instant,
}

impl Published {
    pub(super) fn new(telemetry: Arc<Telemetry>, calendars: CalendarFeed) -> Self {
        Self {
            pace: Pace::default(),
            telemetry,
            calendars,
            last: Mutex::default(),
        }
    }

    /// The current view. Concurrent requests share it.
    pub(super) async fn view(&self, settings: &Settings, clock: &Clock) -> Arc<View> {
        let mut last = self.last.lock().await;
        let looked = clock.monotonic();
        if let Some(last) = &mut *last {
            last.looked = looked;
            if (clock.now() - last.view.now).abs() < FRESH {
                return Arc::clone(&last.view);
            }
        }
        let view = match (self.telemetry.snapshot(), &*last) {
            (Some(snapshot), known) => {
                let known = known.as_ref().map(|last| &*last.view);
                self.view_of(settings, &snapshot, known)
            }
            (None, Some(last)) => {
                return Arc::new(View {
                    outage: Some("The controller has ended.".to_owned()),
                    ..View::clone(&last.view)
                });
            }
            (None, None) => return Arc::new(self.nothing(settings, clock)),
        };
        let view = Arc::new(view);
        if view.is_complete {
            let view = Arc::clone(&view);
            *last = Some(Last { view, looked });
        }
        view
    }

    /// Drops a view that is no longer requested, because it can be large.
    pub(super) async fn forget(&self, clock: &Clock) -> Infallible {
        loop {
            sleep(KEPT).await;
            let mut last = self.last.lock().await;
            if last
                .as_ref()
                .is_some_and(|last| clock.monotonic() - last.looked > KEPT)
            {
                *last = None;
            }
        }
    }

    fn view_of(&self, settings: &Settings, snapshot: &Snapshot, last: Option<&View>) -> View {
        let context = self.context(settings);
        let was_complete = last.is_some();
        let last = LastRows::new(last, &context);
        let (named, checks) = (OnceCell::new(), DependencyChecks::default());
        let seen = |namespace: &str, needed: &Dependency| {
            let entry = |snapshot: &Arc<ObjectSnapshot>| {
                let object = &snapshot.object;
                (
                    (object.namespace.clone(), Dependency::from_workload(object)),
                    Arc::clone(snapshot),
                )
            };
            let named: &HashMap<_, _> =
                named.get_or_init(|| snapshot.objects.iter().map(entry).collect());
            // Workloads without a schedule are not published.
            let known = named.get(&(namespace.into(), needed.clone()));
            known.map_or(DependencyLookup::Unknown, |object| {
                let parsed = ParsedInputs::clone(&object.parsed);
                DependencyLookup::Exists(Box::new((object.observed(), parsed)))
            })
        };
        let row = |object: &Arc<ObjectSnapshot>| {
            let observed = object.observed();
            let status = WorkloadStatus::from_parsed(
                &observed,
                &object.parsed,
                Some(object.seen),
                &settings.prefix,
                context.default_zone,
                snapshot.at,
            )?;
            let namespace = &observed.object.namespace;
            let seen = |needed: &Dependency| seen(namespace, needed);
            let (object_ref, at) = (&observed.object, snapshot.at);
            let in_vain = ignored_dependencies(object_ref, &object.parsed, at, &checks, seen);
            let status = status.with_ignored_dependencies(in_vain);
            let status = match object.work {
                WorkStatus::WaitingForSlot => status.waiting_for_slot(),
                _ => status,
            };
            let status = match object.is_at_correction_limit {
                true => status.at_correction_limit(),
                false => status,
            };
            let parsed = Arc::clone(&object.parsed);
            let row = Row::new(status, observed, parsed, &last, snapshot.at);
            Some(Arc::new(row))
        };
        let ready = self.telemetry.ready();
        let is_complete = was_complete || ready.is_ok();
        let known = snapshot.objects.iter().filter(|_| is_complete);
        let mut rows: Vec<Arc<Row>> = known.filter_map(row).collect();
        rows.sort_by(|one, other| one.order().cmp(&other.order()));
        let why = ready.err().unwrap_or_default();
        let unwatched = self.telemetry.unwatched();
        View {
            now: snapshot.at,
            zone: settings.zone.or_else(|| View::common_zone(&rows)),
            rows: Arc::new(rows),
            context,
            asks: false,
            is_complete,
            outage: None,
            unseen: why
                .into_iter()
                .map(str::to_owned)
                .chain(unwatched)
                .collect(),
            is_partial: false,
        }
    }

    /// The view if the controller has not published anything yet.
    fn nothing(&self, settings: &Settings, clock: &Clock) -> View {
        let why = self.telemetry.ready().err().unwrap_or_default();
        View {
            now: clock.now(),
            rows: Arc::default(),
            zone: settings.zone,
            context: self.context(settings),
            asks: false,
            is_complete: false,
            outage: None,
            unseen: why.into_iter().map(str::to_owned).collect(),
            is_partial: false,
        }
    }

    fn context(&self, settings: &Settings) -> ParseContext {
        ParseContext {
            calendars: self.calendars.current(),
            ..settings.context.clone()
        }
    }
}

/// The pause after a page, as a multiple of its rendering time: pages use at most a sixth of a processor.
const REST: u32 = 5;

/// Lets one page at a time be rendered, with a pause after each.
#[derive(Debug, Default)]
pub(super) struct Pace(Arc<Mutex<()>>);

/// The permission to render one page, until it is dropped.
pub(super) struct Turn {
    begun: Instant,
    held: Option<OwnedMutexGuard<()>>,
}

impl Pace {
    pub(super) async fn turn(&self) -> Turn {
        let held = Arc::clone(&self.0).lock_owned().await;
        Turn {
            begun: Instant::now(),
            held: Some(held),
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let (held, rest) = (self.held.take(), self.begun.elapsed() * REST);
        tokio::spawn(async move {
            sleep(rest).await;
            drop(held);
        });
    }
}
