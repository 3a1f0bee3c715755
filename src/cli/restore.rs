//! `dayshift restore`: what it does.

use chrono::{DateTime, Utc};
use futures::{StreamExt as _, stream};
use kube::Client;

use crate::{
    cli::{
        args::targets::Targets,
        exit::Exit,
        meant::Meant,
        output::{
            messages::{complain, remark, say},
            progress::Progress,
        },
        retry::{AT_ONCE, Retry, retry},
    },
    cluster::{FindError, PatchError, ReadError, Writer},
    workload::{Label, NotRestored, Observed, Prefix, Replicas, restored},
};

/// On what it is carried out, and how.
#[derive(Clone, Debug)]
pub(super) struct Restore {
    pub(super) targets: Targets,
    pub(super) prefix: Prefix,
    pub(super) now: DateTime<Utc>,
    pub(super) dry_run: bool,
}

/// Why one object is left as it is.
#[derive(Debug, thiserror::Error)]
enum Left {
    #[error("{0}")]
    Not(#[from] NotRestored),
    #[error("{0}")]
    Patch(#[from] PatchError),
    #[error("{0}")]
    Read(#[from] ReadError),
}

/// The counts before and after; none where nothing was to be done.
type Counts = Option<(Replicas, Replicas)>;

impl Restore {
    /// Brings each Deployment up to its saved count.
    pub(super) async fn carry_out(self, client: Client) -> Result<Exit, FindError> {
        let has_saved = |it: &Observed| it.labels.text(Label::SavedReplicas).is_some();
        let meant = Meant::find(&self.targets, &client, &self.prefix, has_saved).await?;
        let (mut exit, named) = (meant.exit, meant.are_named());
        let writer = Writer::new(client.clone(), self.prefix.clone(), "dayshift".to_owned());
        let mut answers = stream::iter(&meant.observed)
            .map(async |observed: &Observed| (observed, self.restore(&writer, observed).await))
            .buffered(AT_ONCE);
        let mut progress = Progress::new();
        let (mut done, mut scheduled, mut quiet) = (0, false, exit == Exit::Done);
        while let Some((observed, answer)) = answers.next().await {
            let subject = meant.subject(observed);
            done += 1;
            progress.clear();
            match answer {
                Ok(Some((before, after))) => {
                    let dry = if self.dry_run { " (dry run)" } else { "" };
                    say(&format!("{subject} restored, {before} -> {after}{dry}"));
                    scheduled |= observed.inputs.has_schedule();
                    quiet = false;
                }
                Ok(None) if named => {
                    say(&format!("{subject} unchanged"));
                    quiet = false;
                }
                Ok(None) => {}
                Err(error) if error.is_of_one_that_goes() && !named => {}
                Err(error) => {
                    complain(&format!("{subject}: not restored: {error}"));
                    exit = exit.worse(error.exit());
                    quiet = false;
                }
            }
            progress.say(&format!("restoring: {done} of {}", meant.observed.len()));
        }
        progress.clear();
        if quiet {
            say(&format!("nothing to restore in {}", meant.query.place()));
        }
        if scheduled && !self.dry_run {
            remark("where a dayshift runs, it acts again at the next boundary");
        }
        Ok(exit)
    }

    async fn restore(&self, writer: &Writer, before: &Observed) -> Result<Counts, Left> {
        retry(writer, before, &self.prefix, async |observed| {
            let Some(change) = restored(observed, self.now)? else {
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

impl Retry for Left {
    fn is_worth_another_try(&self) -> bool {
        matches!(self, Self::Patch(error) if error.is_worth_another_try())
    }
}

impl Left {
    /// Where all are meant, those that go are not.
    const fn is_of_one_that_goes(&self) -> bool {
        matches!(
            self,
            Self::Not(NotRestored::Deleting)
                | Self::Patch(PatchError::Gone)
                | Self::Read(ReadError::Gone)
        )
    }

    const fn exit(&self) -> Exit {
        match self {
            Self::Not(_) => Exit::Problems,
            Self::Patch(_) | Self::Read(_) => Exit::CouldNotRun,
        }
    }
}
