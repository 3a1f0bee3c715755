//! An object as the API server showed it.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::Action;
use dayshift_text::quote;

use crate::{
    footprint::Footprint,
    inputs::{
        annotations::{Annotations, Origin},
        effective::Inputs,
        inheritance::Inherited,
        overrides::Overrides,
        parse::{ParseContext, ParsedInputs, read},
        problem::InvalidSchedule,
        spec::ScheduleSpec,
    },
    keys::{Key, Label},
    kinds::switch::{SwitchField, SwitchValue},
    readiness::Readiness,
    replicas::Replicas,
    state::{Labels, Next, Phase, State},
    workload_ref::WorkloadRef,
};

/// One object as the API server showed it, with all that a decision and its guard rest on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// Which object.
    pub object: WorkloadRef,
    /// Its count: `spec.replicas`, for most kinds.
    pub replicas: Replicas,
    /// What stands in the object where it holds its count.
    pub count_field: CountField,
    /// What 1 of its count stands for.
    pub footprint: Footprint,
    /// How much of it is ready. Nothing is decided from it.
    pub readiness: Readiness,
    /// The annotations that are in force for it.
    pub inputs: Inputs,
    /// The state labels, as texts.
    pub labels: Labels,
    /// The text of our annotation `error`, of which no more is kept than of an input.
    pub error: Option<Box<str>>,
    /// The text of our annotation `override-began`, likewise.
    pub override_began: Option<Box<str>>,
    /// The text of our annotation `inherited`, likewise. Nothing is decided from it.
    pub inherited: Option<Box<str>>,
    /// Whether the object has any label at all, ours or not.
    pub has_labels: bool,
    /// Whether the object has any annotation at all, ours or not.
    pub has_annotations: bool,
    /// Whether it is being deleted (`deletionTimestamp` is set).
    pub deleting: bool,
}

/// What stands in an object where it holds its count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CountField {
    /// The count, in the form that its kind has for it.
    #[default]
    Present,
    /// Nothing: the count is what its kind takes for that.
    Absent,
    /// Nothing, nor a `spec` that would hold it.
    WithoutSpec,
    /// Nothing, as its kind has no such field: the API server drops what is written there.
    Missing,
    /// Nothing that counts: a label says that a switch stopped the object, and no row of its kind says
    /// where that is.
    UnknownSwitch,
    /// A text that says more than the count.
    Text(Box<str>),
    /// What a switch holds, of which no label need be able to keep what means stopped.
    Switch(SwitchField),
    /// Something else stands beside a switch, and changes what it means.
    Beside,
    /// Not a count, quoted: a custom resource may have anything there.
    Invalid(Box<str>),
}

impl Observed {
    /// Why it is refused whatever its schedule says: where it holds its count there is none, or its
    /// kind has no such place.
    pub fn count_refusal(&self) -> Option<InvalidSchedule> {
        let kind = self.object.kind;
        let refusal = |found: &str, wrong: String, help: &'static str| {
            InvalidSchedule::for_field(&kind.path().join("."), found, wrong, help)
        };
        match &self.count_field {
            CountField::Invalid(quoted) => Some(match kind.switch() {
                None => refusal(quoted, "is not a count".into(), "write a number, such as 3"),
                Some(switch) => {
                    let wrong = format!("is not {}", switch.wanted());
                    refusal(
                        quoted,
                        wrong,
                        "write what the operator's documentation says",
                    )
                }
            }),
            CountField::Missing => {
                let wrong = format!(
                    "a {kind} has no such field: the API server drops what is written there, so \
                        dayshift cannot scale it"
                );
                let help = if kind.is_assumed() {
                    "give the row of its switch with --kind-file, or remove the schedule"
                } else {
                    "remove the schedule, or take the kind out of --kinds"
                };
                Some(refusal("", wrong, help))
            }
            CountField::UnknownSwitch => {
                let wrong = format!(
                    "a switch stops this {kind}, as its label `{}` says, and no row says where the \
                        switch is",
                    Label::SavedValue.name()
                );
                Some(refusal("", wrong, "give the row with --kind-file"))
            }
            CountField::Beside => {
                let other = kind.switch().and_then(|switch| switch.not_beside);
                let other = other.unwrap_or_default().join(".");
                let wrong = format!("cannot be combined with {other}: a {kind} uses one of them");
                Some(refusal("", wrong, "remove one of them"))
            }
            CountField::Switch(SwitchField {
                value: value @ SwitchValue::Text(text),
                ..
            }) if self.replicas > Replicas::ZERO && value.to_label().is_none() => {
                let wrong = "cannot be kept in a label until the next start".to_owned();
                let help = "write at most 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends";
                Some(refusal(&quote(text), wrong, help))
            }
            CountField::Present
            | CountField::Absent
            | CountField::WithoutSpec
            | CountField::Text(_)
            | CountField::Switch(_) => None,
        }
    }

    /// Why nothing that rests on its count can be told or done: no row says where it is, and it is
    /// not at `spec.replicas`.
    pub fn missing_row(&self) -> Option<InvalidSchedule> {
        let is_elsewhere = match self.count_field {
            CountField::UnknownSwitch => true,
            CountField::Missing => self.object.kind.is_assumed(),
            _ => false,
        };
        self.count_refusal().filter(|_| is_elsewhere)
    }

    /// The state in the labels.
    pub fn state(&self) -> State {
        State::from_labels(&self.labels)
    }

    /// Whether all of it is ready; `None` where that is not known.
    pub fn is_ready(&self) -> Option<bool> {
        self.readiness.is_ready(self.replicas)
    }

    /// By when it should be ready, as [`Readiness::due`] says.
    pub fn ready_due(&self, within: TimeDelta) -> Option<DateTime<Utc>> {
        // The labels are read where it makes a difference alone.
        let is_not_ready = !self.deleting && self.is_ready() == Some(false);
        let state = is_not_ready.then(|| self.state())?;
        self.readiness.due(self.replicas, &state, within)
    }

    /// The phase of [`Self::state`]. Reading one label takes a fraction of reading them all.
    pub fn phase(&self) -> Option<Phase> {
        self.labels.text(Label::State).and_then(Phase::from_label)
    }

    /// The `next` of [`Self::state`], likewise.
    pub fn next(&self) -> Option<Next> {
        self.labels.text(Label::Next).and_then(Next::from_label)
    }

    /// The overrides of its schedule, without those that have ended before, by the state that is
    /// known of it: [`Overrides::without_ended`].
    pub fn overrides(&self, spec: &ScheduleSpec, state: &State, now: DateTime<Utc>) -> Overrides {
        let began = self.override_began.as_deref();
        spec.overrides.without_ended(began, state, now)
    }

    /// The same object with the annotations of its Namespace as defaults, in place of any other.
    #[must_use]
    pub fn with_defaults(self, defaults: Option<Arc<Annotations>>) -> Self {
        let inputs = self.inputs.with_defaults(defaults);
        Self { inputs, ..self }
    }

    /// What its inputs ask for, to somebody who sees the object alone, and whether it can be scaled at
    /// all. An override without a schedule is no error where its labels say that it is scheduled.
    pub fn read(&self, context: &ParseContext) -> ParsedInputs {
        let parsed = if self.phase().is_some() && !self.inputs.has_schedule() {
            read(&self.inputs.clone().without(&Key::OVERRIDES), context)
        } else {
            read(&self.inputs, context)
        };
        match (parsed, self.count_refusal()) {
            (ParsedInputs::Scheduled(_), Some(refusal)) => ParsedInputs::Invalid(refusal),
            (parsed, _) => parsed,
        }
    }

    /// Its inputs, with hours that are always on where its labels say that it is scheduled and no
    /// schedule is seen: an override does not rest on it.
    pub fn scheduled_inputs(&self) -> Inputs {
        let inputs = self.inputs.clone();
        match self.phase() {
            Some(_) => inputs.or_always_on(),
            None => inputs,
        }
    }

    /// Whether dayshift has anything to do with the object: an input, or something of its own.
    pub fn concerns_us(&self) -> bool {
        let ours = [&self.error, &self.override_began];
        !self.inputs.is_empty()
            || !self.labels.is_empty()
            || ours.iter().any(|annotation| annotation.is_some())
    }

    /// What the schedule says at `now` where the object is plainly not so: some run that should be
    /// stopped, none runs that should, or the count is not the one that `scale` sets.
    pub fn contradicted_action(&self, spec: &ScheduleSpec, now: DateTime<Utc>) -> Option<Action> {
        spec.says(&self.object, now).filter(|says| match says {
            // Where nothing ever starts, people start it by hand, and it is meant to run then.
            Action::Stop => self.replicas > spec.stop_replicas && spec.may(true),
            Action::Start => {
                let (seen, state) = (self.replicas, self.state());
                seen == Replicas::ZERO
                    && spec.replicas != Some(Replicas::ZERO)
                    && spec.count_after_start(seen, &state) > seen
            }
            Action::Scale(count) => self.replicas != spec.counts.least().max(Replicas::new(*count)),
        })
    }

    /// The object with what it inherits, as its annotation `inherited` says, in place of any other.
    ///
    /// `kubectl rollout undo` brings back an old one, and anybody may write another: a schedule whose
    /// hash is not the one among the labels is not what dayshift goes by, and is left out.
    #[must_use]
    pub fn with_inherited(self) -> Self {
        let inherited = self.inherited.as_deref().and_then(Inherited::parse);
        let Some(inherited) = inherited else {
            return self.with_defaults(None);
        };
        let fingerprint = self.state().fingerprint;
        let uid = self.object.uid.clone();
        let is_known = inherited.left_out.is_empty();
        let candidate = self.with_defaults(Some(inherited.clone().defaults()));
        let is_of =
            fingerprint.is_none_or(|fingerprint| fingerprint == candidate.inputs.fingerprint(&uid));
        if is_known && is_of || candidate.inputs.own().has_schedule() {
            return candidate;
        }
        candidate.with_defaults(Some(inherited.without_schedule().defaults()))
    }

    /// Whether its Namespace, which has these annotations, gives it something that is not in what a
    /// scaler has written on it: no scaler has taken that up.
    pub fn lags_behind(&self, namespace: &Arc<Annotations>) -> bool {
        let Some(inherited) = self.inherited.as_deref().and_then(Inherited::parse) else {
            return false;
        };
        let given = self.inputs.clone();
        let given = given.with_defaults(Some(Arc::clone(namespace)));
        // Overrides that are over stay on a Namespace. What no decision rests on brings about no write.
        let is_kept = |key: &Key| {
            key.is_decided_by()
                && !Key::OVERRIDES.contains(key)
                && !inherited.left_out.contains(key)
        };
        let mut keys = Key::ALL.into_iter().filter(is_kept);
        keys.any(|key| {
            let is_given = given.origin(key) == Some(Origin::Namespace);
            is_given && given.text(key) != inherited.namespace.text(key)
        })
    }
}
