//! The command lines of the control plane's programs.
//!
//! All programs run in the directory of the control plane, so their paths are short. There, kube-apiserver
//! creates its own certificate, whose key also signs the tokens of ServiceAccounts.

use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::process::Signal;

use super::assets::Assets;
use super::kubeconfig;
use crate::support::child_guard::ChildGuard;
use crate::support::timing::processor_waits;

/// The programs of a control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Parts {
    /// An API server with etcd. Workloads get no pods.
    Server,
    /// An API server without streamed lists (`WatchList`), as before Kubernetes 1.34.
    OlderServer,
    /// An API server with controllers, a scheduler and a fake node: Deployments get pods that are ready at
    /// once.
    Pods,
}

/// Users with static tokens and all permissions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum User {
    /// The user of the test itself.
    Admin,
    ControllerManager,
    Scheduler,
    Kwok,
}

impl User {
    const ALL: [Self; 4] = [
        Self::Admin,
        Self::ControllerManager,
        Self::Scheduler,
        Self::Kwok,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::ControllerManager => "system:kube-controller-manager",
            Self::Scheduler => "system:kube-scheduler",
            Self::Kwok => "kwok",
        }
    }

    pub(crate) fn token(self) -> &'static str {
        match self {
            Self::Admin => "token-of-admin",
            Self::ControllerManager => "token-of-controller-manager",
            Self::Scheduler => "token-of-scheduler",
            Self::Kwok => "token-of-kwok",
        }
    }
}

/// Logs each completed request and the beginning of each watch, except those of Kubernetes' own controllers.
/// The first matching rule applies.
const AUDIT_POLICY: &str = r#"{
  "apiVersion": "audit.k8s.io/v1",
  "kind": "Policy",
  "omitStages": ["RequestReceived"],
  "rules": [
    {"level": "None", "users": [
      "system:apiserver", "system:kube-controller-manager", "system:kube-scheduler", "kwok"]},
    {"level": "Metadata"}
  ]
}"#;

/// The controllers for workloads, pods, Services and Namespaces.
const CONTROLLERS: [&str; 12] = [
    "deployment-controller",
    "replicaset-controller",
    "statefulset-controller",
    "cronjob-controller",
    "job-controller",
    "serviceaccount-controller",
    "namespace-controller",
    "garbage-collector-controller",
    "resourcequota-controller",
    "horizontal-pod-autoscaler-controller",
    "clusterrole-aggregation-controller",
    "endpointslice-controller",
];

/// The annotation of a Job's pods that end after this time, for example `1h`.
pub(crate) const ENDS_AFTER: &str = "scenarios/ends-after";

/// Another host name of the API server, for which it can have a separate certificate.
pub(super) const ALIAS: &str = "alias.example.com";

/// The issuer of ServiceAccount tokens.
pub(crate) const ISSUER: &str = "https://kubernetes.default.svc";

/// The socket of etcd in the directory: the file name of the URL `unix://localhost:1`.
pub(crate) const ETCD_SOCKET: &str = "localhost:1";

/// The running programs of a control plane.
pub(crate) struct Programs {
    assets: Assets,
    directory: PathBuf,
    parts: Parts,
    running: Vec<(&'static str, ChildGuard)>,
}

/// Ports that are free now, and that the kernel does not assign to outgoing connections: by default, those begin
/// at 32768. Otherwise a connection of another scenario could take the port before the program listens on it.
pub(super) fn free_ports<const N: usize>() -> [u16; N] {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    [(); N].map(|()| {
        loop {
            let number = process::id().wrapping_mul(100) + NEXT.fetch_add(1, Ordering::Relaxed);
            let port = 10_000 + u16::try_from(number % 10_000).unwrap();
            if TcpListener::bind(("127.0.0.1", port)).is_ok() {
                break port;
            }
        }
    })
}

impl Programs {
    pub(crate) fn new(assets: Assets, directory: PathBuf, parts: Parts) -> Self {
        Self {
            assets,
            directory,
            parts,
            running: Vec::new(),
        }
    }

    /// Creates a certificate with its own authority for [`ALIAS`], which the API server uses after a restart.
    /// Returns the authority as PEM.
    pub(crate) fn renew_alias(&self) -> String {
        let made = rcgen::generate_simple_self_signed([ALIAS.to_owned()]).unwrap();
        let certificate = made.cert.pem();
        let certs = self.directory.join("certs");
        std::fs::write(certs.join("alias.key"), made.signing_key.serialize_pem()).unwrap();
        std::fs::write(certs.join("alias.crt"), &certificate).unwrap();
        certificate
    }

    /// The certificate of the API server and of the authority that signed it.
    pub(crate) fn ca(&self) -> PathBuf {
        self.directory.join("certs/apiserver.crt")
    }

    pub(crate) fn audit_log(&self) -> PathBuf {
        self.directory.join("audit.log")
    }

    /// Starts etcd on a socket in the directory, without a port and without waiting for a disk.
    pub(crate) fn start_etcd(&mut self) {
        self.start(
            "etcd",
            &[
                "--name=tests",
                "--data-dir=etcd",
                "--unsafe-no-fsync",
                "--log-level=warn",
                "--listen-client-urls=unix://localhost:1",
                "--advertise-client-urls=unix://localhost:1",
                "--listen-peer-urls=unix://localhost:2",
                "--initial-advertise-peer-urls=unix://localhost:2",
                "--initial-cluster=tests=unix://localhost:2",
            ],
        );
    }

    pub(crate) fn start_api_server(&mut self, port: u16) {
        let tokens: String = User::ALL
            .iter()
            .map(|user| format!("{},{1},{1},system:masters\n", user.token(), user.name()))
            .collect();
        std::fs::write(self.directory.join("tokens.csv"), tokens).unwrap();
        std::fs::write(self.directory.join("audit-policy.json"), AUDIT_POLICY).unwrap();
        let has_alias = self.directory.join("certs/alias.crt").exists();
        let alias = has_alias
            .then(|| format!("--tls-sni-cert-key=certs/alias.crt,certs/alias.key:{ALIAS}"));
        self.start(
            "kube-apiserver",
            &[
                "--etcd-servers=unix://localhost:1",
                "--bind-address=127.0.0.1",
                "--advertise-address=127.0.0.1",
                "--endpoint-reconciler-type=none",
                &format!("--secure-port={port}"),
                &format!(
                    "--feature-gates=WatchList={}",
                    self.parts != Parts::OlderServer
                ),
                "--cert-dir=certs",
                "--service-cluster-ip-range=10.0.0.0/24",
                &format!("--service-account-issuer={ISSUER}"),
                "--service-account-signing-key-file=certs/apiserver.key",
                "--service-account-key-file=certs/apiserver.key",
                "--token-auth-file=tokens.csv",
                "--authorization-mode=RBAC",
                // The fake node never loses this taint.
                "--disable-admission-plugins=TaintNodesByCondition",
                "--audit-policy-file=audit-policy.json",
                "--audit-log-path=audit.log",
                "--audit-log-mode=blocking",
                // In megabytes. The log must not be rotated, because it is read as one file.
                "--audit-log-maxsize=10000",
                "--profiling=false",
            ]
            .into_iter()
            .chain(alias.as_deref())
            .collect::<Vec<_>>(),
        );
    }

    pub(crate) fn start_pod_makers(&mut self, url: &str) {
        let controllers = format!("--controllers={}", CONTROLLERS.join(","));
        let config = self.kubeconfig(User::ControllerManager, url);
        self.start(
            "kube-controller-manager",
            &[
                &config,
                &controllers,
                "--secure-port=0",
                "--leader-elect=false",
                "--service-account-private-key-file=certs/apiserver.key",
                "--concurrent-deployment-syncs=10",
                "--concurrent-replicaset-syncs=10",
                // The default is 15 s.
                "--horizontal-pod-autoscaler-sync-period=1s",
                "--kube-api-qps=500",
                "--kube-api-burst=500",
            ],
        );
        let config = self.kubeconfig(User::Scheduler, url);
        self.start(
            "kube-scheduler",
            &[&config, "--secure-port=0", "--leader-elect=false"],
        );
        let config = self.kubeconfig(User::Kwok, url);
        let stages = std::fs::read_to_string(self.assets.path("kwok-stages.yaml")).unwrap();
        let stages = delayed(&stages, "pod-complete", ENDS_AFTER);
        let path = self.directory.join("stages.yaml");
        std::fs::write(&path, stages).unwrap();
        let stages = format!("--config={}", path.display());
        self.start(
            "kwok",
            &[
                &config,
                &stages,
                "--manage-all-nodes=true",
                // The default port equals that of Services, which kube-proxy could not distinguish.
                "--cidr=10.99.1.1/24",
            ],
        );
    }

    pub(crate) fn signal(&mut self, name: &str, signal: Signal) {
        self.find(name).1.signal(signal);
    }

    /// Ends a program with a signal and waits for its exit.
    pub(crate) fn end(&mut self, name: &str, signal: Signal) {
        self.signal(name, signal);
        let ended = self.find(name).1.wait(Duration::from_secs(90));
        ended.unwrap_or_else(|| panic!("{name} does not end"));
        self.running.retain(|(known, _)| *known != name);
    }

    fn find(&mut self, name: &str) -> &mut (&'static str, ChildGuard) {
        let found = self.running.iter_mut().find(|(known, _)| *known == name);
        found.unwrap_or_else(|| panic!("{name} does not run"))
    }

    /// The last log lines of each program.
    pub(crate) fn last_lines(&self, count: usize) -> String {
        let of = |(name, _): &(&'static str, ChildGuard)| {
            format!("--- {name}\n{}\n", last_lines(&self.directory, name, count))
        };
        self.running.iter().map(of).collect()
    }

    /// If a program has ended, panics with the end of its log.
    pub(crate) fn assert_alive(&mut self) {
        for (name, program) in &mut self.running {
            if let Some(status) = program.exited() {
                let tail = last_lines(&self.directory, name, 20);
                panic!("{name} ended: {status}\n{tail}");
            }
        }
    }

    fn kubeconfig(&self, user: User, url: &str) -> String {
        let path = self.directory.join(format!("{}.kubeconfig", user.token()));
        kubeconfig::write(&path, url, &self.ca(), user.token());
        format!("--kubeconfig={}", path.display())
    }

    fn start(&mut self, name: &'static str, flags: &[&str]) {
        let mut log = File::options();
        let log = log.create(true).append(true);
        let log = log.open(log_of(&self.directory, name)).unwrap();
        let mut command = Command::new(self.assets.path(name));
        command
            .args(flags)
            .current_dir(&self.directory)
            .env("HOME", &self.directory)
            // Less time for garbage collection, for a third more memory.
            .env("GOGC", "200")
            .env_remove("KUBECONFIG")
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        let program = ChildGuard::spawn(&mut command, Some(&self.directory)).unwrap();
        if ["etcd", "kube-apiserver"].contains(&name) {
            processor_waits::watch(program.id(), None);
        }
        self.running.push((name, program));
    }
}

/// kwok's stages, with one of them delayed by an annotation of the pod.
fn delayed(stages: &str, name: &str, annotation: &str) -> String {
    let known = format!("  name: {name}\nspec:\n");
    assert!(stages.contains(&known), "kwok's stages have changed");
    let delay = format!(
        "{known}  delay:\n    durationMilliseconds: 0\n    durationFrom:\n      \
            expressionFrom: '.metadata.annotations[\"{annotation}\"]'\n"
    );
    stages.replace(&known, &delay)
}

fn last_lines(directory: &Path, name: &str, count: usize) -> String {
    let log = std::fs::read_to_string(log_of(directory, name)).unwrap_or_default();
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

fn log_of(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!("{name}.log"))
}
