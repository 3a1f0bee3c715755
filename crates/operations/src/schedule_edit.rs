//! Writing another schedule on one workload: `dayshift schedule`, and the form of the dashboard.

use chrono::{DateTime, Utc};
use dayshift_cluster::{Writer, decode::WithManagers, read::Autoscalers, write::PatchError};
use dayshift_text::shell_word;
use dayshift_workload::{
    AnnotationChange, Key, NamedSchedules, Observed, ParseContext, Prefix,
    other_controllers::OtherController,
};
use kube::Client;

use crate::status::owners;

/// The schedule annotations that one workload should have.
#[derive(Clone, Debug)]
pub struct ScheduleEdit {
    /// Each annotation with its value; `None` removes it. Other annotations are kept.
    pub annotations: Vec<AnnotationChange>,
    /// The schedules that an annotation can name. The times of others are unknown here.
    pub schedules: NamedSchedules,
}

/// A workload with an edited schedule, of which nothing is written yet.
#[derive(Clone, Debug)]
pub struct EditedWorkload {
    /// The workload as it is.
    pub observed: Observed,
    /// The workload with the edited schedule.
    pub scheduled: Observed,
    /// The annotations that differ.
    pub changes: Vec<AnnotationChange>,
}

impl ScheduleEdit {
    /// Edits the schedule of a workload in memory.
    pub fn edited(&self, observed: &Observed) -> EditedWorkload {
        let own = observed.inputs.own();
        let differs = |(key, text): &&AnnotationChange| {
            own.text(*key) != text.as_deref() || own.is_dropped(*key)
        };
        let changes: Vec<_> = self.annotations.iter().filter(differs).cloned().collect();
        let mut scheduled = observed.clone();
        for (key, text) in &changes {
            let inputs = std::mem::take(&mut scheduled.inputs);
            scheduled.inputs = match text {
                Some(text) => inputs.with(*key, text),
                None => inputs.without(&[*key]),
            };
            if *key == Key::NamedSchedule {
                scheduled = scheduled.with_schedules(&self.schedules);
            }
        }
        EditedWorkload {
            observed: observed.clone(),
            scheduled,
            changes,
        }
    }
}

impl EditedWorkload {
    /// Writes the annotations, if the workload is still as it was observed.
    ///
    /// # Errors
    /// If it has changed, or the API server cannot be reached or rejects the patch.
    pub async fn write(&self, client: &Client, prefix: &Prefix) -> Result<(), PatchError> {
        let writer = Writer::for_command(client.clone(), prefix.clone());
        let written = writer.annotate(&self.observed, &self.changes);
        written.await.map(drop)
    }

    /// Whether it runs at `now`, although the edited schedule requires it to be stopped. It then runs
    /// until its next stop.
    pub fn runs_outside_hours(&self, context: &ParseContext, now: DateTime<Utc>) -> bool {
        let (before, after) = (&self.observed, self.scheduled.read(context));
        after.spec().is_some_and(|spec| {
            let required = spec.required_action(&before.object, before.started(spec), now);
            let is_to_stop = required.is_some_and(|action| !action.is_up());
            is_to_stop && before.replicas > spec.stop_replicas
        })
    }

    /// The change as a command: `kubectl annotate deploy/web -n dev --overwrite dayshift/hours='…'`.
    pub fn kubectl_command(&self, prefix: &Prefix) -> String {
        kubectl_annotate(&self.observed.object.argument(), &self.changes, prefix)
    }
}

/// The command that changes the annotations of an object with these arguments.
pub fn kubectl_annotate(object: &str, changes: &[AnnotationChange], prefix: &Prefix) -> String {
    let texts = changes.iter().map(|(key, text)| {
        let name = prefix.annotation(*key);
        match text {
            Some(text) => format!(" {name}={}", shell_word(text)),
            None => format!(" {name}-"),
        }
    });
    let texts: String = texts.collect();
    format!("kubectl annotate {object} --overwrite{texts}")
}

/// Annotations as YAML to commit. A removed one is a comment.
pub fn annotations_yaml(annotations: &[AnnotationChange], prefix: &Prefix) -> Vec<String> {
    let lines = annotations.iter().map(|(key, text)| {
        let name = prefix.annotation(*key);
        match text {
            // Each JSON string is a YAML string.
            Some(text) => format!("    {name}: {}", serde_json::Value::from(&**text)),
            None => format!("    # remove {name}"),
        }
    });
    let head = ["metadata:", "  annotations:"].map(str::to_owned);
    head.into_iter().chain(lines).collect()
}

/// The program that applies the workload from Git or a chart, and would remove annotations that are not
/// written there.
pub fn gitops_manager(observed: &Observed, managed: &WithManagers) -> Option<OtherController> {
    let owners = owners(&observed.object, managed, &Autoscalers::default());
    owners.into_iter().find(|owner| {
        matches!(
            owner,
            OtherController::ArgoCd
                | OtherController::FluxKustomization
                | OtherController::FluxHelmRelease
                | OtherController::Helm
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_quoted_values_for_a_shell_and_for_yaml() {
        let changes = [
            (Key::Hours, Some("Mon-Fri 09:00-19:00".to_owned())),
            (Key::Except, Some("it's \"closed\"\\".to_owned())),
            (Key::Stop, None),
        ];
        let prefix = Prefix::default();
        let command = kubectl_annotate("deploy/web -n dev", &changes, &prefix);
        let words = r#"dayshift/hours='Mon-Fri 09:00-19:00' dayshift/except="it's \"closed\"\\" dayshift/stop-"#;
        assert_eq!(
            command,
            format!("kubectl annotate deploy/web -n dev --overwrite {words}")
        );
        let expected = r#"metadata:
  annotations:
    dayshift/hours: "Mon-Fri 09:00-19:00"
    dayshift/except: "it's \"closed\"\\"
    # remove dayshift/stop"#;
        assert_eq!(annotations_yaml(&changes, &prefix).join("\n"), expected);
    }
}
