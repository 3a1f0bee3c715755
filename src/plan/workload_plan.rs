//! The plan of one object.

use std::{collections::HashMap, fmt, sync::Arc};

use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;
use serde::{Serialize, Serializer, ser::SerializeMap as _};

use super::{
    holiday::{Holiday, holidays},
    occurrence::occurrences,
    period::Period,
};
use crate::{
    schedule::{Action, Zone},
    text::quote,
    workload::{
        Inputs, Key, Observed, Origin, Override, ParseContext, ParsedInputs, Prefix, Problem,
        Replicas, ScheduleSpec, WorkloadRef, read, started, stopped,
    },
};

/// The plans of several objects.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Plan {
    /// One for each object with a schedule or a problem.
    pub workloads: Vec<WorkloadPlan>,
}

impl Plan {
    /// Whether anything is wrong with any of them.
    pub fn has_problems(&self) -> bool {
        self.workloads.iter().any(|it| !it.problems.is_empty())
    }

    /// Whatever has problems: objects with those of their own, and Namespaces with those that
    /// objects inherit, each of them once.
    pub fn refused(&self) -> Vec<Refused<'_>> {
        let mut refused: Vec<Refused<'_>> = Vec::new();
        let mut namespaces: HashMap<&str, usize> = HashMap::new();
        for workload in self.workloads.iter().filter(|it| !it.problems.is_empty()) {
            let is_own = |it: &&PlannedProblem| it.origin == Origin::Own;
            let own: Vec<_> = workload.problems.iter().filter(is_own).collect();
            let inherited = workload.problems.iter().filter(|it| !is_own(it));
            for problem in inherited {
                let next = refused.len();
                let at = *namespaces.entry(&workload.namespace).or_insert(next);
                if at == next {
                    refused.push(Refused {
                        name: format!("Namespace {}", workload.namespace),
                        origin: Origin::Namespace,
                        problems: Vec::new(),
                    });
                }
                if let Some(of) = refused.get_mut(at)
                    && !of.problems.contains(&problem)
                {
                    of.problems.push(problem);
                }
            }
            if !own.is_empty() {
                refused.push(Refused {
                    name: workload.to_string(),
                    origin: Origin::Own,
                    problems: own,
                });
            }
        }
        refused
    }
}

/// An object or a Namespace whose annotations are at fault.
#[derive(Clone, Debug)]
pub struct Refused<'p> {
    /// What it is called, such as `team/web` or `Namespace team`.
    pub name: String,
    /// Whether it is the object itself or its Namespace.
    pub origin: Origin,
    /// What is wrong; never empty.
    pub problems: Vec<&'p PlannedProblem>,
}

/// What one object is asked to do, and what is wrong with how it is asked.
#[derive(Clone, Debug)]
pub struct WorkloadPlan {
    kind: &'static str,
    namespace: Arc<str>,
    name: Arc<str>,
    /// `web`, or `sts/db`.
    short_name: String,
    timezone: String,
    origin: Origin,
    boundaries: Boundaries,
    holidays: Vec<Holiday>,
    /// The count that would run without the schedule, where it is known.
    runs: Option<Replicas>,
    problems: Vec<PlannedProblem>,
}

/// What is computed is computed here: a schedule by the second has millions of boundaries in a year.
impl Serialize for WorkloadPlan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let saved = self.saved().map(|hours| (hours * 100.0).round() / 100.0);
        let mut fields = serializer.serialize_map(None)?;
        fields.serialize_entry("kind", self.kind)?;
        fields.serialize_entry("namespace", &self.namespace)?;
        fields.serialize_entry("name", &self.name)?;
        fields.serialize_entry("timezone", &self.timezone)?;
        if !is_own(&self.origin) {
            fields.serialize_entry("from", self.origin.name())?;
        }
        fields.serialize_entry("boundaries", &self.boundaries)?;
        if !self.holidays.is_empty() {
            fields.serialize_entry("holidays", &self.holidays)?;
        }
        if let Some(saved) = saved {
            fields.serialize_entry("savedReplicaHours", &saved)?;
        }
        fields.serialize_entry("problems", &self.problems)?;
        fields.end()
    }
}

/// A boundary as an object meets it: on its own clocks, its start moved by its jitter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedBoundary {
    /// When; in JSON as RFC 3339 with the offset of the object's zone.
    #[serde(serialize_with = "rfc_3339")]
    pub at: DateTime<Tz>,
    /// What.
    #[serde(serialize_with = "name")]
    pub action: Action,
    /// The count afterwards; `None` where it depends on the count saved at the stop.
    #[serde(serialize_with = "count")]
    pub replicas: Option<Replicas>,
    /// Whether it is applied: not while an override holds. In JSON only where it is not.
    #[serde(skip_serializing_if = "is_true")]
    pub applied: bool,
    /// The override that ends then and so is the reason for it, such as `wake-until`. In JSON only
    /// where there is one.
    #[serde(serialize_with = "key_name", skip_serializing_if = "Option::is_none")]
    pub ends: Option<Key>,
}

/// What is wrong with one annotation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedProblem {
    /// The annotation's full name.
    pub annotation: String,
    /// What is wrong and what to write instead.
    pub message: Box<str>,
    /// The first byte at fault of the annotation's text.
    pub start: usize,
    /// The byte after the last one at fault.
    pub end: usize,
    /// Where the annotation is written. In JSON `from`, only where that is not the object itself.
    #[serde(
        rename = "from",
        serialize_with = "place",
        skip_serializing_if = "is_own"
    )]
    pub origin: Origin,
}

/// What is alike for every object of a plan.
#[derive(Clone, Debug)]
pub struct Planner {
    /// Which boundaries are shown.
    pub period: Period,
    /// Where the clocks are of objects that name no zone, and the calendars that they may name.
    pub context: ParseContext,
    /// What stands before the slash of the annotations.
    pub prefix: Prefix,
}

impl Planner {
    /// The plan of an object. `refused` is what was wrong with its annotations before they came
    /// to be `inputs`. None where nothing is asked for and nothing is wrong; with anything wrong
    /// there are no boundaries, since nothing will be done.
    pub fn plan(
        &self,
        object: &WorkloadRef,
        inputs: &Inputs,
        refused: &[Problem],
    ) -> Option<WorkloadPlan> {
        let parsed = read(inputs, &self.context);
        let mut problems = refused.to_vec();
        let mut spec = None;
        match parsed {
            ParsedInputs::Unscheduled => {}
            ParsedInputs::Scheduled(found) => spec = Some(found).filter(|_| problems.is_empty()),
            ParsedInputs::Invalid(refusal) => {
                // One that has to be written in another way is read again when it is.
                let known = |it: &&Problem| refused.iter().all(|of| of.annotation != it.annotation);
                problems.extend(refusal.problems().iter().filter(known).cloned());
            }
        }
        if problems.is_empty() && spec.is_none() {
            return None;
        }
        Some(WorkloadPlan {
            kind: object.kind.name(),
            namespace: Arc::clone(&object.namespace),
            name: Arc::clone(&object.name),
            short_name: object.short_name(),
            timezone: self.timezone(inputs),
            origin: inputs.schedule_origin().unwrap_or(Origin::Own),
            holidays: spec
                .as_ref()
                .map_or_else(Vec::new, |spec| holidays(&spec.schedule, self.period)),
            boundaries: Boundaries {
                delay: spec.as_ref().map(|it| it.delay(object)).unwrap_or_default(),
                spec,
                period: self.period,
                brings_back: None,
            },
            runs: None,
            problems: problems.into_iter().map(|it| self.problem(it)).collect(),
        })
    }

    /// The plan of a live object, of which it is known what a start brings back.
    pub fn plan_live(&self, observed: &Observed) -> Option<WorkloadPlan> {
        let mut plan = self.plan(&observed.object, &observed.inputs, &[])?;
        let state = observed.state();
        if let Some(spec) = &mut plan.boundaries.spec {
            let began = observed.override_began.as_deref();
            let overrides = spec.overrides;
            spec.overrides = overrides.without_ended(began, &state, self.period.from());
        }
        plan.boundaries.brings_back = plan.spec().map(|spec| {
            let seen = observed.replicas;
            let remembered = spec.remembered(seen, state.remembered());
            let (count, saved) = stopped(seen, remembered, spec.stop_replicas);
            started(count, saved, None)
        });
        plan.runs = plan.boundaries.brings_back;
        Some(plan)
    }

    /// The name of an object's zone, or what stands in its place.
    fn timezone(&self, inputs: &Inputs) -> String {
        match inputs.text(Key::Timezone) {
            None => self.context.default_zone.name().to_owned(),
            Some(text) => Zone::parse(text).map_or_else(|_| quote(text), |it| it.name().to_owned()),
        }
    }

    fn problem(&self, problem: Problem) -> PlannedProblem {
        PlannedProblem {
            annotation: self.prefix.full(&problem.annotation),
            message: problem.message,
            start: problem.span.start,
            end: problem.span.end,
            origin: problem.origin,
        }
    }
}

impl WorkloadPlan {
    /// The boundaries in the period, in order. They are found as they are asked for: a schedule
    /// by the second has millions in a year.
    pub fn boundaries(&self) -> impl Iterator<Item = PlannedBoundary> + '_ {
        self.boundaries.iter()
    }

    /// The dates in the period that calendars have: nothing starts on them. In JSON only where there
    /// are any.
    pub fn holidays(&self) -> &[Holiday] {
        &self.holidays
    }

    /// The same plan of an object that runs with this count where no schedule says otherwise: that
    /// of its manifest, which a start never leaves at 0.
    #[must_use]
    pub fn running_with(self, count: Replicas) -> Self {
        Self {
            runs: Some(count.max(Replicas::ONE)),
            ..self
        }
    }

    /// The count that would run without the schedule, where it is known.
    pub fn runs(&self) -> Option<Replicas> {
        self.runs
    }

    /// The namespace.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// `web`, or `sts/db`: a name alone is a Deployment's.
    pub fn short_name(&self) -> &str {
        &self.short_name
    }

    /// Where its schedule is written.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// What it is asked to do; `None` where anything is wrong.
    pub fn spec(&self) -> Option<&ScheduleSpec> {
        self.boundaries.spec.as_ref()
    }

    /// How much later than written it starts.
    pub fn delay(&self) -> TimeDelta {
        self.boundaries.delay
    }

    /// The count that a start brings back, where it is known.
    pub fn brings_back(&self) -> Option<Replicas> {
        self.boundaries.brings_back
    }

    /// The time that is looked at.
    pub(super) fn period(&self) -> Period {
        self.boundaries.period
    }

    /// When overrides begin to hold: at the beginning of the time that is looked at.
    pub fn since(&self) -> DateTime<Utc> {
        self.boundaries.period.from()
    }

    /// What is wrong, if anything is.
    pub fn problems(&self) -> &[PlannedProblem] {
        &self.problems
    }
}

impl fmt::Display for WorkloadPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.short_name)
    }
}

#[derive(Clone, Debug)]
struct Boundaries {
    spec: Option<ScheduleSpec>,
    delay: TimeDelta,
    period: Period,
    /// The count that a start brings back, where it is known.
    brings_back: Option<Replicas>,
}

impl Boundaries {
    fn iter(&self) -> impl Iterator<Item = PlannedBoundary> + '_ {
        self.spec.iter().flat_map(move |spec| {
            let zone = spec.schedule.zone().tz();
            let from = self.period.from();
            let found = occurrences(spec, self.delay, self.period, from);
            found.map(move |it| PlannedBoundary {
                at: it.at.with_timezone(&zone),
                action: it.action,
                replicas: match it.action {
                    _ if !it.applied => None,
                    Action::Start => spec.replicas.or(self.started(spec, it.at)),
                    Action::Stop => Some(spec.stop_replicas),
                    Action::Scale(count) => Some(Replicas::new(count)),
                },
                applied: it.applied,
                ends: it.ends,
            })
        })
    }

    /// The count that a start at that instant brings back: a wake gives one at the least, and with
    /// exact counts the largest of them.
    fn started(&self, spec: &ScheduleSpec, at: DateTime<Utc>) -> Option<Replicas> {
        let least = match spec.overrides.at(at) {
            Some(Override::Wake(_)) => spec.largest_count().max(Some(Replicas::ONE)),
            _ => None,
        };
        self.brings_back
            .map(|count| count.max(least.unwrap_or_default()))
    }
}

impl Serialize for Boundaries {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

fn rfc_3339<S: Serializer>(at: &DateTime<Tz>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&at.to_rfc3339())
}

// As serde asks for it.
#[expect(clippy::trivially_copy_pass_by_ref)]
fn is_true(value: &bool) -> bool {
    *value
}

// As serde asks for it.
#[expect(clippy::trivially_copy_pass_by_ref)]
fn is_own(origin: &Origin) -> bool {
    *origin == Origin::Own
}

// As serde asks for it.
#[expect(clippy::trivially_copy_pass_by_ref)]
fn place<S: Serializer>(origin: &Origin, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(origin.name())
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
