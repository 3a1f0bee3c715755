//! Broken and missing API servers, and their kubeconfigs.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::PathBuf,
    sync::{LazyLock, mpsc},
    thread,
    time::Duration,
};

/// The token in each kubeconfig.
pub(crate) const TOKEN: &str = "open-sesame";

const TIMEOUT: Duration = Duration::from_secs(20);

/// A kubeconfig file that is removed when it is dropped.
pub(crate) struct Kubeconfig {
    file: PathBuf,
    _directory: tempfile::TempDir,
}

/// A kubeconfig for a port without a listener.
pub(crate) static ABSENT: LazyLock<Kubeconfig> = LazyLock::new(|| {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    Kubeconfig::to(port)
});

impl Kubeconfig {
    fn to(port: u16) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("config");
        let text = format!(
            r#"
apiVersion: v1
kind: Config
current-context: here
contexts: [{{name: here, context: {{cluster: here, user: me}}}}]
clusters: [{{name: here, cluster: {{server: "http://127.0.0.1:{port}"}}}}]
users: [{{name: me, user: {{token: {TOKEN}}}}}]
"#
        );
        std::fs::write(&file, text).unwrap();
        Self {
            file,
            _directory: directory,
        }
    }

    pub(crate) fn path(&self) -> &str {
        self.file.to_str().unwrap()
    }
}

/// An API server that lists one Deployment and answers nothing else.
pub(crate) struct ApiServer {
    pub(crate) kubeconfig: Kubeconfig,
    patches: mpsc::Receiver<()>,
}

impl ApiServer {
    pub(crate) fn that_never_answers_a_patch() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let kubeconfig = Kubeconfig::to(listener.local_addr().unwrap().port());
        let (patched, patches) = mpsc::channel();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let patched = patched.clone();
                thread::spawn(move || answer(stream.unwrap(), &patched));
            }
        });
        Self {
            kubeconfig,
            patches,
        }
    }

    pub(crate) fn wait_for_patch(&self) {
        self.patches.recv_timeout(TIMEOUT).unwrap();
    }
}

const DEPLOYMENTS: &str = r#"{
  "kind": "DeploymentList", "apiVersion": "apps/v1", "metadata": {"resourceVersion": "9"},
  "items": [{
    "metadata": {
      "name": "web", "namespace": "dev", "uid": "11111111-2222-3333-4444-555555555555",
      "resourceVersion": "8", "annotations": {"dayshift/stop": "19:00"}
    },
    "spec": {"replicas": 1, "selector": {}, "template": {}}
  }]
}"#;

fn answer(mut stream: TcpStream, patched: &mpsc::Sender<()>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if !matches!(reader.read_line(&mut head), Ok(1..)) {
                return;
            }
        }
        if head.contains("sendInitialEvents") {
            let refusal = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
            stream.write_all(refusal.as_bytes()).unwrap();
            continue;
        }
        if head.starts_with("GET ") && !head.contains("watch=true") {
            let list = if head.contains("/deployments") {
                DEPLOYMENTS.to_owned()
            } else {
                let names = DEPLOYMENTS.replace("DeploymentList", "StatefulSetList");
                let end = names.find("\"items\"").unwrap();
                names[..end].to_owned() + "\"items\": []}"
            };
            let length = list.len();
            write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
                 \r\n{list}"
            )
            .unwrap();
            continue;
        }
        if head.starts_with("PATCH ") {
            let _ = patched.send(());
        }
        // Stay silent until the client disconnects.
        let _ = reader.read_to_end(&mut Vec::new());
        return;
    }
}

/// Each error names the fix, or the wrong name and a similar one.
#[test]
fn errors_of_a_kubeconfig_name_the_fix() {
    let kubeconfig = |current: &str, user: &str| {
        format!(
            "apiVersion: v1\nkind: Config\n{current}clusters:\n- {{name: c, cluster: {{server: \
             'http://127.0.0.1:9'}}}}\nusers:\n- {{name: u, user: {user}}}\ncontexts:\n- {{name: \
             production, context: {{cluster: c, user: u}}}}\n"
        )
    };
    let program = "{exec: {apiVersion: client.authentication.k8s.io/v1, command: no-such-program, \
                   interactiveMode: Never}}";
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("config");
    for (config, flags, error) in [
        (
            kubeconfig("", "{}"),
            &[][..],
            "it has no current context: choose one with --context",
        ),
        (
            kubeconfig("", "{}"),
            &["--context=prodution"],
            "it has no context prodution; did you mean production?",
        ),
        (
            kubeconfig("current-context: production\n", program),
            &[],
            "the credential program no-such-program of the kubeconfig is not installed",
        ),
    ] {
        std::fs::write(&path, config).unwrap();
        let flag = format!("--kubeconfig={}", path.display());
        let ran = crate::program::dayshift(&[&["status", &flag], flags].concat());
        ran.assert_err(error);
        assert_eq!(ran.status, 3);
    }
}

/// A token that the API server rejects is not a missing permission.
#[test]
fn a_rejected_token_is_reported_as_such() {
    let cluster = crate::fake_server::Cluster::new();
    cluster.deployment("web", 1, &[("hours", "Mon-Fri 09:00-19:00")]);
    cluster.api.on_request(|_| {
        let status = kube_in_memory::Status::new(401, "Unauthorized", "Unauthorized");
        Some(kube_in_memory::Fault::Answer(status))
    });
    for command in [
        &["status"][..],
        &["plan"],
        &["wake", "deploy/web", "--for", "1h"],
        &["schedule", "deploy/web", "Mon-Fri 09:00-19:00"],
        &["restore", "--all"],
        &["dashboard"],
    ] {
        let ran = cluster.dayshift(command);
        assert_eq!(ran.status, 3, "{command:?}: {ran:?}");
        let said = "the API server does not accept the credentials";
        assert!(ran.err.contains(said), "{command:?}: {}", ran.err);
        assert!(!ran.err.contains("not allowed"), "{command:?}: {}", ran.err);
    }
}
