//! The program as a child of the test, a kubeconfig for it, and an API server that is no good.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Command, Output, Stdio},
    sync::{LazyLock, mpsc},
    thread,
    time::{Duration, Instant},
};

/// The token in every kubeconfig.
pub(crate) const TOKEN: &str = "open-sesame";

const TIMEOUT: Duration = Duration::from_secs(20);

/// What came of a run that ended by itself.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            status: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Runs the program to its end, with no environment but an empty home.
pub(crate) fn dayshift(args: &[&str]) -> Ended {
    command().args(args).output().unwrap().into()
}

/// The same with these variables too, and this on its standard input.
pub(crate) fn dayshift_with(variables: &[(&str, &str)], args: &[&str], input: &str) -> Ended {
    let mut child = command()
        .envs(variables.iter().copied())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // One that reads no input is gone already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap().into()
}

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dayshift"));
    command.env_clear().env("HOME", "/nonexistent");
    command
}

/// `dayshift run` under way; dropped, it is killed.
pub(crate) struct Program {
    child: Child,
    log: mpsc::Receiver<String>,
    address: String,
    /// The first line that it logged.
    pub(crate) first_line: String,
}

impl Program {
    /// Starts it on a free port, and waits until it says which.
    pub(crate) fn start(kubeconfig: &str, args: &[&str]) -> Self {
        let mut child = command()
            .args(["run", "--listen", "127.0.0.1:0", "--kubeconfig", kubeconfig])
            .args(args)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (line, log) = mpsc::channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        thread::spawn(move || {
            stderr
                .lines()
                .map_while(Result::ok)
                .try_for_each(|it| line.send(it))
        });
        let first_line = log.recv_timeout(TIMEOUT).unwrap();
        let (_, port) = first_line.rsplit_once("127.0.0.1:").unwrap();
        let port = port.split(|it: char| !it.is_ascii_digit()).next().unwrap();
        Self {
            child,
            log,
            address: format!("127.0.0.1:{port}"),
            first_line,
        }
    }

    /// The status and body of the answer to a GET.
    pub(crate) fn get(&self, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (
            head.split(' ').nth(1).unwrap().parse().unwrap(),
            body.to_owned(),
        )
    }

    /// Sends it a signal by name, such as `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        assert!(
            Command::new("sh")
                .args(["-c", &kill])
                .status()
                .unwrap()
                .success()
        );
    }

    /// Waits for a line with that text in the log.
    pub(crate) fn wait_for(&self, text: &str) {
        let late = Instant::now() + TIMEOUT;
        loop {
            let line = self.log.recv_timeout(late - Instant::now()).expect(text);
            if line.contains(text) {
                return;
            }
        }
    }

    /// The status it ends with.
    pub(crate) fn ends_within(&mut self, limit: Duration) -> i32 {
        let late = Instant::now() + limit;
        while Instant::now() < late {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().unwrap();
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!("still runs after {limit:?}; it said {:?}", self.lines());
    }

    /// What it has logged since it was last asked, after the first line.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.log.iter().collect()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A kubeconfig file; dropped, it is removed.
pub(crate) struct Kubeconfig {
    file: PathBuf,
    _folder: tempfile::TempDir,
}

/// One that leads to a port where nobody listens.
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
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
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
            _folder: folder,
        }
    }

    pub(crate) fn path(&self) -> &str {
        self.file.to_str().unwrap()
    }
}

/// An API server with one Deployment, which it lists, and nothing else that it ever answers.
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
        // Silence, until the client leaves.
        let _ = reader.read_to_end(&mut Vec::new());
        return;
    }
}
