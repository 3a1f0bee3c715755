//! Who else sets `spec.replicas`, and what makes it leave the field alone.

use crate::{
    cluster::FieldManager,
    workload::{Key, Prefix},
};

/// A program that sets `spec.replicas` again and again, so that it may undo what dayshift does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Owner {
    /// A HorizontalPodAutoscaler.
    Hpa,
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
}

impl Owner {
    /// Whose hand it is; none for one that comes once, such as `kubectl scale`, and for our own.
    pub fn of(manager: &FieldManager) -> Option<Self> {
        match &*manager.manager {
            "dayshift" => None,
            // The Deployment controller never sets the count: what comes from there is an HPA.
            "kube-controller-manager" if manager.scales => Some(Self::Hpa),
            "argocd-controller" | "argocd-application-controller" => Some(Self::ArgoCd),
            "kustomize-controller" => Some(Self::FluxKustomization),
            "helm-controller" => Some(Self::FluxHelmRelease),
            "helm" => Some(Self::Helm),
            _ if manager.applies => Some(Self::ServerSideApply),
            _ => None,
        }
    }

    /// Its name, as its users say it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hpa => "HPA",
            Self::ArgoCd => "Argo CD",
            Self::FluxKustomization => "Flux Kustomization",
            Self::FluxHelmRelease => "Flux HelmRelease",
            Self::Helm => "Helm",
            Self::ServerSideApply => "server-side apply",
        }
    }

    /// What to do about it, with what has to be written where.
    pub fn advice(self, prefix: &Prefix) -> String {
        match self {
            Self::Hpa => {
                return format!(
                    "An HPA rests while a Deployment is at 0. Write {}: \"1\", so that a start leaves the count to
it. Where {} is above 0 the HPA scales up what is stopped: the stop does not hold.",
                    prefix.annotation(Key::Replicas),
                    prefix.annotation(Key::StopReplicas)
                );
            }
            Self::ArgoCd => {
                "Argo CD puts back the count in Git. In the Application, leave it out of the sync:
  spec:
    ignoreDifferences: [{group: apps, kind: Deployment, jsonPointers: [/spec/replicas]}]
    syncPolicy: {syncOptions: [RespectIgnoreDifferences=true]}"
            }
            Self::FluxKustomization => {
                "Flux puts back the count in Git. In the Kustomization (Flux 2.9 or later), leave it out:
  spec:
    ignore: [{paths: [/spec/replicas], target: {kind: Deployment}}]"
            }
            Self::FluxHelmRelease => {
                "Flux puts back the count of the chart. In the HelmRelease, leave it out:
  spec:
    driftDetection: {ignore: [{paths: [/spec/replicas], target: {kind: Deployment}}]}"
            }
            Self::Helm => {
                "Helm sets the count of the chart at each upgrade, and Helm 4 fails where dayshift has set
another. Leave replicas out of the chart's Deployment, or upgrade with --force-conflicts."
            }
            Self::ServerSideApply => {
                "kubectl apply --server-side fails where dayshift has set another count. Leave replicas out
of the manifest, or apply with --force-conflicts."
            }
        }
        .to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manager_is_told_by_its_name_and_its_way() {
        for (manager, applies, scales, expected) in [
            ("dayshift", false, false, None),
            ("kubectl", false, true, None),
            ("kubectl-client-side-apply", false, false, None),
            ("kube-controller-manager", false, true, Some(Owner::Hpa)),
            ("kube-controller-manager", false, false, None),
            ("argocd-controller", true, false, Some(Owner::ArgoCd)),
            (
                "kustomize-controller",
                true,
                false,
                Some(Owner::FluxKustomization),
            ),
            (
                "helm-controller",
                false,
                false,
                Some(Owner::FluxHelmRelease),
            ),
            ("helm", true, false, Some(Owner::Helm)),
            ("kubectl", true, false, Some(Owner::ServerSideApply)),
        ] {
            let manager = FieldManager {
                manager: manager.to_owned(),
                applies,
                scales,
            };
            assert_eq!(Owner::of(&manager), expected, "{manager:?}");
        }
    }
}
