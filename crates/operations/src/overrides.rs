//! Requesting an override of workloads, or its end, by annotations. A controller carries it out.

use std::{borrow::Cow, collections::HashMap, mem, sync::Arc};

use chrono::{DateTime, Utc};
use dayshift_cluster::{
    Writer,
    read::NamespaceDefaults,
    write::{PatchError, ReadError},
};
use dayshift_schedule::Zone;
use dayshift_text::quote;
use dayshift_workload::{
    AnnotationChange, Inputs, InvalidSchedule, Key, Kind, NotRestored, Observed, Origin, Override,
    OverrideCommand, OverrideError, ParseContext, ParsedInputs, Pause, Prefix, ReadyForm, Replicas,
    RequestWakes, SYNC_REASON, ScheduleSpec, State, SyncAction, WorkloadRef, read,
    requests_ignored_until,
};
use kube::Client;

use crate::{
    override_messages::active_text,
    selection::{Retry, SelectedWorkload, Selection},
    until::{Until, UntilError},
};

/// A requested override, before it is applied to an object.
#[derive(Clone, Debug)]
pub enum RequestedOverride {
    /// `dayshift wake`.
    Wake(Until),
    /// `dayshift sleep`, and whether a request ends it.
    Sleep(Until, RequestWakes),
    /// `dayshift pause`; without an end, until `dayshift resume`.
    Pause(Option<Until>),
    /// `dayshift resume`.
    Resume,
    /// `dayshift sync`: applies the schedule now, until the next boundary.
    Sync,
    /// Begins the overrides again that an earlier request has replaced. Other workloads resume.
    Undo(Arc<FormerOverrides>),
}

/// The overrides that a request has replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FormerOverrides {
    /// Those of workloads.
    pub workloads: HashMap<WorkloadRef, FormerOverride>,
    /// Those of Namespaces, by name.
    pub namespaces: HashMap<String, FormerOverride>,
}

/// An override that a request has replaced, with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormerOverride {
    /// The override.
    pub over: Override,
    /// Whether requests woke the workload during it, if it was a sleep.
    pub requests: RequestWakes,
    /// The reason of its author.
    pub reason: Option<Box<str>>,
}

impl RequestedOverride {
    /// The name of the command.
    pub const fn command(&self) -> &'static str {
        match self {
            Self::Wake(_) => "wake",
            Self::Sleep(..) => "sleep",
            Self::Pause(_) => "pause",
            Self::Resume => "resume",
            Self::Sync => "sync",
            Self::Undo(_) => "undo",
        }
    }

    /// The override command, whose end is determined by `at`.
    fn command_at(
        &self,
        at: impl Fn(&Until) -> Result<DateTime<Utc>, UntilError>,
    ) -> Result<OverrideCommand, UntilError> {
        Ok(OverrideCommand::Begin(match self {
            Self::Wake(until) => Override::Wake(at(until)?),
            Self::Sleep(until, RequestWakes::Allowed) => Override::Sleep(at(until)?),
            Self::Sleep(until, RequestWakes::Ignored) => {
                return Ok(OverrideCommand::BeginClosedSleep(at(until)?));
            }
            Self::Pause(None) => Override::Pause(Pause::Forever),
            Self::Pause(Some(until)) => Override::Pause(Pause::Until(at(until)?)),
            // An undo was replaced by the request for the object.
            Self::Resume | Self::Sync | Self::Undo(_) => return Ok(OverrideCommand::Resume),
        }))
    }
}

/// A request for an override of workloads.
#[derive(Clone, Debug)]
pub struct OverrideRequest {
    /// The requested override.
    pub requested: RequestedOverride,
    /// The default time zone, and the known calendars.
    pub context: ParseContext,
    /// The prefix of annotations and labels.
    pub prefix: Prefix,
    /// The time of the request.
    pub now: DateTime<Utc>,
    /// The reason that the user gives.
    pub reason: Option<String>,
    /// Whether an active override may be shortened.
    pub shorten: Shorten,
    /// If set, nothing is written.
    pub dry_run: bool,
    /// Whether the request is done only when all replicas are ready.
    pub until_ready: bool,
}

/// Whether a request may end an active override of the same kind earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shorten {
    /// The request is rejected.
    Forbidden,
    /// The request replaces the override.
    Allowed,
}

/// Why a command does not change one object.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The object's state or annotations do not allow the override.
    #[error("{0}")]
    Override(#[from] OverrideError),
    /// The object's state does not allow to restore its count.
    #[error("{0}")]
    NotRestored(#[from] NotRestored),
    /// The end is not in the future in the object's time zone.
    #[error("{0}")]
    Until(#[from] UntilError),
    /// The object could not be written.
    #[error("{0}")]
    Patch(#[from] PatchError),
    /// The object could not be read again.
    #[error("{0}")]
    Read(#[from] ReadError),
    /// The active override ends later than the requested one. The text describes it and names its
    /// author.
    #[error("{0}; --shorten ends it earlier")]
    Shortens(String),
    /// The object differs from its preview.
    #[error("{0}")]
    Changed(#[from] ChangedSincePreview),
    /// The kind is watched only if `--kinds` names it, and no controller has observed the object.
    #[error(
        "no controller has adopted it, and nothing was written: `dayshift run` watches {} only with \
         --kinds {}",
        .0.names_of_all(), .0.argument()
    )]
    Unwatched(Kind),
    /// The schedule would be rejected with an additional window.
    #[error("with this window its schedule would be rejected: {0}")]
    Window(InvalidSchedule),
    /// The kind definition that has the on/off field is missing.
    #[error("{0}")]
    MissingKindDefinition(InvalidSchedule),
}

/// The result of a request for one object.
#[derive(Clone, Debug)]
pub enum RequestOutcome {
    /// The annotations exist already, and a controller has acted on them.
    Unchanged,
    /// The annotations were written, or would be on a dry run.
    Annotated(Box<AnnotatedWorkload>),
    /// `sync` set a count without an override, or would on a dry run.
    Scaled(SyncedCount),
}

/// A count that `sync` sets.
#[derive(Clone, Copy, Debug)]
pub struct SyncedCount {
    /// The count before.
    pub before: Replicas,
    /// The count of the schedule.
    pub after: Replicas,
    /// The next boundary, at which the count changes; `None` if there is none.
    pub until: Option<DateTime<Utc>>,
    /// The time zone of the schedule.
    pub zone: Zone,
}

/// An object with the annotations of a request.
#[derive(Clone, Debug)]
pub struct AnnotatedWorkload {
    /// The object.
    pub object: WorkloadRef,
    /// The count before.
    pub before: Replicas,
    /// The object with the annotations. On a dry run, the object as it was.
    pub now: Arc<Observed>,
    /// The requested override.
    pub command: OverrideCommand,
    /// The annotations that were written, or would be on a dry run; `None` for a removal.
    pub annotations: Vec<AnnotationChange>,
    /// The time zone of the schedule.
    pub zone: Zone,
    /// The active override that the request replaces.
    pub replaced: Option<ReplacedOverride>,
    /// After a resume: the override of the team or the Namespace that applies from then on.
    pub inherited_override: Option<(Origin, Override)>,
}

/// An active override that a request replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplacedOverride {
    /// The override with its author, such as `was awake until 05:16 CET by jane (load test)`.
    pub text: String,
    /// Whether the request ends it earlier, which needs [`Shorten::Allowed`].
    pub is_shortened: bool,
    /// The override, for [`RequestedOverride::Undo`].
    pub former: FormerOverride,
}

impl AnnotatedWorkload {
    /// Whether a controller has acted on the request, according to the state labels.
    pub fn is_applied(&self, state: &State) -> bool {
        match self.inherited_override {
            Some((_, held)) => held.holds(state),
            None => self.command.is_applied(state),
        }
    }
}

impl OverrideRequest {
    /// The request for one object, which an undo determines by the former overrides.
    fn for_object(&self, object: &WorkloadRef) -> Cow<'_, Self> {
        match &self.requested {
            RequestedOverride::Undo(former) => {
                Cow::Owned(self.undoing(former.workloads.get(object)))
            }
            _ => Cow::Borrowed(self),
        }
    }

    /// The request for one Namespace.
    pub(crate) fn for_namespace(&self, name: &str) -> Self {
        match &self.requested {
            RequestedOverride::Undo(former) => self.undoing(former.namespaces.get(name)),
            _ => self.clone(),
        }
    }

    /// The request that begins an override again, or a resume if it has ended since.
    fn undoing(&self, former: Option<&FormerOverride>) -> Self {
        let is_active =
            |former: &&FormerOverride| former.over.until().is_none_or(|until| until > self.now);
        let former = former.filter(is_active);
        let requested = match former.map(|former| (former.over, former.requests)) {
            Some((Override::Wake(until), _)) => RequestedOverride::Wake(Until::At(until)),
            Some((Override::Sleep(until), requests)) => {
                RequestedOverride::Sleep(Until::At(until), requests)
            }
            Some((Override::Pause(pause), _)) => {
                RequestedOverride::Pause(pause.until().map(Until::At))
            }
            None => RequestedOverride::Resume,
        };
        Self {
            requested,
            reason: former.and_then(|former| former.reason.as_deref().map(str::to_owned)),
            ..self.clone()
        }
    }

    /// Whether the request is done for an object.
    pub(crate) fn is_done(&self, annotated: &AnnotatedWorkload, seen: &Observed) -> bool {
        let says_it = seen.object.kind.ready_form() != ReadyForm::Nowhere;
        let is_stopped = seen.replicas == Replicas::ZERO;
        let is_ready = || !says_it || is_stopped || seen.is_ready() == Some(true);
        annotated.is_applied(&seen.state()) && (!self.until_ready || is_ready())
    }

    /// Annotates each workload, and reports the results in the same order.
    pub async fn send(
        &self,
        client: &Client,
        selection: &Selection,
        report: impl FnMut(&SelectedWorkload, Result<RequestOutcome, RequestError>),
    ) {
        let annotate =
            async |writer: &Writer, before: &SelectedWorkload, now: &SelectedWorkload| {
                let before = &before.observed;
                if selection.is_previewed {
                    changed_since(before, &now.observed, &self.prefix)?;
                }
                let request = self.for_object(&before.object);
                let defaults = &selection.defaults;
                request.annotate(writer, before, now, defaults).await
            };
        selection
            .for_each(client, &self.prefix, annotate, report)
            .await;
    }

    /// Annotates one object. On a dry run, nothing is written.
    async fn annotate(
        &self,
        writer: &Writer,
        before: &Observed,
        now: &SelectedWorkload,
        defaults: &NamespaceDefaults,
    ) -> Result<RequestOutcome, RequestError> {
        let observed = &now.observed;
        if let Some(refusal) = observed.missing_definition() {
            return Err(RequestError::MissingKindDefinition(refusal));
        }
        let spec = now.spec();
        let Some((sync, zone)) = self.command(observed, spec)? else {
            return Ok(RequestOutcome::Unchanged);
        };
        let is_end = matches!(self.requested, RequestedOverride::Resume);
        if !is_end && is_unwatched(observed) {
            return Err(RequestError::Unwatched(observed.object.kind.clone()));
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
        let replaced = self.replaced((&observed.inputs, spec), command, zone)?;
        let annotations = command.signed(&observed.inputs, zone, self.written_reason(command));
        let is_applied = || command.is_applied(&observed.state());
        // A rollback can restore an override together with its `override-began`. A controller
        // then considers it ended. To begin it again, remove `override-began`.
        let is_to_renew = observed.override_began.is_some() && !is_applied();
        let changes = !annotations.is_empty() || is_to_renew;
        if !changes && (self.dry_run || is_applied() && !self.until_ready) {
            return Ok(RequestOutcome::Unchanged);
        }
        let now = if self.dry_run || !changes {
            Arc::clone(observed)
        } else {
            let written = writer.annotate(observed, &annotations).await?;
            let written = written.observe(&observed.object.kind, &self.prefix);
            Arc::new(defaults.applied(written))
        };
        Ok(RequestOutcome::Annotated(Box::new(AnnotatedWorkload {
            object: before.object.clone(),
            before: before.replicas,
            now,
            command,
            annotations,
            zone,
            replaced,
            inherited_override: self.inherited_override(command, observed, spec),
        })))
    }

    /// The action for this object and the time zone of its schedule; `None` if there is nothing to do.
    fn command(
        &self,
        observed: &Observed,
        spec: Option<&ScheduleSpec>,
    ) -> Result<Option<(SyncAction, Zone)>, RequestError> {
        match &self.requested {
            _ if observed.deleting => Err(OverrideError::Deleting.into()),
            _ if observed.labels.are_from_later_version() => {
                Err(OverrideError::LaterVersion.into())
            }
            RequestedOverride::Sync => self.sync(observed, spec),
            _ => {
                let is_end = matches!(self.requested, RequestedOverride::Resume);
                if is_end && let Some(origin) = self.held_by(observed, spec) {
                    let namespace = observed.object.namespace.clone();
                    return Err(OverrideError::held_by(origin, namespace).into());
                }
                let (command, zone) = match spec.filter(|_| !is_end) {
                    Some(spec) => self.command_in(|probe| probe.zone_of(spec, self.now))?,
                    None => self.command_for_inputs(&observed.scheduled_inputs())?,
                };
                Ok(Some((SyncAction::Command(command), zone)))
            }
        }
    }

    /// The override command for an object with these annotations, and the time zone of its schedule.
    pub(crate) fn command_for_inputs(
        &self,
        inputs: &Inputs,
    ) -> Result<(OverrideCommand, Zone), RequestError> {
        self.command_in(|probe| probe.zone(inputs, &self.context, self.now))
    }

    /// The override command in the time zone that this function finds for it.
    fn command_in(
        &self,
        zone: impl FnOnce(OverrideCommand) -> Result<Zone, OverrideError>,
    ) -> Result<(OverrideCommand, Zone), RequestError> {
        // The end of the override depends on the time zone, and the time zone does not depend on the
        // override. So the time zone is found with a placeholder.
        let probe = self
            .requested
            .command_at(|_| Ok(DateTime::<Utc>::MAX_UTC))?;
        let zone = zone(probe)?;
        let command = self
            .requested
            .command_at(|until| until.in_zone(zone, self.now))?;
        Ok((command, zone))
    }

    /// The reason to write with a command. That of `sync` marks its overrides, so that the overrides
    /// of a Namespace can replace them.
    pub(crate) fn written_reason(&self, command: OverrideCommand) -> Option<&str> {
        match (&self.requested, command) {
            (_, OverrideCommand::Resume) => None,
            (RequestedOverride::Sync, _) => Some(SYNC_REASON),
            _ => self.reason.as_deref(),
        }
    }

    /// The active override that a command replaces. One of another kind does not count as shortened.
    ///
    /// # Errors
    /// If it is of the same kind and ends later, unless the request may shorten it or `sync` wrote it.
    pub(crate) fn replaced(
        &self,
        (inputs, spec): (&Inputs, Option<&ScheduleSpec>),
        command: OverrideCommand,
        zone: Zone,
    ) -> Result<Option<ReplacedOverride>, RequestError> {
        let Some(new) = command.begun() else {
            return Ok(None);
        };
        if !Key::OVERRIDES.iter().any(|key| inputs.own().has(*key)) {
            return Ok(None);
        }
        let spec = self.known_or_read(inputs, spec);
        let Some(active) = spec.and_then(|spec| spec.overrides.own.at(self.now)) else {
            return Ok(None);
        };
        let is_same_kind = mem::discriminant(&active) == mem::discriminant(&new);
        if is_same_kind && active.until() == new.until() {
            return Ok(None);
        }
        let mut author = inputs.author(Origin::Own);
        if author.is_sync() && matches!(active, Override::Pause(_)) {
            // `sync` never pauses, so its reason was written for an earlier override.
            author.reason = None;
        }
        let words = active_text(active, &author, zone, self.now);
        let is_earlier = match (new.until(), active.until()) {
            (Some(_), None) => true,
            (Some(new), Some(active)) => new < active,
            (None, _) => false,
        };
        let is_shortened = is_same_kind && is_earlier && !author.is_sync();
        if is_shortened && self.shorten == Shorten::Forbidden {
            return Err(RequestError::Shortens(format!("it is {words}")));
        }
        Ok(Some(ReplacedOverride {
            text: format!("was {words}"),
            is_shortened,
            former: FormerOverride {
                over: active,
                requests: match requests_ignored_until(inputs, zone, self.now) {
                    Some(_) => RequestWakes::Ignored,
                    None => RequestWakes::Allowed,
                },
                reason: inputs.author(Origin::Own).reason,
            },
        }))
    }

    /// The override of the team or the Namespace that applies after a resume.
    fn inherited_override(
        &self,
        command: OverrideCommand,
        observed: &Observed,
        spec: Option<&ScheduleSpec>,
    ) -> Option<(Origin, Override)> {
        if command != OverrideCommand::Resume {
            return None;
        }
        let spec = self.known_or_read(&observed.inputs, spec)?;
        spec.overrides.inherited_at(self.now)
    }

    /// The place of the override that an object inherits, if it has none of its own to end.
    fn held_by(&self, observed: &Observed, spec: Option<&ScheduleSpec>) -> Option<Origin> {
        let spec = self.known_or_read(&observed.inputs, spec)?;
        let overrides = &spec.overrides;
        let (origin, _) = overrides.inherited_at(self.now)?;
        overrides.own_keys().is_empty().then_some(origin)
    }

    fn sync(
        &self,
        observed: &Observed,
        spec: Option<&ScheduleSpec>,
    ) -> Result<Option<(SyncAction, Zone)>, RequestError> {
        let sync_to = |spec: &ScheduleSpec| {
            let sync = SyncAction::plan(spec, observed, self.now)?;
            Ok::<_, RequestError>(sync.map(|sync| (sync, spec.schedule.zone())))
        };
        if let Some(spec) = spec {
            return sync_to(spec);
        }
        match read(&observed.inputs, &self.context) {
            ParsedInputs::Unscheduled if observed.phase().is_some() => {
                Err(OverrideError::ScheduleNotSeen.into())
            }
            ParsedInputs::Unscheduled => Err(OverrideError::NoSchedule.into()),
            ParsedInputs::Invalid(refusal) => Err(OverrideError::Rejected(refusal).into()),
            ParsedInputs::Scheduled(spec) => sync_to(&spec),
        }
    }

    /// The known schedule, or that of these annotations if it is valid.
    fn known_or_read<'s>(
        &self,
        inputs: &Inputs,
        known: Option<&'s ScheduleSpec>,
    ) -> Option<Cow<'s, ScheduleSpec>> {
        let read = || read(inputs, &self.context).into_spec();
        known.map(Cow::Borrowed).or_else(|| read().map(Cow::Owned))
    }
}

impl Retry for RequestError {
    fn is_retriable(&self) -> bool {
        match self {
            Self::Patch(error) => error.is_retriable(),
            Self::Read(error) => error.is_retriable(),
            _ => false,
        }
    }
}

impl RequestError {
    /// Whether the object is being deleted or no longer exists.
    pub const fn is_gone(&self) -> bool {
        matches!(
            self,
            Self::NotRestored(NotRestored::Deleting)
                | Self::Patch(PatchError::Gone)
                | Self::Read(ReadError::Gone)
        )
    }

    /// Whether the error concerns the object or the request, and not the cluster or missing flags.
    pub const fn is_refusal(&self) -> bool {
        !matches!(
            self,
            Self::Patch(_) | Self::Read(_) | Self::MissingKindDefinition(_)
        )
    }
}

/// Whether the kind is watched only if `--kinds` names it, and no controller has observed the object. An
/// override would stay on it without an effect.
fn is_unwatched(observed: &Observed) -> bool {
    let is_asked_for = !Kind::DEFAULT.contains(&observed.object.kind);
    is_asked_for && observed.phase().is_none() && observed.error.is_none()
}

/// A difference between an object and its preview.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("changed since your preview: {0}")]
pub struct ChangedSincePreview(pub(crate) String);

/// Compares an object with its preview: its UID, and the annotations that apply to it, own or inherited.
///
/// # Errors
/// If they differ; the error names the difference.
pub fn changed_since(
    before: &Observed,
    now: &Observed,
    prefix: &Prefix,
) -> Result<(), ChangedSincePreview> {
    if before.object.uid != now.object.uid {
        return Err(ChangedSincePreview(
            "another object has that name".to_owned(),
        ));
    }
    if now.deleting && !before.deleting {
        return Err(ChangedSincePreview("it is being deleted".to_owned()));
    }
    let place = |inputs: &Inputs, key| {
        inputs
            .origin(key)
            .map(|origin| (origin, inputs.text(key).map(str::to_owned)))
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
