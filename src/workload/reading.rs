//! From the texts of one object to what they ask for.

use chrono::{DateTime, TimeDelta, Utc};
use sha2::{Digest, Sha256};

use crate::schedule::{
    Action, Boundary, ExceptedDates, Hours, Rule, Schedule, TextError, Times, Zone, parse_jitter,
    quote,
};

use super::{
    inputs::Inputs,
    keys::Key,
    observed::ObjectRef,
    problem::{Problem, ProblemKind, Refusal},
    replicas::Replicas,
};

/// What the annotations of an object ask for.
#[derive(Clone, Debug)]
pub enum Reading {
    /// No schedule: nothing is asked for.
    Unscheduled,
    /// Something is wrong: the object stays as it is.
    Refused(Refusal),
    /// A schedule to follow.
    Scheduled(Timetable),
}

/// A schedule with the counts and the jitter that belong to it. Shared by equal inputs.
#[derive(Clone, Debug)]
pub struct Timetable {
    /// When it starts and stops.
    pub schedule: Schedule,
    /// The exact count after a start, if given.
    pub replicas: Option<Replicas>,
    /// The count after a stop.
    pub stop_replicas: Replicas,
    /// How long starts are spread over, in whole seconds.
    pub jitter: TimeDelta,
}

impl Timetable {
    /// How much later than written this object starts: a whole number of seconds from 0 to the
    /// jitter, which depends on namespace and name alone.
    pub fn delay(&self, object: &ObjectRef) -> TimeDelta {
        let spread = self.jitter.num_seconds().unsigned_abs();
        if spread == 0 {
            return TimeDelta::zero();
        }
        let digest: [u8; 32] = Sha256::digest(object.to_string()).into();
        let hash = digest[..8]
            .iter()
            .fold(0, |hash: u64, byte| hash << 8 | u64::from(*byte));
        TimeDelta::seconds(i64::try_from(hash % (spread + 1)).unwrap_or_default())
    }

    /// The newest boundary of this object at or before `at`.
    pub fn latest_at(&self, object: &ObjectRef, at: DateTime<Utc>) -> Option<Boundary> {
        self.schedule.latest_at(at, self.delay(object))
    }

    /// The first boundary of this object after `after`.
    pub fn next_after(&self, object: &ObjectRef, after: DateTime<Utc>) -> Option<Boundary> {
        self.schedule.next_after(after, self.delay(object))
    }

    /// Whether the schedule says running or stopped at `at`; `None` before its first boundary.
    pub fn says(&self, object: &ObjectRef, at: DateTime<Utc>) -> Option<Action> {
        self.schedule.says(at, self.delay(object))
    }
}

/// Reads what the inputs ask for; local times without a zone of their own are in `default_zone`.
pub fn read(inputs: &Inputs, default_zone: Zone) -> Reading {
    let mut problems = Problems::default();
    for (name, text) in inputs.unknown() {
        problems.0.push(unknown_key(name, text));
    }
    for key in [Key::Pause, Key::WakeUntil, Key::SleepUntil, Key::Enforce] {
        if let Some(text) = inputs.text(key) {
            let message = "is not supported by this version of dayshift; remove the annotation";
            problems
                .0
                .push(Problem::at(key.name(), 0..text.len(), message.to_owned()));
        }
    }
    let timetable = inputs
        .has_schedule()
        .then(|| problems.timetable(inputs, default_zone));
    match (Refusal::for_problems(problems.0), timetable.flatten()) {
        (Some(refusal), _) => Reading::Refused(refusal),
        (None, Some(timetable)) => Reading::Scheduled(timetable),
        (None, None) => Reading::Unscheduled,
    }
}

fn unknown_key(name: &str, text: &str) -> Problem {
    let hint = match Key::nearest(name) {
        Some(key) => format!("did you mean `{key}`?"),
        None => format!("the annotations are {}", Key::ALL.map(Key::name).join(", ")),
    };
    let message = format!("`{}` is no annotation of dayshift; {hint}", quote(name));
    Problem::at(name, 0..text.len(), message).of_kind(ProblemKind::UnknownKey)
}

/// Collects what is wrong, so that a user sees all of it at once.
#[derive(Default)]
struct Problems(Vec<Problem>);

impl Problems {
    fn timetable(&mut self, inputs: &Inputs, default_zone: Zone) -> Option<Timetable> {
        let zone = self.parse(inputs, Key::Timezone, Zone::parse);
        let start = self.parse(inputs, Key::Start, Times::parse);
        let stop = self.parse(inputs, Key::Stop, Times::parse);
        let hours = self.parse(inputs, Key::Hours, Hours::parse);
        let except = self.parse(inputs, Key::Except, ExceptedDates::parse);
        let jitter = self.parse(inputs, Key::Jitter, parse_jitter);
        let replicas = self.count(inputs, Key::Replicas);
        let stop_replicas = self.count(inputs, Key::StopReplicas);
        if let Some(text) = inputs.text(Key::Hours)
            && let Some(beside) = [Key::Start, Key::Stop]
                .into_iter()
                .find(|key| inputs.text(*key).is_some())
        {
            let message = format!(
                "`{}` stands beside `{beside}`; write either hours, such as Mon-Fri 09:00-19:00, or start and stop",
                quote(text)
            );
            let problem = Problem::at(Key::Hours.name(), 0..text.len(), message);
            self.0.push(problem.of_kind(ProblemKind::Beside));
        }
        if !self.0.is_empty() {
            return None;
        }
        let rule = match hours {
            Some(hours) => Rule::Hours(hours),
            None => Rule::Times { start, stop },
        };
        Some(Timetable {
            schedule: Schedule::new(
                rule,
                except.unwrap_or_default(),
                zone.unwrap_or(default_zone),
            ),
            replicas,
            stop_replicas: stop_replicas.unwrap_or_default(),
            jitter: jitter.unwrap_or_default(),
        })
    }

    fn parse<T>(
        &mut self,
        inputs: &Inputs,
        key: Key,
        parse: impl FnOnce(&str) -> Result<T, TextError>,
    ) -> Option<T> {
        parse(inputs.text(key)?)
            .map_err(|error| self.0.push(Problem::of(key, &error)))
            .ok()
    }

    fn count(&mut self, inputs: &Inputs, key: Key) -> Option<Replicas> {
        let text = inputs.text(key)?;
        Replicas::parse(text)
            .map_err(|error| {
                self.0
                    .push(Problem::at(key.name(), 0..text.len(), error.to_string()));
            })
            .ok()
    }
}
