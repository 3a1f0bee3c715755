//! Who has set a count, as the API server keeps it.

use chrono::{DateTime, Utc};
use dayshift_text::quote;

use super::owner::Owner;

/// One of those who have set a count
/// (<https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management>).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldManager {
    /// What it calls itself: a text of somebody else's, as it came.
    pub manager: String,
    /// Whether it declares the field (server-side apply) and does not only write it.
    pub applies: bool,
    /// Whether it came through the subresource `scale`.
    pub scales: bool,
    /// When it wrote last, in whole seconds; this field or another. None where that is not kept.
    pub at: Option<DateTime<Utc>>,
}

/// What sort of manager it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManagerKind {
    /// The controller, this process or another.
    Dayshift,
    /// Somebody with kubectl, a command of dayshift or a dashboard, who has meant it.
    Person,
    /// A program that is known.
    Owner(Owner),
    /// Any other program.
    Unknown,
}

/// What the controller calls itself.
pub const CONTROLLER: &str = "dayshift";

/// What the commands call themselves, with which people write.
pub const COMMANDS: &str = "dayshift-cli";

/// What `dayshift activator` calls itself, which sets no count.
pub const ACTIVATOR: &str = "dayshift-activator";

/// What people's own programs call themselves, besides kubectl's commands: k9s, a browser before a
/// dashboard, and Lens.
const PEOPLE: [&str; 3] = ["k9s", "Mozilla", "node-fetch"];

/// Who has changed a count while dayshift wrote it: the API server does not keep which one it was, and
/// takes the count for dayshift's.
pub const ADMISSION: &str = "an admission webhook or policy";

impl FieldManager {
    /// Whoever changes what dayshift writes before it is stored.
    pub fn admission(at: Option<DateTime<Utc>>) -> Self {
        Self {
            manager: ADMISSION.to_owned(),
            applies: false,
            scales: false,
            at,
        }
    }

    /// What sort of manager it is.
    pub fn kind(&self) -> ManagerKind {
        let owner = match &*self.manager {
            CONTROLLER => return ManagerKind::Dayshift,
            COMMANDS => return ManagerKind::Person,
            // The Deployment controller never sets the count: what comes from there is an HPA.
            "kube-controller-manager" if self.scales => Owner::Hpa,
            "keda" | "keda-operator" => Owner::Keda,
            "argocd-controller" | "argocd-application-controller" => Owner::ArgoCd,
            "kustomize-controller" => Owner::FluxKustomization,
            "helm-controller" => Owner::FluxHelmRelease,
            "helm" => Owner::Helm,
            _ if self.applies => Owner::ServerSideApply,
            "kubectl-client-side-apply" => Owner::ClientSideApply,
            "kubectl-replace" => Owner::Replace,
            name if name == "kubectl" || name.starts_with("kubectl-") || PEOPLE.contains(&name) => {
                return ManagerKind::Person;
            }
            _ => return ManagerKind::Unknown,
        };
        ManagerKind::Owner(owner)
    }

    /// What it calls itself, safe to show, with how its users call it where that says more.
    pub fn name(&self) -> String {
        let manager = match quote(&self.manager) {
            nameless if nameless.is_empty() => "a client without a name".to_owned(),
            name => name,
        };
        match self.kind() {
            ManagerKind::Owner(Owner::Hpa) => "an HPA".to_owned(),
            ManagerKind::Owner(
                owner @ (Owner::FluxKustomization
                | Owner::FluxHelmRelease
                | Owner::ServerSideApply
                | Owner::ClientSideApply
                | Owner::Replace),
            ) => format!("{manager} ({})", owner.name()),
            _ => manager,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manager_is_told_by_its_name_and_its_way() {
        use ManagerKind::{Dayshift, Person, Unknown};
        let owner = ManagerKind::Owner;
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
                owner(Owner::ClientSideApply),
            ),
            ("kubectl-replace", false, false, owner(Owner::Replace)),
            ("kubectl", true, false, owner(Owner::ServerSideApply)),
            ("terraform", true, false, owner(Owner::ServerSideApply)),
            ("kube-controller-manager", false, true, owner(Owner::Hpa)),
            ("kube-controller-manager", false, false, Unknown),
            ("keda", false, true, owner(Owner::Keda)),
            ("argocd-controller", false, false, owner(Owner::ArgoCd)),
            ("argocd-controller", true, false, owner(Owner::ArgoCd)),
            (
                "argocd-application-controller",
                false,
                false,
                owner(Owner::ArgoCd),
            ),
            (
                "kustomize-controller",
                true,
                false,
                owner(Owner::FluxKustomization),
            ),
            (
                "helm-controller",
                false,
                false,
                owner(Owner::FluxHelmRelease),
            ),
            ("helm", true, false, owner(Owner::Helm)),
            ("helm", false, false, owner(Owner::Helm)),
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
}
