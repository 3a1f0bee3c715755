//! The definition of a kind of workload, as data: its names, its API version, and where its count, its
//! pods and its readiness are. To support another kind, add a definition to `operators`, or list it in
//! a file for `--kind-file`.

use serde_json::Value;

use crate::{kinds::CountKind, names::is_label_value, replicas::Replicas};

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

/// The value of an on/off field.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SwitchValue {
    /// The field is absent, and so are this many of its parents.
    Absent(u8),
    /// `true` or `false`.
    Flag(bool),
    /// A string.
    Text(Box<str>),
}

/// The on/off field of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchField {
    /// The value.
    pub value: SwitchValue,
    /// The number of parents, beginning with the nearest, that contain no other field.
    pub alone: u8,
    /// The number of absent parents of the field [`Switch::not_beside`], if that field is absent.
    pub beside_missing: u8,
}

/// A value in the definition of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SwitchConstant {
    /// `true` or `false`.
    Flag(bool),
    /// A string.
    Text(String),
    /// The time of the stop. Any other string has the same effect.
    Instant,
}

/// The definition of an on/off field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// The value that a stop writes.
    pub stopped: SwitchConstant,
    /// Other strings with the same meaning, case-sensitive.
    pub also_stopped: Vec<String>,
    /// The value that a start writes if none was saved; `None` if it removes the field.
    pub running: Option<SwitchConstant>,
    /// Whether an object without the field is stopped.
    pub is_absent_stopped: bool,
    /// Another field that changes the meaning of this one, as the tokens of a JSON pointer.
    pub not_beside: Option<Vec<String>>,
}

/// The label value for an absent field.
const ABSENT: &str = "absent";

impl SwitchValue {
    /// The label value; `None` if the string is not a valid label value
    /// (<https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set>),
    /// or would be parsed as another value.
    pub fn to_label(&self) -> Option<Box<str>> {
        match self {
            Self::Absent(0) => Some(ABSENT.into()),
            Self::Absent(parents) => Some(format!("{ABSENT}.{parents}").into()),
            Self::Flag(flag) => Some(if *flag { "true" } else { "false" }.into()),
            Self::Text(text) => {
                let fits = is_label_value(text) && absent(text).is_none();
                fits.then(|| text.clone())
            }
        }
    }
}

impl Switch {
    /// A field that is absent while the object runs. Set the other members if that is not true.
    pub const fn new(stopped: SwitchConstant, running: Option<SwitchConstant>) -> Self {
        Self {
            stopped,
            also_stopped: Vec::new(),
            running,
            is_absent_stopped: false,
            not_beside: None,
        }
    }

    /// Parses a label value; `None` if it is not a value with which the object runs.
    pub fn from_label(&self, text: &str) -> Option<SwitchValue> {
        let value = match (absent(text), &self.stopped) {
            (Some(parents), _) => SwitchValue::Absent(parents),
            (None, SwitchConstant::Flag(_)) => SwitchValue::Flag(text.parse().ok()?),
            (None, _) => SwitchValue::Text(text.into()),
        };
        (!self.is_stopped(&value)).then_some(value)
    }

    /// Whether the object is stopped if the field has this value.
    pub fn is_stopped(&self, value: &SwitchValue) -> bool {
        match (value, &self.stopped) {
            (SwitchValue::Absent(_), _) => self.is_absent_stopped,
            (SwitchValue::Flag(flag), SwitchConstant::Flag(stopped)) => flag == stopped,
            (SwitchValue::Text(_), SwitchConstant::Instant) => true,
            (SwitchValue::Text(text), SwitchConstant::Text(stopped)) => {
                **text == **stopped || self.also_stopped.iter().any(|also| **also == **text)
            }
            _ => false,
        }
    }

    /// The value that a start writes if none was saved.
    pub fn default_running(&self) -> SwitchValue {
        match &self.running {
            Some(SwitchConstant::Flag(flag)) => SwitchValue::Flag(*flag),
            Some(SwitchConstant::Text(text)) => SwitchValue::Text(text.as_str().into()),
            Some(SwitchConstant::Instant) | None => SwitchValue::Absent(0),
        }
    }

    /// The valid values as text.
    pub const fn wanted(&self) -> &'static str {
        match self.stopped {
            SwitchConstant::Flag(_) => "true or false",
            SwitchConstant::Text(_) | SwitchConstant::Instant => "a text",
        }
    }
}

/// The number of absent members if a label value means an absent field.
fn absent(text: &str) -> Option<u8> {
    match text.strip_prefix(ABSENT)? {
        "" => Some(0),
        rest => rest.strip_prefix('.')?.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> Switch {
        Switch {
            also_stopped: vec!["halted".to_owned()],
            ..Switch::new(
                SwitchConstant::Text("Halted".to_owned()),
                Some(SwitchConstant::Text("Always".to_owned())),
            )
        }
    }

    #[test]
    fn a_label_preserves_the_value_exactly() {
        for value in [
            SwitchValue::Absent(0),
            SwitchValue::Absent(2),
            SwitchValue::Text("RerunOnFailure".into()),
            SwitchValue::Text("".into()),
        ] {
            let label = value.to_label().unwrap();
            assert_eq!(policy().from_label(&label), Some(value));
        }
        let flag = Switch {
            stopped: SwitchConstant::Flag(true),
            ..policy()
        };
        let label = SwitchValue::Flag(false).to_label().unwrap();
        assert_eq!(flag.from_label(&label), Some(SwitchValue::Flag(false)));
    }

    #[test]
    fn values_that_do_not_fit_into_a_label_are_not_saved() {
        let long = "a".repeat(64);
        for text in ["a b", "-a", "a.", "ü", "absent", "absent.1", &long] {
            assert_eq!(SwitchValue::Text(text.into()).to_label(), None, "{text}");
        }
    }

    #[test]
    fn a_label_with_a_stopped_value_is_not_restored() {
        for text in ["Halted", "halted"] {
            assert_eq!(policy().from_label(text), None, "{text}");
        }
        let flag = Switch {
            stopped: SwitchConstant::Flag(true),
            ..policy()
        };
        for text in ["true", "yes", ""] {
            assert_eq!(flag.from_label(text), None, "{text}");
        }
    }
}
