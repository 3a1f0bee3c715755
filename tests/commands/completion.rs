//! The candidates of `dayshift __complete`, and the scripts that call it.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use crate::{
    fake_server::Cluster,
    program::{self, command, command_of, run, start},
};

/// The candidates without descriptions, and the directive.
fn complete(cluster: &Cluster, words: &[&str]) -> (Vec<String>, String) {
    let ran = cluster.dayshift(&[&["__complete"], words].concat());
    assert_eq!((ran.status, ran.err.as_str()), (0, ""), "{words:?}");
    let mut lines: Vec<String> = ran
        .out
        .lines()
        .map(|it| it.split('\t').next().unwrap().to_owned())
        .collect();
    let directive = lines.pop().unwrap();
    (lines, directive)
}

#[test]
fn completes_words() {
    let cluster = Cluster::new();
    for name in ["web", "api", "web-2"] {
        cluster.deployment(name, 1, &[]);
    }
    for (words, expected, directive) in [
        (&["wa"][..], &["wake"][..], ":4"),
        (&["res"], &["resume", "restore"], ":4"),
        (&["wake", "--f"], &["--from", "--for"], ":4"),
        (&["wake", ""], &["api", "web", "web-2"], ":4"),
        (&["wake", "web", "a"], &["api"], ":4"),
        (&["wake", "deploy/w"], &["deploy/web", "deploy/web-2"], ":4"),
        (&["wake", "ns/d"], &["ns/default", "ns/dev"], ":4"),
        (
            &["sync", "namespace/d"],
            &["namespace/default", "namespace/dev"],
            ":4",
        ),
        (&["wake", "-n", "dev", "w"], &["web", "web-2"], ":4"),
        (&["wake", "--namespace=prod", "w"], &[], ":4"),
        (&["wake", "--for", ""], &[], ":4"),
        (&["wake", "-n", "d"], &["default", "dev"], ":4"),
        (&["status", "--namespace=dev"], &["dev"], ":4"),
        (&["run", "-n", "dev"], &["dev"], ":4"),
        (&["wake", "--context", "h"], &["here"], ":4"),
        (&["status", "--context=x"], &[], ":4"),
        (&["wake", "--timezone", "Asia/Tok"], &["Asia/Tokyo"], ":4"),
        (&["run", "--kinds", "dep"], &["deployments"], ":4"),
        (
            &["run", "--kinds", "deployments,s"],
            &[
                "deployments,statefulsets",
                "deployments,scaledobjects",
                "deployments,supersetclusters.superset.stackable.tech",
                "deployments,scheduledsparkapplications.sparkoperator.k8s.io",
                "deployments,shoots.core.gardener.cloud",
            ],
            ":4",
        ),
        (&["wake", "--timezone=Asia/Tok"], &["Asia/Tokyo"], ":4"),
        (&["plan", "-f", ""], &[], ":0"),
        (&["plan", "-o", "js"], &["json"], ":4"),
        (&["completions", "b"], &["bash"], ":4"),
        (&["nonsense", "--x", "\u{1b}"], &[], ":4"),
    ] {
        let (found, message) = complete(&cluster, words);
        assert_eq!(
            (
                found.iter().map(String::as_str).collect::<Vec<_>>(),
                &*message
            ),
            (expected.to_vec(), directive),
            "{words:?}"
        );
    }
}

#[test]
fn prints_no_error_without_a_cluster() {
    let cluster = Cluster::new();
    let answer = complete(&cluster, &["wake", "--kubeconfig", "/nonexistent", ""]);
    assert_eq!(answer, (vec![], ":4".to_owned()));
}

/// A credential plugin could wait for input on the terminal or for a login in a browser.
#[test]
fn a_credential_plugin_does_not_block_completion() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("config");
    let config = r#"{
        "apiVersion": "v1", "kind": "Config", "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
        "clusters": [{"name": "here", "cluster": {"server": "http://127.0.0.1:9"}}],
        "users": [{"name": "me", "user": {"exec": {
            "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "IfAvailable",
            "command": "sh", "args": ["-c", "cat > \"$0\"; exec sleep 20", "READ"]
        }}}]
    }"#;
    let read = directory.path().join("read");
    std::fs::write(&file, config.replace("READ", read.to_str().unwrap())).unwrap();
    let begun = Instant::now();
    let file = file.to_str().unwrap();
    let mut command = command();
    command.args(["__complete", "wake", "--kubeconfig", file, ""]);
    // The plugin needs `sh` in its PATH.
    command.env("PATH", std::env::var_os("PATH").unwrap());
    let mut asked = start(&mut command);
    std::io::Write::write_all(asked.stdin.as_mut().unwrap(), b"secret").unwrap();
    assert!(asked.wait().unwrap().success());
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(std::fs::read_to_string(&read).unwrap_or_default(), "");
}

#[test]
fn completes_for_kubectl() {
    let directory = tempfile::tempdir().unwrap();
    let link = directory.path().join("kubectl_complete-dayshift");
    std::os::unix::fs::symlink(program::PATH, &link).unwrap();
    assert_eq!(
        run(command_of(link).arg("slee"), "").out,
        "sleep\tStop workloads now, and keep them stopped until a time\n:4\n"
    );
}

#[test]
fn bash_completes_with_the_script() {
    let cluster = Cluster::new();
    cluster.deployment("web", 1, &[]);
    for (words, at, expected) in [
        ("dayshift wa", 1, "wake"),
        ("dayshift wake w", 2, "web"),
        ("dayshift wake --timezone = Asia/Tok", 4, "Asia/Tokyo"),
    ] {
        let script = format!(
            "set -eu; source <(\"$DAYSHIFT\" completions bash); dayshift() {{ \"$DAYSHIFT\" \"$@\"; }}\n\
             COMP_WORDS=({words}); COMP_CWORD={at}; _dayshift; echo \"${{COMPREPLY[*]}}\""
        );
        let answer = Command::new("bash")
            .args(["-c", &script])
            .env("DAYSHIFT", program::PATH)
            .env("KUBECONFIG", cluster.kubeconfig())
            .output()
            .unwrap();
        assert_eq!(String::from_utf8(answer.stderr).unwrap(), "");
        assert_eq!(
            String::from_utf8(answer.stdout).unwrap().trim(),
            expected,
            "{words}"
        );
    }
}
