//! Asking for an override, or for its end, by annotations.
//!
//! What somebody has been shown before they confirm it, and what must not have changed by then.

use chrono::{DateTime, Utc};
use dayshift_schedule::Zone;
use dayshift_text::quote;
use dayshift_workload::{
    AnnotationChange, Inputs, InvalidSchedule, Key, Kind, Observed, Override, OverrideCommand,
    OverrideError, ParseContext, ParsedInputs, Pause, Prefix, ReadyForm, Replicas, State,
    SyncAction, WorkloadRef, read,
};
use futures::{StreamExt as _, stream};
use kube::Client;

use dayshift_cluster::{
    Writer,
    write::{PatchError, ReadError},
};

use crate::{
    selection::{AT_ONCE, Retry, Selection, retry},
    until::{Until, UntilError},
};

/// What a user asks for, before it is known of which object.
#[derive(Clone, Debug)]
pub enum RequestedOverride {
    /// `dayshift wake`.
    Wake(Until),
    /// `dayshift sleep`.
    Sleep(Until),
    /// `dayshift pause`; without a time, until `resume`.
    Pause(Option<Until>),
    /// `dayshift resume`.
    Resume,
    /// `dayshift sync`: what the schedule says, until the next boundary.
    Sync,
}

impl RequestedOverride {
    /// The command that requests it.
    pub const fn command(&self) -> &'static str {
        match self {
            Self::Wake(_) => "wake",
            Self::Sleep(_) => "sleep",
            Self::Pause(_) => "pause",
            Self::Resume => "resume",
            Self::Sync => "sync",
        }
    }
}

/// An override that is requested of workloads.
#[derive(Clone, Debug)]
pub struct OverrideRequest {
    /// What is requested.
    pub requested: RequestedOverride,
    /// The zone of workloads that name none, and the calendars that they may name.
    pub context: ParseContext,
    /// What stands before the slash in annotations and labels.
    pub prefix: Prefix,
    /// The time of the request.
    pub now: DateTime<Utc>,
    /// Why, in the words of whoever requests it.
    pub reason: Option<String>,
    /// Whether nothing is written.
    pub dry_run: bool,
    /// Whether it is done only once all of an object is ready.
    pub until_ready: bool,
}

/// Why an override cannot be requested of one object.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The object's state or annotations do not allow it.
    #[error("{0}")]
    Override(#[from] OverrideError),
    /// Its end is not a time to come in the object's zone.
    #[error("{0}")]
    Until(#[from] UntilError),
    /// The annotations could not be written.
    #[error("{0}")]
    Patch(#[from] PatchError),
    /// The object could not be read again.
    #[error("{0}")]
    Read(#[from] ReadError),
    /// It is not what was previewed any more.
    #[error("{0}")]
    Changed(#[from] ChangedSincePreview),
    /// It is of a kind that is watched only where somebody asks for it, and nobody has seen it.
    #[error(
        "no `dayshift run` has seen it, and nothing was written: `dayshift run` watches {} only with \
         --kinds {}",
        .0.names_of_all(), .0.argument()
    )]
    Unwatched(Kind),
    /// No row says where it has its switch.
    #[error("{0}")]
    MissingRow(InvalidSchedule),
}

/// What a request did to one object.
#[derive(Clone, Debug)]
pub enum RequestOutcome {
    /// The annotations are there already, and a controller has acted on them.
    Unchanged,
    /// The annotations are written or, on a dry run, would be.
    Annotated(Box<AnnotatedWorkload>),
    /// `sync` set a count that no override sets or, on a dry run, would.
    Scaled(SyncedCount),
}

/// A count that `sync` sets.
#[derive(Clone, Copy, Debug)]
pub struct SyncedCount {
    /// The count before.
    pub before: Replicas,
    /// The count that the schedule says.
    pub after: Replicas,
    /// The next boundary, until which it holds, if there is one.
    pub until: Option<DateTime<Utc>>,
    /// The zone of the schedule.
    pub zone: Zone,
}

/// An object that carries the annotations of a request.
#[derive(Clone, Debug)]
pub struct AnnotatedWorkload {
    /// The object.
    pub object: WorkloadRef,
    /// The count before.
    pub before: Replicas,
    /// The object with the annotations; as it was on a dry run.
    pub now: Observed,
    /// What is requested of this object.
    pub command: OverrideCommand,
    /// The annotations that were or would be written, `None` for those that are removed.
    pub annotations: Vec<AnnotationChange>,
    /// The zone of its schedule.
    pub zone: Zone,
    /// The override of its Namespace that holds it once those of its own are over, after a resume.
    pub then_held: Option<Override>,
}

impl AnnotatedWorkload {
    /// Whether a controller has acted on it, by the state labels of the object.
    pub fn is_obeyed(&self, state: &State) -> bool {
        match self.then_held {
            Some(held) => held.holds(state),
            None => self.command.is_obeyed(state),
        }
    }
}

impl OverrideRequest {
    /// Whether what was requested of an object is done.
    pub(crate) fn is_done(&self, annotated: &AnnotatedWorkload, seen: &Observed) -> bool {
        let says_it = seen.object.kind.ready_form() != ReadyForm::Nowhere;
        let is_stopped = seen.replicas == Replicas::ZERO;
        let is_ready = || !says_it || is_stopped || seen.is_ready() == Some(true);
        annotated.is_obeyed(&seen.state()) && (!self.until_ready || is_ready())
    }

    /// Writes the annotations on each workload, and reports what came of each in their order.
    pub async fn send(
        &self,
        client: &Client,
        selection: &Selection,
        mut report: impl FnMut(&Observed, Result<RequestOutcome, RequestError>),
    ) {
        let writer = Writer::of_command(client.clone(), self.prefix.clone());
        let mut answers = stream::iter(&selection.observed)
            .map(async |observed: &Observed| {
                let annotated = self.annotate(&writer, observed, selection).await;
                (observed, annotated)
            })
            .buffered(AT_ONCE);
        while let Some((observed, answer)) = answers.next().await {
            report(observed, answer);
        }
    }

    /// Writes the annotations on one object, and again where that can help; on a dry run, only
    /// says which.
    async fn annotate(
        &self,
        writer: &Writer,
        before: &Observed,
        selection: &Selection,
    ) -> Result<RequestOutcome, RequestError> {
        let read = async || selection.read(writer, &before.object, &self.prefix).await;
        retry(before, read, async |observed| {
            if selection.is_previewed {
                changed_since(before, observed, &self.prefix)?;
            }
            if let Some(refusal) = observed.missing_row() {
                return Err(RequestError::MissingRow(refusal));
            }
            let Some((sync, zone)) = self.command(observed)? else {
                return Ok(RequestOutcome::Unchanged);
            };
            let is_end = matches!(self.requested, RequestedOverride::Resume);
            if !is_end && is_unwatched(observed) {
                return Err(RequestError::Unwatched(observed.object.kind));
            }
            let command = match sync {
                SyncAction::Command(command) => command,
                SyncAction::Count { change, until } => {
                    if !self.dry_run {
                        writer.patch(observed, &change).await?;
                    }
                    return Ok(RequestOutcome::Scaled(SyncedCount {
                        before: observed.replicas,
                        after: change.replicas,
                        until,
                        zone,
                    }));
                }
            };
            let annotations = command.signed(&observed.inputs, zone, self.reason.as_deref());
            let is_obeyed = command.is_obeyed(&observed.state());
            // The same text may have come back with when it began: then it does not count.
            let is_to_renew = !is_obeyed && observed.override_began.is_some();
            let changes = !annotations.is_empty() || is_to_renew;
            if !changes && (self.dry_run || is_obeyed && !self.until_ready) {
                return Ok(RequestOutcome::Unchanged);
            }
            let now = if self.dry_run || !changes {
                observed.clone()
            } else {
                let written = writer.annotate(observed, &annotations).await?;
                let defaults = &selection.defaults;
                defaults.applied(written.observe(observed.object.kind, &self.prefix))
            };
            Ok(RequestOutcome::Annotated(Box::new(AnnotatedWorkload {
                object: before.object.clone(),
                before: before.replicas,
                now,
                command,
                annotations,
                zone,
                then_held: self.then_held(command, observed),
            })))
        })
        .await
    }

    /// What is requested of this object, and the zone of its schedule; `None` where there is
    /// nothing to do.
    fn command(&self, observed: &Observed) -> Result<Option<(SyncAction, Zone)>, RequestError> {
        match self.requested {
            _ if observed.deleting => Err(OverrideError::Deleting.into()),
            RequestedOverride::Sync => self.sync(observed),
            RequestedOverride::Resume if self.is_held_by_namespace(observed) => {
                let namespace = observed.object.namespace.clone();
                Err(OverrideError::HeldByNamespace(namespace).into())
            }
            _ => {
                let (command, zone) = self.of_inputs(&observed.scheduled_inputs())?;
                Ok(Some((SyncAction::Command(command), zone)))
            }
        }
    }

    /// What is requested of something with these annotations of its own, and the zone of its
    /// schedule.
    pub(crate) fn of_inputs(
        &self,
        inputs: &Inputs,
    ) -> Result<(OverrideCommand, Zone), RequestError> {
        // The zone does not rest on what is wished, and the end of the wish rests on the zone.
        let probe = match &self.requested {
            RequestedOverride::Wake(_) => {
                OverrideCommand::Begin(Override::Wake(DateTime::<Utc>::MAX_UTC))
            }
            RequestedOverride::Sleep(_) => {
                OverrideCommand::Begin(Override::Sleep(DateTime::<Utc>::MAX_UTC))
            }
            RequestedOverride::Pause(_) => OverrideCommand::Begin(Override::Pause(Pause::Forever)),
            RequestedOverride::Resume | RequestedOverride::Sync => OverrideCommand::Resume,
        };
        let zone = probe.zone(inputs, &self.context, self.now)?;
        let at = |until: &Until| until.in_zone(zone, self.now);
        let command = match &self.requested {
            RequestedOverride::Wake(until) => OverrideCommand::Begin(Override::Wake(at(until)?)),
            RequestedOverride::Sleep(until) => OverrideCommand::Begin(Override::Sleep(at(until)?)),
            RequestedOverride::Pause(until) => {
                let until = until.as_ref().map(at).transpose()?;
                let pause = until.map_or(Pause::Forever, Pause::Until);
                OverrideCommand::Begin(Override::Pause(pause))
            }
            RequestedOverride::Resume | RequestedOverride::Sync => OverrideCommand::Resume,
        };
        Ok((command, zone))
    }

    /// What holds an object after a resume: an override of its Namespace.
    fn then_held(&self, command: OverrideCommand, observed: &Observed) -> Option<Override> {
        match read(&observed.inputs, &self.context) {
            ParsedInputs::Scheduled(spec) if command == OverrideCommand::Resume => {
                spec.overrides.inherited.at(self.now)
            }
            _ => None,
        }
    }

    /// Whether there is nothing to resume on the object itself, and an override of its Namespace
    /// holds it.
    fn is_held_by_namespace(&self, observed: &Observed) -> bool {
        match read(&observed.inputs, &self.context) {
            ParsedInputs::Scheduled(spec) => {
                let (own, inherited) = (spec.overrides.own_keys(), spec.overrides.inherited);
                own.is_empty() && inherited.at(self.now).is_some()
            }
            ParsedInputs::Unscheduled | ParsedInputs::Invalid(_) => false,
        }
    }

    fn sync(&self, observed: &Observed) -> Result<Option<(SyncAction, Zone)>, RequestError> {
        match read(&observed.inputs, &self.context) {
            ParsedInputs::Unscheduled if observed.phase().is_some() => {
                Err(OverrideError::ScheduleNotSeen.into())
            }
            ParsedInputs::Unscheduled => Err(OverrideError::NoSchedule.into()),
            ParsedInputs::Invalid(refusal) => Err(OverrideError::Refused(refusal).into()),
            ParsedInputs::Scheduled(spec) => {
                let sync = SyncAction::plan(&spec, observed, self.now)?;
                Ok(sync.map(|sync| (sync, spec.schedule.zone())))
            }
        }
    }
}

impl Retry for RequestError {
    fn is_worth_another_try(&self) -> bool {
        match self {
            Self::Patch(error) => error.is_worth_another_try(),
            Self::Read(error) => error.is_worth_another_try(),
            Self::Override(_)
            | Self::Until(_)
            | Self::Changed(_)
            | Self::Unwatched(_)
            | Self::MissingRow(_) => false,
        }
    }
}

impl RequestError {
    /// Whether it is about the object or the request, and not about the cluster, or about what the
    /// program was not told.
    pub const fn is_refusal(&self) -> bool {
        !matches!(self, Self::Patch(_) | Self::Read(_) | Self::MissingRow(_))
    }
}

/// Whether it is of a kind that is watched only where somebody asks for it, and no controller has said
/// anything of it: an override would stay there, until one that has never looked at it does.
fn is_unwatched(observed: &Observed) -> bool {
    let is_asked_for = !Kind::DEFAULT.contains(&observed.object.kind);
    is_asked_for && observed.phase().is_none() && observed.error.is_none()
}

/// Something is not what was previewed any more, and what of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("changed since your preview: {0}")]
pub struct ChangedSincePreview(pub(crate) String);

/// Whether what a preview of an object rests on is the same now: which object it is, and the
/// annotations that are in force for it, wherever they are written.
///
/// # Errors
/// What has changed.
pub fn changed_since(
    before: &Observed,
    now: &Observed,
    prefix: &Prefix,
) -> Result<(), ChangedSincePreview> {
    if before.object.uid != now.object.uid {
        return Err(ChangedSincePreview(
            "it is another object of that name".to_owned(),
        ));
    }
    if now.deleting && !before.deleting {
        return Err(ChangedSincePreview("it is being deleted".to_owned()));
    }
    let place = |inputs: &Inputs, key| {
        inputs
            .origin(key)
            .map(|it| (it, inputs.text(key).map(str::to_owned)))
    };
    let differs = |key: &Key| place(&before.inputs, *key) != place(&now.inputs, *key);
    expect_unchanged(
        Key::ALL.into_iter().filter(differs),
        |key| now.inputs.text(key),
        prefix,
    )
}

pub(crate) fn expect_unchanged<'t>(
    keys: impl Iterator<Item = Key>,
    text: impl Fn(Key) -> Option<&'t str>,
    prefix: &Prefix,
) -> Result<(), ChangedSincePreview> {
    let texts: Vec<_> = keys
        .map(|key| {
            let is = text(key).map_or_else(|| "gone".to_owned(), quote);
            format!("{} is {is} now", prefix.annotation(key))
        })
        .collect();
    if texts.is_empty() {
        Ok(())
    } else {
        Err(ChangedSincePreview(texts.join(", ")))
    }
}
