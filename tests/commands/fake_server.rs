//! The in-memory API on a socket, for the real binary.

use kube_in_memory::{Api, Fault, Status};
use std::process::Command;

use chrono::{DateTime, Utc};
use http_body_util::BodyExt as _;
use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use kube::client::Body;
use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpListener;

use crate::program::{self, Ended, Running, run, wait_until};
use crate::server_thread::ServerThread;

/// A cluster in memory, with a kubeconfig whose context uses the namespace `dev`.
pub(crate) struct Cluster {
    pub(crate) api: Api,
    directory: TempDir,
    _server: ServerThread,
}

impl Cluster {
    pub(crate) fn new() -> Self {
        Self::at(Utc::now)
    }

    /// A cluster with this clock.
    pub(crate) fn at(now: impl Fn() -> DateTime<Utc> + Send + Sync + 'static) -> Self {
        let api = Api::new(now);
        api.namespace("dev");
        let server = ServerThread::start({
            let api = api.clone();
            move |listener| serve(api, listener)
        });
        let directory = tempfile::tempdir().unwrap();
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "here",
            "contexts": [{
                "name": "here",
                "context": {"cluster": "here", "user": "me", "namespace": "dev"},
            }],
            "clusters": [{"name": "here", "cluster": {"server": format!("http://{}", server.address)}}],
            "users": [{"name": "me", "user": {}}],
        });
        std::fs::write(directory.path().join("config"), config.to_string()).unwrap();
        Self {
            api,
            directory,
            _server: server,
        }
    }

    /// A Deployment in the namespace `dev` with these `dayshift/` annotations.
    pub(crate) fn deployment(&self, name: &str, replicas: i32, annotations: &[(&str, &str)]) {
        let labels = json!({"app": name});
        let annotations: serde_json::Map<_, _> = annotations
            .iter()
            .map(|(key, text)| (format!("dayshift/{key}"), json!(text)))
            .collect();
        self.api
            .create(json!({
                "apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {
                    "namespace": "dev", "name": name, "labels": labels, "annotations": annotations,
                },
                "spec": {
                    "replicas": replicas,
                    "selector": {"matchLabels": labels},
                    "template": {
                        "metadata": {"labels": labels},
                        "spec": {"containers": [{"name": "nginx", "image": "nginx"}]},
                    },
                },
            }))
            .unwrap();
    }

    /// An HPA in the namespace `dev` without a status: it has not scaled yet.
    pub(crate) fn autoscaler(&self, name: &str, target: (&str, &str, &str)) {
        let (api_version, kind, target) = target;
        self.api
            .create(json!({
                "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
                "metadata": {"namespace": "dev", "name": name},
                "spec": {
                    "scaleTargetRef": {"apiVersion": api_version, "kind": kind, "name": target},
                    "minReplicas": 2, "maxReplicas": 9,
                },
            }))
            .unwrap();
    }

    /// Forbids these verbs of a resource.
    pub(crate) fn refuse(&self, verbs: &'static [&str], resource: &'static str) {
        self.refuse_all(verbs, &[resource]);
    }

    /// Forbids these verbs of several resources.
    pub(crate) fn refuse_all(&self, verbs: &'static [&str], resources: &[&'static str]) {
        let resources = resources.to_vec();
        self.api.on_request(move |request| {
            let is_it = resources.contains(&&*request.resource) && verbs.contains(&request.verb);
            let message = refusal(request.verb, &request.resource);
            is_it.then(|| Fault::Answer(Status::new(403, "Forbidden", message)))
        });
    }

    /// A CronJob in the namespace `dev` with these `dayshift/` annotations.
    pub(crate) fn cron_job(&self, name: &str, annotations: &[(&str, &str)]) {
        let annotations: serde_json::Map<_, _> = annotations
            .iter()
            .map(|(key, text)| (format!("dayshift/{key}"), json!(text)))
            .collect();
        let job = json!({
            "apiVersion": "batch/v1", "kind": "CronJob",
            "metadata": {"namespace": "dev", "name": name, "annotations": annotations},
            "spec": {
                "schedule": "0 * * * *",
                "jobTemplate": {"spec": {"template": {"spec": {
                    "restartPolicy": "Never",
                    "containers": [{"name": "job", "image": "job"}],
                }}}},
            },
        });
        self.api.create(job).unwrap();
    }

    pub(crate) fn annotation(&self, name: &str, key: &str) -> Option<String> {
        let object = self.api.get("Deployment", "dev", name)?;
        let text = &object["metadata"]["annotations"][format!("dayshift/{key}")];
        text.as_str().map(str::to_owned)
    }

    /// The label `dayshift/KEY` of a Deployment in the namespace `dev`.
    pub(crate) fn label(&self, name: &str, key: &str) -> Option<String> {
        let object = self.api.get("Deployment", "dev", name)?;
        let text = &object["metadata"]["labels"][format!("dayshift/{key}")];
        text.as_str().map(str::to_owned)
    }

    /// Waits until Deployments in the namespace `dev` are in a state.
    pub(crate) fn wait_for_state(&self, names: &[&str], state: &str) {
        for name in names {
            wait_until(state, || {
                self.label(name, "state").as_deref() == Some(state)
            });
        }
    }

    /// Waits until a controller has written a state to Deployments in the namespace `dev`.
    pub(crate) fn wait_until_seen(&self, names: &[&str]) {
        for name in names {
            wait_until("seen by a controller", || {
                self.label(name, "state").is_some()
            });
        }
    }

    pub(crate) fn kubeconfig(&self) -> std::path::PathBuf {
        self.directory.path().join("config")
    }

    /// The binary with the kubeconfig of this cluster.
    pub(crate) fn command(&self) -> Command {
        let mut command = program::command();
        command.env("KUBECONFIG", self.kubeconfig());
        command
    }

    /// Runs a command to its end.
    pub(crate) fn dayshift(&self, arguments: &[&str]) -> Ended {
        self.dayshift_with(&[], arguments)
    }

    /// Runs a command with variables to its end.
    pub(crate) fn dayshift_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Ended {
        let mut command = self.command();
        run(command.envs(variables.iter().copied()).args(arguments), "")
    }
}

/// The message of a real API server for a forbidden request.
pub(crate) fn refusal(verb: &str, resource: &str) -> String {
    format!("{resource} is forbidden: User \"me\" cannot {verb} resource \"{resource}\"")
}

/// `dayshift run` until it is dropped.
pub(crate) struct Controller {
    _child: Running,
}

impl Controller {
    pub(crate) fn on(cluster: &Cluster) -> Self {
        Self::with(cluster, &[])
    }

    /// With additional flags.
    pub(crate) fn with(cluster: &Cluster, flags: &[&str]) -> Self {
        let mut command = cluster.command();
        command.args(["run", "--listen=127.0.0.1:0", "--log-level=error"]);
        command.args(flags);
        Self {
            _child: Running(command.spawn().unwrap()),
        }
    }
}

async fn serve(api: Api, listener: TcpListener) {
    let client = api.client();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let client = client.clone();
        let answer = service_fn(move |request: Request<Incoming>| {
            let client = client.clone();
            async move {
                let (head, body) = request.into_parts();
                let body = body
                    .collect()
                    .await
                    .map(http_body_util::Collected::to_bytes)
                    .unwrap_or_default();
                client
                    .send(Request::from_parts(head, Body::from(body.to_vec())))
                    .await
            }
        });
        tokio::spawn(async move {
            // A client may disconnect at any time.
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(stream), answer)
                .await;
        });
    }
}
