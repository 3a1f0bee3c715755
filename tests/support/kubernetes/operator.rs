//! Operators beside a control plane.

use std::fs::{self, File};
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;
use tempfile::TempDir;

use super::assets::Assets;
use super::control_plane::ControlPlane;
use super::programs::free_ports;
use crate::support::child_guard::ChildGuard;
use crate::support::{build, definitions};

/// A running operator with the permissions of `admin`, which ends when this is dropped.
pub(crate) struct Operator {
    program: ChildGuard,
    directory: TempDir,
}

impl Operator {
    /// kube-green with its defaults except for ports. It requires a certificate, although its webhook is not
    /// used.
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

    /// CloudNativePG with its definitions. Its webhooks are not used, because it sets defaults itself.
    pub(crate) fn cloud_native_pg(plane: &ControlPlane) -> Self {
        let assets = Assets::cloud_native_pg().unwrap_or_else(|why| panic!("{why:?}"));
        for file in definitions::CLOUD_NATIVE_PG_CRDS {
            let path = assets.join(file);
            // The definitions are too long for client-side apply.
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
        // Without a copy of its program for this architecture, it creates no pods.
        let directory = TempDir::new().unwrap();
        let programs = directory.path().join("operator");
        fs::create_dir(&programs).unwrap();
        for architecture in ["amd64", "arm64"] {
            fs::write(programs.join(format!("manager_{architecture}")), "").unwrap();
        }
        Self::start(plane, command, directory)
    }

    fn start(plane: &ControlPlane, mut command: Command, directory: TempDir) -> Self {
        let log = File::create(directory.path().join("log")).unwrap();
        command
            .current_dir(directory.path())
            .env("KUBECONFIG", plane.kubeconfig())
            .env("HOME", directory.path())
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        let program = ChildGuard::spawn(&mut command, Some(directory.path())).unwrap();
        Self { program, directory }
    }

    /// Ends the operator with SIGTERM, like the end of a pod.
    pub(crate) fn stop(mut self) {
        self.program.signal(Signal::TERM);
        let status = self.program.wait(Duration::from_secs(40));
        assert!(status.is_some(), "it does not end:\n{}", self.log());
    }

    /// The log of the operator.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.directory.path().join("log")).unwrap()
    }
}
