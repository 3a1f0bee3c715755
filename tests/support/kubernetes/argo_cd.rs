//! Argo CD beside a control plane: its application controller, repo server and redis-server.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use tempfile::TempDir;

use super::assets::Assets;
use super::control_plane::ControlPlane;
use super::programs::free_ports;
use crate::support::child_guard::ChildGuard;
use crate::support::{build, definitions};

/// The namespace of Argo CD and its Applications.
pub(crate) const NAMESPACE: &str = "argocd";

/// The components. The program is started under the name of a component.
const CONTROLLER: &str = "argocd-application-controller";
const REPO_SERVER: &str = "argocd-repo-server";

/// A running Argo CD, which ends when this is dropped.
pub(crate) struct ArgoCd {
    programs: Vec<(&'static str, ChildGuard)>,
    directory: TempDir,
}

impl ArgoCd {
    /// Starts Argo CD with the permissions of `admin`.
    pub(super) fn start(plane: &ControlPlane) -> Self {
        let built = Assets::argo_cd().unwrap_or_else(|why| panic!("{why:?}"));
        let mut argo = Self {
            programs: Vec::new(),
            directory: TempDir::new().unwrap(),
        };
        let directory = argo.directory.path().to_owned();
        for name in ["tls", "ssh", "plugins", "repos", "tmp"] {
            fs::create_dir(directory.join(name)).unwrap();
        }
        for name in [CONTROLLER, REPO_SERVER] {
            symlink(built.join(build::ARGO_CD.0), directory.join(name)).unwrap();
        }
        for crd in definitions::ARGO_CD_CRDS {
            let file = built.join(crd);
            let create = ["create", "-f", file.to_str().unwrap()];
            plane.kubectl(&create).success();
        }
        fs::write(directory.join("settings.json"), settings()).unwrap();
        let file = directory.join("settings.json");
        let create = ["create", "-f", file.to_str().unwrap()];
        plane.kubectl(&create).success();

        let [redis, repositories, first, second] = free_ports();
        let redis_address = format!("127.0.0.1:{redis}");
        let mut command = Command::new("redis-server");
        command.args(["--port", &redis.to_string(), "--bind", "127.0.0.1"]);
        command.args(["--save", "", "--appendonly", "no"]);
        argo.run("redis-server", command, plane);

        let mut command = Command::new(directory.join(REPO_SERVER));
        command.args(["--address", "127.0.0.1", "--disable-tls"]);
        command.args(["--port", &repositories.to_string()]);
        command.args(["--metrics-port", &first.to_string()]);
        command.args(["--redis", &redis_address]);
        argo.run(REPO_SERVER, command, plane);

        let mut command = Command::new(directory.join(CONTROLLER));
        command.args(["--namespace", NAMESPACE, "--repo-server-plaintext"]);
        command.args(["--repo-server", &format!("127.0.0.1:{repositories}")]);
        command.args(["--metrics-port", &second.to_string()]);
        command.args(["--redis", &redis_address]);
        argo.run(CONTROLLER, command, plane);
        argo
    }

    /// A directory for git repositories of tests.
    pub(crate) fn repositories(&self) -> PathBuf {
        self.directory.path().join("repos")
    }

    /// The ends of the logs.
    pub(crate) fn logs(&self) -> String {
        let mut text = String::new();
        for (name, _) in &self.programs {
            let log = fs::read_to_string(self.directory.path().join(format!("{name}.log")));
            let log = log.unwrap_or_default();
            let lines: Vec<_> = log.lines().collect();
            let end = lines[lines.len().saturating_sub(15)..].join("\n");
            text += &format!("--- {name}\n{end}\n");
        }
        text
    }

    fn run(&mut self, name: &'static str, mut command: Command, plane: &ControlPlane) {
        let directory = self.directory.path();
        let log = File::create(directory.join(format!("{name}.log"))).unwrap();
        command
            .current_dir(directory)
            .env("KUBECONFIG", plane.kubeconfig())
            .env("HOME", directory)
            .env("TMPDIR", directory.join("tmp"))
            .env("ARGOCD_FAKE_IN_CLUSTER", "true")
            .env("ARGOCD_GPG_ENABLED", "false")
            .env("ARGOCD_TLS_DATA_PATH", directory.join("tls"))
            .env("ARGOCD_SSH_DATA_PATH", directory.join("ssh"))
            .env("ARGOCD_PLUGINSOCKFILEPATH", directory.join("plugins"))
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        let litter: Option<&Path> = Some(directory);
        let child = ChildGuard::spawn(&mut command, litter);
        let child = child.unwrap_or_else(|error| panic!("{name}: {error}"));
        self.programs.push((name, child));
    }
}

/// The settings of an Argo CD installation.
fn settings() -> String {
    let labels = json!({"app.kubernetes.io/part-of": "argocd"});
    let metadata = |name: &str| json!({"name": name, "namespace": NAMESPACE, "labels": labels});
    let mut items = vec![
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}),
        json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": metadata("argocd-secret"),
            "stringData": {"server.secretkey": "for the tests alone"},
        }),
        json!({
            "apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject",
            "metadata": metadata("default"),
            "spec": {
                "sourceRepos": ["*"],
                "destinations": [{"namespace": "*", "server": "*"}],
                "clusterResourceWhitelist": [{"group": "*", "kind": "*"}],
            },
        }),
    ];
    for name in ["argocd-cm", "argocd-rbac-cm", "argocd-cmd-params-cm"] {
        items.push(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata(name)}));
    }
    json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()
}
