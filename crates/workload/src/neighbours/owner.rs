//! The programs that set counts, and what makes each of them leave a count alone.

use std::collections::BTreeSet;

use dayshift_text::first_of;

use crate::{Key, Kind, Prefix, WorkloadRef};

/// A program that sets counts again and again, so that it may undo what dayshift does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Owner {
    /// A HorizontalPodAutoscaler.
    Hpa,
    /// KEDA.
    Keda,
    /// Argo CD.
    ArgoCd,
    /// A Kustomization of Flux.
    FluxKustomization,
    /// A HelmRelease of Flux.
    FluxHelmRelease,
    /// Helm.
    Helm,
    /// Server-side apply, by kubectl or another.
    ServerSideApply,
    /// `kubectl apply`, on the side of the client.
    ClientSideApply,
    /// `kubectl replace`.
    Replace,
}

impl Owner {
    /// Every one.
    pub const ALL: [Self; 9] = [
        Self::Hpa,
        Self::Keda,
        Self::ArgoCd,
        Self::FluxKustomization,
        Self::FluxHelmRelease,
        Self::Helm,
        Self::ServerSideApply,
        Self::ClientSideApply,
        Self::Replace,
    ];

    /// Its name, as its users say it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hpa => "HPA",
            Self::Keda => "KEDA",
            Self::ArgoCd => "Argo CD",
            Self::FluxKustomization => "Flux Kustomization",
            Self::FluxHelmRelease => "Flux HelmRelease",
            Self::Helm => "Helm",
            Self::ServerSideApply => "server-side apply",
            Self::ClientSideApply => "kubectl apply",
            Self::Replace => "kubectl replace",
        }
    }

    /// Its name in the label `manager` of a metric.
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

    /// Whether it comes back by itself, or cannot: an apply on the side of the server that meets
    /// another count fails.
    pub const fn comes_back(self) -> bool {
        !matches!(self, Self::ClientSideApply | Self::Replace)
    }

    /// Whether it sets counts by what there is to do.
    pub const fn scales_by_load(self) -> bool {
        matches!(self, Self::Hpa | Self::Keda)
    }

    /// What makes it leave the counts of these kinds alone, in one line: an instruction, with the
    /// setting to paste.
    pub fn cure(self, kinds: &[Kind], prefix: &Prefix) -> String {
        let fields = fields(kinds);
        match self {
            Self::Hpa => format!(
                "leave out {}: an HPA rests at 0, and raises every other count to its minimum",
                prefix.annotation(Key::StopReplicas)
            ),
            Self::Keda => {
                "schedule the ScaledObject instead (with scaledobjects added to --kinds), which dayshift \
                 pauses: KEDA scales up what it does not pause"
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
                "in the HelmRelease, set spec.driftDetection.ignore: {}, and leave {fields} out of \
                 the chart",
                flux_ignore(kinds)
            ),
            Self::Helm => format!("leave {fields} out of the chart"),
            Self::ServerSideApply => format!("leave {fields} out of what is applied"),
            Self::ClientSideApply => format!(
                "leave {fields} out of the manifest, but first out of what kubectl applied last, or \
                 the next apply resets it: kubectl apply edit-last-applied"
            ),
            Self::Replace => {
                format!("use kubectl apply with a manifest that leaves {fields} out")
            }
        }
    }

    /// What to do about it on these objects, with what has to be written where, on lines of its own.
    pub fn advice(self, objects: &[&WorkloadRef], prefix: &Prefix) -> String {
        let kinds: BTreeSet<_> = objects.iter().map(|it| it.kind).collect();
        let kinds: &[_] = &kinds.into_iter().collect::<Vec<_>>();
        let fields = fields(kinds);
        match self {
            Self::Hpa => format!(
                "An HPA rests while a Deployment is at 0. So that a start leaves the count to it, write
{}: \"1\" on each workload that has an HPA: {}.
Where {} is above 0 the HPA scales up what is stopped: the stop does not hold.",
                prefix.annotation(Key::Replicas),
                first_of(&objects.iter().map(|it| it.full_name()).collect::<Vec<_>>()),
                prefix.annotation(Key::StopReplicas)
            ),
            Self::Keda => "KEDA scales a workload up while one of its triggers is active, whatever
dayshift sets. Write the schedule on the ScaledObject instead, and add scaledobjects to --kinds: a
stop then pauses it."
                .to_owned(),
            Self::ArgoCd => format!(
                "Argo CD puts back the count in Git. In the Application, leave it out of the sync:
  spec:
    ignoreDifferences: {}
    syncPolicy: {{syncOptions: [RespectIgnoreDifferences=true]}}",
                ignore_differences(kinds)
            ),
            Self::FluxKustomization => format!(
                "Flux puts back the count in Git. In the Kustomization (Flux 2.9 or later), leave it out:
  spec:
    ignore: {}",
                flux_ignore(kinds)
            ),
            Self::FluxHelmRelease => format!(
                "Flux puts back the count of the chart. In the HelmRelease, leave it out:
  spec:
    driftDetection: {{ignore: {}}}",
                flux_ignore(kinds)
            ),
            Self::Helm => format!(
                "Helm sets the count of the chart at each upgrade, and Helm 4 fails where dayshift has set
another. Leave {fields} out of the chart's templates. With --force-conflicts the upgrade sets what
the chart says, and starts what is stopped."
            ),
            Self::ServerSideApply => format!(
                "kubectl apply --server-side fails where dayshift has set another count. Leave {fields} out
of the manifest. With --force-conflicts the apply sets what the manifest says, and starts what
is stopped."
            ),
            Self::ClientSideApply => format!(
                "kubectl apply sets the count of the manifest. Take {fields} out of what it applied last
(kubectl apply edit-last-applied), then out of the manifest: in the other order it is reset."
            ),
            Self::Replace => format!(
                "kubectl replace sets everything, the count too. Use kubectl apply, with a manifest that
leaves {fields} out."
            ),
        }
    }
}

/// `replicas`, or `replicas and suspend`: the fields in which these kinds hold their counts.
fn fields(kinds: &[Kind]) -> String {
    let mut fields: Vec<&str> = Vec::new();
    for kind in kinds {
        let path = kind.path();
        let field = path.last().copied().unwrap_or_default();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cure_names_the_field_of_each_kind() {
        let prefix = Prefix::default();
        let kinds = [Kind::STATEFUL_SET, Kind::CRON_JOB];
        assert_eq!(
            Owner::ArgoCd.cure(&kinds, &prefix),
            "in the Application, set spec.ignoreDifferences: [{group: apps, kind: StatefulSet, \
             jsonPointers: [/spec/replicas]}, {group: batch, kind: CronJob, jsonPointers: \
             [/spec/suspend]}] and spec.syncPolicy.syncOptions: [RespectIgnoreDifferences=true]"
        );
        assert_eq!(
            Owner::FluxKustomization.cure(&[Kind::SCALED_OBJECT], &prefix),
            "in the Kustomization (Flux 2.9 or later), set spec.ignore: [{paths: \
             [/metadata/annotations/autoscaling.keda.sh~1paused-replicas], target: {kind: \
             ScaledObject}}]"
        );
        assert_eq!(
            Owner::Helm.cure(&kinds, &prefix),
            "leave replicas and suspend out of the chart"
        );
    }

    #[test]
    fn no_cure_is_long() {
        for owner in Owner::ALL {
            for kind in Kind::BUILT_IN {
                let cure = owner.cure(&[kind], &Prefix::default());
                assert!(cure.len() < 400, "{}: {cure}", cure.len());
            }
        }
    }
}
