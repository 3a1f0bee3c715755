//! Overrides of all workloads in a namespace, by annotations of the Namespace or in the ConfigMap of its team.

use std::collections::HashSet;

use dayshift_cluster::{
    Query, Workload, Writer,
    read::{
        FindError, NamespaceDefaults, NamespaceMeta, ObservedNamespace, WholeTeamDefaults, find,
    },
    write::{PatchError, ReadError},
};
use dayshift_schedule::Zone;
use dayshift_workload::{
    AnnotationChange, Annotations, Inputs, Key, Observed, Origin, Override, OverrideCommand,
    Prefix, ScheduleSpec, TEAM_CONFIG_MAP, WorkloadRef, read,
};
use futures::{StreamExt as _, stream};
use kube::Client;

use crate::{
    overrides::{
        AnnotatedWorkload, ChangedSincePreview, OverrideRequest, ReplacedOverride, RequestError,
        RequestedOverride, expect_unchanged,
    },
    selection::{AT_ONCE, Retry, retry},
    status::unreadable::Unreadable,
};

/// Why an override of a namespace cannot be requested.
#[derive(Debug, thiserror::Error)]
pub enum NamespaceError {
    /// The Namespace does not exist.
    #[error("the namespace does not exist")]
    Missing,
    /// No workload in it has a schedule.
    #[error("no workload in it has a schedule")]
    NothingScheduled,
    /// The Namespace could not be read.
    #[error("the Namespace cannot be read: {0}")]
    Read(ReadError),
    /// The annotations of the Namespace do not allow it, or the end is not in the future.
    #[error("{0}")]
    Request(#[from] RequestError),
    /// The Namespace could not be written.
    #[error("the Namespace cannot be patched: {0}")]
    Patch(#[from] PatchError),
    /// The ConfigMap of the team could not be read.
    #[error("the ConfigMap {TEAM_CONFIG_MAP} cannot be read: {0}")]
    ReadTeam(ReadError),
    /// The ConfigMap of the team could not be written.
    #[error("the ConfigMap {TEAM_CONFIG_MAP} cannot be written: {0}")]
    WriteTeam(PatchError),
    /// The workloads in it could not be read.
    #[error("{0}")]
    Find(#[from] FindError),
}

/// The object on which an override of all workloads in a namespace is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultsOwner {
    /// The Namespace.
    Namespace,
    /// The ConfigMap of the team, which is created if it does not exist.
    Team,
}

/// That object, as it was read.
enum DefaultsObject {
    Namespace(NamespaceMeta),
    Team(Option<WholeTeamDefaults>),
}

impl DefaultsOwner {
    /// The namespace in messages, such as `namespace/dev`.
    pub(crate) fn subject(self, namespace: &str) -> String {
        match self {
            Self::Namespace => format!("namespace/{namespace}"),
            Self::Team => format!("team/{namespace}"),
        }
    }

    async fn read(
        self,
        writer: &Writer,
        namespace: &str,
    ) -> Result<DefaultsObject, NamespaceError> {
        match self {
            Self::Namespace => {
                let read = writer.read_namespace(namespace).await?;
                Ok(DefaultsObject::Namespace(read))
            }
            Self::Team => {
                let read = writer.read_team_defaults(namespace).await;
                read.map(DefaultsObject::Team)
                    .map_err(NamespaceError::ReadTeam)
            }
        }
    }
}

impl DefaultsObject {
    /// Its values, and the defaults that workloads inherit from it.
    fn values(&self, namespace: &str, prefix: &Prefix) -> (Annotations, NamespaceDefaults) {
        match self {
            Self::Namespace(object) => {
                let observed = ObservedNamespace::new(object, prefix);
                let defaults = NamespaceDefaults::known(&observed);
                (observed.annotations, defaults)
            }
            Self::Team(object) => {
                let values = object.as_ref().map(WholeTeamDefaults::annotations);
                let values = values.unwrap_or_default();
                let defaults = NamespaceDefaults::of_team(namespace, &values.clone().into());
                (values, defaults)
            }
        }
    }

    /// Writes changes, and returns the defaults after them.
    async fn write(
        &self,
        writer: &Writer,
        namespace: &str,
        changes: &[AnnotationChange],
        prefix: &Prefix,
    ) -> Result<NamespaceDefaults, NamespaceError> {
        let written = match self {
            Self::Namespace(object) => {
                let written = writer.annotate_namespace(object, changes).await;
                Self::Namespace(written.map_err(NamespaceError::Patch)?)
            }
            Self::Team(object) => {
                let object = object.as_ref();
                let written = writer.write_team_defaults(namespace, object, changes).await;
                Self::Team(Some(written.map_err(|error| match (object, error) {
                    // The API server does not find the namespace of the new object.
                    (None, PatchError::Gone) => NamespaceError::Missing,
                    (_, error) => NamespaceError::WriteTeam(error),
                })?))
            }
        };
        Ok(written.values(namespace, prefix).1)
    }
}

/// The result of a request for a Namespace or a team.
#[derive(Clone, Debug)]
pub struct AnnotatedNamespace {
    /// The object that was written, or would be.
    pub owner: DefaultsOwner,
    /// The requested override.
    pub command: OverrideCommand,
    /// The annotations that were written, or would be on a dry run; `None` for a removal.
    pub annotations: Vec<AnnotationChange>,
    /// The active override of the Namespace that the request replaces.
    pub replaced: Option<ReplacedOverride>,
    /// The time zone of its local times.
    pub zone: Zone,
    /// The annotations of the Namespace before the request.
    pub own: Annotations,
    /// The workloads to which the override applies.
    pub affected: Vec<AnnotatedWorkload>,
    /// The readable workloads in the namespace.
    pub query: Query,
    /// The unreadable workloads, to which the override applies too.
    pub unreadable: Vec<Unreadable>,
    /// The number of workloads that have overrides of their own, which take precedence.
    pub kept: usize,
    /// The defaults of the Namespace after the request.
    pub defaults: NamespaceDefaults,
}

impl AnnotatedNamespace {
    /// The number of all workloads with a schedule.
    pub fn scheduled(&self) -> usize {
        self.affected.len() + self.kept
    }

    /// Whether the request has no effect, because each workload has an override of its own and the
    /// Namespace had none to end.
    pub fn is_without_effect(&self) -> bool {
        let ends_override = self.command == OverrideCommand::Resume && !self.annotations.is_empty();
        self.affected.is_empty() && self.kept > 0 && !ends_override
    }

    /// For example `; 2 have an override of their own: `dayshift wake --all -n dev``, if there are any.
    pub fn kept_text(&self, name: &str) -> String {
        let command = self.command.begun().map_or("resume", Override::command);
        let has = if self.kept == 1 {
            "has an override of its own"
        } else {
            "have an override of their own"
        };
        match self.kept {
            0 => String::new(),
            kept => format!("; {kept} {has}: `dayshift {command} --all -n {name}`"),
        }
    }
}

impl OverrideRequest {
    /// Annotates a Namespace, or writes the ConfigMap of its team. If the user has seen a preview, the effect
    /// must still be the same. On a dry run, nothing is written. `query` selects the workloads in the
    /// namespace.
    ///
    /// # Errors
    /// If no workload in it has a schedule, its annotations do not allow the override, the effect
    /// differs from the preview, or the API server cannot be reached or fails.
    pub async fn send_to_namespace(
        &self,
        client: &Client,
        (owner, name): (DefaultsOwner, &str),
        query: &Query,
        previewed: Option<&AnnotatedNamespace>,
    ) -> Result<AnnotatedNamespace, NamespaceError> {
        let request = self.for_namespace(name);
        let writer = Writer::for_command(client.clone(), request.prefix.clone());
        let object = owner.read(&writer, name).await?;
        let (found, unreadable_parts) = find::<Workload>(client, query).await?;
        let of = |defaults: &NamespaceDefaults| -> Vec<Observed> {
            let observed = found
                .iter()
                .map(|(kind, found)| found.observe(kind, &request.prefix));
            observed
                .map(|observed| defaults.applied(observed))
                .collect()
        };
        let read = async || owner.read(&writer, name).await;
        retry(&object, read, async |object| {
            let (own, defaults) = object.values(name, &request.prefix);
            let all = of(&defaults);
            if all.iter().all(|observed| request.spec(observed).is_none()) {
                return Err(match unreadable_parts.first() {
                    Some(unreadable) => unreadable.error.clone().into(),
                    None => NamespaceError::NothingScheduled,
                });
            }
            // A Namespace without a schedule can still override the schedules of its workloads.
            let inputs = Inputs::from_own(own.clone().into()).or_always_on();
            let (command, zone) = request.command_for_inputs(&inputs)?;
            let mut annotated = AnnotatedNamespace {
                owner,
                command,
                annotations: command.signed(&inputs, zone, request.written_reason(command)),
                replaced: request.replaced((&inputs, None), command, zone)?,
                zone,
                own,
                affected: Vec::new(),
                query: query.without(&unreadable_parts),
                unreadable: Unreadable::workloads(query, &unreadable_parts, "not seen"),
                kept: 0,
                defaults,
            };
            request.find_affected(&mut annotated, all);
            if let Some(previewed) = previewed {
                namespace_changed_since(previewed, &annotated, &request.prefix)
                    .map_err(RequestError::from)?;
            }
            if request.dry_run || annotated.annotations.is_empty() {
                return Ok(annotated);
            }
            let changes = &annotated.annotations;
            annotated.defaults = object
                .write(&writer, name, changes, &request.prefix)
                .await?;
            let all = of(&annotated.defaults);
            let all = request.end_synced(&writer, &annotated.defaults, all).await;
            request.find_affected(&mut annotated, all);
            Ok(annotated)
        })
        .await
    }

    /// Ends the overrides that `sync` has written on these workloads, so that the Namespace override
    /// applies to them too. A workload that cannot be changed keeps its override.
    async fn end_synced(
        &self,
        writer: &Writer,
        defaults: &NamespaceDefaults,
        all: Vec<Observed>,
    ) -> Vec<Observed> {
        let ended = all.into_iter().map(async |observed| {
            if !self.is_synced(&observed) {
                return observed;
            }
            let zone = self.context.default_zone;
            let changes = OverrideCommand::Resume.signed(&observed.inputs, zone, None);
            match writer.annotate(&observed, &changes).await {
                Ok(written) => {
                    defaults.applied(written.observe(&observed.object.kind, &self.prefix))
                }
                Err(_) => observed,
            }
        });
        stream::iter(ended).buffered(AT_ONCE).collect().await
    }

    /// Whether the workload's override was written by `sync`, so that the request replaces it. A resume
    /// replaces none.
    fn is_synced(&self, observed: &Observed) -> bool {
        let is_ended = !matches!(self.requested, RequestedOverride::Resume);
        let own = observed.inputs.own();
        let has_override = [Key::WakeUntil, Key::SleepUntil]
            .iter()
            .any(|key| own.has(*key));
        is_ended && has_override && observed.inputs.author(Origin::Own).is_sync()
    }

    /// Finds the workloads to which the override applies.
    fn find_affected(&self, to: &mut AnnotatedNamespace, all: Vec<Observed>) {
        to.affected.clear();
        to.kept = 0;
        for observed in all {
            if let Some(spec) = self.spec(&observed) {
                self.add(to, &spec, observed);
            }
        }
    }

    /// Adds a workload, unless an override of its own takes precedence.
    fn add(&self, to: &mut AnnotatedNamespace, spec: &ScheduleSpec, observed: Observed) {
        let overrides = observed.overrides(spec, &observed.state(), self.now);
        let is_kept = !(self.dry_run && self.is_synced(&observed));
        if let Some((Origin::Own, _)) = overrides.with_origin_at(self.now)
            && is_kept
        {
            to.kept += 1;
            return;
        }
        to.affected.push(AnnotatedWorkload {
            object: observed.object.clone(),
            before: observed.replicas,
            now: observed.into(),
            command: to.command,
            annotations: Vec::new(),
            zone: spec.schedule.zone(),
            replaced: None,
            inherited_override: None,
        });
    }

    /// The schedule of an object, if it is valid and the object is not being deleted.
    fn spec(&self, observed: &Observed) -> Option<ScheduleSpec> {
        if observed.deleting {
            return None;
        }
        read(&observed.scheduled_inputs(), &self.context).into_spec()
    }
}

impl From<ReadError> for NamespaceError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Gone => Self::Missing,
            error => Self::Read(error),
        }
    }
}

impl Retry for NamespaceError {
    fn is_retriable(&self) -> bool {
        match self {
            Self::Patch(error) | Self::WriteTeam(error) => error.is_retriable(),
            Self::Read(error) | Self::ReadTeam(error) => error.is_retriable(),
            _ => false,
        }
    }
}

impl NamespaceError {
    /// Whether the error concerns the Namespace or the request, and not the cluster.
    pub const fn is_refusal(&self) -> bool {
        match self {
            Self::NothingScheduled => true,
            Self::Request(error) => error.is_refusal(),
            _ => false,
        }
    }

    /// Whether the user may not patch the Namespace, or the ConfigMap of its team.
    pub const fn is_forbidden(&self) -> bool {
        matches!(
            self,
            Self::Patch(PatchError::Forbidden(_)) | Self::WriteTeam(PatchError::Forbidden(_))
        )
    }
}

/// Compares a Namespace with its preview: its annotations, and the workloads to which the override
/// applies.
///
/// # Errors
/// If they differ; the error names the difference.
pub(crate) fn namespace_changed_since(
    before: &AnnotatedNamespace,
    now: &AnnotatedNamespace,
    prefix: &Prefix,
) -> Result<(), ChangedSincePreview> {
    let text = |of: &Annotations, key| of.text(key).map(str::to_owned);
    let differs = |key: &Key| text(&before.own, *key) != text(&now.own, *key);
    expect_unchanged(
        Key::ALL.into_iter().filter(differs),
        |key| now.own.text(key),
        prefix,
    )?;
    let (before, now) = (reached(before), reached(now));
    let difference = |one: &HashSet<&WorkloadRef>, other: &HashSet<&WorkloadRef>| {
        one.difference(other).map(ToString::to_string).min()
    };
    match (difference(&now, &before), difference(&before, &now)) {
        (Some(more), _) => Err(ChangedSincePreview(format!("it would apply to {more} too"))),
        (None, Some(less)) => Err(ChangedSincePreview(format!(
            "it would no longer apply to {less}"
        ))),
        (None, None) => Ok(()),
    }
}

fn reached(namespace: &AnnotatedNamespace) -> HashSet<&WorkloadRef> {
    namespace
        .affected
        .iter()
        .map(|workload| &workload.object)
        .collect()
}
