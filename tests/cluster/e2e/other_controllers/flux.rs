//! Flux's own engine, called as in its kustomize-controller 1.9.6 (Flux 2.9): see `tests/flux`.

use std::path::Path;

use serde_json::json;
use tempfile::TempDir;

use super::reported::{assert_reported_once, status};
use crate::e2e::test_namespace::TestNamespace;
use crate::support::{
    ControlPlane, DeploymentBuilder, Parts, Scenario, deployment, scenarios, soon,
};

pub(super) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Server;
        flux_is_reported_and_keeps_the_stop_with_the_recommended_setting,
        flux_with_merge_reverts_the_stop,
    ]
}

/// A Kustomization of one Deployment.
struct Kustomization<'t> {
    team: &'t TestNamespace<'t>,
    directory: TempDir,
}

impl<'t> Kustomization<'t> {
    fn new(team: &'t TestNamespace<'t>) -> Self {
        let this = Self {
            team,
            directory: TempDir::new().unwrap(),
        };
        this.ignore("[]");
        this
    }

    /// Sets its `spec.ignore`, as YAML in one line.
    fn ignore(&self, rules: &str) {
        let text = format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n\
             metadata: {{name: shop, namespace: flux-system}}\n\
             spec: {{interval: 1m, prune: true, sourceRef: {{kind: GitRepository, name: shop}}, ignore: {rules}}}\n"
        );
        std::fs::write(self.directory.path().join("kustomization.yaml"), text).unwrap();
    }

    /// One reconciliation; returns its effect on the Deployment.
    fn reconcile(&self, web: DeploymentBuilder) -> String {
        let mut manifest: serde_json::Value = web.into();
        manifest["metadata"]["namespace"] = json!(self.team.name());
        let file = |name| self.directory.path().join(name);
        std::fs::write(file("web.yaml"), manifest.to_string()).unwrap();
        let flux = |files: [&Path; 2]| self.team.plane().flux(files[0], files[1]);
        let output = flux([&file("kustomization.yaml"), &file("web.yaml")]).success();
        let of_it = format!("Deployment/{}/web ", self.team.name());
        output.trim().strip_prefix(&of_it).unwrap().to_owned()
    }
}

fn flux_is_reported_and_keeps_the_stop_with_the_recommended_setting(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "flux");
    let [first, second, start] = [8, 18, 28].map(soon);
    let stops = format!("{}; {}", first.text(), second.text());
    let web = deployment("web").replicas(3);
    let web = web.stop(stops).start(start.text());
    let git = Kustomization::new(&team);
    assert_eq!(git.reconcile(web.clone()), "created");
    team.await_adopted("web", first);
    assert_eq!(
        git.reconcile(web.clone()),
        "unchanged",
        "dayshift labels are no drift for Flux"
    );
    team.await_stopped("web", second);

    assert_eq!(git.reconcile(web.clone()), "configured");
    assert_eq!(team.replicas("web"), 3);
    let reported = assert_reported_once(&team, "web");
    let by = "kustomize-controller (Flux Kustomization) set 3 again ";
    assert_starts_with!(reported, by);
    let shown = status(&team);
    assert_contains!(shown, by);

    let cure = "To end that, in the Kustomization (Flux 2.9 or later), set spec.ignore: ";
    git.ignore(reported.split_once(cure).unwrap().1);
    assert_eq!(git.reconcile(web.clone()), "unchanged");
    second.assert_in_future("the recommended setting is applied");
    second.wait();
    team.await_replicas("web", 0);
    assert_eq!(git.reconcile(web.clone()), "unchanged");
    team.assert_replicas("web", 0, start);
    let newer = web.annotation("example.com/commit", "2");
    assert_eq!(git.reconcile(newer.clone()), "configured");
    team.assert_replicas("web", 0, start);
    assert_reported_once(&team, "web");

    team.await_replicas("web", 3);
    team.assert_punctual("web", 3, start);
    assert_eq!(git.reconcile(newer), "unchanged");
    assert_eq!(team.replicas("web"), 3);
    team.ends([("web", 4)]);
}

fn flux_with_merge_reverts_the_stop(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "fluxmerge");
    let stop = soon(6);
    let web = deployment("web").replicas(3).stop(stop.text());
    let web = web.annotation("kustomize.toolkit.fluxcd.io/ssa", "Merge");
    let git = Kustomization::new(&team);
    assert_eq!(git.reconcile(web.clone()), "created");
    team.await_stopped("web", stop.plus(20));
    assert_eq!(git.reconcile(web), "configured");
    assert_eq!(team.replicas("web"), 3);
    assert_reported_once(&team, "web");
    team.ends([("web", 2)]);
}
