//! The command line of each program of a control plane.
//!
//! All of them work in the control plane's own folder, so that their paths are short and stay
//! inside it: `kube-apiserver` signs its own certificate there, and its key signs the
//! ServiceAccounts' tokens too.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use super::assets::Assets;
use super::kubeconfig;
use crate::support::child_guard::ChildGuard;
use crate::support::timing::processor_waits;

/// What a control plane is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Parts {
    /// An API server on etcd: objects stay as they are written.
    Server,
    /// One that lists nothing as a stream (`WatchList`), as those before Kubernetes 1.34.
    OlderServer,
    /// Besides an API server Kubernetes' own controllers, a scheduler and a fake node: Deployments get
    /// pods that are ready at once.
    Pods,
}

/// The bearers that the server knows from the start; all of them may do everything.
#[derive(Clone, Copy, Debug)]
pub(crate) enum User {
    /// The hands of the test.
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

/// One line of audit log for each request that ended and each watch that began; none for what
/// Kubernetes' own controllers do. The first rule that matches decides.
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

/// Those of Kubernetes' controllers that have to do with workloads, their pods, Services and namespaces.
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

/// The annotation of pods that are not ready at once, but so long after they have a node: `1s`.
pub(crate) const READY_AFTER: &str = "stories/ready-after";

/// The annotation of a Job's pods that do not end at once, but so long after they run: `1h`.
pub(crate) const ENDS_AFTER: &str = "stories/ends-after";

/// Another name of the API server, with a certificate of its own once there is one.
pub(super) const ALIAS: &str = "alias.example.com";

/// Who the tokens of ServiceAccounts are from.
pub(crate) const ISSUER: &str = "https://kubernetes.default.svc";

/// Where etcd listens, in the folder: its `unix://localhost:1`.
pub(crate) const ETCD_SOCKET: &str = "localhost:1";

/// Programs that run in one control plane's folder.
pub(crate) struct Programs {
    assets: Assets,
    folder: PathBuf,
    parts: Parts,
    running: Vec<(&'static str, ChildGuard)>,
}

impl Programs {
    pub(crate) fn new(assets: Assets, folder: PathBuf, parts: Parts) -> Self {
        Self {
            assets,
            folder,
            parts,
            running: Vec::new(),
        }
    }

    /// Writes a certificate of its own authority for [`ALIAS`], which the API server shows once it is
    /// started again to who asks for that name. Returns that authority, in PEM.
    pub(crate) fn renew_alias(&self) -> String {
        let made = rcgen::generate_simple_self_signed([ALIAS.to_owned()]).unwrap();
        let certificate = made.cert.pem();
        let certs = self.folder.join("certs");
        std::fs::write(certs.join("alias.key"), made.signing_key.serialize_pem()).unwrap();
        std::fs::write(certs.join("alias.crt"), &certificate).unwrap();
        certificate
    }

    /// The API server's certificate, followed by that of the authority that has signed it.
    pub(crate) fn ca(&self) -> PathBuf {
        self.folder.join("certs/apiserver.crt")
    }

    pub(crate) fn audit_log(&self) -> PathBuf {
        self.folder.join("audit.log")
    }

    /// Starts etcd on a socket in the folder: no port, and no disk to wait for.
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
        std::fs::write(self.folder.join("tokens.csv"), tokens).unwrap();
        std::fs::write(self.folder.join("audit-policy.json"), AUDIT_POLICY).unwrap();
        let has_alias = self.folder.join("certs/alias.crt").exists();
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
                // Pods would have to tolerate a taint that the fake node never loses.
                "--disable-admission-plugins=TaintNodesByCondition",
                "--audit-policy-file=audit-policy.json",
                "--audit-log-path=audit.log",
                "--audit-log-mode=blocking",
                // In megabytes: far from being rotated, for it is read as one file.
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
                // Every 15 s by default.
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
        let delays = [("pod-ready", READY_AFTER), ("pod-complete", ENDS_AFTER)];
        let stages = delays.iter().fold(stages, |stages, (name, annotation)| {
            delayed(&stages, name, annotation)
        });
        let path = self.folder.join("stages.yaml");
        std::fs::write(&path, stages).unwrap();
        let stages = format!("--config={}", path.display());
        self.start(
            "kwok",
            &[
                &config,
                &stages,
                "--manage-all-nodes=true",
                // By default those of Services: with kube-proxy they have to be told apart.
                "--cidr=10.99.1.1/24",
            ],
        );
    }

    pub(crate) fn signal(&mut self, name: &str, signal: Signal) {
        self.find(name).1.signal(signal);
    }

    /// Ends one of them with a signal and waits until it is gone.
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

    /// The last lines of the log of each.
    pub(crate) fn last_lines(&self, count: usize) -> String {
        let of = |(name, _): &(&'static str, ChildGuard)| {
            format!("--- {name}\n{}\n", last_lines(&self.folder, name, count))
        };
        self.running.iter().map(of).collect()
    }

    /// Panics with the end of its log if one of them has ended.
    pub(crate) fn assert_alive(&mut self) {
        for (name, program) in &mut self.running {
            if let Some(status) = program.exited() {
                let tail = last_lines(&self.folder, name, 20);
                panic!("{name} ended: {status}\n{tail}");
            }
        }
    }

    fn kubeconfig(&self, user: User, url: &str) -> String {
        let path = self.folder.join(format!("{}.kubeconfig", user.token()));
        kubeconfig::write(&path, url, &self.ca(), user.token());
        format!("--kubeconfig={}", path.display())
    }

    fn start(&mut self, name: &'static str, flags: &[&str]) {
        let mut log = File::options();
        let log = log.create(true).append(true);
        let log = log.open(log_of(&self.folder, name)).unwrap();
        let mut command = Command::new(self.assets.path(name));
        command
            .args(flags)
            .current_dir(&self.folder)
            .env("HOME", &self.folder)
            .env_remove("KUBECONFIG")
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        let program = ChildGuard::spawn(&mut command, Some(&self.folder)).unwrap();
        if ["etcd", "kube-apiserver"].contains(&name) {
            processor_waits::watch(program.id(), None);
        }
        self.running.push((name, program));
    }
}

/// kwok's stages where one of them comes as long after the one before as an annotation of the pod says.
fn delayed(stages: &str, name: &str, annotation: &str) -> String {
    let known = format!("  name: {name}\nspec:\n");
    assert!(stages.contains(&known), "kwok's stages have changed");
    let delay = format!(
        "{known}  delay:\n    durationMilliseconds: 0\n    durationFrom:\n      \
            expressionFrom: '.metadata.annotations[\"{annotation}\"]'\n"
    );
    stages.replace(&known, &delay)
}

fn last_lines(folder: &Path, name: &str, count: usize) -> String {
    let log = std::fs::read_to_string(log_of(folder, name)).unwrap_or_default();
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

fn log_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.log"))
}
