//! What a user does while the scaler runs.

use chrono::{DateTime, Utc};
use dayshift_workload::Kind;
use serde_json::{Value, json};

/// A change that a user makes to a workload at an instant.
#[derive(Clone, Debug, PartialEq)]
pub struct UserAction {
    /// When.
    pub at: DateTime<Utc>,
    /// The workload's kind.
    pub kind: Kind,
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
    /// Sends a request to a Service of it.
    Request,
}

impl UserAction {
    /// What the user would type for it; nothing for a request.
    pub fn command(&self) -> Option<String> {
        let object = format!("{}/{}", self.kind.singular(), self.name);
        let namespace = &self.namespace;
        let place = match &**namespace {
            "default" => String::new(),
            _ => format!(" -n {namespace}"),
        };
        match &self.act {
            Act::Scale(count) => Some(format!("kubectl scale {object}{place} --replicas={count}")),
            Act::Unannotate(names) => {
                let names: String = names.iter().map(|name| format!(" {name}-")).collect();
                Some(format!("kubectl annotate {object}{place}{names}"))
            }
            Act::Request => None,
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
            Act::Request => json!({}),
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
            kind: Kind::DEPLOYMENT,
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
            assert_eq!(action.command().as_deref(), Some(expected));
        }
    }
}
