//! The state of a cluster, followed with watches through a client.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::{
    clock::Clock,
    connect::server_time,
    decode::WithManagers,
    read::{Autoscalers, CorrectionLimits, FindError, NamespaceDefaults, Services, WaitingStarts},
};
use dayshift_controller::CalendarFeed;
use dayshift_operations::status::{
    HPA_REFRESH, KindWatches, KnownWorkloads, LiveView, NAMESPACE_REFRESH, PROBE, StatusContext,
    Unreadable, WorkloadStatus, clock_ahead, wakes_on_request,
};
use dayshift_workload::{Kind, ParseContext};
use kube::Client;

use super::view::{Row, View};
use crate::dashboard::view::Settings;

/// The watches of a cluster and the view made from them.
pub(super) struct Followed {
    pub(super) client: Client,
    /// Calendars that can change. Without them, the calendars of the settings are used.
    pub(super) calendars: Option<CalendarFeed>,
    seen: Mutex<FollowedState>,
}

#[derive(Debug)]
struct FollowedState {
    live: LiveView,
    defaults: NamespaceDefaults,
    autoscalers: Autoscalers,
    services: Services,
    waiting_starts: WaitingStarts,
    correction_limits: CorrectionLimits,
    /// How far the clock of the API server is ahead of the local clock.
    ahead: TimeDelta,
    /// The error that ended the watches.
    ended: Option<FindError>,
    view: Option<Arc<View>>,
}

/// A view is cached for this long, because it shows times to the second.
const FRESH: TimeDelta = TimeDelta::seconds(1);

impl Followed {
    pub(super) fn new(client: Client, settings: &Settings) -> Self {
        let seen = FollowedState {
            live: LiveView::new(settings.query.clone()),
            defaults: NamespaceDefaults::default(),
            autoscalers: Autoscalers::default(),
            services: Services::default(),
            waiting_starts: WaitingStarts::default(),
            correction_limits: CorrectionLimits::default(),
            ahead: TimeDelta::zero(),
            ended: None,
            view: None,
        };
        Self {
            client,
            calendars: None,
            seen: Mutex::new(seen),
        }
    }

    /// Records the error that ended the watches.
    pub(super) fn end(&self, error: &FindError) {
        let mut seen = self.seen();
        seen.ended = Some(error.clone());
        seen.view = None;
    }

    /// How far the clock of the API server is ahead of the local clock.
    pub(super) fn ahead(&self) -> TimeDelta {
        self.seen().ahead
    }

    /// Follows the cluster until an error ends the watches.
    pub(super) async fn follow(
        &self,
        settings: &Settings,
        clock: &Clock,
    ) -> Result<Infallible, FindError> {
        let query = &settings.query;
        let (mut namespaces_at, mut hpas_at, mut probe_at) = {
            let now = clock.now();
            (now, now, now)
        };
        let mut watches = KindWatches::new(&self.client, query, clock);
        self.ask_time(clock).await;
        loop {
            let now = clock.now();
            let outage = self.seen().live.outage().is_some();
            if outage && now >= probe_at {
                probe_at = now + PROBE;
                if self.ask_time(clock).await {
                    let mut seen = self.seen();
                    seen.live.answered();
                    seen.view = None;
                }
            }
            if !outage && now >= namespaces_at {
                self.read_namespaces(settings).await;
                namespaces_at = now + NAMESPACE_REFRESH;
            }
            if !outage && now >= hpas_at && self.seen().live.is_complete() {
                self.read_others(settings, clock).await;
                hpas_at = now + HPA_REFRESH;
            }
            tokio::select! {
                // Changes that arrive together make one new view.
                shown = watches.next() => {
                    let mut seen = self.seen();
                    seen.live.update(shown?, watches.unreadable_parts());
                    seen.view = None;
                }
                () = clock.doze_until(now + FRESH) => {}
            }
        }
    }

    /// Measures the clock difference. Returns false if the API server does not answer.
    async fn ask_time(&self, clock: &Clock) -> bool {
        let here = clock.now();
        let Some(there) = server_time(&self.client).await else {
            return false;
        };
        self.seen().ahead = clock_ahead(there, here);
        true
    }

    async fn read_namespaces(&self, settings: &Settings) {
        let Settings { query, prefix, .. } = settings;
        let found = NamespaceDefaults::find(&self.client, query, prefix).await;
        let mut seen = self.seen();
        if found != seen.defaults {
            seen.defaults = found;
            seen.view = None;
        }
    }

    /// Reads autoscalers; Services, if a workload has `wake-on-request`; waiting starts, if a start is
    /// overdue; and correction limits, if `enforce` should have stopped a workload.
    async fn read_others(&self, settings: &Settings, clock: &Clock) {
        let query = &settings.query;
        let ask_for_wakes = {
            let seen = self.seen();
            let mut all = seen.live.workloads();
            all.any(|(kind, workload)| {
                wakes_on_request(&kind, workload, &seen.defaults, &settings.prefix)
            })
        };
        let services = async {
            match ask_for_wakes {
                true => Services::find(&self.client, query).await,
                false => Services::default(),
            }
        };
        let view = self.view(settings, clock);
        let waiting_starts = async {
            let mut rows = view.rows.iter();
            match rows.any(|row| row.status.has_overdue_start() || row.status.waits_for_slot()) {
                true => WaitingStarts::find(&self.client, query).await,
                false => WaitingStarts::default(),
            }
        };
        let correction_limits = async {
            let mut rows = view.rows.iter();
            match rows.any(|row| row.status.is_to_be_enforced()) {
                true => CorrectionLimits::find(&self.client, query).await,
                false => CorrectionLimits::default(),
            }
        };
        let (autoscalers, services, waiting_starts, correction_limits) = tokio::join!(
            Autoscalers::find(&self.client, query),
            services,
            waiting_starts,
            correction_limits
        );
        let mut seen = self.seen();
        seen.autoscalers = autoscalers;
        seen.services = services;
        seen.waiting_starts = waiting_starts;
        seen.correction_limits = correction_limits;
        seen.view = None;
    }

    /// The current view, at most [`FRESH`] old.
    pub(super) fn view(&self, settings: &Settings, clock: &Clock) -> Arc<View> {
        let here = clock.now();
        let mut seen = self.seen();
        let now = here + seen.ahead;
        if let Some(view) = &seen.view
            && (now - view.now).abs() < FRESH
        {
            return view.clone();
        }
        let view = Arc::new(view_of(settings, self.context(settings), &seen, now));
        seen.view = Some(view.clone());
        view
    }

    /// The Namespace defaults that are known so far.
    pub(super) fn defaults(&self) -> NamespaceDefaults {
        self.seen().defaults.clone()
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

    fn seen(&self) -> MutexGuard<'_, FollowedState> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn view_of(
    settings: &Settings,
    context: ParseContext,
    seen: &FollowedState,
    now: DateTime<Utc>,
) -> View {
    let prefix = &settings.prefix;
    let unreadable_parts = seen.live.unreadable_parts();
    let status_context = StatusContext {
        workloads: &KnownWorkloads::new(&settings.query, unreadable_parts, seen.live.workloads()),
        defaults: &seen.defaults,
        autoscalers: &seen.autoscalers,
        services: &seen.services,
        waiting_starts: &seen.waiting_starts,
        prefix,
        parse_context: &context,
        now,
    };
    let row = |(kind, managed): (Kind, &WithManagers)| {
        let status = WorkloadStatus::new(&kind.clone(), managed, &status_context)?
            .with_correction_limits(&seen.correction_limits);
        let observed = seen
            .defaults
            .applied(managed.workload.observe(&kind, prefix));
        Some(Arc::new(Row {
            status,
            observed,
            parsed: None,
        }))
    };
    let error = seen.ended.as_ref().or_else(|| seen.live.outage());
    // Rows are shown only when all workloads are known.
    let is_complete = seen.live.is_complete();
    let known = seen.live.workloads().filter(|_| is_complete);
    let rows: Vec<Arc<Row>> = known.filter_map(row).collect();
    let mut unreadable = Unreadable::list(
        &settings.query,
        unreadable_parts,
        &seen.autoscalers,
        &seen.services,
    );
    if rows.is_empty() {
        unreadable.extend(Unreadable::namespaces(&seen.defaults));
    }
    View {
        now,
        zone: settings.zone.or_else(|| View::common_zone(&rows)),
        rows: Arc::new(rows),
        context,
        asks: true,
        is_complete,
        outage: error.map(ToString::to_string),
        unseen: unreadable.iter().map(ToString::to_string).collect(),
        is_partial: false,
    }
}
