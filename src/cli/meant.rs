//! The live Deployments that a command is to write to, as it finds them.

use kube::Client;

use crate::{
    cli::{args::targets::Targets, exit::Exit, output::messages::complain},
    cluster::{Deployment, FindError, Query, find},
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
        let found = find::<Deployment>(client, &query).await?;
        let mut meant = Self {
            observed: Vec::new(),
            query,
            exit: Exit::Done,
        };
        for missing in &found.missing {
            complain(missing);
            meant.exit = Exit::CouldNotRun;
        }
        let observed = found.deployments.iter().map(|it| it.observe(prefix));
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
        match self.query {
            Query::All {
                namespace: None, ..
            } => format!("deployment.apps/{} in {}", object.name, object.namespace),
            _ => format!("deployment.apps/{}", object.name),
        }
    }
}
