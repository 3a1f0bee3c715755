//! `dayshift wake --from`: adds a running window on dates to the annotation `extra` of workloads or
//! of a Namespace.

use chrono::{DateTime, NaiveDateTime, TimeDelta, Timelike as _, Utc};
use dayshift_cluster::{Writer, read::ObservedNamespace};
use dayshift_schedule::ExtraWindows;
use dayshift_workload::{
    AnnotationChange, Inputs, Key, Override, OverrideCommand, OverrideError, ParseContext,
    ParsedInputs, Prefix, read, time_format::short_time,
};
use kube::Client;

use crate::{
    carry_out::OverrideReport,
    namespace_overrides::NamespaceError,
    override_messages::annotations_text,
    overrides::RequestError,
    selection::{SelectedWorkload, Selection, retry},
    until::{Until, UntilError},
};

/// A request for an additional running window.
#[derive(Clone, Debug)]
pub struct ExtraWindowRequest {
    /// The beginning of the window.
    pub from: Until,
    /// The end of the window.
    pub end: WindowEnd,
    /// The default time zone, and the known calendars.
    pub context: ParseContext,
    /// The prefix of annotations and labels.
    pub prefix: Prefix,
    /// The time of the request.
    pub now: DateTime<Utc>,
    /// If set, nothing is written.
    pub dry_run: bool,
}

/// The end of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WindowEnd {
    /// The next occurrence of this time after the beginning.
    At(Until),
    /// A duration after the beginning.
    After(TimeDelta),
}

impl ExtraWindowRequest {
    /// Writes the window on each workload.
    pub async fn carry_out(
        &self,
        client: &Client,
        selection: &Selection,
        report_to: &mut (dyn FnMut(OverrideReport) + Send),
    ) {
        let add = async |writer: &Writer, _: &SelectedWorkload, now: &SelectedWorkload| {
            let observed = &now.observed;
            if observed.deleting {
                return Err(OverrideError::Deleting.into());
            }
            let (changes, text) = self.change(&observed.inputs)?;
            if !changes.is_empty() && !self.dry_run {
                writer.annotate(observed, &changes).await?;
            }
            Ok::<_, RequestError>(text)
        };
        let report = |before: &SelectedWorkload, added: Result<String, RequestError>| {
            let subject = selection.subject(&before.observed.object);
            report_to(match added {
                Ok(text) => OverrideReport::Done(format!("{subject} {text}")),
                Err(error) => OverrideReport::Failed {
                    text: format!("{subject}: no window added: {error}"),
                    is_refusal: error.is_refusal(),
                },
            });
        };
        selection.for_each(client, &self.prefix, add, report).await;
    }

    /// Writes the window on a Namespace, for all workloads in it that have none of their own.
    pub async fn carry_out_in_namespace(
        &self,
        client: &Client,
        name: &str,
        report_to: &mut (dyn FnMut(OverrideReport) + Send),
    ) {
        let writer = Writer::for_command(client.clone(), self.prefix.clone());
        report_to(match self.send_to_namespace(&writer, name).await {
            Ok(text) => OverrideReport::Done(format!("namespace/{name} {text}")),
            Err(error) => OverrideReport::Failed {
                text: format!("namespace/{name}: no window added: {error}"),
                is_refusal: error.is_refusal(),
            },
        });
    }

    async fn send_to_namespace(
        &self,
        writer: &Writer,
        name: &str,
    ) -> Result<String, NamespaceError> {
        let namespace = writer.read_namespace(name).await?;
        let read = async || Ok(writer.read_namespace(name).await?);
        retry(&namespace, read, async |namespace| {
            let observed = ObservedNamespace::new(namespace, &self.prefix);
            // A Namespace without a schedule can still have windows for its workloads.
            let inputs = Inputs::from_own(observed.annotations.into()).or_always_on();
            let (changes, text) = self.change(&inputs)?;
            if !changes.is_empty() && !self.dry_run {
                writer.annotate_namespace(namespace, &changes).await?;
            }
            Ok(text)
        })
        .await
    }

    /// The annotations to change, and the result in words.
    fn change(&self, inputs: &Inputs) -> Result<(Vec<AnnotationChange>, String), RequestError> {
        let probe = OverrideCommand::Begin(Override::Wake(DateTime::<Utc>::MAX_UTC));
        let zone = probe.zone(inputs, &self.context, self.now)?;
        let from = self.from.in_zone(zone, self.now)?;
        let until = match &self.end {
            WindowEnd::At(until) => until.in_zone(zone, from)?,
            WindowEnd::After(length) => from + *length,
        };
        let local = |at: DateTime<Utc>| whole_minute(at.with_timezone(&zone).naive_local());
        let window = (local(from), local(until));
        if window.0 >= window.1 {
            let end = short_time(until, zone, self.now);
            return Err(UntilError::Passed(end).into());
        }
        let text = ExtraWindows::text_with(inputs.text(Key::Extra), window, local(self.now));
        let text = text.map_err(UntilError::from)?;
        match read(&inputs.clone().with(Key::Extra, &text), &self.context) {
            ParsedInputs::Invalid(refusal) => return Err(RequestError::Window(refusal)),
            ParsedInputs::Unscheduled => return Err(OverrideError::NoSchedule.into()),
            ParsedInputs::Scheduled(_) => {}
        }
        let [begins, ends] = [from, until].map(|at| short_time(at, zone, self.now));
        let runs = format!("runs from {begins} to {ends}");
        if inputs.text(Key::Extra) == Some(&text) {
            return Ok((Vec::new(), format!("{runs} already")));
        }
        let changes = vec![(Key::Extra, Some(text))];
        let dry = if self.dry_run { " (dry run)" } else { "" };
        let annotated = annotations_text(&changes, &self.prefix);
        Ok((changes, format!("{runs}: {annotated}{dry}")))
    }
}

fn whole_minute(time: NaiveDateTime) -> NaiveDateTime {
    time.with_second(0)
        .and_then(|time| time.with_nanosecond(0))
        .unwrap_or(time)
}
