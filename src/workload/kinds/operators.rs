//! The rows of other operators' resources: what each says stands in docs/schedules/kinds.md, with
//! where it comes from.

use super::count_kind::CountKind;
use super::row::{CountForm, Pods, Row, Serving, Shape};
use super::served::Discovery;
use super::switch::{Switch, SwitchConstant};

/// A field that is `true` where the object is stopped.
const TRUE: CountForm = CountForm::Switch(&Switch {
    stopped: SwitchConstant::Flag(true),
    also_stopped: &[],
    running: Some(SwitchConstant::Flag(false)),
    is_absent_stopped: false,
    not_beside: None,
});

/// A text where the object is stopped, and another or nothing where it runs.
const fn text(stopped: &'static str, running: Option<SwitchConstant>) -> Switch {
    Switch {
        stopped: SwitchConstant::Text(stopped),
        also_stopped: &[],
        running,
        is_absent_stopped: false,
        not_beside: None,
    }
}

/// A row of a kind that the API server is asked about before it is asked for it.
macro_rules! row {
    ($name:literal, $plural:literal, $group:literal, $path:expr, $form:expr, $counts:expr, $pods:expr) => {
        Row {
            place: Row::NAMED,
            group: $group,
            plural: $plural,
            short: concat!($plural, ".", $group),
            argument: concat!($plural, ".", $group),
            serving: Serving::Discovered(Discovery::new($name)),
            path: $path,
            form: $form,
            counts: $counts,
            shape: Shape::Custom,
            pods: $pods,
            has_claim_policy: false,
        }
    };
}

/// The rows, in the order of the documentation.
pub(super) static OPERATORS: [Row; 3] = [
    row!(
        "Rollout",
        "rollouts",
        "argoproj.io",
        &["spec", "replicas"],
        CountForm::Number(1),
        CountKind::Replicas,
        Pods::ByHash
    ),
    row!(
        "Cluster",
        "clusters",
        "postgresql.cnpg.io",
        &["metadata", "annotations", "cnpg.io/hibernation"],
        CountForm::Switch(&text("on", None)),
        CountKind::Switch,
        Pods::None
    ),
    row!(
        "PostgresCluster",
        "postgresclusters",
        "postgres-operator.crunchydata.com",
        &["spec", "shutdown"],
        TRUE,
        CountKind::Switch,
        Pods::None
    ),
];
