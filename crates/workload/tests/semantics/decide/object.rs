//! A builder for tests: one object to which decisions are applied, without a cluster.

use std::sync::Arc;

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use dayshift_schedule::{Calendar, CalendarName, Calendars, Zone};
use dayshift_workload::events::EventText;
use dayshift_workload::{
    Annotations, Change, CountField, Decision, DecisionContext, DefaultSchedule, EventNote,
    Footprint, Inputs, Key, Kind, Label, Labels, Memory, Observed, ParseContext, Phase, Prefix,
    Readiness, Replicas, Revision, State, WorkloadRef, decide, read,
};

#[derive(Clone)]
pub struct Object {
    pub observed: Observed,
    pub now: DateTime<Utc>,
    pub notices: Vec<EventText>,
    pub writes: usize,
    memory: Memory,
    seen: DateTime<Utc>,
    annotations: Vec<(String, String)>,
    defaults: Option<Arc<Annotations>>,
    context: ParseContext,
    catch_up: TimeDelta,
}

/// Parses `2026-11-20 18:00`, optionally with seconds, in UTC.
pub fn utc(text: &str) -> DateTime<Utc> {
    ["%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S"]
        .iter()
        .find_map(|form| NaiveDateTime::parse_from_str(text, form).ok())
        .unwrap()
        .and_utc()
}

impl Object {
    /// A Deployment with this many replicas and without annotations.
    pub fn new(now: &str, replicas: u32) -> Self {
        let observed = Observed {
            object: WorkloadRef {
                kind: Kind::DEPLOYMENT,
                namespace: "dev".into(),
                name: "web".into(),
                uid: "u1".into(),
            },
            replicas: Replicas::new(replicas),
            count_field: CountField::Present,
            footprint: Footprint::default(),
            readiness: Readiness::default(),
            created: DateTime::UNIX_EPOCH,
            revision: Some(Revision::FIRST),
            inputs: Inputs::default(),
            labels: Labels::default(),
            error: None,
            override_began: None,
            inherited: None,
            has_labels: true,
            has_annotations: true,
            deleting: false,
        };
        Self {
            memory: Memory::new(&observed),
            observed,
            now: utc(now),
            seen: utc(now),
            notices: Vec::new(),
            writes: 0,
            annotations: Vec::new(),
            defaults: None,
            context: ParseContext::default(),
            catch_up: TimeDelta::hours(72),
        }
    }

    pub fn annotate(mut self, key: &str, text: &str) -> Self {
        self.edit(key, Some(text));
        self
    }

    /// Sets or removes an annotation, like `kubectl annotate`.
    pub fn edit(&mut self, key: &str, text: Option<&str>) -> &mut Self {
        self.annotations
            .retain(|(known, _)| known != &format!("dayshift/{key}"));
        if let Some(text) = text {
            self.annotations
                .push((format!("dayshift/{key}"), text.to_owned()));
        }
        let texts = self.annotations.iter().map(|(key, text)| (&**key, &**text));
        let counts = self.observed.inputs.counts();
        self.observed.inputs = Inputs::from_annotations(&Prefix::default(), texts)
            .with_counts(counts)
            .with_defaults(self.defaults.clone());
        self.show()
    }

    /// Changes the kind, which can change the meaning of the count.
    pub fn of_kind(mut self, kind: &Kind) -> Self {
        self.observed.object.kind = kind.clone();
        self.observed.inputs = self.observed.inputs.with_counts(kind.counts());
        self.restart();
        self
    }

    /// Replaces the annotations of its Namespace.
    pub fn in_namespace(&mut self, texts: &[(&str, &str)]) -> &mut Self {
        let texts: Vec<_> = texts
            .iter()
            .map(|(key, text)| (format!("dayshift/{key}"), *text))
            .collect();
        let texts = texts.iter().map(|(key, text)| (&**key, *text));
        self.defaults = Some(Annotations::under(&Prefix::default(), texts).into());
        let inputs = self.observed.inputs.clone();
        self.observed.inputs = inputs.with_defaults(self.defaults.clone());
        self.show()
    }

    /// Sets the controller's default schedule.
    pub fn by_default(&mut self, schedule: &DefaultSchedule) -> &mut Self {
        self.defaults = Some(schedule.annotations());
        let inputs = self.observed.inputs.clone();
        self.observed.inputs = inputs.with_defaults(self.defaults.clone());
        self.show()
    }

    pub fn scale(&mut self, replicas: u32) -> &mut Self {
        self.observed.replicas = Replicas::new(replicas);
        // Another count is not an edit, so the time of the first observation does not change.
        self.memory.observe(&self.observed, self.now);
        self
    }

    /// Sets the time of its creation.
    pub fn created_at(mut self, at: &str) -> Self {
        self.observed.created = utc(at);
        self
    }

    /// Changes the pod template, so that it has this revision.
    pub fn deploy(&mut self, revision: &str) -> &mut Self {
        self.observed.revision = Some(Revision::from_name(revision));
        self.memory.observe(&self.observed, self.now);
        self
    }

    pub fn label(&mut self, label: Label, text: Option<&str>) -> &mut Self {
        self.observed.labels.set(label, text.map(str::to_owned));
        self.show()
    }

    /// Applies a manifest without our labels, like `kubectl replace`.
    pub fn replace(&mut self, replicas: u32) -> &mut Self {
        self.observed.labels = Labels::default();
        self.observed.error = None;
        self.scale(replicas)
    }

    /// An object with another UID and the same annotations and labels.
    pub fn copy(&mut self) -> &mut Self {
        self.observed.object.uid = "u2".into();
        self.restart()
    }

    /// Restores the annotations of an earlier revision, including `override-began`, like `kubectl
    /// rollout undo`.
    pub fn undo(&mut self, then: &Self) -> &mut Self {
        self.annotations.clone_from(&then.annotations);
        self.observed.inputs = then.observed.inputs.clone();
        self.observed.error.clone_from(&then.observed.error);
        self.observed
            .override_began
            .clone_from(&then.observed.override_began);
        self.show()
    }

    /// Restarts the controller, which then knows only the object.
    pub fn restart(&mut self) -> &mut Self {
        self.memory = Memory::new(&self.observed);
        self.seen = self.now;
        self
    }

    pub fn restart_in_zone(&mut self, zone: &str) -> &mut Self {
        self.context.default_zone = Zone::parse(zone).unwrap();
        self.restart()
    }

    /// Sets the dates of the calendar `de`, as in `except`. If the controller has them already,
    /// they change.
    pub fn calendar(&mut self, dates: &str) -> &mut Self {
        self.take_calendar(dates);
        self.apply();
        self
    }

    /// The same without a decision.
    pub fn take_calendar(&mut self, dates: &str) {
        let event = |date: &str| {
            let date = date.trim().replace('-', "");
            format!("BEGIN:VEVENT\nDTSTART:{date}\nEND:VEVENT\n")
        };
        let events: String = dates.split(';').map(event).collect();
        let file = format!("BEGIN:VCALENDAR\n{events}END:VCALENDAR\n");
        let calendar = Calendar::parse(file.as_bytes()).unwrap();
        let name = CalendarName::parse("de").unwrap();
        self.context.calendars = Calendars::new([(name, Arc::new(calendar))]);
    }

    /// Restarts the controller with another calendar.
    pub fn restart_with_calendar(&mut self, dates: &str) -> &mut Self {
        let old = std::mem::replace(&mut self.memory, Memory::new(&self.observed));
        let mut other = self.clone();
        other.calendar(dates);
        self.memory = old;
        self.context = other.context;
        self.restart()
    }

    /// Observes the object after another controller has changed it.
    pub fn see(&mut self, other: &Self) -> &mut Self {
        self.now = other.now;
        self.observed.replicas = other.observed.replicas;
        self.observed.labels.clone_from(&other.observed.labels);
        self.observed.error.clone_from(&other.observed.error);
        self.memory.observe(&self.observed, self.now);
        self
    }

    fn show(&mut self) -> &mut Self {
        self.memory.observe(&self.observed, self.now);
        self.seen = self.now;
        self
    }

    /// Lets time pass without decisions.
    pub fn away_until(&mut self, at: &str) -> &mut Self {
        self.now = utc(at);
        self
    }

    /// Lets time pass, and carries out each boundary at its time.
    pub fn until(&mut self, at: &str) -> &mut Self {
        let end = utc(at);
        assert!(end >= self.now, "time must not go back");
        loop {
            match self.apply() {
                Some(due) if due <= end => self.now = due.max(self.now),
                _ => break,
            }
        }
        self.now = end;
        self.apply();
        self
    }

    pub fn decide(&self) -> Decision {
        let parsed = read(&self.observed.inputs, &self.context);
        let context = DecisionContext {
            parsed: &parsed,
            observed: &self.observed,
            memory: &self.memory,
            seen: self.seen,
            catch_up: self.catch_up,
            prefix: &Prefix::default(),
        };
        decide(&context, self.now)
    }

    /// Applies all changes that are decided now. Returns when the next one is due.
    pub fn apply(&mut self) -> Option<DateTime<Utc>> {
        for _ in 0..9 {
            match self.decide() {
                Decision::Wait { due } => return due,
                Decision::StopsSoon { due, note } => {
                    self.memory.record_stop_notice(self.now);
                    self.notify(&note);
                    return Some(due);
                }
                Decision::CorrectionLimitReached { due, note } => {
                    if self.memory.record_limit_event(self.now) {
                        self.notify(&note);
                    }
                    return due;
                }
                Decision::Write(change) => self.write(change),
            }
        }
        panic!("decisions do not converge: {:?}", self.decide());
    }

    pub fn write(&mut self, change: Change) {
        self.memory.wrote(&self.observed, &change, self.now);
        self.writes += 1;
        self.observed.replicas = change.replicas;
        self.observed.labels = change.state.to_labels();
        self.observed.error = change.error;
        self.observed.override_began = change.override_began;
        for key in change.expired {
            self.annotations
                .retain(|(known, _)| known != &format!("dayshift/{key}"));
            self.observed.inputs = self.observed.inputs.clone().without(&[key]);
            self.seen = self.now;
        }
        self.memory.observe(&self.observed, self.now);
        if let Some(note) = &change.note {
            self.notify(note);
        }
    }

    fn notify(&mut self, note: &EventNote) {
        let event = EventText::from_note(note, &self.observed.object, &Prefix::default());
        self.notices.push(event);
    }

    pub fn state(&self) -> State {
        self.observed.state()
    }

    pub fn phase(&self) -> Option<Phase> {
        self.state().phase
    }

    pub fn annotation(&self, key: Key) -> Option<&str> {
        self.observed.inputs.text(key)
    }

    /// The value of an annotation by its name.
    pub fn inputs_of(&self, name: &str) -> Option<&str> {
        self.annotation(Key::from_name(name).unwrap())
    }

    pub fn replicas(&self) -> u32 {
        self.observed.replicas.get()
    }

    pub fn saved(&self) -> Option<u32> {
        self.state().saved.map(Replicas::get)
    }

    pub fn next(&self) -> Option<String> {
        self.observed.labels.text(Label::Next).map(str::to_owned)
    }

    /// The value of the annotation `override-began`.
    pub fn began(&self) -> Option<&str> {
        self.observed.override_began.as_deref()
    }

    /// The reasons of the Events since the last call.
    pub fn reasons(&mut self) -> Vec<String> {
        self.notices
            .drain(..)
            .map(|note| note.reason.to_string())
            .collect()
    }
}

/// Mon-Fri 09:00-19:00, observed on Thursday at noon with this many replicas.
pub fn office(replicas: u32) -> Object {
    let mut object =
        Object::new("2026-11-19 12:00", replicas).annotate("hours", "Mon-Fri 09:00-19:00");
    object.apply();
    object
}

/// The same object on Friday evening, stopped.
pub fn at_night(replicas: u32) -> Object {
    let mut object = office(replicas);
    object.until("2026-11-20 20:00");
    assert_eq!(
        (object.replicas(), object.phase()),
        (0, Some(Phase::Stopped))
    );
    object
}
