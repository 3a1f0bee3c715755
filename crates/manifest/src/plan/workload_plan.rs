//! The plan of one object, from a file or a cluster: its schedule and problems, its boundaries with
//! their counts, and the savings in a period.

use std::{fmt, sync::Arc};

use chrono::{DateTime, NaiveDate, TimeDelta, Utc, Weekday};
use dayshift_schedule::{Action, Schedule, Zone};
use dayshift_text::quote;
use dayshift_workload::{
    Dependency, Footprint, Inputs, Key, Observed, Origin, Override, ParseContext, ParsedInputs,
    Prefix, Problem, Replicas, RequestCoverage, ScheduleSpec, WorkloadRef, count_after_stop, read,
    savings::{Price, Saved},
};
use serde::{Serialize, Serializer, ser::SerializeMap as _};
use serde_json::json;

use crate::plan::timeline::{Period, PlannedState, PlannedStep, occurrences, timeline};

/// The plan of one object. A problem prevents all boundaries.
#[derive(Clone, Debug)]
pub struct WorkloadPlan {
    kind: Box<str>,
    namespace: Arc<str>,
    name: Arc<str>,
    /// `web`, or `sts/db`.
    short_name: String,
    timezone: String,
    /// The origin of its schedule.
    pub origin: Origin,
    pub(crate) boundaries: Boundaries,
    /// The dependencies of its starts. In JSON only if there are any.
    pub after: Option<StartsAfter>,
    /// The dates in the period that calendars exclude. In JSON only if there are any.
    pub holidays: Vec<Holiday>,
    /// The dates in the period that are treated as another day. In JSON `treatedAs`, only if there
    /// are any.
    pub treated_dates: Vec<TreatedDate>,
    /// The count that would run without the schedule, if it is known.
    pub runs: Option<Replicas>,
    /// The state when the period begins.
    pub beginning: Beginning,
    /// The pods and requests for each unit of its count.
    pub footprint: Footprint,
    /// The price of CPU and memory, if it is known.
    pub price: Option<Arc<Price>>,
    /// The object whose savings include its own.
    pub counted: CountedWith,
    /// The effect of requests to the object's Services, if requests should wake it. In JSON
    /// `onRequest`, only in that case.
    pub on_request: Option<RequestCoverage>,
    problems: Vec<PlannedProblem>,
}

/// The state of an object when a period begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Beginning {
    /// Stopped by dayshift.
    Stopped,
    /// Not stopped by dayshift.
    AsItIs,
    /// At 0, but not stopped by dayshift. Later stops save replicas only after a first start.
    Off,
}

/// The object whose savings include those of a workload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CountedWith {
    /// The workload itself.
    #[default]
    Itself,
    /// The custom resource that it belongs to. The operator makes the workload's replicas from the
    /// size of that resource, and might have copied the schedule to it.
    Owner,
}

/// Values are computed here, because a schedule by the second has millions of boundaries in a year.
impl Serialize for WorkloadPlan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let saved = self.saved();
        let round = |number: f64| (number * 100.0).round() / 100.0;
        let mut fields = serializer.serialize_map(None)?;
        fields.serialize_entry("kind", &self.kind)?;
        fields.serialize_entry("namespace", &self.namespace)?;
        fields.serialize_entry("name", &self.name)?;
        fields.serialize_entry("timezone", &self.timezone)?;
        if !is_own(&self.origin) {
            fields.serialize_entry("from", self.origin.name())?;
        }
        fields.serialize_entry("boundaries", &self.boundaries)?;
        if let Some(after) = &self.after {
            fields.serialize_entry("after", after)?;
        }
        if let Some(timer) = self.spec().and_then(|spec| spec.stop_after) {
            let (seconds, since) = (timer.duration.num_seconds(), timer.since.name());
            let timer = json!({"seconds": seconds, "since": since});
            fields.serialize_entry("stopAfter", &timer)?;
        }
        if !self.holidays.is_empty() {
            fields.serialize_entry("holidays", &self.holidays)?;
        }
        if !self.treated_dates.is_empty() {
            fields.serialize_entry("treatedAs", &self.treated_dates)?;
        }
        if let Some(saved) = saved {
            fields.serialize_entry("savedReplicaHours", &round(saved.replica_hours))?;
            if self.footprint.requests.cpu_nanos > 0 {
                fields.serialize_entry("savedCpuCoreHours", &round(saved.cpu_core_hours))?;
            }
            if self.footprint.requests.memory_bytes > 0 {
                fields.serialize_entry("savedMemoryGibHours", &round(saved.memory_gib_hours))?;
            }
            if let Some(price) = &self.price {
                let currency = Some(price.currency()).filter(|currency| !currency.is_empty());
                let cost = json!({"amount": round(price.cost(&saved)), "currency": currency});
                fields.serialize_entry("savedCost", &cost)?;
            }
        }
        if let Some(coverage) = &self.on_request {
            fields.serialize_entry("onRequest", coverage)?;
        }
        fields.serialize_entry("problems", &self.problems)?;
        fields.end()
    }
}

/// A problem with one annotation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedProblem {
    /// The full name of the annotation, or of the field.
    pub annotation: String,
    /// The problem and a correct example.
    pub message: String,
    /// The first marked byte of the annotation's value.
    pub start: usize,
    /// The byte after the last marked one.
    pub end: usize,
    /// The origin of the annotation. In JSON `from`, and only if it is not the object itself.
    #[serde(
        rename = "from",
        serialize_with = "place",
        skip_serializing_if = "is_own"
    )]
    pub origin: Origin,
}

/// Settings that all objects of a plan share.
#[derive(Clone, Debug)]
pub struct Planner {
    /// The shown period.
    pub period: Period,
    /// The zone of objects that name none, and the calendars that they can name.
    pub context: ParseContext,
    /// The prefix of the annotations, without the slash.
    pub prefix: Prefix,
}

impl Planner {
    /// The plan of an object; `None` if it has neither a schedule nor a problem. `form_problems`
    /// are problems with the form of its annotations. An object with a problem has no boundaries,
    /// because dayshift does not act on it.
    pub fn plan(
        &self,
        object: &WorkloadRef,
        inputs: &Inputs,
        form_problems: &[Problem],
    ) -> Option<WorkloadPlan> {
        self.plan_parsed(object, inputs, read(inputs, &self.context), form_problems)
    }

    /// As [`Self::plan`], with inputs that were read before.
    pub(crate) fn plan_parsed(
        &self,
        object: &WorkloadRef,
        inputs: &Inputs,
        parsed: ParsedInputs,
        form_problems: &[Problem],
    ) -> Option<WorkloadPlan> {
        let mut problems = form_problems.to_vec();
        let mut spec = None;
        match parsed {
            ParsedInputs::Unscheduled => {}
            ParsedInputs::Scheduled(found) => spec = Some(found).filter(|_| problems.is_empty()),
            ParsedInputs::Invalid(refusal) => {
                // If a value is not a string, only that is reported.
                let known = |problem: &&Problem| {
                    form_problems
                        .iter()
                        .all(|of| of.annotation != problem.annotation)
                };
                problems.extend(refusal.problems().iter().filter(known).cloned());
            }
        }
        if problems.is_empty() && spec.is_none() {
            return None;
        }
        let valid = spec.as_ref();
        let holidays = valid.map(|spec| holidays(&spec.schedule, self.period));
        let treated_dates = valid.map(|spec| treated_dates(&spec.schedule, self.period));
        Some(WorkloadPlan {
            kind: object.kind.name().into(),
            namespace: Arc::clone(&object.namespace),
            name: Arc::clone(&object.name),
            short_name: object.short_name(),
            timezone: self.timezone(inputs),
            origin: inputs.schedule_origin().unwrap_or(Origin::Own),
            holidays: holidays.unwrap_or_default(),
            treated_dates: treated_dates.unwrap_or_default(),
            after: valid.and_then(|spec| StartsAfter::from_spec(spec, object)),
            boundaries: Boundaries {
                delay: valid.map(|spec| spec.delay(object)).unwrap_or_default(),
                spec,
                period: self.period,
                restored_count: None,
            },
            runs: None,
            beginning: Beginning::AsItIs,
            footprint: Footprint::for_kind(&object.kind),
            price: None,
            counted: CountedWith::Itself,
            on_request: None,
            problems: problems
                .iter()
                .map(|problem| self.problem(problem))
                .collect(),
        })
    }

    /// The name of an object's zone, or the invalid text.
    fn timezone(&self, inputs: &Inputs) -> String {
        match inputs.text(Key::Timezone) {
            None => self.context.default_zone.name().to_owned(),
            Some(text) => self
                .context
                .tzdata
                .parse_zone(text)
                .map_or_else(|_| quote(text), |zone| zone.name().to_owned()),
        }
    }

    fn problem(&self, problem: &Problem) -> PlannedProblem {
        PlannedProblem {
            annotation: problem.name(&self.prefix),
            message: problem.diagnostic.to_string(),
            start: problem.diagnostic.span().start,
            end: problem.diagnostic.span().end,
            origin: problem.origin,
        }
    }
}

impl WorkloadPlan {
    /// The boundaries in the period, in order. They are computed lazily, because a schedule by the
    /// second has millions in a year.
    pub fn boundaries(&self) -> impl Iterator<Item = PlannedBoundary> + '_ {
        self.boundaries.iter()
    }

    /// The plan of an object whose manifest sets this count, which runs unless the schedule changes
    /// it. A start leaves an object at 0 only if its schedule is inherited.
    #[must_use]
    pub fn running_with(mut self, count: Replicas) -> Self {
        if count == Replicas::ZERO {
            self.beginning = Beginning::Off;
        }
        if count == Replicas::ZERO && self.spec().is_some_and(|spec| spec.keeps_zero) {
            self.boundaries.restored_count = Some(count);
            self.runs = Some(count);
        } else {
            self.runs = Some(count.max(Replicas::ONE));
        }
        self
    }

    /// The namespace.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// `web`, or `sts/db`. A name without a kind is a Deployment's.
    pub fn short_name(&self) -> &str {
        &self.short_name
    }

    /// The schedule; `None` if there is a problem.
    pub fn spec(&self) -> Option<&ScheduleSpec> {
        self.boundaries.spec.as_ref()
    }

    /// The delay of its starts by jitter.
    pub fn delay(&self) -> TimeDelta {
        self.boundaries.delay
    }

    /// The count that a start restores, if it is known.
    pub fn restored_count(&self) -> Option<Replicas> {
        self.boundaries.restored_count
    }

    /// The shown period.
    pub(crate) fn period(&self) -> Period {
        self.boundaries.period
    }

    /// The time at which overrides take effect: the beginning of the period.
    pub fn since(&self) -> DateTime<Utc> {
        self.boundaries.period.from()
    }

    /// The problems.
    pub fn problems(&self) -> &[PlannedProblem] {
        &self.problems
    }
}

impl fmt::Display for WorkloadPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.short_name)
    }
}

// serde requires the reference.
#[expect(clippy::trivially_copy_pass_by_ref)]
fn is_own(origin: &Origin) -> bool {
    *origin == Origin::Own
}

// serde requires the reference.
#[expect(clippy::trivially_copy_pass_by_ref)]
fn place<S: Serializer>(origin: &Origin, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(origin.name())
}

impl Planner {
    /// The plan of a live object, for which the count that a start restores is known.
    pub fn plan_live(&self, observed: &Observed) -> Option<WorkloadPlan> {
        self.plan_read(observed, observed.read(&self.context))
    }

    /// As [`Self::plan_live`], with annotations that were read before.
    pub fn plan_read(&self, observed: &Observed, parsed: ParsedInputs) -> Option<WorkloadPlan> {
        let mut plan = self.plan_parsed(&observed.object, &observed.inputs, parsed, &[])?;
        let state = observed.state();
        if let Some(spec) = &mut plan.boundaries.spec {
            spec.overrides = observed.overrides(spec, &state, self.period.from());
            spec.planned_start = observed.started(spec);
        }
        plan.boundaries.restored_count = plan.spec().map(|spec| restored_count(observed, spec));
        plan.runs = plan.boundaries.restored_count;
        plan.beginning = match state.phase {
            // An object that was scaled up manually since the stop is not stopped any more.
            Some(phase)
                if phase.follows_a_stop()
                    && plan.runs.is_none_or(|runs| observed.replicas < runs) =>
            {
                Beginning::Stopped
            }
            _ => Beginning::AsItIs,
        };
        plan.footprint = observed.footprint;
        Some(plan)
    }
}

/// The count that a start of a live object restores after a stop, whatever exact count its schedule sets.
pub fn restored_count(observed: &Observed, spec: &ScheduleSpec) -> Replicas {
    let seen = observed.replicas;
    let remembered = spec.known_count(seen, observed.remembered());
    let (count, saved) = count_after_stop(seen, remembered, spec.stop_replicas);
    spec.restored(count, saved)
}

impl WorkloadPlan {
    /// The savings in the period: the time of replicas that would run without the schedule, and of
    /// their requests. `None` if the count is unknown, or is not one of replicas; nothing if its
    /// owner is counted.
    /// [`stopped_capacity`](dayshift_workload::savings::stopped_capacity) has the rule for live
    /// objects.
    ///
    /// The plan assumes that no user scales the object and that each boundary is on time. A
    /// schedule does not act retroactively: an object that is not stopped when the period begins
    /// should run until its first boundary.
    pub fn saved(&self) -> Option<Saved> {
        self.saved_in(self.period(), self.since())
    }

    /// As [`Self::saved`], in another period and with overrides that are active from `since`.
    pub fn saved_in(&self, period: Period, since: DateTime<Utc>) -> Option<Saved> {
        let spec = self.spec()?;
        if self.footprint.replicas == 0 {
            return None;
        }
        if self.counted == CountedWith::Owner {
            return Some(Saved::default());
        }
        let without = spec.largest_count().or(spec.replicas).or(self.runs)?;
        let without = self.footprint.countable(without);
        let steps = saved_steps(spec, self.delay(), period, since, without, self.beginning);
        let seconds = steps
            .map(|(from, until, held)| f64::from(held.get()) * (until - from).as_seconds_f64());
        let hours = seconds.sum::<f64>() / 3600.0;
        Some(Saved::from_hours(hours, self.footprint))
    }
}

/// The numbers of stopped replicas in each step, for an object that has `without` replicas unless
/// the schedule changes them.
fn saved_steps(
    spec: &ScheduleSpec,
    delay: TimeDelta,
    period: Period,
    since: DateTime<Utc>,
    without: Replicas,
    beginning: Beginning,
) -> impl Iterator<Item = (DateTime<Utc>, DateTime<Utc>, Replicas)> + '_ {
    let is_exact = spec.largest_count().is_some();
    let mut is_followed = beginning == Beginning::Stopped;
    let needs_start = beginning == Beginning::Off && !is_exact && spec.replicas.is_none();
    let mut was_paused = false;
    timeline(spec, delay, period, since).map(move |step| {
        let PlannedStep { from, until, .. } = step;
        let is_acted_on = match step.state {
            PlannedState::Woken => true,
            PlannedState::Slept | PlannedState::Paused => !needs_start,
            PlannedState::Running | PlannedState::Stopped | PlannedState::AsItIs => {
                let first = step.boundary.filter(|_| from > period.from());
                first.is_some_and(|(action, applied)| {
                    // The end of a pause starts only objects that are stopped by dayshift.
                    applied && (!needs_start || action.is_up() && !was_paused)
                })
            }
        };
        is_followed |= is_acted_on;
        was_paused = step.state == PlannedState::Paused;
        if !is_followed {
            return (from, until, Replicas::ZERO);
        }
        let runs = match step.state {
            PlannedState::Slept => spec.stop_replicas,
            PlannedState::Stopped if is_exact => Replicas::ZERO,
            PlannedState::Stopped => spec.stop_replicas,
            PlannedState::Running => match step.required {
                Some(Action::Scale(count)) => Replicas::new(count),
                _ => without,
            },
            PlannedState::AsItIs | PlannedState::Woken | PlannedState::Paused => without,
        };
        let held = without.get().saturating_sub(runs.get());
        (from, until, Replicas::new(held))
    })
}

/// The plans of several objects.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Plan {
    /// One for each object with a schedule or a problem.
    pub workloads: Vec<WorkloadPlan>,
}

impl Plan {
    /// Whether any of them has a problem.
    pub fn has_problems(&self) -> bool {
        self.workloads
            .iter()
            .any(|plan| !plan.problems().is_empty())
    }
}

/// A boundary of one object: in its zone, and with its jitter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedBoundary {
    /// The time. In JSON it is RFC 3339 with the offset of the zone.
    #[serde(serialize_with = "rfc_3339")]
    pub at: DateTime<Zone>,
    /// The transition.
    #[serde(serialize_with = "name")]
    pub action: Action,
    /// The count afterwards; `None` if it depends on the saved count.
    #[serde(serialize_with = "count")]
    pub replicas: Option<Replicas>,
    /// Whether it is applied: boundaries during an override are not. In JSON only if it is false.
    #[serde(skip_serializing_if = "is_true")]
    pub applied: bool,
    /// The override that ends at this time and causes the transition, such as `wake-until`. In JSON
    /// only if there is one.
    #[serde(serialize_with = "key_name", skip_serializing_if = "Option::is_none")]
    pub ends: Option<Key>,
}

/// The boundaries of one object in a period, computed lazily.
#[derive(Clone, Debug)]
pub(crate) struct Boundaries {
    pub(crate) spec: Option<ScheduleSpec>,
    pub(crate) delay: TimeDelta,
    pub(crate) period: Period,
    /// The count that a start restores, if it is known.
    pub(crate) restored_count: Option<Replicas>,
}

impl Boundaries {
    pub(crate) fn iter(&self) -> impl Iterator<Item = PlannedBoundary> + '_ {
        self.spec.iter().flat_map(move |spec| {
            let zone = spec.schedule.zone();
            let from = self.period.from();
            let found = occurrences(spec, self.delay, self.period, from);
            found.map(move |occurrence| PlannedBoundary {
                at: occurrence.at.with_timezone(&zone),
                action: occurrence.action,
                replicas: match occurrence.action {
                    _ if !occurrence.applied => None,
                    Action::Start => self.started(spec, occurrence.at),
                    Action::Stop => Some(spec.stop_replicas),
                    Action::Scale(count) => Some(Replicas::new(count)),
                },
                applied: occurrence.applied,
                ends: occurrence.ends,
            })
        })
    }

    /// The count after a start. A wake starts at least one replica or, with exact counts, the
    /// largest count.
    fn started(&self, spec: &ScheduleSpec, at: DateTime<Utc>) -> Option<Replicas> {
        let is_woken = matches!(spec.overrides.at(at), Some(Override::Wake(_)));
        if spec.keeps_zero && self.restored_count == Some(Replicas::ZERO) && !is_woken {
            return self.restored_count;
        }
        let least = spec.largest_count().max(Some(Replicas::ONE));
        let least = least.filter(|_| is_woken).unwrap_or_default();
        let back = || self.restored_count.map(|count| count.max(least));
        spec.replicas.or_else(back)
    }
}

impl Serialize for Boundaries {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

fn rfc_3339<S: Serializer>(at: &DateTime<Zone>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&at.to_rfc3339())
}

// serde requires the reference.
#[expect(clippy::trivially_copy_pass_by_ref)]
fn is_true(value: &bool) -> bool {
    *value
}

fn name<S: Serializer>(action: &Action, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(action.name())
}

fn key_name<S: Serializer>(key: &Option<Key>, serializer: S) -> Result<S::Ok, S::Error> {
    key.map(Key::name).serialize(serializer)
}

fn count<S: Serializer>(count: &Option<Replicas>, serializer: S) -> Result<S::Ok, S::Error> {
    count.map(Replicas::get).serialize(serializer)
}

/// A date of a calendar, on which nothing starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Holiday {
    /// The date in the zone of the object.
    #[serde(serialize_with = "iso")]
    pub date: NaiveDate,
    /// The calendar's name.
    pub calendar: String,
    /// The calendar's name of the date, such as `Christmas Day`. It is untrusted text, and can be
    /// empty.
    pub name: String,
}

/// A date that is treated as another day of the week.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TreatedDate {
    /// The date in the zone of the object.
    #[serde(serialize_with = "iso")]
    pub date: NaiveDate,
    /// The day that it is treated as, such as `Mon`.
    #[serde(rename = "as", serialize_with = "day_name")]
    pub day: Weekday,
}

/// The dates in a period that are treated as another day.
fn treated_dates(schedule: &Schedule, period: Period) -> Vec<TreatedDate> {
    let treated = schedule.treated();
    if treated.is_empty() {
        return Vec::new();
    }
    let treat = |date| {
        let day = treated.day_of_week(date)?;
        Some(TreatedDate { date, day })
    };
    dates(schedule, period).filter_map(treat).collect()
}

/// All dates of a period in the zone of the schedule.
fn dates(schedule: &Schedule, period: Period) -> impl Iterator<Item = NaiveDate> {
    let zone = schedule.zone();
    let first = period.from().with_timezone(&zone).date_naive();
    let end = period.until() - TimeDelta::seconds(1);
    let last = end.with_timezone(&zone).date_naive();
    first.iter_days().take_while(move |date| *date <= last)
}

/// The dates in a period that calendars exclude.
fn holidays(schedule: &Schedule, period: Period) -> Vec<Holiday> {
    let except = schedule.except();
    if except.calendars().next().is_none() {
        return Vec::new();
    }
    let holiday = |date| {
        let (calendar, name) = except.holiday(date)?;
        Some(Holiday {
            date,
            calendar: calendar.to_string(),
            name: name.to_owned(),
        })
    };
    dates(schedule, period).filter_map(holiday).collect()
}

// serde requires the reference.
#[expect(clippy::trivially_copy_pass_by_ref)]
fn day_name<S: Serializer>(day: &Weekday, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(day)
}

// serde requires the reference.
#[expect(clippy::trivially_copy_pass_by_ref)]
fn iso<S: Serializer>(date: &NaiveDate, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(date)
}

/// The dependencies of an object's starts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct StartsAfter {
    /// The objects of its namespace as kubectl names them, such as `sts/db`.
    pub objects: Vec<String>,
    /// The maximum time in seconds that each start waits for them.
    #[serde(rename = "withinSeconds")]
    pub within_seconds: i64,
}

impl StartsAfter {
    /// The dependencies of a schedule; `None` if it has none.
    pub(crate) fn from_spec(spec: &ScheduleSpec, object: &WorkloadRef) -> Option<Self> {
        let after = spec.after.as_ref()?;
        let objects: Vec<_> = after
            .needed_by(object)
            .iter()
            .map(Dependency::to_string)
            .collect();
        (!objects.is_empty()).then(|| Self {
            objects,
            within_seconds: after.within().num_seconds(),
        })
    }
}
