//! Bringing workloads up to their saved counts without a controller.

use chrono::{DateTime, Utc};
use dayshift_workload::{InvalidSchedule, NotRestored, Observed, Prefix, Replicas, plan_restore};
use futures::{StreamExt as _, stream};
use kube::Client;

use super::{
    retry::{AT_ONCE, Retry, retry},
    selection::Selection,
};
use crate::cluster::{PatchError, ReadError, Writer};

/// How workloads are restored.
#[derive(Clone, Debug)]
pub struct Restore {
    /// What stands before the slash in annotations and labels.
    pub prefix: Prefix,
    /// The time of the request.
    pub now: DateTime<Utc>,
    /// Whether nothing is written.
    pub dry_run: bool,
}

/// Why one object is not restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// Its state does not allow it.
    #[error("{0}")]
    Not(#[from] NotRestored),
    /// No row says where it has its switch.
    #[error("{0}")]
    MissingRow(InvalidSchedule),
    /// The count could not be written.
    #[error("{0}")]
    Patch(#[from] PatchError),
    /// The object could not be read again.
    #[error("{0}")]
    Read(#[from] ReadError),
}

/// The counts before and after; `None` where there was nothing to do.
pub type RestoredCounts = Option<(Replicas, Replicas)>;

impl Restore {
    /// Brings each workload up to its saved count, and reports what came of each in their order.
    pub async fn restore(
        &self,
        client: &Client,
        selection: &Selection,
        mut report: impl FnMut(&Observed, Result<RestoredCounts, RestoreError>),
    ) {
        let writer = Writer::of_command(client.clone(), self.prefix.clone());
        let mut answers = stream::iter(&selection.observed)
            .map(async |observed: &Observed| {
                let restored = self.one(&writer, observed, selection).await;
                (observed, restored)
            })
            .buffered(AT_ONCE);
        while let Some((observed, answer)) = answers.next().await {
            report(observed, answer);
        }
    }

    async fn one(
        &self,
        writer: &Writer,
        before: &Observed,
        selection: &Selection,
    ) -> Result<RestoredCounts, RestoreError> {
        let read = async || selection.read(writer, &before.object, &self.prefix).await;
        retry(before, read, async |observed| {
            if let Some(refusal) = observed.missing_row() {
                return Err(RestoreError::MissingRow(refusal));
            }
            let Some(change) = plan_restore(observed, self.now)? else {
                return Ok(None);
            };
            if !self.dry_run {
                writer.patch(observed, &change).await?;
            }
            Ok(Some((observed.replicas, change.replicas)))
        })
        .await
    }
}

impl Retry for RestoreError {
    fn is_worth_another_try(&self) -> bool {
        match self {
            Self::Patch(error) => error.is_worth_another_try(),
            Self::Read(error) => error.is_worth_another_try(),
            Self::Not(_) | Self::MissingRow(_) => false,
        }
    }
}

impl RestoreError {
    /// Whether the object is being deleted, or is gone.
    pub const fn is_of_deleted(&self) -> bool {
        matches!(
            self,
            Self::Not(NotRestored::Deleting)
                | Self::Patch(PatchError::Gone)
                | Self::Read(ReadError::Gone)
        )
    }

    /// Whether it is about the object, and not about the cluster or what the program was not told.
    pub const fn is_refusal(&self) -> bool {
        matches!(self, Self::Not(_))
    }
}
