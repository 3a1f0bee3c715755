//! A Kubernetes control plane for tests.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use chrono::{DateTime, Utc};
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::{Namespace as Definition, Node, ServiceAccount};
use kube::api::{Api, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use rustix::process::Signal;
use serde_json::json;
use tempfile::TempDir;

use super::argo_cd::ArgoCd;
use super::assets::Assets;
use super::audit::Audit;
use super::compaction::{begin_history, compact};
use super::kubeconfig;
use super::output::Output;
use super::programs::{ALIAS, ETCD_SOCKET, ISSUER, Parts, Programs, User, free_ports};
use super::token::token;
use crate::support::blocking::block_on;

/// The namespace and name of the ServiceAccount in `manifests/dayshift.yaml`.
const SHIPPED: (&str, &str) = ("dayshift", "dayshift");

/// A control plane on a loopback port, with RBAC and an audit log. Dropping it ends its processes and removes
/// its directory.
pub(crate) struct ControlPlane {
    // Dropped before the directory, because the programs write into it.
    programs: Mutex<Programs>,
    assets: Assets,
    parts: Parts,
    url: String,
    client: kube::Client,
    audit: Audit,
    installed: OnceLock<PathBuf>,
    argo: OnceLock<ArgoCd>,
    names: AtomicU32,
    directory: TempDir,
}

/// Serializes applying cluster-wide files: of two concurrent `kubectl apply`, one would fail because the
/// object exists.
static TURN: Mutex<()> = Mutex::new(());

impl ControlPlane {
    /// Starts a control plane and waits until it is ready, about 3 s on an idle machine.
    pub(crate) fn start(assets: &Assets, parts: Parts) -> Self {
        let directory = directory();
        let mut programs = Programs::new(assets.clone(), directory.path().to_owned(), parts);
        programs.start_etcd();
        begin_history(&directory.path().join(ETCD_SOCKET));
        let [port] = free_ports();
        let url = format!("https://127.0.0.1:{port}");
        programs.start_api_server(port);

        let admin = directory.path().join("admin.kubeconfig");
        kubeconfig::write(&admin, &url, &programs.ca(), User::Admin.token());
        let client = await_ready(&mut programs, &admin);
        if parts == Parts::Pods {
            programs.start_pod_makers(&url);
            add_node(&client);
        }
        let audit = Audit::new(programs.audit_log(), client.clone());
        Self {
            programs: Mutex::new(programs),
            assets: assets.clone(),
            parts,
            url,
            client,
            audit,
            installed: OnceLock::new(),
            argo: OnceLock::new(),
            names: AtomicU32::new(0),
            directory,
        }
    }

    /// The address of the server, `https` on 127.0.0.1.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The PEM file of the certificate authority.
    pub(crate) fn ca(&self) -> PathBuf {
        self.directory.path().join("certs/apiserver.crt")
    }

    /// The PEM file of the server's key, for a test server that should look like this one.
    pub(crate) fn key(&self) -> PathBuf {
        self.directory.path().join("certs/apiserver.key")
    }

    /// The kubeconfig of the user `admin`, who has all permissions.
    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.directory.path().join("admin.kubeconfig")
    }

    /// A client of the user `admin`. Use its futures with [`crate::support::block_on`].
    pub(crate) fn client(&self) -> &kube::Client {
        &self.client
    }

    /// Another client of `admin`, without retries.
    pub(crate) fn impatient_client(&self) -> kube::Client {
        connect(&self.kubeconfig(), false).unwrap()
    }

    /// A client without retries, with this kubeconfig.
    pub(crate) fn client_of(&self, kubeconfig: &Path) -> kube::Client {
        connect(kubeconfig, false).unwrap()
    }

    /// Whether Deployments get pods.
    pub(crate) fn parts(&self) -> Parts {
        self.parts
    }

    /// The audit log.
    pub(crate) fn audit(&self) -> &Audit {
        &self.audit
    }

    /// The number of watches that the server has closed because its cache was too slow. This happens on a
    /// busy machine.
    pub(crate) fn closed_watches(&self) -> usize {
        let request = http::Request::get("/metrics").body(Vec::new()).unwrap();
        let metrics = block_on(self.client.request_text(request)).unwrap();
        let counters = metrics
            .lines()
            .filter(|line| line.starts_with("apiserver_terminated_watchers_total{"));
        let counts = counters.map(|line| line.rsplit(' ').next().unwrap().parse::<usize>());
        counts.map(Result::unwrap).sum()
    }

    /// Compacts etcd.
    pub(crate) fn compact(&self) {
        compact(&self.directory.path().join(ETCD_SOCKET));
    }

    /// Sends a signal to `etcd` or `kube-apiserver`.
    pub(crate) fn signal(&self, program: &str, signal: Signal) {
        self.programs.lock().unwrap().signal(program, signal);
    }

    /// Ends a program and waits for its exit.
    pub(crate) fn end(&self, program: &str, signal: Signal) {
        self.programs.lock().unwrap().end(program, signal);
    }

    /// Starts etcd again after [`ControlPlane::end`], with its data.
    pub(crate) fn start_etcd(&self) {
        self.programs.lock().unwrap().start_etcd();
    }

    /// Starts the API server again after [`ControlPlane::end`], on the same port.
    pub(crate) fn start_api_server(&self) {
        let port = self.url.rsplit(':').next().unwrap().parse().unwrap();
        self.programs.lock().unwrap().start_api_server(port);
    }

    /// Starts the API server again with another certificate for [`ALIAS`]. Returns its certificate authority
    /// as PEM.
    pub(crate) fn start_api_server_with_alias(&self) -> String {
        let authority = self.programs.lock().unwrap().renew_alias();
        self.start_api_server();
        authority
    }

    /// Waits until the API server is ready.
    pub(crate) fn await_ready(&self) {
        await_ready(&mut self.programs.lock().unwrap(), &self.kubeconfig());
    }

    /// Panics if one of the programs has ended.
    pub(crate) fn assert_alive(&self) {
        self.programs.lock().unwrap().assert_alive();
    }

    /// A unique name that begins with `name`.
    pub(crate) fn unused_name(&self, name: &str) -> String {
        format!("{name}-{}", self.names.fetch_add(1, Ordering::Relaxed))
    }

    /// Runs kubectl as admin.
    pub(crate) fn kubectl(&self, arguments: &[&str]) -> Output {
        self.kubectl_as(&self.kubeconfig(), arguments)
    }

    /// The last log lines of each program.
    pub(crate) fn last_lines(&self, count: usize) -> String {
        self.programs.lock().unwrap().last_lines(count)
    }

    /// Runs kubectl with this kubeconfig.
    pub(crate) fn kubectl_as(&self, kubeconfig: &Path, arguments: &[&str]) -> Output {
        let line = format!("kubectl {}", arguments.join(" "));
        let mut kubectl = Command::new(self.assets.path("kubectl"));
        let is_shared =
            |argument: &&str| argument.starts_with("manifests/") || argument.starts_with("tests/");
        let shared = arguments.iter().find(|argument| is_shared(argument));
        let _turn = shared.map(|_| TURN.lock().unwrap_or_else(PoisonError::into_inner));
        self.output(&line, kubectl.args(arguments), kubeconfig)
    }

    /// Argo CD for this control plane, started on first use.
    pub(crate) fn argo_cd(&self) -> &ArgoCd {
        self.argo.get_or_init(|| ArgoCd::start(self))
    }

    /// Runs a shell command with kubectl and dayshift in the path, as admin.
    pub(crate) fn shell(&self, line: &str) -> Output {
        let programs = self.assets.path("kubectl");
        let dayshift = Path::new(env!("CARGO_BIN_EXE_dayshift"));
        let path = format!(
            "{}:{}:{}",
            programs.parent().unwrap().display(),
            dayshift.parent().unwrap().display(),
            env::var("PATH").unwrap_or_default()
        );
        let mut shell = Command::new("sh");
        self.output(
            line,
            shell.args(["-c", line]).env("PATH", path),
            &self.kubeconfig(),
        )
    }

    pub(super) fn output(&self, line: &str, command: &mut Command, kubeconfig: &Path) -> Output {
        command
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env("KUBECONFIG", kubeconfig)
            // These programs end soon, so they need no garbage collection.
            .env("GOGC", "off")
            .env("HOME", self.directory.path());
        Output::of(line, command)
    }

    /// Applies `manifests/dayshift.yaml` once, and returns a kubeconfig of its ServiceAccount for the program
    /// under test.
    pub(crate) fn install(&self) -> &Path {
        self.installed.get_or_init(|| {
            let output = self.kubectl(&["apply", "-f", "manifests/dayshift.yaml"]);
            assert_eq!(output.stderr, "", "{}", output.command);
            output.success();
            let (namespace, account) = SHIPPED;
            self.kubeconfig_of(namespace, account)
        })
    }

    /// A kubeconfig with a new token of a ServiceAccount.
    pub(crate) fn kubeconfig_of(&self, namespace: &str, account: &str) -> PathBuf {
        self.kubeconfig_via(&self.url, namespace, account)
    }

    /// A kubeconfig for a server behind a proxy at `url`.
    pub(crate) fn kubeconfig_via(&self, url: &str, namespace: &str, account: &str) -> PathBuf {
        let port = url.rsplit(':').next().unwrap();
        let name = format!("{namespace}.{account}.{port}.kubeconfig");
        let path = self.directory.path().join(name);
        let token = self.token_of(namespace, account);
        kubeconfig::write(&path, url, &self.ca(), &token);
        path
    }

    /// A kubeconfig for [`ALIAS`] that trusts the certificate authority in the file `ca`.
    pub(crate) fn kubeconfig_by_alias(&self, namespace: &str, account: &str, ca: &Path) -> PathBuf {
        let path = self.directory.path().join("alias.kubeconfig");
        let user = json!({"token": self.token_of(namespace, account)});
        let cluster = json!({
            "server": self.url, "certificate-authority": ca, "tls-server-name": ALIAS,
        });
        kubeconfig::write_for(&path, &cluster, &user);
        path
    }

    /// A kubeconfig that reads its token from a file.
    pub(crate) fn kubeconfig_with_token_file(&self, url: &str) -> (PathBuf, PathBuf) {
        let port = url.rsplit(':').next().unwrap();
        let path = self.directory.path().join(format!("{port}.kubeconfig"));
        let token_file = path.with_extension("token");
        kubeconfig::write_with_token_file(&path, url, &self.ca(), &token_file);
        (path, token_file)
    }

    /// A token of a ServiceAccount that expires at this time.
    pub(crate) fn token_until(
        &self,
        namespace: &str,
        account: &str,
        expires: DateTime<Utc>,
    ) -> String {
        let accounts: Api<ServiceAccount> = Api::namespaced(self.client.clone(), namespace);
        let uid = block_on(accounts.get(account)).unwrap().metadata.uid;
        let claims = json!({
            "sub": format!("system:serviceaccount:{namespace}:{account}"),
            "kubernetes.io": {
                "namespace": namespace,
                "serviceaccount": {"name": account, "uid": uid},
            },
        });
        token(&self.key(), ISSUER, &claims, expires)
    }

    /// A token of a ServiceAccount that is valid for an hour.
    pub(crate) fn token_of(&self, namespace: &str, account: &str) -> String {
        let accounts: Api<ServiceAccount> = Api::namespaced(self.client.clone(), namespace);
        let request = TokenRequest {
            spec: Some(TokenRequestSpec {
                expiration_seconds: Some(3600),
                ..Default::default()
            }),
            ..Default::default()
        };
        let answer =
            block_on(accounts.create_token_request(account, &PostParams::default(), &request));
        answer.unwrap().status.unwrap().token.unwrap()
    }
}

/// The directory is in memory if possible, because nothing in it should outlive the test.
fn directory() -> TempDir {
    let memory = Path::new("/dev/shm");
    let parent = if memory.is_dir() {
        memory.to_owned()
    } else {
        env::temp_dir()
    };
    tempfile::Builder::new()
        .prefix("dayshift-")
        .tempdir_in(parent)
        .or_else(|_| tempfile::tempdir())
        .unwrap()
}

fn await_ready(programs: &mut Programs, admin: &Path) -> kube::Client {
    let begin = Instant::now();
    let mut client = None;
    loop {
        programs.assert_alive();
        if client.is_none() && fs::metadata(programs.ca()).is_ok_and(|file| file.len() > 0) {
            client = connect(admin, true);
        }
        if let Some(client) = &client {
            let request = http::Request::get("/readyz").body(Vec::new()).unwrap();
            if block_on(client.request_text(request)).is_ok() {
                return client.clone();
            }
        }
        assert!(
            begin.elapsed() < Duration::from_secs(120),
            "the API server is not ready"
        );
        thread::sleep(Duration::from_millis(50));
    }
}

fn connect(kubeconfig: &Path, retry: bool) -> Option<kube::Client> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
    block_on(async {
        let options = KubeConfigOptions::default();
        let mut config = kube::Config::from_custom_kubeconfig(kubeconfig, &options)
            .await
            .ok()?;
        config.default_retry = retry;
        kube::Client::try_from(config).ok()
    })
}

fn add_node(client: &kube::Client) {
    let node: Node = serde_json::from_value(json!({
        "metadata": {"name": "fake", "labels": {"kubernetes.io/os": "linux"}},
    }))
    .unwrap();
    let nodes: Api<Node> = Api::all(client.clone());
    block_on(nodes.create(&PostParams::default(), &node)).unwrap();
}
