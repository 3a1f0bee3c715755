//! `dayshift wake`, `sleep`, `pause` and `resume`: what they do.

use chrono::{DateTime, TimeDelta, Utc};
use futures::{StreamExt as _, stream};
use kube::Client;

use crate::{
    cli::{
        args::{
            targets::Targets,
            until::{Until, UntilError},
        },
        await_obeyed::{Told, await_obeyed},
        exit::Exit,
        meant::Meant,
        output::{
            messages::{complain, say},
            time_format::clock,
        },
        retry::{AT_ONCE, Retry, retry},
    },
    cluster::{FindError, PatchError, ReadError, Writer},
    schedule::Zone,
    workload::{Observed, Override, OverrideCommand, OverrideError, Pause, Prefix},
};

/// What a user wants, before it is known of which object.
#[derive(Clone, Debug)]
pub(super) enum Wish {
    Wake(Until),
    Sleep(Until),
    Pause(Option<Until>),
    Resume,
}

/// A wish, and on what and how it is carried out.
#[derive(Clone, Debug)]
pub(super) struct Order {
    pub(super) wish: Wish,
    pub(super) targets: Targets,
    pub(super) default_zone: Zone,
    pub(super) prefix: Prefix,
    pub(super) now: DateTime<Utc>,
    /// How long to wait for a controller; none to not wait.
    pub(super) timeout: Option<TimeDelta>,
    pub(super) dry_run: bool,
}

/// Why one object is not told.
#[derive(Debug, thiserror::Error)]
enum NotTold {
    #[error("{0}")]
    OverrideError(#[from] OverrideError),
    #[error("{0}")]
    Until(#[from] UntilError),
    #[error("{0}")]
    Patch(#[from] PatchError),
    #[error("{0}")]
    Read(#[from] ReadError),
}

/// What came of one object.
enum Done {
    /// It says already what it is to say.
    Unchanged,
    Told(Box<Told>),
}

impl Order {
    /// Tells each Deployment, and waits until each has obeyed.
    pub(super) async fn carry_out(self, client: Client) -> Result<Exit, FindError> {
        // Whoever says `--all` means those with a schedule.
        let has_schedule = |it: &Observed| it.inputs.has_schedule();
        let meant = Meant::find(&self.targets, &client, &self.prefix, has_schedule).await?;
        let mut exit = meant.exit;
        if meant.observed.is_empty() && exit == Exit::Done {
            complain(&format!(
                "no Deployment has a schedule in {}",
                meant.query.place()
            ));
            return Ok(Exit::Problems);
        }
        let writer = Writer::new(client.clone(), self.prefix.clone(), "dayshift".to_owned());
        let mut answers = stream::iter(&meant.observed)
            .map(async |observed: &Observed| (observed, self.tell(&writer, observed).await))
            .buffered(AT_ONCE);
        let mut told = Vec::new();
        while let Some((observed, answer)) = answers.next().await {
            let subject = meant.subject(observed);
            match answer {
                Ok(Done::Unchanged) => say(&format!("{subject} unchanged")),
                Ok(Done::Told(it)) => told.push((subject, *it)),
                Err(error) => {
                    complain(&format!("{subject}: {}{error}", self.failed()));
                    exit = exit.worse(error.exit());
                }
            }
        }
        drop(answers);
        if self.dry_run {
            for (subject, told) in told {
                say(&format!("{subject} {} (dry run)", self.annotated(&told)));
            }
            return Ok(exit);
        }
        let Some(timeout) = self.timeout else {
            for (subject, told) in told {
                say(&format!("{subject} {}", self.annotated(&told)));
            }
            return Ok(exit);
        };
        let waited = await_obeyed(&client, &meant.query, &self.prefix, timeout, told).await;
        Ok(exit.worse(waited))
    }

    /// Writes the annotations on one object, and again where that can help; on a dry run, only
    /// says which.
    async fn tell(&self, writer: &Writer, before: &Observed) -> Result<Done, NotTold> {
        retry(writer, before, &self.prefix, async |observed| {
            let (instruction, zone) = self.instruction(observed)?;
            let annotations = instruction.annotations(&observed.inputs, zone);
            let is_obeyed = instruction.is_obeyed(&observed.state());
            // The same text may have come back with when it began: then it does not count.
            let is_to_renew = !is_obeyed && observed.override_began.is_some();
            let changes = !annotations.is_empty() || is_to_renew;
            if !changes && (self.dry_run || is_obeyed) {
                return Ok(Done::Unchanged);
            }
            let now = if self.dry_run || !changes {
                observed.clone()
            } else {
                let written = writer.annotate(observed, &annotations).await?;
                written.observe(&self.prefix)
            };
            Ok(Done::Told(Box::new(Told {
                object: before.object.clone(),
                before: before.replicas,
                now,
                instruction,
                annotations,
                deed: self.deed(instruction, zone),
            })))
        })
        .await
    }

    fn instruction(&self, observed: &Observed) -> Result<(OverrideCommand, Zone), NotTold> {
        // The zone does not rest on what is wished, and the end of the wish rests on the zone.
        let probe = match &self.wish {
            Wish::Wake(_) => OverrideCommand::Begin(Override::Wake(DateTime::<Utc>::MAX_UTC)),
            Wish::Sleep(_) => OverrideCommand::Begin(Override::Sleep(DateTime::<Utc>::MAX_UTC)),
            Wish::Pause(_) => OverrideCommand::Begin(Override::Pause(Pause::Forever)),
            Wish::Resume => OverrideCommand::Resume,
        };
        let zone = probe.zone(&observed.inputs, self.default_zone, self.now)?;
        let at = |until: &Until| until.in_zone(zone, self.now);
        let begun = match &self.wish {
            Wish::Wake(until) => Override::Wake(at(until)?),
            Wish::Sleep(until) => Override::Sleep(at(until)?),
            Wish::Pause(Some(until)) => Override::Pause(Pause::Until(at(until)?)),
            Wish::Pause(None) => Override::Pause(Pause::Forever),
            Wish::Resume => return Ok((OverrideCommand::Resume, zone)),
        };
        Ok((OverrideCommand::Begin(begun), zone))
    }

    /// `woken until 22:00 CET`.
    fn deed(&self, instruction: OverrideCommand, zone: Zone) -> String {
        let OverrideCommand::Begin(begun) = instruction else {
            return "resumed".to_owned();
        };
        match begun.until() {
            Some(until) => format!("{} until {}", begun.phase(), clock(until, zone, self.now)),
            None => begun.phase().to_string(),
        }
    }

    /// What was or would be written, in the form of `kubectl annotate`.
    fn annotated(&self, told: &Told) -> String {
        let texts = told.annotations.iter().map(|(key, text)| match text {
            Some(text) => format!(" {}={text}", self.prefix.annotation(*key)),
            None => format!(" {}-", self.prefix.annotation(*key)),
        });
        format!("annotated{}", texts.collect::<String>())
    }

    const fn failed(&self) -> &'static str {
        match self.wish {
            Wish::Wake(_) => "not woken: ",
            Wish::Sleep(_) => "not put to sleep: ",
            Wish::Pause(_) => "not paused: ",
            Wish::Resume => "not resumed: ",
        }
    }
}

impl Retry for NotTold {
    fn is_worth_another_try(&self) -> bool {
        matches!(self, Self::Patch(error) if error.is_worth_another_try())
    }
}

impl NotTold {
    const fn exit(&self) -> Exit {
        match self {
            Self::OverrideError(_) | Self::Until(_) => Exit::Problems,
            Self::Patch(_) | Self::Read(_) => Exit::CouldNotRun,
        }
    }
}
