//! Secrets of a kubeconfig are in no output, log level or error.

use std::{
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    fake_server::Cluster,
    program::{command, start},
};

const SECRET: &str = "correct-horse-battery-staple-0123456789";
/// A longer part of a secret in a text counts as leaked.
const PIECE: usize = 12;

fn assert_kept(text: &str, source: &str) {
    let encoded = STANDARD.encode(SECRET);
    for secret in [SECRET, encoded.trim_end_matches('=')] {
        for at in 0..=secret.len() - PIECE {
            let piece = &secret[at..at + PIECE];
            assert!(!text.contains(piece), "{source} has {piece:?}:\n{text}");
        }
    }
}

/// A kind of credential.
struct Proof {
    name: &'static str,
    user: Value,
    /// Whether dayshift can send a request with it.
    works: bool,
}

fn proofs(directory: &Path) -> Vec<Proof> {
    let file = directory.join("token");
    std::fs::write(&file, SECRET).unwrap();
    let exec = |script: &str| {
        json!({"exec": {
            "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never",
            "command": "/bin/sh", "args": ["-c", script],
            "env": [{"name": "PASSWORD", "value": SECRET}],
        }})
    };
    let credential = json!({
        "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
        "status": {"token": SECRET},
    });
    let mut expired = credential.clone();
    expired["status"]["expirationTimestamp"] = json!("2020-01-01T00:00:00Z");
    let directory = directory.display();
    // Once for each process that runs it.
    let first_only = format!(
        "printf '%s' '{expired}'; test ! -e {directory}/$PPID || exit 1; touch {directory}/$PPID"
    );
    let proof = |name, user, works| Proof { name, user, works };
    vec![
        proof("a token", json!({"token": SECRET}), true),
        proof("a file", json!({"tokenFile": file}), true),
        proof(
            "a password",
            json!({"username": "me", "password": SECRET}),
            true,
        ),
        proof(
            "a program",
            exec(&format!("printf '%s' '{credential}'")),
            true,
        ),
        proof(
            "a program that fails",
            exec(&format!("printf '%s' '{credential}'; exit 1")),
            false,
        ),
        proof("a program that fails later", exec(&first_only), false),
        proof(
            "a program that answers something else",
            exec(&format!("printf 'token: {SECRET}'")),
            false,
        ),
        proof(
            "a program whose answer is of another form",
            exec(&format!(r#"printf '{{"kind":"{SECRET}","status":1}}'"#)),
            false,
        ),
        proof(
            "a key that is none",
            json!({"client-certificate-data": STANDARD.encode(SECRET),
                "client-key-data": STANDARD.encode(SECRET)}),
            false,
        ),
        proof("a token that is a list", json!({"token": [SECRET]}), false),
        proof(
            "a token that is a map",
            json!({"token": {SECRET: SECRET}}),
            false,
        ),
    ]
}

fn kubeconfig(cluster: &Cluster, directory: &Path, user: &Value) -> PathBuf {
    let text = std::fs::read_to_string(cluster.kubeconfig()).unwrap();
    let mut config: Value = serde_json::from_str(&text).unwrap();
    config["users"][0]["user"] = user.clone();
    let file = directory.join("kubeconfig");
    std::fs::write(&file, config.to_string()).unwrap();
    file
}

/// Runs a command for most of a second and returns its output.
fn output_of(kubeconfig: &Path, arguments: &[&str]) -> String {
    let mut command = command();
    command.args(arguments).env("KUBECONFIG", kubeconfig);
    command.envs([("RUST_LOG", "trace"), ("RUST_BACKTRACE", "1")]);
    let mut child = start(&mut command);
    // `run` does not end. The others end by themselves, later on a busy machine.
    let tries = if arguments[0] == "run" { 32 } else { 400 };
    for _ in 0..tries {
        if child.try_wait().unwrap().is_some() {
            break;
        }
        thread::sleep(Duration::from_millis(25));
    }
    let _ = child.kill();
    let output = child.wait_with_output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
    format!("{out}{err}")
}

#[test]
fn no_command_shows_a_secret() {
    let directory = TempDir::new().unwrap();
    let cluster = Cluster::new();
    cluster.deployment("web", 2, &[("hours", "09:00-19:00")]);
    for proof in proofs(directory.path()) {
        let file = kubeconfig(&cluster, directory.path(), &proof.user);
        cluster.api.forget_requests();
        for arguments in [
            &[
                "run",
                "--listen=127.0.0.1:0",
                "--log-level",
                "trace,kube=trace,hyper=trace",
            ][..],
            &["run", "--listen=127.0.0.1:0", "-vv", "--log-format", "json"],
            &["status"],
            &["plan", "-A"],
            &["wake", "web", "--for", "1h", "--dry-run"],
            &["restore", "--all", "--dry-run"],
        ] {
            let text = output_of(&file, arguments);
            assert!(!text.is_empty(), "{}: {arguments:?}", proof.name);
            assert_kept(&text, &format!("{}: {arguments:?}", proof.name));
        }
        let asked = !cluster.api.requests().is_empty();
        assert_eq!(asked, proof.works, "{}", proof.name);
    }
}

#[test]
fn does_not_quote_an_invalid_kubeconfig() {
    let directory = TempDir::new().unwrap();
    for text in [
        format!("users:\n- name: me\n  user:\n    token: {SECRET}\n   x: [\n"),
        format!("users:\n- name: me\n  user: {SECRET}\n"),
        format!("{{\"users\": [{{\"name\": \"me\", \"user\": {{\"token\": \"{SECRET}\""),
        format!("current-context: x\nusers:\n- user: {{token: {SECRET}}}\n"),
        SECRET.to_owned(),
    ] {
        let file = directory.path().join("kubeconfig");
        std::fs::write(&file, &text).unwrap();
        for arguments in [&["status"][..], &["run", "--listen=127.0.0.1:0"]] {
            assert_kept(&output_of(&file, arguments), &text);
        }
    }
}

/// The URL of a proxy can contain a user name and a password.
#[test]
fn no_command_shows_the_password_of_a_proxy() {
    let directory = TempDir::new().unwrap();
    let cluster = Cluster::new();
    let text = std::fs::read_to_string(cluster.kubeconfig()).unwrap();
    for proxy in [
        format!("ftp://me:{SECRET}@127.0.0.1:1"),
        format!("http://me:{SECRET}@127.0.0.1:1"),
        format!("https://me:{SECRET}@127.0.0.1:1"),
        format!("socks5://me:{SECRET}@127.0.0.1:1"),
        format!("http://me:{SECRET}@["),
        SECRET.to_owned(),
    ] {
        let mut config: Value = serde_json::from_str(&text).unwrap();
        config["clusters"][0]["cluster"]["proxy-url"] = json!(proxy);
        let file = directory.path().join("kubeconfig");
        std::fs::write(&file, config.to_string()).unwrap();
        for arguments in [
            &["status"][..],
            &["run", "--listen=127.0.0.1:0", "--log-level", "trace"],
        ] {
            let text = output_of(&file, arguments);
            assert!(text.contains("proxy") || proxy.contains(":1"), "{text}");
            assert_kept(&text, &format!("{proxy}: {arguments:?}"));
        }
    }
}
