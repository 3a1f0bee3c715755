//! A workload over time: its annotations and labels, manual changes, and the decisions of
//! dayshift.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::Zone;
use dayshift_workload::{
    Change, ChangeKind, CountField, Decision, DecisionContext, EventNote, Footprint, Inputs, Key,
    Kind, Label, Labels, Memory, Observed, ParsedInputs, Prefix, Readiness, Replicas, Revision,
    WorkloadRef, decide, events::EventText, read,
};

use super::texts::{check_printable, is_label_value};

/// The maximum number of events in a scenario.
const MAX_EVENTS: usize = 24;

/// Runs a scenario. A line `name: text` is an annotation, and `label/name: text` a label of
/// dayshift (`ours` is replaced by the fingerprint of the object). Other lines are events: `=3` sets
/// the replicas manually, `+60` lets 60 seconds pass, and `!` restarts dayshift.
pub fn run_scenario(text: &str) {
    let prefix = Prefix::default();
    let annotations: Vec<_> = text
        .lines()
        .filter_map(|line| line.split_once(": "))
        // The API server accepts only such names; names of labels have a slash.
        .filter(|(name, _)| is_label_value(name))
        .map(|(name, text)| (prefix.full(name), text))
        .collect();
    let texts = annotations.iter().map(|(name, text)| (&**name, *text));
    let inputs = Inputs::from_annotations(&prefix, texts);
    let mut scenario = Scenario::new(inputs, text);
    scenario.settle();
    let events = text
        .lines()
        .filter(|line| line.starts_with(['=', '+', '!']));
    for event in events.take(MAX_EVENTS) {
        scenario.apply_event(event);
        scenario.settle();
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
        created: DateTime::UNIX_EPOCH,
        revision: Some(Revision::FIRST),
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

struct Scenario {
    object: Observed,
    memory: Memory,
    seen: DateTime<Utc>,
    now: DateTime<Utc>,
}

impl Scenario {
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
        // A Friday evening, during the schedules of the corpus.
        let now = DateTime::from_timestamp(1_795_197_600, 0).unwrap_or_default();
        Self {
            memory: Memory::new(&object),
            object,
            seen: now,
            now,
        }
    }

    fn apply_event(&mut self, event: &str) {
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

    /// Applies changes until there are no more, and checks each of them.
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
                Decision::Write(change) => self.apply_change(change),
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
        panic!(
            "every decision changes the object again: {:?} at {}",
            self.object, self.now
        );
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
        assert_eq!(
            decide(&context, self.now),
            decision,
            "the second decision differs"
        );
        decision
    }

    fn check_due(&self, due: Option<DateTime<Utc>>) {
        assert!(
            due.is_none_or(|due| due > self.now),
            "{due:?} should be later than {}",
            self.now
        );
    }

    fn check_note(&self, note: &EventNote) {
        let event = EventText::from_note(note, &self.object.object, &Prefix::default());
        event.text.lines().for_each(check_printable);
    }

    fn apply_change(&mut self, change: Change) {
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

    /// Checks that no count is lost. The saved count may be removed only if as many replicas run,
    /// a start has an exact count, it belongs to another object, or it is left over from a removed
    /// schedule and more replicas run than after a stop.
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
