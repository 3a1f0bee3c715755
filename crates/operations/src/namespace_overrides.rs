//! Asking for an override of everything in a namespace, by annotations of the Namespace.

use dayshift_schedule::Zone;
use dayshift_text::counted;
use dayshift_workload::{
    AnnotationChange, Annotations, Inputs, Observed, Origin, OverrideCommand, ParsedInputs,
    ScheduleSpec, read,
};
use kube::Client;

use dayshift_cluster::{
    Query, Workload, Writer,
    read::{FindError, NamespaceDefaults, ObservedNamespace, find},
    write::{PatchError, ReadError},
};

use crate::overrides::ChangedSincePreview;
use crate::overrides::expect_unchanged;
use crate::{
    overrides::{AnnotatedWorkload, OverrideRequest, RequestError},
    selection::{Retry, retry},
    status::unreadable::Unreadable,
};
use dayshift_workload::Key;
use dayshift_workload::Prefix;
use dayshift_workload::WorkloadRef;
use std::collections::HashSet;

/// Why an override cannot be requested of a namespace.
#[derive(Debug, thiserror::Error)]
pub enum NamespaceError {
    /// The Namespace does not exist.
    #[error("the namespace does not exist")]
    Missing,
    /// Nothing in it has a schedule.
    #[error("no workload in it has a schedule")]
    NothingScheduled,
    /// The Namespace could not be read.
    #[error("the Namespace cannot be read: {0}")]
    Read(ReadError),
    /// The annotations of the Namespace do not allow it, or the end is not a time to come.
    #[error("{0}")]
    Request(#[from] RequestError),
    /// The Namespace could not be written.
    #[error("the Namespace cannot be patched: {0}")]
    Patch(#[from] PatchError),
    /// The workloads in it could not be read.
    #[error("{0}")]
    Find(#[from] FindError),
}

/// What a request did to a Namespace.
#[derive(Clone, Debug)]
pub struct AnnotatedNamespace {
    /// What is requested.
    pub command: OverrideCommand,
    /// The annotations that were or would be written, `None` for those that are removed.
    pub annotations: Vec<AnnotationChange>,
    /// The zone of its local times.
    pub zone: Zone,
    /// Those that stood on the Namespace before.
    pub own: Annotations,
    /// The workloads that have to obey.
    pub affected: Vec<AnnotatedWorkload>,
    /// The workloads in it that may be read.
    pub query: Query,
    /// What may not be read of them: an override of the Namespace holds for it, too.
    pub unreadable: Vec<Unreadable>,
    /// How many have overrides of their own, which come first.
    pub kept: usize,
    /// What the Namespace gives now.
    pub defaults: NamespaceDefaults,
}

impl AnnotatedNamespace {
    /// `; 2 workloads with an override of its own`, where there are any.
    pub fn kept_text(&self) -> String {
        match self.kept {
            0 => String::new(),
            kept => format!(
                "; {} with an override of its own",
                counted(kept, "workload")
            ),
        }
    }
}

impl OverrideRequest {
    /// Writes the annotations on a Namespace, if it still comes to what was `previewed` where
    /// somebody has been shown that; on a dry run, only says which. `query` finds the workloads in
    /// it.
    ///
    /// # Errors
    /// Where nothing in it has a schedule, its annotations do not allow it, it is not what was
    /// previewed, or the server is absent or unwilling.
    pub async fn send_to_namespace(
        &self,
        client: &Client,
        name: &str,
        query: &Query,
        previewed: Option<&AnnotatedNamespace>,
    ) -> Result<AnnotatedNamespace, NamespaceError> {
        let writer = Writer::of_command(client.clone(), self.prefix.clone());
        let namespace = writer.read_namespace(name).await?;
        let (found, refused) = find::<Workload>(client, query).await?;
        let of = |defaults: &NamespaceDefaults| -> Vec<Observed> {
            let observed = found.workloads.iter();
            observed
                .map(|(kind, it)| defaults.applied(it.observe(*kind, &self.prefix)))
                .collect()
        };
        let read = async || writer.read_namespace(name).await;
        retry(&namespace, read, async |namespace| {
            let observed = ObservedNamespace::of(namespace, &self.prefix);
            let defaults = NamespaceDefaults::known(&observed);
            if !of(&defaults).iter().any(|it| self.spec(it).is_some()) {
                let first = refused.first();
                return Err(first.map_or(NamespaceError::NothingScheduled, |it| {
                    it.error.clone().into()
                }));
            }
            // Without a schedule it may well override those of what is in it.
            let own = observed.annotations;
            let inputs = Inputs::from_own(own.clone().into()).or_always_on();
            let (command, zone) = self.of_inputs(&inputs)?;
            let mut annotated = AnnotatedNamespace {
                command,
                annotations: command.signed(&inputs, zone, self.reason.as_deref()),
                zone,
                own,
                affected: Vec::new(),
                query: query.without(&refused),
                unreadable: Unreadable::workloads(query, &refused, "not seen"),
                kept: 0,
                defaults,
            };
            let all = of(&annotated.defaults);
            self.find_affected(&mut annotated, all);
            if let Some(previewed) = previewed {
                namespace_changed_since(previewed, &annotated, &self.prefix)
                    .map_err(RequestError::from)?;
            }
            if self.dry_run || annotated.annotations.is_empty() {
                return Ok(annotated);
            }
            let written = writer
                .annotate_namespace(namespace, &annotated.annotations)
                .await?;
            let now = ObservedNamespace::of(&written, &self.prefix);
            annotated.defaults = NamespaceDefaults::known(&now);
            let all = of(&annotated.defaults);
            self.find_affected(&mut annotated, all);
            Ok(annotated)
        })
        .await
    }

    /// Finds the workloads that have to obey.
    fn find_affected(&self, to: &mut AnnotatedNamespace, all: Vec<Observed>) {
        to.affected.clear();
        to.kept = 0;
        for observed in all {
            if let Some(spec) = self.spec(&observed) {
                self.add(to, &spec, observed);
            }
        }
    }

    /// Adds a workload to those that have to obey, unless an override of its own comes first.
    fn add(&self, to: &mut AnnotatedNamespace, spec: &ScheduleSpec, observed: Observed) {
        let overrides = observed.overrides(spec, &observed.state(), self.now);
        if let Some((Origin::Own, _)) = overrides.with_origin_at(self.now) {
            to.kept += 1;
            return;
        }
        to.affected.push(AnnotatedWorkload {
            object: observed.object.clone(),
            before: observed.replicas,
            now: observed,
            command: to.command,
            annotations: Vec::new(),
            zone: spec.schedule.zone(),
            then_held: None,
        });
    }

    /// What an object is asked for, if it has a good schedule and is not being deleted.
    fn spec(&self, observed: &Observed) -> Option<ScheduleSpec> {
        if observed.deleting {
            return None;
        }
        match read(&observed.scheduled_inputs(), &self.context) {
            ParsedInputs::Scheduled(spec) => Some(spec),
            ParsedInputs::Unscheduled | ParsedInputs::Invalid(_) => None,
        }
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
    fn is_worth_another_try(&self) -> bool {
        match self {
            Self::Patch(error) => error.is_worth_another_try(),
            Self::Read(error) => error.is_worth_another_try(),
            Self::Missing | Self::NothingScheduled | Self::Request(_) | Self::Find(_) => false,
        }
    }
}

impl NamespaceError {
    /// Whether it is about the Namespace or the request, and not about the cluster.
    pub const fn is_refusal(&self) -> bool {
        match self {
            Self::NothingScheduled => true,
            Self::Request(error) => error.is_refusal(),
            Self::Missing | Self::Read(_) | Self::Patch(_) | Self::Find(_) => false,
        }
    }

    /// Whether the user may not patch Namespaces.
    pub const fn is_forbidden(&self) -> bool {
        matches!(self, Self::Patch(PatchError::Forbidden(_)))
    }
}

/// The same of the annotations of a Namespace, and of the workloads that an override of it reaches.
///
/// # Errors
/// What has changed.
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
        (Some(more), _) => Err(ChangedSincePreview(format!("it would reach {more} too"))),
        (None, Some(less)) => Err(ChangedSincePreview(format!(
            "it would not reach {less} any more"
        ))),
        (None, None) => Ok(()),
    }
}

fn reached(namespace: &AnnotatedNamespace) -> HashSet<&WorkloadRef> {
    namespace.affected.iter().map(|it| &it.object).collect()
}
