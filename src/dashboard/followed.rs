//! The state of a cluster, followed with watches through a client.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError},
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::{
    clock::Clock,
    decode::WithManagers,
    read::{FindError, NamespaceDefaults},
};
use dayshift_controller::CalendarFeed;
use dayshift_operations::{
    EventNeeds, LiveView, SharedView,
    status::{DependencyChecks, StatusContext, Unreadable, WorkloadStatus},
};
use dayshift_workload::{Kind, Observed, ParseContext};
use kube::Client;

use crate::dashboard::view::{LastRows, Row, Settings, View};

/// The watches of a cluster and the view made from them.
pub(super) struct Followed {
    pub(super) client: Client,
    /// Calendars that can change. Without them, the calendars of the settings are used.
    pub(super) calendars: Option<CalendarFeed>,
    live: SharedView,
    /// The last view, and the version of the live view that it shows.
    last: Mutex<Option<(u64, Arc<View>)>>,
}

/// A view is cached for this long, because it shows times to the second.
const FRESH: TimeDelta = TimeDelta::seconds(1);

impl Followed {
    pub(super) fn new(client: Client, settings: &Settings) -> Self {
        let live = LiveView::new(settings.query.clone(), &settings.prefix);
        Self {
            client,
            calendars: None,
            live: SharedView::new(live),
            last: Mutex::default(),
        }
    }

    /// Records the error that ended the watches.
    pub(super) fn end(&self, error: &FindError) {
        self.live.get().end(error.clone());
    }

    /// How far the clock of the API server is ahead of the local clock.
    pub(super) fn ahead(&self) -> TimeDelta {
        self.live.get().ahead()
    }

    /// Follows the cluster until an error ends the watches.
    pub(super) async fn follow(
        &self,
        settings: &Settings,
        clock: &Clock,
    ) -> Result<Infallible, FindError> {
        let mut follower = self.live.follow(&self.client, clock).await;
        loop {
            follower.update().await?;
            if follower.are_events_due() {
                let view = self.view(settings, clock);
                let statuses = view.rows.iter().map(|row| &row.status);
                follower.read_events(EventNeeds::of(statuses)).await;
            }
        }
    }

    /// The current view, at most [`FRESH`] old.
    pub(super) fn view(&self, settings: &Settings, clock: &Clock) -> Arc<View> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let live = self.live.get();
        let now = clock.now() + live.ahead();
        if let Some((version, view)) = &*last
            && *version == live.version()
            && (now - view.now).abs() < FRESH
        {
            return Arc::clone(view);
        }
        let known = last.as_ref().map(|(_, view)| &**view);
        let view = view_of(settings, self.context(settings), &live, known, now);
        let view = Arc::new(view);
        *last = Some((live.version(), Arc::clone(&view)));
        view
    }

    /// The Namespace defaults that are known so far.
    pub(super) fn defaults(&self) -> NamespaceDefaults {
        self.live.get().defaults().clone()
    }

    /// The settings for parsing schedules. With a calendar feed, unknown calendar names are accepted,
    /// because the controller might know them.
    fn context(&self, settings: &Settings) -> ParseContext {
        let context = settings.context.clone();
        match &self.calendars {
            Some(feed) => ParseContext {
                calendars: feed.current().accepting_any(),
                ..context
            },
            None => context,
        }
    }
}

fn view_of(
    settings: &Settings,
    context: ParseContext,
    live: &LiveView,
    last: Option<&View>,
    now: DateTime<Utc>,
) -> View {
    let last = LastRows::new(last, &context);
    let status_context = StatusContext {
        live,
        parse_context: &context,
        checks: &DependencyChecks::default(),
        now,
    };
    let parse = |observed: &Observed| {
        let known = last.parsed(observed);
        known.unwrap_or_else(|| Arc::new(observed.read(&context)))
    };
    let row = |(kind, managed): (&Kind, &WithManagers)| {
        let known = WorkloadStatus::with_inputs(kind, managed, &status_context, parse)?;
        let (status, observed, parsed) = known;
        Some(Arc::new(Row::new(status, observed, parsed, &last, now)))
    };
    // Rows are shown only when all workloads are known.
    let is_complete = live.is_complete();
    let known = live.workloads().filter(|_| is_complete);
    let mut rows: Vec<Arc<Row>> = known.filter_map(row).collect();
    rows.sort_by(|one, other| one.order().cmp(&other.order()));
    let mut unreadable = Unreadable::list(live);
    if rows.is_empty() {
        unreadable.extend(Unreadable::namespaces(live.defaults()));
    }
    View {
        now,
        zone: settings.zone.or_else(|| View::common_zone(&rows)),
        rows: Arc::new(rows),
        context,
        asks: true,
        is_complete,
        outage: live.outage().map(ToString::to_string),
        unseen: unreadable.iter().map(ToString::to_string).collect(),
        is_partial: false,
    }
}
