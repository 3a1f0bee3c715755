//! The live Deployments that a command is to write to, as it finds them.

use kube::Client;

use super::{exit::Exit, say::complain, targets::Targets};
use crate::{
    cluster::{FindError, Query, Workload, find},
    workload::{Observed, Prefix},
};

/// The Deployments that are meant.
pub(super) struct Meant {
    pub(super) observed: Vec<Observed>,
    pub(super) query: Query,
    /// What the command ends with if all else goes well: a Deployment that was named may be
    /// missing.
    pub(super) exit: Exit,
}

impl Meant {
    /// Looks for them, and complains of those that are named and missing. Where none is named,
    /// `is_one` says whom the user means.
    pub(super) async fn find(
        targets: &Targets,
        client: &Client,
        prefix: &Prefix,
        is_one: impl Fn(&Observed) -> bool,
    ) -> Result<Self, FindError> {
        let query = targets.query(client.default_namespace());
        let found = find::<Workload>(client, &query).await?;
        let mut meant = Self {
            observed: Vec::new(),
            query,
            exit: Exit::Done,
        };
        for missing in &found.missing {
            complain(missing);
            meant.exit = Exit::CouldNotRun;
        }
        let workloads = found.workloads.iter();
        let observed = workloads.map(|(kind, it)| it.observe(*kind, prefix));
        let named = meant.are_named();
        meant.observed = observed.filter(|it| named || is_one(it)).collect();
        Ok(meant)
    }

    /// Whether each was named.
    pub(super) const fn are_named(&self) -> bool {
        matches!(self.query, Query::Named { .. })
    }

    /// `deployment.apps/web`, with its namespace where several are looked through.
    pub(super) fn subject(&self, observed: &Observed) -> String {
        let object = &observed.object;
        let (kind, name) = (object.kind, &object.name);
        let subject = format!("{}.{}/{name}", kind.singular(), kind.group());
        match self.query {
            Query::All {
                namespace: None, ..
            } => format!("{subject} in {}", object.namespace),
            _ => subject,
        }
    }
}
