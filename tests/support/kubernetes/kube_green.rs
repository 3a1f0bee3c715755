//! kube-green beside a control plane, the real one.

use std::fs::{self, File};
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;
use tempfile::TempDir;

use super::argo_cd::free_ports;
use super::assets::Assets;
use super::control_plane::ControlPlane;
use crate::support::build;
use crate::support::child_guard::ChildGuard;

/// What it calls itself to the API server: the name of its program.
pub(crate) const USER_AGENT: &str = build::KUBE_GREEN.0;

/// A running kube-green, which ends when it is dropped. It looks after all SleepInfos there are.
pub(crate) struct KubeGreen {
    program: ChildGuard,
    folder: TempDir,
}

impl KubeGreen {
    /// Starts it with the rights of `admin`, and but for its ports with its own defaults. Nobody calls
    /// its webhook: the certificate is there because it wants one.
    pub(crate) fn start(plane: &ControlPlane) -> Self {
        let program = Assets::kube_green().unwrap_or_else(|why| panic!("{why:?}"));
        let folder = TempDir::new().unwrap();
        let log = File::create(folder.path().join("log")).unwrap();
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
            .args(["--webhook-cert-key", "apiserver.key"])
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
