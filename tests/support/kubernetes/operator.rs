//! Operators beside a control plane, the real programs.

use std::fs::{self, File};
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;
use tempfile::TempDir;

use super::argo_cd::free_ports;
use super::assets::Assets;
use super::control_plane::ControlPlane;
use crate::support::child_guard::ChildGuard;
use crate::support::{build, definitions};

/// A running operator, which ends when it is dropped. It has the rights of `admin` in the whole
/// cluster.
pub(crate) struct Operator {
    program: ChildGuard,
    folder: TempDir,
}

impl Operator {
    /// kube-green, but for its ports with its own defaults. Nobody calls its webhook: the certificate
    /// is there because it wants one.
    pub(crate) fn kube_green(plane: &ControlPlane) -> Self {
        let program = Assets::kube_green().unwrap_or_else(|why| panic!("{why:?}"));
        let [port] = free_ports();
        let certificate = plane.ca();
        let mut command = Command::new(program);
        command
            .args(["--health-probe-bind-address", "0"])
            .args(["--webhook-host", "127.0.0.1"])
            .args(["--webhook-server-port", &port.to_string()])
            .arg("--webhook-cert-path")
            .arg(certificate.parent().unwrap())
            .args(["--webhook-cert-name", "apiserver.crt"])
            .args(["--webhook-cert-key", "apiserver.key"]);
        Self::start(plane, command, TempDir::new().unwrap())
    }

    /// CloudNativePG, whose definitions are applied first. Nobody calls its webhooks: it takes defaults
    /// by itself.
    pub(crate) fn cloud_native_pg(plane: &ControlPlane) -> Self {
        let assets = Assets::cloud_native_pg().unwrap_or_else(|why| panic!("{why:?}"));
        for file in definitions::CLOUD_NATIVE_PG_CRDS {
            let path = assets.join(file);
            // Too long for the annotation of a client-side apply.
            let apply = ["apply", "--server-side", "-f", path.to_str().unwrap()];
            plane.kubectl(&apply).success();
        }
        plane
            .kubectl(&["wait", "--for=condition=established", "crd", "--all"])
            .success();
        let [port] = free_ports();
        let certificate = plane.ca();
        let mut command = Command::new(assets.join(build::CLOUD_NATIVE_PG.0));
        command
            .arg("controller")
            .args(["--metrics-bind-address", "0"])
            .args(["--webhook-port", &port.to_string()])
            .env("OPERATOR_NAMESPACE", "default")
            .env("OPERATOR_IMAGE_NAME", "cloudnative-pg")
            .env("WEBHOOK_CERT_DIR", certificate.parent().unwrap());
        // What it would copy into pods of its own architecture: without it, it makes none.
        let folder = TempDir::new().unwrap();
        let programs = folder.path().join("operator");
        fs::create_dir(&programs).unwrap();
        for architecture in ["amd64", "arm64"] {
            fs::write(programs.join(format!("manager_{architecture}")), "").unwrap();
        }
        Self::start(plane, command, folder)
    }

    fn start(plane: &ControlPlane, mut command: Command, folder: TempDir) -> Self {
        let log = File::create(folder.path().join("log")).unwrap();
        command
            .current_dir(folder.path())
            .env("KUBECONFIG", plane.kubeconfig())
            .env("HOME", folder.path())
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        let program = ChildGuard::spawn(&mut command, Some(folder.path())).unwrap();
        Self { program, folder }
    }

    /// Ends it as a pod's end does.
    pub(crate) fn stop(mut self) {
        self.program.signal(Signal::TERM);
        let status = self.program.wait(Duration::from_secs(40));
        assert!(status.is_some(), "it does not end:\n{}", self.log());
    }

    /// What it has said.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap()
    }
}
