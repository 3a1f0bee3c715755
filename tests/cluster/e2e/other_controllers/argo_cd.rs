//! Argo CD 3.2.5, its own controller and repo server: see `tests/argocd`.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::reported::{assert_never_reported, assert_reported_once, status};
use crate::e2e::test_namespace::TestNamespace;
use crate::rows::words;
use crate::support::{
    ArgoCd, ControlPlane, DeploymentBuilder, Parts, Scenario, Soon, deployment, eventually,
    scenarios, soon,
};

pub(super) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Server;
        self_heal_is_reported_and_keeps_the_stop_with_the_recommended_settings,
        manual_sync_without_self_heal_reverts_the_stop,
        new_commit_without_self_heal_reverts_the_stop,
        without_the_sync_option_the_stop_lasts_until_the_next_sync,
        ignore_rule_without_a_group_matches_no_deployment,
    ]
}

const BY: &str = "argocd-controller set 3 again ";

/// An Application with its own git repository, which contains one Deployment, `web`.
struct Application<'t> {
    team: &'t TestNamespace<'t>,
    argo: &'t ArgoCd,
    repository: PathBuf,
}

impl<'t> Application<'t> {
    /// Waits until it exists and is synced; `spec` is added to source and destination.
    fn create(team: &'t TestNamespace<'t>, web: DeploymentBuilder, spec: &Value) -> Self {
        let argo = team.plane().argo_cd();
        let repository = argo.repositories().join(team.name());
        let this = Self {
            team,
            argo,
            repository,
        };
        std::fs::create_dir(&this.repository).unwrap();
        this.git(&["init", "--quiet", "--initial-branch=main"]);
        this.commit(web);
        let mut whole = json!({
            "project": "default",
            "source": {
                "repoURL": format!("file://{}", this.repository.display()),
                "path": ".",
                "targetRevision": "main",
            },
            "destination": {"server": "https://kubernetes.default.svc", "namespace": team.name()},
        });
        let more = spec.as_object().unwrap().clone();
        whole.as_object_mut().unwrap().extend(more);
        let application = json!({
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Application",
            "metadata": {"name": team.name(), "namespace": "argocd"},
            "spec": whole,
        });
        let file = this.repository.with_extension("json");
        std::fs::write(&file, application.to_string()).unwrap();
        let create = ["create", "-f", file.to_str().unwrap()];
        team.plane().kubectl(&create).success();
        this.until("the first sync is done", |it| {
            it["status"]["operationState"]["phase"] == "Succeeded"
        });
        this
    }

    fn commit(&self, web: DeploymentBuilder) -> String {
        std::fs::write(self.repository.join("web.json"), web.manifest()).unwrap();
        self.git(&["add", "--all"]);
        self.git(&words(
            "-c user.name=t -c user.email=t@example.com commit -qm web",
        ));
        self.git(&["rev-parse", "HEAD"])
    }

    fn git(&self, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        let output = git.args(arguments).current_dir(&self.repository).output();
        let output = output.unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn get(&self) -> Value {
        let get = [
            "get",
            "application",
            self.team.name(),
            "-n",
            "argocd",
            "-o",
            "json",
        ];
        serde_json::from_str(&self.team.plane().kubectl(&get).success()).unwrap()
    }

    fn patch(&self, patch: &str) {
        let name = self.team.name();
        let patch = [
            "patch",
            "application",
            name,
            "-n",
            "argocd",
            "--type=merge",
            "-p",
            patch,
        ];
        self.team.plane().kubectl(&patch).success();
    }

    /// Waits for a state of the Application; at the timeout it shows the state and the logs.
    fn until(&self, condition: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let seen = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            eventually(condition, || Some(self.get()).filter(&is_so))
        }));
        seen.unwrap_or_else(|_| panic!("{condition}: {:#}\n{}", self.get(), self.argo.logs()))
    }

    /// Makes Argo CD compare, and returns the result: `Synced` or `OutOfSync`.
    fn compared(&self) -> String {
        let refresh = "argocd.argoproj.io/refresh";
        self.patch(&json!({"metadata": {"annotations": {refresh: "hard"}}}).to_string());
        let seen = self.until("it has compared", |it| {
            it["metadata"]["annotations"].get(refresh).is_none()
        });
        seen["status"]["sync"]["status"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Syncs as its API server does for a user, with the options of the Application.
    fn sync(&self, by: &str) {
        let options = &self.get()["spec"]["syncPolicy"]["syncOptions"];
        let operation = json!({"operation": {
            "initiatedBy": {"username": by},
            "sync": {"syncOptions": options},
        }});
        self.patch(&operation.to_string());
        self.until("the manual sync is done", |it| {
            let state = &it["status"]["operationState"];
            state["operation"]["initiatedBy"]["username"] == by && state["phase"] == "Succeeded"
        });
    }

    /// Waits until Argo CD has synced this commit by itself.
    fn await_synced(&self, commit: &str) {
        self.until("the commit is synced", |it| {
            let state = &it["status"]["operationState"];
            state["syncResult"]["revision"] == commit && state["phase"] == "Succeeded"
        });
    }
}

/// The owners of the count and their operations, as the API server stores them.
fn owners(team: &TestNamespace<'_>) -> Vec<(String, String)> {
    let managers = team.get("web").metadata.managed_fields.unwrap();
    let owning = managers.into_iter().filter(|it| {
        let fields = it.fields_v1.as_ref().map(|it| it.0.clone());
        fields.is_some_and(|it| it["f:spec"].get("f:replicas").is_some())
    });
    owning
        .map(|it| (it.manager.unwrap(), it.operation.unwrap()))
        .collect()
}

fn web(stop: impl Into<String>) -> DeploymentBuilder {
    deployment("web").replicas(3).stop(stop)
}

fn policy(heals: bool) -> Value {
    json!({"syncPolicy": {"automated": {"selfHeal": heals}}})
}

/// The settings, with or without the group and the option.
fn settings(group: bool, option: bool) -> Value {
    let mut spec = policy(true);
    let mut rule = json!({"kind": "Deployment", "jsonPointers": ["/spec/replicas"]});
    if group {
        rule["group"] = "apps".into();
    }
    spec["ignoreDifferences"] = json!([rule]);
    if option {
        spec["syncPolicy"]["syncOptions"] = json!(["RespectIgnoreDifferences=true"]);
    }
    spec
}

/// Waits until the Deployment exists, and until it is stopped.
fn stopped(team: &TestNamespace<'_>, stop: Soon) {
    team.await_adopted("web", stop);
    team.await_stopped("web", stop.plus(20));
}

fn named(team: &TestNamespace<'_>) -> String {
    let reported = assert_reported_once(team, "web");
    assert_eq!(team.replicas("web"), 3);
    assert_starts_with!(reported, BY);
    let shown = status(team);
    assert_contains!(shown, BY);
    let owner = ("argocd-controller".to_owned(), "Update".to_owned());
    assert_eq!(owners(team), [owner]);
    reported
}

fn self_heal_is_reported_and_keeps_the_stop_with_the_recommended_settings(plane: &ControlPlane) {
    plane.argo_cd();
    let team = TestNamespace::new(plane, "argoheals");
    let [first, second, start] = [25, 37, 55].map(soon);
    let both = web(format!("{}; {}", first.text(), second.text())).start(start.text());
    let app = Application::create(&team, both.clone(), &policy(true));
    team.await_adopted("web", first);
    first.wait();
    let reported = named(&team);

    let cure = reported
        .split_once("To end that, in the Application, set spec.")
        .unwrap()
        .1;
    let (rules, options) = cure.split_once(" and spec.syncPolicy.").unwrap();
    app.patch(&format!("spec:\n  {rules}\n  syncPolicy: {{{options}}}\n"));
    second.assert_in_future("the recommended settings are applied");
    second.wait();
    team.await_replicas("web", 0);
    assert_eq!(app.compared(), "Synced");
    team.assert_replicas("web", 0, start);
    app.sync("somebody");
    team.assert_replicas("web", 0, start);
    let commit = app.commit(both.annotation("example.com/commit", "2"));
    app.compared();
    app.await_synced(&commit);
    team.assert_replicas("web", 0, start);
    assert_reported_once(&team, "web");

    team.await_replicas("web", 3);
    team.assert_punctual("web", 3, start);
    assert_eq!(app.compared(), "Synced");
    team.ends([("web", 4)]);
}

fn manual_sync_without_self_heal_reverts_the_stop(plane: &ControlPlane) {
    plane.argo_cd();
    let team = TestNamespace::new(plane, "argohand");
    let stop = soon(25);
    let app = Application::create(&team, web(stop.text()), &policy(false));
    stopped(&team, stop);
    assert_eq!(app.compared(), "OutOfSync");
    assert_eq!(team.replicas("web"), 0);
    assert_never_reported(&team, "web");
    app.sync("somebody");
    named(&team);
    team.ends([("web", 2)]);
}

fn new_commit_without_self_heal_reverts_the_stop(plane: &ControlPlane) {
    plane.argo_cd();
    let team = TestNamespace::new(plane, "argocommit");
    let stop = soon(25);
    let web = web(stop.text());
    let app = Application::create(&team, web.clone(), &policy(false));
    stopped(&team, stop);
    let commit = app.commit(web.annotation("example.com/commit", "2"));
    app.compared();
    app.await_synced(&commit);
    named(&team);
    team.ends([("web", 2)]);
}

fn without_the_sync_option_the_stop_lasts_until_the_next_sync(plane: &ControlPlane) {
    plane.argo_cd();
    let team = TestNamespace::new(plane, "argooption");
    let stop = soon(25);
    let app = Application::create(&team, web(stop.text()), &settings(true, false));
    stopped(&team, stop);
    assert_eq!(app.compared(), "Synced");
    assert_eq!(team.replicas("web"), 0);
    assert_never_reported(&team, "web");
    app.sync("somebody");
    named(&team);
    team.ends([("web", 2)]);
}

fn ignore_rule_without_a_group_matches_no_deployment(plane: &ControlPlane) {
    plane.argo_cd();
    let team = TestNamespace::new(plane, "argogroup");
    let stop = soon(25);
    Application::create(&team, web(stop.text()), &settings(false, true));
    team.await_adopted("web", stop);
    stop.wait();
    named(&team);
    team.ends([("web", 2)]);
}
