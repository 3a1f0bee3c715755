//! Changes that a user makes during a run: requests of `--request`, and those for the shipped examples.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_manifest::ManifestWorkload;
use dayshift_schedule::Action;
use dayshift_workload::{Key, Kind, ParseContext, Prefix, read};
use serde_json::{Value, json};

/// A change that a user makes to a workload.
#[derive(Clone, Debug, PartialEq)]
pub struct UserAction {
    /// The time of the change.
    pub at: DateTime<Utc>,
    /// The kind of the workload.
    pub kind: Kind,
    /// The namespace of the workload.
    pub namespace: String,
    /// The name of the workload.
    pub name: String,
    /// The change.
    pub change: UserChange,
}

/// The kinds of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserChange {
    /// Scales to this count.
    Scale(u32),
    /// Removes these annotations, which are full names.
    Unannotate(Vec<String>),
    /// Sends a request to the Service of the workload.
    Request,
}

impl UserAction {
    /// The equivalent kubectl command. `None` for a request.
    pub fn command(&self) -> Option<String> {
        let object = format!("{}/{}", self.kind.singular(), self.name);
        let namespace = &self.namespace;
        let place = match &**namespace {
            "default" => String::new(),
            _ => format!(" -n {namespace}"),
        };
        match &self.change {
            UserChange::Scale(count) => {
                Some(format!("kubectl scale {object}{place} --replicas={count}"))
            }
            UserChange::Unannotate(names) => {
                let names: String = names.iter().map(|name| format!(" {name}-")).collect();
                Some(format!("kubectl annotate {object}{place}{names}"))
            }
            UserChange::Request => None,
        }
    }

    /// The equivalent JSON merge patch.
    pub(super) fn patch(&self) -> Value {
        match &self.change {
            UserChange::Scale(count) => json!({"spec": {"replicas": count}}),
            UserChange::Unannotate(names) => {
                let gone = names.iter().map(|name| (name.clone(), Value::Null));
                json!({"metadata": {"annotations": gone.collect::<serde_json::Map<_, _>>()}})
            }
            UserChange::Request => json!({}),
        }
    }
}

/// The time after its first stop at which `office-hours` is scaled up.
const SCALE_DELAY: TimeDelta = TimeDelta::hours(3);
/// The time after its first start at which the schedule of `one-start` is removed.
const REMOVAL_DELAY: TimeDelta = TimeDelta::seconds(30);

/// The user changes of the shipped examples: `office-hours` is scaled to one replica after its first stop,
/// and the schedule of `one-start` is removed after its first start.
pub fn example_actions(
    workloads: &[ManifestWorkload],
    from: DateTime<Utc>,
    prefix: &Prefix,
    context: &ParseContext,
) -> Vec<UserAction> {
    let action = |name: &str, action: Action, later: TimeDelta, change: UserChange| {
        let mut workloads = workloads.iter();
        let workload = workloads.find(|workload| &*workload.object.name == name)?;
        let spec = read(&workload.inputs, context).into_spec()?;
        let mut at = from;
        loop {
            let boundary = spec.next_after(&workload.object, None, at)?;
            at = boundary.at;
            if boundary.action == action {
                break;
            }
        }
        Some(UserAction {
            at: at + later,
            kind: workload.object.kind.clone(),
            namespace: workload.object.namespace.to_string(),
            name: name.to_owned(),
            change,
        })
    };
    let schedule = [Key::Start, Key::Replicas].map(|key| prefix.annotation(key));
    let raise = action(
        "office-hours",
        Action::Stop,
        SCALE_DELAY,
        UserChange::Scale(1),
    );
    let leave = UserChange::Unannotate(schedule.to_vec());
    let leave = action("one-start", Action::Start, REMOVAL_DELAY, leave);
    raise.into_iter().chain(leave).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn action_equals_a_kubectl_command() {
        let action = |namespace: &str, change| UserAction {
            at: DateTime::UNIX_EPOCH,
            kind: Kind::DEPLOYMENT,
            namespace: namespace.into(),
            name: "web".into(),
            change,
        };
        let names = vec!["dayshift/start".to_owned(), "dayshift/stop".to_owned()];
        for (action, expected) in [
            (
                action("default", UserChange::Scale(1)),
                "kubectl scale deployment/web --replicas=1",
            ),
            (
                action("dev", UserChange::Unannotate(names)),
                "kubectl annotate deployment/web -n dev dayshift/start- dayshift/stop-",
            ),
        ] {
            assert_eq!(action.command().as_deref(), Some(expected));
        }
    }
}
