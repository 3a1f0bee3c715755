//! What a user does while the scaler runs.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

/// A change that a user makes to a workload at an instant.
#[derive(Clone, Debug, PartialEq)]
pub struct UserAction {
    /// When.
    pub at: DateTime<Utc>,
    /// The workload's namespace.
    pub namespace: String,
    /// The workload's name.
    pub name: String,
    /// What is done to it.
    pub act: Act,
}

/// What a user does to a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Sets its count.
    Scale(u32),
    /// Removes these annotations, given by their full names.
    Unannotate(Vec<String>),
}

impl UserAction {
    /// What the user would type for it.
    pub fn command(&self) -> String {
        let (name, namespace) = (&self.name, &self.namespace);
        let place = match &**namespace {
            "default" => String::new(),
            _ => format!(" -n {namespace}"),
        };
        match &self.act {
            Act::Scale(count) => {
                format!("kubectl scale deployment/{name}{place} --replicas={count}")
            }
            Act::Unannotate(names) => {
                let names: String = names.iter().map(|name| format!(" {name}-")).collect();
                format!("kubectl annotate deployment/{name}{place}{names}")
            }
        }
    }

    /// The same as a JSON merge patch.
    pub(super) fn patch(&self) -> Value {
        match &self.act {
            Act::Scale(count) => json!({"spec": {"replicas": count}}),
            Act::Unannotate(names) => {
                let gone = names.iter().map(|name| (name.clone(), Value::Null));
                json!({"metadata": {"annotations": gone.collect::<serde_json::Map<_, _>>()}})
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hand_types_what_kubectl_takes() {
        let action = |namespace: &str, act| UserAction {
            at: DateTime::UNIX_EPOCH,
            namespace: namespace.into(),
            name: "web".into(),
            act,
        };
        let names = vec!["dayshift/start".to_owned(), "dayshift/stop".to_owned()];
        for (action, expected) in [
            (
                action("default", Act::Scale(1)),
                "kubectl scale deployment/web --replicas=1",
            ),
            (
                action("dev", Act::Unannotate(names)),
                "kubectl annotate deployment/web -n dev dayshift/start- dayshift/stop-",
            ),
        ] {
            assert_eq!(action.command(), expected);
        }
    }
}
