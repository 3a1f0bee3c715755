//! One object through time: what stands on it, what hands do to it, and what dayshift decides.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::Zone;
use dayshift_workload::{
    Change, ChangeKind, CountField, Decision, DecisionContext, EventNote, Footprint, Inputs, Key,
    Kind, Label, Labels, Memory, Observed, ParsedInputs, Prefix, Readiness, Replicas, WorkloadRef,
    decide, events::EventText, read,
};

use super::texts::{check_printable, is_label_value};

/// More happens in no story.
const MAX_EVENTS: usize = 24;

/// Tells a story: a line `name: text` is an annotation, `label/name: text` a label of ours (the
/// fingerprint may be `ours`). Of the other lines `=3` is a count that a hand sets, `+60` the
/// seconds that go by, and `!` a restart of dayshift.
pub fn tell(text: &str) {
    let prefix = Prefix::default();
    let annotations: Vec<_> = text
        .lines()
        .filter_map(|line| line.split_once(": "))
        // The API server takes no other names; a label's has a slash.
        .filter(|(name, _)| is_label_value(name))
        .map(|(name, text)| (prefix.full(name), text))
        .collect();
    let texts = annotations.iter().map(|(name, text)| (&**name, *text));
    let inputs = Inputs::from_annotations(&prefix, texts);
    let mut story = Story::new(inputs, text);
    story.settle();
    let events = text
        .lines()
        .filter(|line| line.starts_with(['=', '+', '!']));
    for event in events.take(MAX_EVENTS) {
        story.goes_on(event);
        story.settle();
    }
}

/// A Deployment with three replicas, and these annotations and labels.
pub fn observed(inputs: Inputs, labels: Labels) -> Observed {
    Observed {
        object: WorkloadRef {
            kind: Kind::DEPLOYMENT,
            namespace: "shop".into(),
            name: "web".into(),
            uid: "1".into(),
        },
        replicas: Replicas::new(3),
        count_field: CountField::Present,
        footprint: Footprint::default(),
        readiness: Readiness::default(),
        inputs,
        has_labels: !labels.is_empty(),
        labels,
        error: None,
        override_began: None,
        inherited: None,
        has_annotations: true,
        deleting: false,
    }
}

struct Story {
    object: Observed,
    memory: Memory,
    seen: DateTime<Utc>,
    now: DateTime<Utc>,
}

impl Story {
    fn new(inputs: Inputs, text: &str) -> Self {
        let mut labels = Labels::default();
        let ours = inputs.fingerprint("1").to_string();
        for label in Label::ALL {
            let name = format!("label/{}: ", label.name());
            let text = text.lines().find_map(|line| line.strip_prefix(&*name));
            let text = text.filter(|text| is_label_value(text));
            let text = text.map(|it| if it == "ours" { &ours } else { it });
            labels.set(label, text.map(str::to_owned));
        }
        let object = observed(inputs, labels);
        // A Friday evening in the middle of the schedules of the corpus.
        let now = DateTime::from_timestamp(1_795_197_600, 0).unwrap_or_default();
        Self {
            memory: Memory::new(&object),
            object,
            seen: now,
            now,
        }
    }

    fn goes_on(&mut self, event: &str) {
        let number = event.get(1..).and_then(|it| it.parse::<u32>().ok());
        match (event.as_bytes().first(), number) {
            (Some(b'='), Some(count)) if i32::try_from(count).is_ok() => {
                self.object.replicas = Replicas::new(count);
            }
            (Some(b'+'), Some(seconds)) => self.now += TimeDelta::seconds(seconds.into()),
            (Some(b'!'), _) => {
                self.memory = Memory::new(&self.object);
                self.seen = self.now;
            }
            _ => {}
        }
    }

    /// Until there is nothing more to do now: each change is made, and has to hold.
    fn settle(&mut self) {
        self.memory.observe(&self.object, self.now);
        for _ in 0..3 {
            let parsed = read(&self.object.inputs, &Zone::UTC.into());
            if let ParsedInputs::Invalid(refusal) = &parsed {
                refusal
                    .text(&Prefix::default())
                    .lines()
                    .for_each(check_printable);
            }
            match self.decide(&parsed) {
                Decision::Write(change) => self.make(change),
                Decision::Wait { due } => return self.check_due(due),
                Decision::StopsSoon { due, note } => {
                    self.check_note(&note);
                    return self.check_due(Some(due));
                }
                Decision::CorrectionLimitReached { due, note } => {
                    self.check_note(&note);
                    return self.check_due(due);
                }
            }
        }
        panic!("it never comes to rest: {:?} at {}", self.object, self.now);
    }

    fn decide(&self, parsed: &ParsedInputs) -> Decision {
        let context = DecisionContext {
            parsed,
            observed: &self.object,
            memory: &self.memory,
            seen: self.seen,
            catch_up: TimeDelta::hours(72),
            prefix: &Prefix::default(),
        };
        let decision = decide(&context, self.now);
        assert_eq!(decide(&context, self.now), decision, "asked twice");
        decision
    }

    fn check_due(&self, due: Option<DateTime<Utc>>) {
        assert!(
            due.is_none_or(|due| due > self.now),
            "{due:?} is not to come at {}",
            self.now
        );
    }

    fn check_note(&self, note: &EventNote) {
        let event = EventText::from_note(note, &self.object.object, &Prefix::default());
        event.text.lines().for_each(check_printable);
    }

    fn make(&mut self, change: Change) {
        self.check_saved(&change);
        let labels = change.state.to_labels();
        for label in Label::ALL {
            assert!(labels.text(label).is_none_or(is_label_value), "{labels:?}");
        }
        if let Some(note) = &change.note {
            self.check_note(note);
        }
        let before = self.object.clone();
        self.object.replicas = change.replicas;
        self.object.labels = labels;
        self.object.error.clone_from(&change.error);
        self.object
            .override_began
            .clone_from(&change.override_began);
        let inputs = self.object.inputs.clone().without(&change.expired);
        self.object.inputs = inputs;
        assert_ne!(self.object, before, "{change:?} changes nothing");
        self.memory.wrote(&before, &change, self.now);
        self.memory.observe(&self.object, self.now);
    }

    /// Everybody comes back as many as there were: the saved count goes only where as many run,
    /// where a start has an exact count, or where it is another object's, or left of a schedule
    /// that was removed, and more run than a stop leaves.
    fn check_saved(&self, change: &Change) {
        let state = self.memory.newest(&self.object, self.now);
        let before = state.saved;
        if change.state.saved >= before {
            return;
        }
        let reached = Some(change.replicas) >= before;
        let exact = self.object.inputs.text(Key::Replicas).is_some();
        let is_start = matches!(change.kind, ChangeKind::Start | ChangeKind::Wake);
        let is_left = (state.phase, state.last, &state.fingerprint) == (None, None, &None);
        let is_copy = state.fingerprint.is_some_and(|it| !it.belongs_to("1"));
        let is_up = self.object.replicas > self.object.inputs.stop_replicas();
        assert!(
            reached || is_start && exact || is_up && (is_left || is_copy),
            "{before:?} is lost by {change:?} on {:?}",
            self.object
        );
    }
}
