//! The definition of a kind of workload, as data: its names, its API version, and where its count, its
//! pods and its readiness are. To support another kind, add a definition to `operators`, or list it in
//! a file for `--kind-file`.

use serde_json::Value;

use crate::{
    kinds::{
        count::CountKind,
        switch::{Switch, SwitchConstant, SwitchValue},
    },
    replicas::Replicas,
};

/// A kind of workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindDefinition {
    /// `Deployment`. The plural, if only the resource is known.
    pub(super) name: String,
    /// `deployments`
    pub(super) plural: String,
    /// `apps`
    pub(super) group: String,
    /// `deploy`, or `rollouts.argoproj.io` for a kind without a short name.
    pub(super) short_name: String,
    /// The value for `--kinds`: `deployments`, or `rollouts.argoproj.io`.
    pub(super) argument: String,
    /// The version of a kind that every API server has; `None` if the server must be asked for it.
    pub(super) version: Option<&'static str>,
    /// The field or annotation of the count, as the tokens of a JSON pointer.
    pub(super) path: Vec<String>,
    pub(super) form: CountForm,
    pub(super) counts: CountKind,
    pub(super) shape: Shape,
    pub(super) pods: Pods,
    /// Empty if the count and the pod template determine the pods.
    pub(super) pod_groups: Vec<PodGroup>,
    pub(super) ready: ReadyForm,
    /// Whether the object has a retention policy for its volumes.
    pub(super) has_claim_policy: bool,
    /// Whether nothing but the resource is known, so that `spec.replicas` is assumed.
    pub(super) is_assumed: bool,
}

/// The content of the field that a user names in a file for `--kind-file`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CustomField {
    /// A number of replicas.
    Replicas,
    /// A number of replicas that a start restores exactly.
    Exact,
    /// The time of the stop, or nothing while the object runs.
    Time,
    /// One value while the object is stopped, another or none while it runs.
    Switch(Switch),
}

/// The form of the count in the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CountForm {
    /// A whole number; this one if the field is absent.
    Number(u32),
    /// `true` while suspended, else `false` or absent.
    Suspended,
    /// The number of replicas that KEDA keeps while paused, as text; absent while not paused.
    PausedReplicas,
    /// An on/off field.
    Switch(Switch),
}

impl CountForm {
    /// The count if the field contains this value; `None` if the value is not valid there.
    pub fn count(&self, value: &Value) -> Option<Replicas> {
        let is_running = match (self, value) {
            (Self::Number(_), _) => {
                let number = i32::try_from(value.as_u64()?).ok()?;
                return Some(Replicas::new(number.unsigned_abs()));
            }
            (Self::Suspended, _) => !value.as_bool()?,
            (Self::PausedReplicas, _) => false,
            (Self::Switch(switch), Value::Bool(flag)) => {
                let is_flag = matches!(switch.stopped, SwitchConstant::Flag(_));
                is_flag.then(|| !switch.is_stopped(&SwitchValue::Flag(*flag)))?
            }
            (Self::Switch(switch), Value::String(text)) => {
                let is_text = !matches!(switch.stopped, SwitchConstant::Flag(_));
                is_text.then(|| !switch.is_stopped(&SwitchValue::Text(text.as_str().into())))?
            }
            (Self::Switch(_), _) => return None,
        };
        Some(Replicas::new(is_running.into()))
    }

    /// The valid values as text.
    pub const fn wanted(&self) -> &'static str {
        match self {
            Self::Number(_) => "a whole number such as 3",
            Self::Suspended => "true or false",
            Self::PausedReplicas => "a text",
            Self::Switch(switch) => switch.wanted(),
        }
    }
}

/// The shape of a `spec` in Kubernetes' own API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `replicas` and a pod template.
    Pods,
    /// `suspend` and a Job template.
    Jobs,
    /// `minReplicas`.
    Autoscaler,
    /// Defined by a CustomResourceDefinition.
    Custom,
}

/// Where an object contains the number and the requests of one group of its pods. Paths are the tokens
/// of JSON pointers below `spec`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodGroup {
    /// The lists to iterate over, each followed by [`PodGroup::EACH`]; empty without a list.
    pub list: Vec<String>,
    /// The number of pods, below each item; `None` for one pod.
    pub instances: Option<Vec<String>>,
    /// A field next to the number with a minimum for it. Without either there are no pods.
    pub at_least: Option<String>,
    /// A field next to the number by which it is multiplied.
    pub times: Option<String>,
    /// The `resources` or the pod template, below each item; `None` for the object's pod template.
    pub resources: Option<Vec<String>>,
}

/// Where the status of an object reports how much of it is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadyForm {
    /// `readyReplicas`, which is omitted when it is 0.
    Replicas,
    /// `readyReplicas`, if any object of the kind has it.
    ReplicasIfShown,
    /// A condition of this type.
    Condition(&'static str),
    /// Nowhere, as far as dayshift knows.
    Nowhere,
}

/// How the pods of an object are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pods {
    /// `<name>-<hash>-<five characters>`, as for a Deployment.
    ByHash,
    /// `<name>-<number>`, as for a StatefulSet.
    ByNumber,
    /// As for the target in `spec.scaleTargetRef`.
    OfTarget,
    /// No pods are named after the object.
    None,
}

/// Converts the tokens of a path.
pub(super) fn tokens(path: &[&str]) -> Vec<String> {
    path.iter().map(|token| (*token).to_owned()).collect()
}

/// The plural of a kind as Kubernetes guesses it (`meta.UnsafeGuessKindToResource`).
pub(super) fn plural_of(kind: &str) -> String {
    let singular = kind.to_lowercase();
    if singular.ends_with('s') {
        return singular + "es";
    }
    match singular.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => singular + "s",
    }
}

impl KindDefinition {
    /// A kind that every API server has.
    pub(super) fn built_in(
        name: &str,
        short_name: &str,
        (group, version): (&str, &'static str),
        path: &[&str],
    ) -> Self {
        let plural = plural_of(name);
        Self {
            short_name: short_name.to_owned(),
            argument: plural.clone(),
            version: Some(version),
            ..Self::operator(name, &plural, group, path)
        }
    }

    /// A kind of an operator, with one replica if the field is absent.
    pub(super) fn operator(name: &str, plural: &str, group: &str, path: &[&str]) -> Self {
        let resource = format!("{plural}.{group}");
        Self {
            name: name.to_owned(),
            plural: plural.to_owned(),
            group: group.to_owned(),
            short_name: resource.clone(),
            argument: resource,
            version: None,
            path: tokens(path),
            form: CountForm::Number(1),
            counts: CountKind::Replicas,
            shape: Shape::Custom,
            pods: Pods::None,
            pod_groups: Vec::new(),
            ready: ReadyForm::Nowhere,
            has_claim_policy: false,
            is_assumed: false,
        }
    }

    /// A kind of which only the resource is known: one with `spec.replicas`.
    pub(super) fn assumed(plural: &str, group: &str) -> Self {
        Self {
            pods: Pods::ByHash,
            ready: ReadyForm::ReplicasIfShown,
            is_assumed: true,
            ..Self::operator(plural, plural, group, &["spec", "replicas"])
        }
    }

    /// A kind that a user defines.
    pub fn custom(
        name: &str,
        (plural, group): (&str, &str),
        path: &[String],
        field: CustomField,
        pod_groups: Vec<PodGroup>,
    ) -> Self {
        let (form, counts) = match field {
            CustomField::Replicas => (CountForm::Number(1), CountKind::Replicas),
            CustomField::Exact => (CountForm::Number(1), CountKind::Exact),
            CustomField::Time => {
                let switch = Switch::new(SwitchConstant::Instant, None);
                (CountForm::Switch(switch), CountKind::Switch)
            }
            CustomField::Switch(switch) => (CountForm::Switch(switch), CountKind::Switch),
        };
        let ready = if counts.is_replicas() {
            ReadyForm::ReplicasIfShown
        } else {
            ReadyForm::Nowhere
        };
        Self {
            path: path.to_vec(),
            form,
            counts,
            pod_groups,
            ready,
            ..Self::operator(name, plural, group, &[])
        }
    }

    /// `widgets`
    pub fn plural(&self) -> &str {
        &self.plural
    }

    /// `example.com`
    pub fn group(&self) -> &str {
        &self.group
    }

    /// Whether this is the kind of a resource.
    pub(super) fn is_resource(&self, plural: &str, group: &str) -> bool {
        self.plural == plural && self.group == group
    }

    /// The members of `spec` that contain the count, or the number or requests of pods.
    pub(super) fn spec_members(&self) -> impl Iterator<Item = &str> {
        let beside = match &self.form {
            CountForm::Switch(switch) => switch.not_beside.as_deref(),
            _ => None,
        };
        let paths = [Some(&*self.path), beside].into_iter().flatten();
        let own = paths.filter_map(|path| match path {
            [spec, member, ..] if spec == "spec" => Some(&**member),
            _ => None,
        });
        own.chain(self.pod_groups.iter().flat_map(PodGroup::spec_members))
    }
}

impl PodGroup {
    /// The token for each item of a list.
    pub const EACH: &'static str = "[]";

    fn spec_members(&self) -> impl Iterator<Item = &str> {
        let paths = [
            Some(&self.list),
            self.instances.as_ref(),
            self.resources.as_ref(),
        ];
        // Below a list the other two begin inside an item.
        let count = if self.list.is_empty() { 3 } else { 1 };
        let paths = paths.into_iter().take(count).flatten();
        paths.filter_map(|path| path.first().map(String::as_str))
    }
}
