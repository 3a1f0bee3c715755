//! The table of kinds: one row for each.

use std::sync::{PoisonError, RwLock};

use crate::kinds::{
    count::CountKind,
    not_stopped::NotStopped,
    operators::OPERATORS,
    row::{CountForm, Discovery, Pods, ReadyForm, Row, Served, Serving, Shape, leaked},
};

/// How many kinds of users' own a process takes up. Each stays in memory until it ends: some 300
/// bytes.
pub const MAX_DEFINITIONS: usize = 200;

/// Why a kind is not taken up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionError {
    /// There is a row of it.
    #[error("dayshift has a row for this resource already")]
    Known,
    /// There are too many.
    #[error("there are more than {MAX_DEFINITIONS} rows")]
    TooMany,
    /// Its field stops nothing.
    #[error("{0}; {instead}", instead = .0.instead)]
    StopsNothing(NotStopped),
}

impl DefinitionError {
    /// Whether nothing is known of the kind, so that it is not to be taken for one with
    /// `spec.replicas`.
    pub const fn is_unknown(self) -> bool {
        !matches!(self, Self::Known)
    }
}

const REPLICAS: &[&str] = &["spec", "replicas"];

/// How the API server has a kind of this name in this group and version.
macro_rules! fixed {
    ($name:literal, $group:literal, $version:literal) => {
        Serving::Fixed(Served {
            name: $name,
            version: $version,
            api_version: concat!($group, "/", $version),
            root: concat!("/apis/", $group, "/", $version, "/"),
        })
    };
}

pub(super) static DEPLOYMENT: Row = Row {
    place: 0,
    group: "apps",
    plural: "deployments",
    short: "deploy",
    argument: "deployments",
    serving: fixed!("Deployment", "apps", "v1"),
    path: REPLICAS,
    form: CountForm::Number(1),
    counts: CountKind::Replicas,
    shape: Shape::Pods,
    pods: Pods::ByHash,
    size: &[],
    ready: ReadyForm::Replicas,
    has_claim_policy: false,
};

pub(super) static STATEFUL_SET: Row = Row {
    place: 1,
    group: "apps",
    plural: "statefulsets",
    short: "sts",
    argument: "statefulsets",
    serving: fixed!("StatefulSet", "apps", "v1"),
    path: REPLICAS,
    form: CountForm::Number(1),
    counts: CountKind::Replicas,
    shape: Shape::Pods,
    pods: Pods::ByNumber,
    size: &[],
    ready: ReadyForm::Replicas,
    has_claim_policy: true,
};

pub(super) static CRON_JOB: Row = Row {
    place: 2,
    group: "batch",
    plural: "cronjobs",
    short: "cj",
    argument: "cronjobs",
    serving: fixed!("CronJob", "batch", "v1"),
    path: &["spec", "suspend"],
    form: CountForm::Suspended,
    counts: CountKind::Suspend { has_jobs: true },
    shape: Shape::Jobs,
    pods: Pods::None,
    size: &[],
    ready: ReadyForm::Nowhere,
    has_claim_policy: false,
};

pub(super) static HORIZONTAL_POD_AUTOSCALER: Row = Row {
    place: 3,
    group: "autoscaling",
    plural: "horizontalpodautoscalers",
    short: "hpa",
    argument: "horizontalpodautoscalers",
    serving: fixed!("HorizontalPodAutoscaler", "autoscaling", "v2"),
    path: &["spec", "minReplicas"],
    form: CountForm::Number(1),
    counts: CountKind::Minimum { may_be_zero: false },
    shape: Shape::Autoscaler,
    pods: Pods::None,
    size: &[],
    ready: ReadyForm::Nowhere,
    has_claim_policy: false,
};

pub(super) static SCALED_OBJECT: Row = Row {
    place: 4,
    group: "keda.sh",
    plural: "scaledobjects",
    short: "so",
    argument: "scaledobjects",
    serving: fixed!("ScaledObject", "keda.sh", "v1alpha1"),
    path: &[
        "metadata",
        "annotations",
        "autoscaling.keda.sh/paused-replicas",
    ],
    form: CountForm::RestsAt,
    counts: CountKind::Pause,
    shape: Shape::Custom,
    pods: Pods::OfTarget,
    size: &[],
    ready: ReadyForm::Nowhere,
    has_claim_policy: false,
};

/// The rows of kinds that were named by their resource so far.
static NAMED: RwLock<Vec<&'static Row>> = RwLock::new(Vec::new());

/// The row of a resource, such as `rollouts.argoproj.io`: that of a kind with `spec.replicas` where
/// nothing else is known of it. There is one of each in a process.
pub(super) fn named(plural: &str, group: &str) -> &'static Row {
    let is_it = |row: &&'static Row| row.plural == plural && row.group == group;
    if let Some(known) = OPERATORS.iter().find(is_it) {
        return known;
    }
    let mut named = NAMED.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = named.iter().copied().find(is_it) {
        return known;
    }
    let plural = leaked(plural.to_owned());
    let resource = leaked(format!("{plural}.{group}"));
    let row: &'static Row = Box::leak(Box::new(Row {
        place: Row::NAMED,
        group: leaked(group.to_owned()),
        plural,
        short: resource,
        argument: resource,
        serving: Serving::Discovered(Discovery::assumed(plural)),
        path: REPLICAS,
        form: CountForm::Number(1),
        counts: CountKind::Replicas,
        shape: Shape::Custom,
        pods: Pods::ByHash,
        size: &[],
        ready: ReadyForm::ReplicasIfShown,
        has_claim_policy: false,
    }));
    named.push(row);
    row
}

/// Adds a row that a user describes, unless there is one of its resource, or there are `most` of
/// their own.
pub(super) fn add(row: Row, most: usize) -> Result<&'static Row, DefinitionError> {
    let is_it = |known: &Row| known.plural == row.plural && known.group == row.group;
    let fixed = [
        &DEPLOYMENT,
        &STATEFUL_SET,
        &CRON_JOB,
        &HORIZONTAL_POD_AUTOSCALER,
        &SCALED_OBJECT,
    ];
    let mut named = NAMED.write().unwrap_or_else(PoisonError::into_inner);
    let mut known = fixed
        .into_iter()
        .chain(&OPERATORS)
        .chain(named.iter().copied());
    if known.any(is_it) {
        return Err(DefinitionError::Known);
    }
    if named.len() >= most {
        return Err(DefinitionError::TooMany);
    }
    let row: &'static Row = Box::leak(Box::new(row));
    named.push(row);
    Ok(row)
}

/// The rows of kinds that were named by their resource so far.
pub(super) fn all_named() -> Vec<&'static Row> {
    NAMED.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// This name, where one of the kinds that were named so far has it among [`Row::spec_members`].
pub(super) fn spec_member(name: &str) -> Option<&'static str> {
    let named = NAMED.read().unwrap_or_else(PoisonError::into_inner);
    let mut members = named.iter().flat_map(|row| row.spec_members());
    members.find(|member| *member == name)
}
