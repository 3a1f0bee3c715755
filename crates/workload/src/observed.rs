//! An object as the API server sent it.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::{Action, Direction};
use dayshift_text::quote;

use crate::{
    footprint::Footprint,
    inputs::{
        InvalidSchedule,
        annotations::{Annotations, Excess, NamedSchedules, Origin},
        effective::{Inputs, Source},
        inheritance::{Inherited, RecordedDefaults},
        overrides::Overrides,
        parse::{ParseContext, ParsedInputs, read},
        spec::ScheduleSpec,
    },
    keys::{Key, Label},
    kinds::definition::{SwitchField, SwitchValue},
    readiness::Readiness,
    replicas::Replicas,
    state::{Labels, Next, Phase, Revision, Started, State},
    workload_ref::WorkloadRef,
};

/// An object as the API server sent it, with all fields that a decision and the guard of its patch
/// depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// The reference to the object.
    pub object: WorkloadRef,
    /// Its count: for most kinds, `spec.replicas`.
    pub replicas: Replicas,
    /// The content of the field for the count.
    pub count_field: CountField,
    /// The resources of one unit of the count.
    pub footprint: Footprint,
    /// How much of it is ready. Its own schedule does not depend on it.
    pub readiness: Readiness,
    /// When it was created; 1970 if unknown.
    pub created: DateTime<Utc>,
    /// The revision of its pod template; `None` if its kind or its status does not show it.
    pub revision: Option<Revision>,
    /// The annotations in force.
    pub inputs: Inputs,
    /// The values of the state labels.
    pub labels: Labels,
    /// The annotation `error`, truncated if it is longer than [`MAX_ERROR`](crate::MAX_ERROR).
    pub error: Option<Box<str>>,
    /// The annotation `override-began`, truncated if it is longer than [`MAX_BEGAN`].
    pub override_began: Option<Box<str>>,
    /// The annotation `inherited`, truncated like other values. Decisions do not depend on it.
    pub inherited: Option<Box<str>>,
    /// Whether the object has any labels.
    pub has_labels: bool,
    /// Whether the object has any annotations.
    pub has_annotations: bool,
    /// Whether it is being deleted (`deletionTimestamp` is set).
    pub deleting: bool,
}

/// The maximum length of the annotation `override-began` that is not truncated, in bytes.
pub const MAX_BEGAN: usize = 64;

/// The content of the field for the count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CountField {
    /// The count, in the form of its kind.
    #[default]
    Present,
    /// The field is absent, and the count is the default of the kind.
    Absent,
    /// The field and the whole `spec` are absent.
    WithoutSpec,
    /// The kind has no such field: the API server would drop a write to it.
    Missing,
    /// A label shows that an on/off field stops the object, but the kind has no definition that
    /// names the field.
    UnknownSwitch,
    /// A string that contains more than the count.
    Text(Box<str>),
    /// The value of an on/off field. If it means stopped, it might not fit into a label.
    Switch(SwitchField),
    /// Another field is set that changes the meaning of an on/off field.
    Beside,
    /// Anything else, quoted. A custom resource can have any value there.
    Invalid(Box<str>),
}

impl Observed {
    /// Why the object is rejected regardless of its schedule: its count is invalid, or its kind has
    /// no field for one.
    pub fn count_refusal(&self) -> Option<InvalidSchedule> {
        let kind = &self.object.kind;
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
                        "write a value from the operator's documentation",
                    )
                }
            }),
            CountField::Missing => {
                let wrong = format!(
                    "a {kind} has no such field: the API server drops a write to it, so \
                        dayshift cannot scale it"
                );
                let help = if kind.is_assumed() {
                    "give its kind definition with --kind-file, or remove the schedule"
                } else {
                    "remove the schedule, or remove the kind from --kinds"
                };
                Some(refusal("", wrong, help))
            }
            CountField::UnknownSwitch => {
                let wrong = format!(
                    "an on/off field stops this {kind}, as its label `{}` shows, but no kind \
                        definition names that field",
                    Label::SavedValue.name()
                );
                Some(refusal("", wrong, "give the definition with --kind-file"))
            }
            CountField::Beside => {
                let other = kind
                    .switch()
                    .and_then(|switch| switch.not_beside.as_deref());
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

    /// The same, if the kind needs a definition because the count is not at `spec.replicas`.
    pub fn missing_definition(&self) -> Option<InvalidSchedule> {
        let is_elsewhere = match self.count_field {
            CountField::UnknownSwitch => true,
            CountField::Missing => self.object.kind.is_assumed(),
            _ => false,
        };
        self.count_refusal().filter(|_| is_elsewhere)
    }

    /// The state from the labels.
    pub fn state(&self) -> State {
        State::from_labels(&self.labels)
    }

    /// Whether all of it is ready; `None` if unknown.
    pub fn is_ready(&self) -> Option<bool> {
        self.readiness.is_ready(self.replicas)
    }

    /// When it should be ready: see [`Readiness::due`].
    pub fn ready_due(&self, within: TimeDelta) -> Option<DateTime<Utc>> {
        // Parse the labels only if they make a difference.
        let is_not_ready = !self.deleting && self.is_ready() == Some(false);
        let state = is_not_ready.then(|| self.state())?;
        self.readiness.due(self.replicas, &state, within)
    }

    /// The `started` of [`Self::state`], if the schedule has a timer.
    pub fn started(&self, spec: &ScheduleSpec) -> Option<Started> {
        spec.stop_after?;
        let text = self.labels.text(Label::Started)?;
        Started::from_label(text)
    }

    /// The phase of [`Self::state`]. Parsing one label is much cheaper than parsing all of them.
    pub fn phase(&self) -> Option<Phase> {
        self.labels.phase()
    }

    /// [`State::remembered`] of [`Self::state`], which is cheaper too.
    pub fn remembered(&self) -> Option<Replicas> {
        self.labels.remembered()
    }

    /// The `next` of [`Self::state`], which is cheaper too.
    pub fn next(&self) -> Option<Next> {
        self.labels.text(Label::Next).and_then(Next::from_label)
    }

    /// The overrides of its schedule, without ended ones that were restored: see
    /// [`Overrides::without_ended`].
    pub fn overrides(&self, spec: &ScheduleSpec, state: &State, now: DateTime<Utc>) -> Overrides {
        let began = self.override_began.as_deref();
        spec.overrides.without_ended(began, state, now)
    }

    /// Drops its own annotations and the annotation `inherited`, because its namespace has more text
    /// than this many bytes: see [`Excess::Namespace`].
    pub fn drop_texts(&mut self, limit: usize) {
        self.inputs.drop_texts(limit);
        self.inherited = None;
    }

    /// Whether its own annotations were not dropped by [`Self::drop_texts`].
    pub fn has_texts(&self) -> bool {
        !matches!(self.inputs.own().excess(), Some(Excess::Namespace { .. }))
    }

    /// Replaces the defaults with the annotations of its Namespace.
    #[must_use]
    pub fn with_defaults(self, defaults: Option<Arc<Annotations>>) -> Self {
        let inputs = self.inputs.with_defaults(defaults);
        Self { inputs, ..self }
    }

    /// Finds the schedule that the object names in this table.
    #[must_use]
    pub fn with_schedules(self, schedules: &NamedSchedules) -> Self {
        let inputs = self.inputs.with_schedules(schedules);
        Self { inputs, ..self }
    }

    /// Parses the inputs for an observer who has only the object, and checks its count. If its
    /// labels show that it has an inherited schedule, an override without a schedule is valid.
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

    /// The inputs for checking an override. If the labels show that the object has an inherited
    /// schedule, hours that are always on are added.
    pub fn scheduled_inputs(&self) -> Inputs {
        let inputs = self.inputs.clone();
        match self.phase() {
            Some(_) => inputs.or_always_on(),
            None => inputs,
        }
    }

    /// Whether the object has any annotation or label of ours, or inherits a schedule.
    pub fn concerns_us(&self) -> bool {
        let ours = [&self.error, &self.override_began];
        !self.inputs.is_empty()
            || !self.labels.is_empty()
            || ours.iter().any(|annotation| annotation.is_some())
    }

    /// The action that the schedule requires at `now`, if the object clearly does not match it: it
    /// runs but should be stopped, nothing runs although it should, or it does not have the count
    /// of `scale`.
    pub fn contradicted_action(&self, spec: &ScheduleSpec, now: DateTime<Utc>) -> Option<Action> {
        self.contradicted_since(spec, self.started(spec), now)
    }

    /// [`Self::contradicted_action`] if the timer counts from this start.
    pub(crate) fn contradicted_since(
        &self,
        spec: &ScheduleSpec,
        started: Option<Started>,
        now: DateTime<Utc>,
    ) -> Option<Action> {
        spec.required_action(&self.object, started, now)
            .filter(|required| match required {
                // If a schedule has no starts, users start the workload manually, and it should keep
                // running.
                Action::Stop => {
                    self.replicas > spec.stop_replicas && spec.has_boundaries(Direction::Up)
                }
                Action::Start => {
                    let (seen, state) = (self.replicas, self.state());
                    seen == Replicas::ZERO
                        && spec.replicas != Some(Replicas::ZERO)
                        && spec.count_after_start(seen, state.remembered()) > seen
                }
                Action::Scale(count) => {
                    self.replicas != spec.counts.least().max(Replicas::new(*count))
                }
            })
    }

    /// Replaces the defaults, and the schedule that the object names, with the values in the annotation
    /// `inherited`.
    ///
    /// `kubectl rollout undo` can restore an old annotation, and users can edit it. If the schedule
    /// in it does not match the label `fingerprint`, it is not the one that dayshift uses, and is
    /// ignored.
    #[must_use]
    pub fn with_inherited(self) -> Self {
        let inherited = self.inherited.as_deref().and_then(Inherited::parse);
        let Some(inherited) = inherited else {
            return self
                .with_defaults(None)
                .with_schedules(&NamedSchedules::default());
        };
        let fingerprint = self.state().fingerprint;
        let uid = self.object.uid.clone();
        let is_known = inherited.left_out.is_empty();
        let candidate = self.inheriting(inherited.clone());
        let is_of =
            fingerprint.is_none_or(|fingerprint| fingerprint == candidate.inputs.fingerprint(&uid));
        if is_known && is_of || candidate.inputs.own().has_schedule() {
            return candidate;
        }
        candidate.inheriting(inherited.without_schedule())
    }

    fn inheriting(self, inherited: Inherited) -> Self {
        let inputs = inherited.given_to(self.inputs);
        Self { inputs, ..self }
    }

    /// The named schedules and the team's defaults that the annotation `inherited` records; `None` if
    /// it records neither.
    pub fn recorded_defaults(&self) -> Option<RecordedDefaults> {
        Inherited::parse(self.inherited.as_deref()?)?.recorded()
    }

    /// Whether the Namespace with these annotations has a default that is missing from the
    /// annotation `inherited`, because no controller has adopted it yet.
    pub fn lags_behind(&self, namespace: &Arc<Annotations>) -> bool {
        // Only the controller knows the current values of named schedules.
        const FROM_NAMESPACE: Source<'_> = Source {
            origin: Origin::Namespace,
            schedule: None,
        };
        let Some(inherited) = self.inherited.as_deref().and_then(Inherited::parse) else {
            return false;
        };
        let schedules = inherited.schedules();
        let given = self.inputs.clone().with_schedules(&schedules);
        // A value of the team can hide one of the Namespace.
        let team = Some(&inherited.team).filter(|team| !team.is_empty());
        let team = team.map(|team| Arc::new(team.clone()).resolved(&schedules));
        let namespace = namespace.resolved(&schedules).with_team(team);
        let given = given.with_defaults(Some(Arc::new(namespace)));
        // Ended overrides stay on a Namespace, and dayshift does not write for keys on which no
        // decision depends.
        let is_kept = |key: &Key| {
            key.is_decided_by()
                && !Key::OVERRIDES.contains(key)
                && !inherited.left_out.contains(key)
        };
        let mut keys = Key::ALL.into_iter().filter(is_kept);
        keys.any(|key| {
            let is_given = given.source(key) == Some(FROM_NAMESPACE);
            is_given && given.text(key) != inherited.namespace.text(key)
        })
    }
}
