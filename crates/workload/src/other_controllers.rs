//! Other controllers that set the same counts: how to recognize them by their field manager, the setting
//! that makes each of them leave a count to dayshift, and the text for a count that one of them reverted.
//! Nothing here affects a decision.

use std::{collections::BTreeSet, time::Duration};

use chrono::{DateTime, Utc};
use dayshift_text::{first_of, named_enum, quote};

use crate::{ChangeKind, Key, Kind, Prefix, Replicas, WorkloadRef};

/// A client that has set a count
/// (<https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management>).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldManager {
    /// Its name, as the client sent it.
    pub manager: String,
    /// Whether it uses server-side apply rather than an update.
    pub applies: bool,
    /// Whether it used the subresource `scale`.
    pub scales: bool,
    /// Its last write to any of its fields, in whole seconds; `None` if not recorded.
    pub at: Option<DateTime<Utc>>,
}

/// The kind of manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManagerKind {
    /// The dayshift controller: this process or another one.
    Dayshift,
    /// A user, with kubectl, the dayshift CLI or a dashboard.
    Person,
    /// A known program.
    OtherController(OtherController),
    /// Any other program.
    Unknown,
}

/// The field manager of the controller.
pub const CONTROLLER: &str = "dayshift";

/// The field manager of the dayshift CLI.
pub const COMMANDS: &str = "dayshift-cli";

/// The field manager of `dayshift activator`, which sets no count.
pub const ACTIVATOR: &str = "dayshift-activator";

/// Field managers of other interactive programs: k9s, a browser with a dashboard, and Lens.
const PEOPLE: [&str; 3] = ["k9s", "Mozilla", "node-fetch"];

/// The name for a webhook or policy that changed a count while dayshift wrote it. The API server
/// does not record which one it was, and records dayshift as the manager.
pub const ADMISSION: &str = "an admission webhook or policy";

impl FieldManager {
    /// The manager for a change during admission.
    pub fn admission(at: Option<DateTime<Utc>>) -> Self {
        Self {
            manager: ADMISSION.to_owned(),
            applies: false,
            scales: false,
            at,
        }
    }

    /// The kind of manager.
    pub fn kind(&self) -> ManagerKind {
        let owner = match &*self.manager {
            CONTROLLER => return ManagerKind::Dayshift,
            COMMANDS => return ManagerKind::Person,
            // The Deployment controller never sets the count, so this is an HPA.
            "kube-controller-manager" if self.scales => OtherController::Hpa,
            "keda" | "keda-operator" => OtherController::Keda,
            "argocd-controller" | "argocd-application-controller" => OtherController::ArgoCd,
            "kustomize-controller" => OtherController::FluxKustomization,
            "helm-controller" => OtherController::FluxHelmRelease,
            "helm" => OtherController::Helm,
            _ if self.applies => OtherController::ServerSideApply,
            "kubectl-client-side-apply" => OtherController::ClientSideApply,
            "kubectl-replace" => OtherController::Replace,
            name if name == "kubectl" || name.starts_with("kubectl-") || PEOPLE.contains(&name) => {
                return ManagerKind::Person;
            }
            _ => return ManagerKind::Unknown,
        };
        ManagerKind::OtherController(owner)
    }

    /// Its name, safe to print, with a more familiar name if there is one.
    pub fn name(&self) -> String {
        let manager = match quote(&self.manager) {
            nameless if nameless.is_empty() => "a client without a name".to_owned(),
            name => name,
        };
        match self.kind() {
            ManagerKind::OtherController(OtherController::Hpa) => "an HPA".to_owned(),
            ManagerKind::OtherController(
                owner @ (OtherController::FluxKustomization
                | OtherController::FluxHelmRelease
                | OtherController::ServerSideApply
                | OtherController::ClientSideApply
                | OtherController::Replace),
            ) => format!("{manager} ({})", owner.name()),
            _ => manager,
        }
    }
}

named_enum! {
    /// A program that sets counts repeatedly, so it might revert dayshift's changes.
    pub enum OtherController {
        /// A HorizontalPodAutoscaler.
        Hpa = "HPA",
        /// KEDA.
        Keda = "KEDA",
        /// Argo CD.
        ArgoCd = "Argo CD",
        /// A Kustomization of Flux.
        FluxKustomization = "Flux Kustomization",
        /// A HelmRelease of Flux.
        FluxHelmRelease = "Flux HelmRelease",
        /// Helm.
        Helm = "Helm",
        /// Server-side apply, by kubectl or another client.
        ServerSideApply = "server-side apply",
        /// Client-side `kubectl apply`.
        ClientSideApply = "kubectl apply",
        /// `kubectl replace`.
        Replace = "kubectl replace",
    }
}

impl OtherController {
    /// Its value in the label `manager` of a metric.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Hpa => "hpa",
            Self::Keda => "keda",
            Self::ArgoCd => "argocd",
            Self::FluxKustomization => "flux-kustomization",
            Self::FluxHelmRelease => "flux-helmrelease",
            Self::Helm => "helm",
            Self::ServerSideApply => "server-side-apply",
            Self::ClientSideApply => "kubectl-apply",
            Self::Replace => "kubectl-replace",
        }
    }

    /// Whether it sets the count again automatically or, like server-side apply, fails if the count
    /// differs.
    pub const fn reapplies(self) -> bool {
        !matches!(self, Self::ClientSideApply | Self::Replace)
    }

    /// Whether it sets counts according to load.
    pub const fn scales_by_load(self) -> bool {
        matches!(self, Self::Hpa | Self::Keda)
    }

    /// The setting that makes it ignore the counts of these kinds, as an instruction in one line.
    pub fn fix(self, kinds: &[Kind], prefix: &Prefix) -> String {
        let fields = fields(kinds);
        match self {
            Self::Hpa => format!(
                "remove {}: an HPA ignores a workload at 0, and raises every other count to \
                 its minimum",
                prefix.annotation(Key::StopReplicas)
            ),
            Self::Keda => {
                "schedule the ScaledObject instead, and add scaledobjects to --kinds: a stop then \
                 pauses it, while KEDA scales a stopped workload up"
                    .to_owned()
            }
            Self::ArgoCd => format!(
                "in the Application, set spec.ignoreDifferences: {} and spec.syncPolicy.syncOptions: \
                 [RespectIgnoreDifferences=true]",
                ignore_differences(kinds)
            ),
            Self::FluxKustomization => format!(
                "in the Kustomization (Flux 2.9 or later), set spec.ignore: {}",
                flux_ignore(kinds)
            ),
            Self::FluxHelmRelease => format!(
                "in the HelmRelease, set spec.driftDetection.ignore: {}, and remove {fields} from \
                 the chart",
                flux_ignore(kinds)
            ),
            Self::Helm => format!("remove {fields} from the chart"),
            Self::ServerSideApply => format!("remove {fields} from the applied manifest"),
            Self::ClientSideApply => format!(
                "remove {fields} from the last applied configuration (kubectl apply \
                 edit-last-applied), then from the manifest; in the other order, the next apply \
                 resets the count"
            ),
            Self::Replace => {
                format!("use kubectl apply with a manifest without {fields}")
            }
        }
    }

    /// The instruction for these objects in several lines, with the settings to add.
    pub fn advice(self, objects: &[&WorkloadRef], prefix: &Prefix) -> String {
        let kinds: BTreeSet<_> = objects.iter().map(|object| object.kind.clone()).collect();
        let kinds: &[_] = &kinds.into_iter().collect::<Vec<_>>();
        let fields = fields(kinds);
        match self {
            Self::Hpa => format!(
                "An HPA does nothing while a Deployment is at 0. So that a start leaves the count to the
HPA, set {}: \"1\" on each workload that has an HPA: {}.
If {} is above 0, the HPA scales a stopped workload up again.",
                prefix.annotation(Key::Replicas),
                first_of(&objects.iter().map(|object| object.full_name()).collect::<Vec<_>>()),
                prefix.annotation(Key::StopReplicas)
            ),
            Self::Keda => "KEDA scales a workload up while one of its triggers is active, even if dayshift has
stopped it. Set the schedule on the ScaledObject instead, and add scaledobjects to --kinds: a stop
then pauses the ScaledObject."
                .to_owned(),
            Self::ArgoCd => format!(
                "Argo CD restores the count in Git. Exclude the count from the sync in the Application:
  spec:
    ignoreDifferences: {}
    syncPolicy: {{syncOptions: [RespectIgnoreDifferences=true]}}",
                ignore_differences(kinds)
            ),
            Self::FluxKustomization => format!(
                "Flux restores the count in Git. Exclude the count in the Kustomization (Flux 2.9 or later):
  spec:
    ignore: {}",
                flux_ignore(kinds)
            ),
            Self::FluxHelmRelease => format!(
                "Flux restores the count of the chart. Exclude the count in the HelmRelease:
  spec:
    driftDetection: {{ignore: {}}}",
                flux_ignore(kinds)
            ),
            Self::Helm => format!(
                "Helm sets the count of the chart at each upgrade, and Helm 4 fails if dayshift has set
another count. Remove {fields} from the chart's templates. With --force-conflicts, an upgrade sets
the count of the chart, and starts stopped workloads."
            ),
            Self::ServerSideApply => format!(
                "kubectl apply --server-side fails if dayshift has set another count. Remove {fields}
from the manifest. With --force-conflicts, it sets the count of the manifest, and starts stopped
workloads."
            ),
            Self::ClientSideApply => format!(
                "kubectl apply sets the count of the manifest. Remove {fields} from the last applied
configuration (kubectl apply edit-last-applied), then from the manifest. In the other order, the
next apply resets the count."
            ),
            Self::Replace => format!(
                "kubectl replace sets all fields, including the count. Use kubectl apply with a
manifest without {fields}."
            ),
        }
    }
}

/// The fields with the counts of these kinds: `replicas`, or `replicas and suspend`.
fn fields(kinds: &[Kind]) -> String {
    let mut fields: Vec<&str> = Vec::new();
    for kind in kinds {
        let field = kind.field();
        if !fields.contains(&field) {
            fields.push(field);
        }
    }
    fields.join(" and ")
}

fn ignore_differences(kinds: &[Kind]) -> String {
    let each = kinds.iter().map(|kind| {
        let (group, pointer) = (kind.group(), kind.pointer());
        format!("{{group: {group}, kind: {kind}, jsonPointers: [{pointer}]}}")
    });
    format!("[{}]", each.collect::<Vec<_>>().join(", "))
}

fn flux_ignore(kinds: &[Kind]) -> String {
    let each = kinds.iter().map(|kind| {
        let pointer = kind.pointer();
        format!("{{paths: [{pointer}], target: {{kind: {kind}}}}}")
    });
    format!("[{}]", each.collect::<Vec<_>>().join(", "))
}

/// The default for how long after a change of ours another controller's change counts as a revert.
pub const REVERT_WINDOW: Duration = Duration::from_secs(15 * 60);

/// A count that dayshift set and another controller changed back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revert {
    /// The change of dayshift.
    pub by: ChangeKind,
    /// The count before that change.
    pub from: Replicas,
    /// The count that dayshift set.
    pub to: Replicas,
    /// The count that was observed later.
    pub now: Replicas,
    /// The time in between.
    pub after: Duration,
}

impl Revert {
    /// Whether a count moved back after we had changed it: up after a stop, or down after a start.
    pub fn is_back(from: Replicas, to: Replicas, now: Replicas) -> bool {
        if from > to { now > to } else { now < to }
    }

    /// Whether the revert is expected from this manager. For example, an autoscaler should scale
    /// down after a start.
    pub fn needs_no_warning(&self, manager: ManagerKind) -> bool {
        match manager {
            ManagerKind::Dayshift | ManagerKind::Person => true,
            ManagerKind::OtherController(owner) => self.to > self.from && owner.scales_by_load(),
            ManagerKind::Unknown => false,
        }
    }

    /// The revert as text: `set 3 again 12 s after the stop`.
    pub fn words(&self, kind: &Kind) -> String {
        revert_words(kind, self.by, self.from, self.now, Some(self.after))
    }
}

/// The revert of a change from `from` as text: `set 3 again 12 s after the stop`. `after` is the time
/// between the change and its revert, if it is known.
pub fn revert_words(
    kind: &Kind,
    by: ChangeKind,
    from: Replicas,
    now: Replicas,
    after: Option<Duration>,
) -> String {
    let undone = kind.counts().reverted_to(from, now);
    let after = after.map_or_else(|| "after".to_owned(), elapsed_after);
    format!("{undone} {after} {}", change_text(by))
}

/// The change of dayshift: `the stop`.
fn change_text(by: ChangeKind) -> String {
    match by {
        ChangeKind::Enforce => "`enforce` had reverted it".to_owned(),
        ChangeKind::Scale(count) => format!("the count of {count}"),
        by => format!("the {by}"),
    }
}

/// `12 s after`, `3 min after`
fn elapsed_after(after: Duration) -> String {
    match after.as_secs() {
        0 => "less than 1 s after".to_owned(),
        short @ 1..120 => format!("{short} s after"),
        long => format!("{} min after", long / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_managers_by_name_and_operation() {
        use ManagerKind::{Dayshift, Person, Unknown};
        let owner = ManagerKind::OtherController;
        for (manager, applies, scales, expected) in [
            ("dayshift", false, false, Dayshift),
            ("dayshift-cli", false, false, Person),
            ("kubectl", false, true, Person),
            ("kubectl-edit", false, false, Person),
            ("kubectl-patch", false, false, Person),
            ("k9s", false, true, Person),
            (
                "kubectl-client-side-apply",
                false,
                false,
                owner(OtherController::ClientSideApply),
            ),
            (
                "kubectl-replace",
                false,
                false,
                owner(OtherController::Replace),
            ),
            (
                "kubectl",
                true,
                false,
                owner(OtherController::ServerSideApply),
            ),
            (
                "terraform",
                true,
                false,
                owner(OtherController::ServerSideApply),
            ),
            (
                "kube-controller-manager",
                false,
                true,
                owner(OtherController::Hpa),
            ),
            ("kube-controller-manager", false, false, Unknown),
            ("keda", false, true, owner(OtherController::Keda)),
            (
                "argocd-controller",
                false,
                false,
                owner(OtherController::ArgoCd),
            ),
            (
                "argocd-controller",
                true,
                false,
                owner(OtherController::ArgoCd),
            ),
            (
                "argocd-application-controller",
                false,
                false,
                owner(OtherController::ArgoCd),
            ),
            (
                "kustomize-controller",
                true,
                false,
                owner(OtherController::FluxKustomization),
            ),
            (
                "helm-controller",
                false,
                false,
                owner(OtherController::FluxHelmRelease),
            ),
            ("helm", true, false, owner(OtherController::Helm)),
            ("helm", false, false, owner(OtherController::Helm)),
            ("spinnaker", false, false, Unknown),
            ("", false, false, Unknown),
        ] {
            let manager = FieldManager {
                manager: manager.to_owned(),
                applies,
                scales,
                at: None,
            };
            assert_eq!(manager.kind(), expected, "{manager:?}");
        }
    }

    #[test]
    fn a_name_is_safe_to_show() {
        for (manager, shown) in [
            ("argocd-controller", "argocd-controller"),
            ("", "a client without a name"),
            ("a\u{1b}[2Jb", "a\\u{1b}[2Jb"),
        ] {
            let manager = FieldManager {
                manager: manager.to_owned(),
                applies: false,
                scales: false,
                at: None,
            };
            assert_eq!(manager.name(), shown);
        }
    }

    #[test]
    fn a_fix_contains_the_field_of_each_kind() {
        let prefix = Prefix::default();
        let kinds = [Kind::STATEFUL_SET, Kind::CRON_JOB];
        assert_eq!(
            OtherController::ArgoCd.fix(&kinds, &prefix),
            "in the Application, set spec.ignoreDifferences: [{group: apps, kind: StatefulSet, \
             jsonPointers: [/spec/replicas]}, {group: batch, kind: CronJob, jsonPointers: \
             [/spec/suspend]}] and spec.syncPolicy.syncOptions: [RespectIgnoreDifferences=true]"
        );
        assert_eq!(
            OtherController::FluxKustomization.fix(&[Kind::SCALED_OBJECT], &prefix),
            "in the Kustomization (Flux 2.9 or later), set spec.ignore: [{paths: \
             [/metadata/annotations/autoscaling.keda.sh~1paused-replicas], target: {kind: \
             ScaledObject}}]"
        );
        assert_eq!(
            OtherController::Helm.fix(&kinds, &prefix),
            "remove replicas and suspend from the chart"
        );
    }

    #[test]
    fn no_fix_is_long() {
        for owner in OtherController::ALL {
            for kind in Kind::BUILT_IN {
                let fix = owner.fix(std::slice::from_ref(&kind), &Prefix::default());
                assert!(fix.len() < 400, "{}: {fix}", fix.len());
            }
        }
    }

    fn count(count: u32) -> Replicas {
        Replicas::new(count)
    }

    #[test]
    fn a_revert_moves_back_toward_the_previous_count() {
        for (from, to, now, is_back) in [
            (3, 0, 3, true),
            (3, 0, 1, true),
            (3, 0, 0, false),
            (5, 2, 1, false),
            (0, 3, 0, true),
            (0, 3, 2, true),
            (0, 3, 5, false),
        ] {
            let found = Revert::is_back(count(from), count(to), count(now));
            assert_eq!(found, is_back, "{from} {to} {now}");
        }
    }

    #[test]
    fn scaling_down_by_an_autoscaler_after_a_start_is_expected() {
        let after_start = Revert {
            by: ChangeKind::Start,
            from: count(0),
            to: count(5),
            now: count(3),
            after: Duration::ZERO,
        };
        let after_stop = Revert {
            by: ChangeKind::Stop,
            from: count(5),
            to: count(1),
            now: count(2),
            ..after_start
        };
        for owner in OtherController::ALL {
            let kind = ManagerKind::OtherController(owner);
            let scales = matches!(owner, OtherController::Hpa | OtherController::Keda);
            assert_eq!(after_start.needs_no_warning(kind), scales, "{owner:?}");
            assert!(!after_stop.needs_no_warning(kind), "{owner:?}");
        }
    }
}
