//! The metrics of a running controller, and its readiness.
//!
//! The names follow the conventions of Prometheus and kube-state-metrics: base units, `_total` on
//! counters, `_info`, `_timestamp_seconds`, and labels with few values. Object names are labels only if
//! enabled.

use std::{borrow::Cow, sync::Arc};

use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, Utc};
use dayshift_cluster::clock::Clock;
use dayshift_schedule::{Action, CalendarName, Tzdata};
use dayshift_workload::{
    JobChange, Kind, ReadyForm, WorkloadRef,
    other_controllers::{ManagerKind, OtherController},
    savings::SavedSoFar,
};
use prometheus_client::{
    encoding::text,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram, info::Info},
    registry::Registry,
};
use tokio::time::Instant;

use crate::{
    settings::Settings,
    telemetry::{
        by_namespace::{ByNamespace, Change, Counted},
        outcome::{EventOutcome, Outcome},
        process_metrics::ProcessMetrics,
        published::{LatestObjects, PublishedObjects, Publisher},
        readiness::{Condition, Heartbeat, ReadinessConditions},
        shapes::{
            LATENESS_SECONDS, Labels, Lateness, OptionalGauge, Register as _, gauge_value, lock,
            manager_label, transition_labels,
        },
        snapshot::Snapshot,
        states::Count,
        wake_log::WakeHistory,
        workload_metrics::{OverriddenWorkloads, StoppedWorkloads},
    },
};

/// The metrics and the readiness of one controller. The controller writes them, and the HTTP server
/// reads them.
///
/// A write takes less than a microsecond and never waits for a reader.
#[derive(Debug)]
pub struct Telemetry {
    registry: Registry,
    readiness: ReadinessConditions,
    published: LatestObjects,
    heartbeat: Heartbeat,
    transitions: Family<Labels<2>, Counter>,
    transition_lateness: Lateness,
    request_lateness: Lateness,
    by_namespace: ByNamespace,
    pub(crate) invalid_namespaces: Gauge,
    overdue: Gauge,
    without_requests: Gauge,
    pub(crate) next_boundary: OptionalGauge<i64>,
    api_requests: Family<Labels<2, Cow<'static, str>>, Counter>,
    pub(crate) watch_restarts: Counter,
    watch_up: Family<Labels<1, String>, Gauge>,
    queue_depth: Family<Labels<1>, Gauge>,
    pub(crate) clock_skew: OptionalGauge<f64>,
    pub(crate) boundaries_skipped: Counter,
    events: Family<Labels<1>, Counter>,
    reverts: Family<Labels<1>, Counter>,
    calendar_ends: CalendarGauge,
    are_calendars_valid: CalendarGauge,
    are_schedules_valid: OptionalGauge<i64>,
    not_ready: Gauge,
    pub(crate) waiting_starts: Gauge,
    start_durations: Family<Labels<1, String>, Histogram, fn() -> Histogram>,
    jobs: Family<Labels<2>, Counter>,
}

/// A gauge with the name of a calendar as its label.
type CalendarGauge = Family<Labels<1, String>, Gauge>;

/// Buckets from a second (the image is on the node) to two hours.
const DURATION_SECONDS: [f64; 12] = [
    1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 3600.0, 7200.0,
];

impl Telemetry {
    /// Creates metrics that are zero, for a controller that is not ready. `started` is when the process
    /// started.
    pub fn new(started: DateTime<Utc>) -> Self {
        Self::with_tzdata(started, Tzdata::bundled())
    }

    /// Creates the metrics of a controller that uses this time zone database.
    pub fn with_tzdata(started: DateTime<Utc>, tzdata: &Tzdata) -> Self {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(ProcessMetrics { started }));
        let by_namespace = ByNamespace::default();
        registry.register_collector(Box::new(by_namespace.clone()));
        let published = LatestObjects::default();
        registry.register_collector(Box::new(StoppedWorkloads(published.clone())));
        registry.register_collector(Box::new(OverriddenWorkloads(published.clone())));
        let ours = registry.sub_registry_with_prefix("dayshift");
        ours.register(
            "build",
            "The version of dayshift, and the version and source of its time zone database",
            Info::new([
                ("version", env!("CARGO_PKG_VERSION").to_owned()),
                ("tzdata", tzdata.version().to_owned()),
                ("zoneinfo", tzdata.source().to_owned()),
            ]),
        );
        let lateness = || Lateness::new_with_constructor(|| Histogram::new(LATENESS_SECONDS));
        let duration: fn() -> Histogram = || Histogram::new(DURATION_SECONDS);
        let telemetry = Self {
            calendar_ends: ours.add_in_seconds(
                "calendar_last_date_timestamp",
                "The beginning in UTC of the last date of a calendar; absent if it has no end",
                CalendarGauge::default(),
            ),
            are_calendars_valid: ours.add(
                "calendar_last_reload_successful",
                "Whether the last reload of a calendar file succeeded: 1 or 0",
            ),
            are_schedules_valid: ours.add(
                "schedules_last_reload_successful",
                "Whether the last reload of the file of named schedules succeeded: 1 or 0; absent without a file",
            ),
            not_ready: ours.add(
                "not_ready_workloads",
                "Workloads that dayshift started longer ago than --ready-within or their own ready-within and that have not been ready since",
            ),
            waiting_starts: ours.add(
                "waiting_starts",
                "Starts that are due and wait for a dependency or for a start slot of --max-starting",
            ),
            start_durations: ours.add_in_seconds(
                "start_duration",
                "From the sending of a start to the workload being ready",
                Family::new_with_constructor(duration),
            ),
            jobs: ours.add(
                "jobs",
                "Attempts to suspend or resume a Job of a CronJob with stop-jobs, by outcome",
            ),
            transition_lateness: ours.add_in_seconds(
                "transition_lateness",
                "From a boundary, or the end of an override, to the sending of the patch",
                lateness(),
            ),
            request_lateness: ours.add_in_seconds(
                "request_lateness",
                "From the observation of a user's request, such as a wake, to the sending of the patch",
                lateness(),
            ),
            next_boundary: ours.add_in_seconds(
                "next_boundary_timestamp",
                "The next boundary of all workloads, since the Unix epoch; absent if there is none",
                OptionalGauge::default(),
            ),
            clock_skew: ours.add_in_seconds(
                "clock_skew",
                "How far this clock is ahead of the API server's; absent if it is not checked",
                OptionalGauge::default(),
            ),
            transitions: ours.add(
                "transitions",
                "Attempts to start or stop a workload, by outcome",
            ),
            by_namespace,
            invalid_namespaces: ours.add(
                "invalid_namespaces",
                "Namespaces whose annotations are rejected",
            ),
            overdue: ours.add(
                "overdue_workloads",
                "Workloads whose start, stop or override is more than 10 s overdue, at the time of the scrape",
            ),
            without_requests: ours.add(
                "workloads_without_requests",
                "Workloads with scheduled replicas that do not request both CPU and memory",
            ),
            api_requests: ours.add(
                "api_requests",
                "Requests to the API server, by verb and HTTP status (`error`: no response)",
            ),
            watch_restarts: ours.add(
                "watch_restarts",
                "Watches that were interrupted and restarted",
            ),
            watch_up: ours.add(
                "watch_up",
                "Whether all objects of that kind in scope are being watched: 1, or 0",
            ),
            queue_depth: ours.add(
                "queue_depth",
                "Writes that wait to be sent, by priority class",
            ),
            boundaries_skipped: ours.add(
                "boundaries_skipped",
                "Transitions before which others were skipped, because a workload has boundaries faster than they can be applied",
            ),
            events: ours.add("events", "Kubernetes Events, by outcome"),
            reverts: ours.add(
                "reverts",
                "Counts that another controller has reverted within --revert-window after dayshift set them, by its field manager",
            ),
            readiness: ReadinessConditions::new(),
            published,
            heartbeat: Heartbeat::default(),
            registry,
        };
        telemetry.begin_at_zero();
        telemetry
    }

    /// Creates the series whose labels are known in advance at zero, so that `increase()` includes the
    /// first count.
    fn begin_at_zero(&self) {
        for action in [Action::Start, Action::Stop, Action::Scale(0)] {
            for lateness in [&self.transition_lateness, &self.request_lateness] {
                drop(lateness.get_or_create(&[("action", action.name())]));
            }
            for outcome in Outcome::ALL {
                let labels = transition_labels(action, outcome);
                drop(self.transitions.get_or_create(&labels));
            }
        }
        let owners = OtherController::ALL
            .map(ManagerKind::OtherController)
            .into_iter();
        for manager in owners.chain([ManagerKind::Unknown]) {
            let labels = [("manager", manager_label(manager))];
            drop(self.reverts.get_or_create(&labels));
        }
        for outcome in EventOutcome::ALL {
            drop(self.events.get_or_create(&[("outcome", outcome.name())]));
        }
        for change in [JobChange::Suspend, JobChange::Resume] {
            for outcome in Outcome::ALL {
                drop(self.jobs.get_or_create(&job_labels(change, outcome)));
            }
        }
        let shows_readiness = |kind: &Kind| kind.ready_form() != ReadyForm::Nowhere;
        for kind in Kind::DEFAULT.into_iter().filter(shows_readiness) {
            let labels = [("kind", kind.name().to_owned())];
            drop(self.start_durations.get_or_create(&labels));
        }
    }

    /// Counts an attempt at a transition.
    pub fn transition(&self, action: Action, outcome: Outcome) {
        let labels = transition_labels(action, outcome);
        self.transitions.get_or_create(&labels).inc();
    }

    /// Records the lateness of a scheduled transition: from the boundary, or the end of an override, to
    /// the sending of the patch.
    pub fn transition_lateness(&self, action: Action, lateness: TimeDelta) {
        self.transition_lateness
            .get_or_create(&[("action", action.name())])
            .observe(lateness.as_seconds_f64());
    }

    /// Records the lateness of a transition that a user requested: from the observation of the request
    /// to the sending of the patch.
    pub fn request_lateness(&self, action: Action, lateness: TimeDelta) {
        self.request_lateness
            .get_or_create(&[("action", action.name())])
            .observe(lateness.as_seconds_f64());
    }

    /// Creates the publisher of a controller that starts now. It replaces the objects of an earlier
    /// controller.
    pub(crate) fn publisher(&self, clock: &Clock, settings: &Settings) -> Publisher {
        Publisher::begin(&self.published, &self.by_namespace, clock, settings)
    }

    /// Records that the controller finished a step at `now`.
    pub fn record_step(&self, now: Instant) {
        self.heartbeat.beat(now);
    }

    /// Whether the controller is alive: its last step was recent, or it has not started yet.
    pub fn is_alive(&self, now: Instant) -> bool {
        self.heartbeat.is_alive(now)
    }

    /// Counts a request to the API server with the HTTP status of its response; `None` without a
    /// response. `verb` is a Kubernetes verb: get, list, watch, patch or create.
    pub fn api_request(&self, verb: &'static str, status: Option<u16>) {
        let code = status.map_or(Cow::Borrowed("error"), |status| status.to_string().into());
        self.api_requests
            .get_or_create(&[("verb", verb.into()), ("code", code)])
            .inc();
    }

    /// Sets whether all objects of a kind in scope are being watched.
    pub fn set_watch_up(&self, kind: &str, is_up: bool) {
        let gauge = self.watch_up.get_or_create(&[("kind", kind.to_owned())]);
        gauge.set(is_up.into());
    }

    /// Sets how many writes of a priority class wait to be sent.
    pub fn queue_depth(&self, class: &'static str, count: usize) {
        let gauge = self.queue_depth.get_or_create(&[("class", class)]);
        gauge.set(gauge_value(count));
    }

    /// Counts an Event with this outcome.
    pub fn event(&self, outcome: EventOutcome) {
        self.events(outcome, 1);
    }

    /// Counts a number of Events with this outcome.
    pub(crate) fn events(&self, outcome: EventOutcome, count: u64) {
        let counter = self.events.get_or_create(&[("outcome", outcome.name())]);
        counter.inc_by(count);
    }

    /// Counts that `manager` has reverted a count that dayshift set on a workload in the namespace.
    pub fn revert(&self, manager: ManagerKind, namespace: &Arc<str>) {
        let change = Change::Counted(Counted::RevertedCount, 1);
        self.by_namespace.change(Arc::clone(namespace), change);
        let labels = [("manager", manager_label(manager))];
        self.reverts.get_or_create(&labels).inc();
    }

    /// Counts the stop notices of this number of workloads in the namespace.
    pub(crate) fn stop_notices(&self, namespace: &Arc<str>, workloads: u64) {
        let change = Change::Counted(Counted::StopNotice, workloads);
        self.by_namespace.change(Arc::clone(namespace), change);
    }

    /// Sets the last date of a calendar, `None` if it has no end.
    pub fn set_calendar_end(&self, name: &CalendarName, last: Option<NaiveDate>) {
        let labels = [("calendar", name.to_string())];
        match last.map(|last| last.and_time(NaiveTime::MIN).and_utc().timestamp()) {
            Some(last) => {
                self.calendar_ends.get_or_create(&labels).set(last);
            }
            None => {
                self.calendar_ends.remove(&labels);
            }
        }
    }

    /// Sets whether the file of a calendar is valid.
    pub fn set_calendar_valid(&self, name: &CalendarName, is_valid: bool) {
        let labels = [("calendar", name.to_string())];
        let gauge = self.are_calendars_valid.get_or_create(&labels);
        gauge.set(is_valid.into());
    }

    /// Sets whether the file of named schedules is valid.
    pub fn set_schedules_valid(&self, are_valid: bool) {
        self.are_schedules_valid.set(Some(are_valid.into()));
    }

    /// Records that an object became ready, and the time from the sending of its start to readiness.
    pub(crate) fn record_ready(&self, kind: &Kind, took: TimeDelta) {
        let labels = [("kind", kind.name().to_owned())];
        let histogram = self.start_durations.get_or_create(&labels);
        histogram.observe(took.as_seconds_f64());
    }

    /// Counts attempts to suspend or resume Jobs.
    pub(crate) fn job_attempts(&self, change: JobChange, outcome: Outcome, attempts: u64) {
        let counter = self.jobs.get_or_create(&job_labels(change, outcome));
        counter.inc_by(attempts);
    }

    /// Sets whether a condition of readiness is met.
    pub fn set(&self, condition: Condition, holds: bool) {
        self.readiness.set(condition, holds);
    }

    /// Sets the kinds that cannot be watched, because the API server does not serve them or forbids it:
    /// a short sentence for each.
    pub fn set_unwatched(&self, unwatched: Vec<String>) {
        self.readiness.set_unwatched(unwatched);
    }

    /// The kinds that cannot be watched: a short sentence for each.
    pub fn unwatched(&self) -> Vec<String> {
        self.readiness.unwatched()
    }

    /// Records that shutdown has begun. Then the controller is never ready again.
    pub fn shutting_down(&self) {
        self.readiness.end();
    }

    /// Whether [`Self::ready`] returns `Ok`. Does not allocate.
    pub(crate) fn is_ready(&self) -> bool {
        self.readiness.is_ready()
    }

    /// Whether the controller can do its work now.
    ///
    /// # Errors
    /// The reasons why it cannot, a short sentence each.
    pub fn ready(&self) -> Result<(), Vec<&'static str>> {
        self.readiness.check()
    }

    /// The current snapshot of every object; `None` if no controller is running.
    pub fn snapshot(&self) -> Option<Snapshot> {
        self.objects()?.snapshot()
    }

    /// The last wakes of a workload; `None` before a controller has started.
    pub fn wakes_of(&self, object: &WorkloadRef) -> Option<WakeHistory> {
        Some(self.objects()?.wakes_of(object))
    }

    /// The savings until now, which the counters show, and the savings since each of these times; `None`
    /// before a controller has started.
    pub fn saved(&self, since_each: &[DateTime<Utc>]) -> Option<SavedSoFar> {
        self.by_namespace.saved(since_each)
    }

    fn objects(&self) -> Option<Arc<PublishedObjects>> {
        lock(&self.published).clone()
    }

    /// Renders all metrics as OpenMetrics 1.0. Takes microseconds for each namespace and for each object
    /// that might have become late since the last call.
    pub fn render(&self) -> String {
        if let Some(objects) = self.objects() {
            let late = objects.late();
            let states = self.by_namespace.begin_scrape();
            for (gauge, count) in [
                (&self.without_requests, states.get(Count::WithoutRequests)),
                (&self.overdue, late.overdue),
                (&self.not_ready, late.not_ready),
            ] {
                gauge.set(gauge_value(count));
            }
        }
        let mut text = String::with_capacity(16 * 1024);
        // Writing to a String cannot fail; a metric that cannot be encoded is left out.
        let _ = text::encode(&mut text, &self.registry);
        text
    }
}

const fn job_labels(change: JobChange, outcome: Outcome) -> Labels<2> {
    let action = match change {
        JobChange::Suspend => "suspend",
        JobChange::Resume | JobChange::Release => "resume",
    };
    [("action", action), ("outcome", outcome.name())]
}
