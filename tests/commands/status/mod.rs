//! `dayshift status`: the real program on the API in memory, whose clock stands still.
//!
//! What it writes is compared with the files beside this one; with `UPDATE_GOLDEN=1` in the
//! environment they are written anew.

use std::{
    env, fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Stdio},
};

use crate::fake_server::Cluster;
use k8s_openapi::api::apps::v1::Deployment;
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use serde_json::{Value, json};

const OFFICE: &[(&str, &str)] = &[("hours", "Mon-Fri 09:00-19:00"), ("timezone", "Asia/Tokyo")];

/// Friday, 20:00 in Tokyo.
fn evening() -> Cluster {
    let now = "2026-11-20T11:00:00Z".parse().unwrap();
    Cluster::at(move || now)
}

fn state(cluster: &Cluster, name: &str, labels: &[(&str, &str)]) {
    for (label, text) in labels {
        let label = format!("dayshift/{label}");
        cluster.api.label("dev", name, &label, Some(text)).unwrap();
    }
}

const STOPPED: &[(&str, &str)] = &[
    ("state", "stopped"),
    ("last", "2026-11-20T10.00.00Z"),
    ("next", "2026-11-23T00.00.00Z"),
    ("saved-replicas", "3"),
];

/// One of each kind.
fn busy() -> Cluster {
    let cluster = evening();
    cluster.deployment("api", 0, OFFICE);
    state(&cluster, "api", STOPPED);
    cluster.deployment("bad", 2, &[("start", "Mon-Fry 09:00"), ("stpo", "19:00")]);
    cluster.deployment("left", 0, &[]);
    state(&cluster, "left", &[("saved-replicas", "5")]);
    cluster.deployment("new", 1, OFFICE);
    cluster.deployment("plain", 1, &[]);
    let woken = [OFFICE, &[("wake-until", "2026-11-20 22:00")]].concat();
    cluster.deployment("woken", 4, &woken);
    state(
        &cluster,
        "woken",
        &[
            ("state", "woken"),
            ("last", "2026-11-20T10.30.00Z"),
            ("next", "2026-11-20T13.00.00Z"),
        ],
    );
    cluster
}

fn compare(file: &str, written: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/commands/status")
        .join(file);
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, written).unwrap();
    }
    assert_eq!(written, fs::read_to_string(&path).unwrap(), "{file}");
}

#[test]
fn a_table_has_what_is_wrong_first() {
    let ran = busy().dayshift(&["status"]);
    assert_eq!(ran.err, "");
    compare("table.txt", &ran.out);
    assert_eq!(ran.status, 1);

    let shown = format!("```console\n$ dayshift status\n{}```\n", ran.out);
    let readme = include_str!("../../../README.md");
    assert!(readme.contains(&shown), "README.md shows another table");
}

#[test]
fn colour_is_asked_for_and_never_against_the_wish() {
    let cluster = busy();
    let forced = ("CLICOLOR_FORCE", "1");
    let coloured = cluster.dayshift_with(&[forced], &["status"]);
    compare("colour.txt", &coloured.out);
    assert!(coloured.out.contains('\u{1b}'));
    let plain = cluster.dayshift_with(&[forced, ("NO_COLOR", "1")], &["status"]);
    compare("table.txt", &plain.out);
}

#[test]
fn a_wide_table_and_json_tell_the_same() {
    let cluster = busy();
    let wide = cluster.dayshift(&["status", "-A", "-o", "wide"]);
    compare("wide.txt", &wide.out);
    assert_eq!((wide.status, &*wide.err), (1, ""));
    let ran = cluster.dayshift(&["status", "-n", "dev", "-o", "json"]);
    compare("status.json", &ran.out);
    assert_eq!((ran.status, &*ran.err), (1, ""));
}

#[test]
fn without_an_error_the_status_is_0() {
    let cluster = evening();
    cluster.deployment("web", 0, OFFICE);
    state(&cluster, "web", STOPPED);
    for arguments in [
        &["status"][..],
        &["status", "web"],
        &["status", "-l", "app=web"],
    ] {
        let ran = cluster.dayshift(arguments);
        assert!(ran.out.contains("Mon 09:00 JST (in 2d13h)"), "{ran:?}");
        assert_eq!((ran.status, &*ran.err), (0, ""), "{arguments:?}");
    }
}

#[test]
fn what_is_not_there_is_told_apart_from_what_has_no_schedule() {
    let cluster = evening();
    let ran = cluster.dayshift(&["status"]);
    assert_eq!((ran.status, &*ran.out), (0, ""));
    assert_eq!(ran.err, "No workload has a schedule in namespace dev.\n");
    cluster.deployment("plain", 1, &[]);
    let ran = cluster.dayshift(&["status", "plain"]);
    assert_eq!(ran.err, "error: deployment.apps/plain has no schedule\n");
    let ran = cluster.dayshift(&["status", "gone"]);
    assert_eq!(ran.status, 3);
    assert_eq!(
        ran.err,
        "error: deployment.apps/gone is not in namespace dev\n"
    );
    let ran = cluster.dayshift(&["status", "-o", "json"]);
    let document: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(document, json!({"workloads": []}));
}

#[test]
fn what_should_have_been_done_long_ago_is_seen_to_be_late() {
    let cluster = evening();
    cluster.deployment("web", 3, OFFICE);
    state(
        &cluster,
        "web",
        &[
            ("state", "running"),
            ("last", "2026-11-20T00.00.00Z"),
            ("next", "2026-11-20T10.00.00Z"),
        ],
    );
    let ran = cluster.dayshift(&["status"]);
    assert!(ran.out.contains("19:00 JST (60m ago)"), "{}", ran.out);
}

#[test]
fn who_else_sets_the_count_is_told_with_what_to_do() {
    let cluster = evening();
    cluster.deployment("web", 3, OFFICE);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let api: Api<Deployment> = Api::namespaced(cluster.api.client(), "dev");
        let params = PatchParams {
            field_manager: Some("argocd-controller".to_owned()),
            ..PatchParams::default()
        };
        let patch = Patch::Merge(json!({"spec": {"replicas": 2}}));
        api.patch("web", &params, &patch).await.unwrap();
    });
    let ran = cluster.dayshift(&["status", "-o", "wide"]);
    compare("owners.txt", &ran.out);
}

#[test]
fn a_watch_shows_each_change() {
    let cluster = evening();
    cluster.deployment("web", 3, OFFICE);
    let mut program = Command::new(env!("CARGO_BIN_EXE_dayshift"))
        .args(["status", "--watch"])
        .env("KUBECONFIG", cluster.kubeconfig())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("web    3          unseen")));
    state(&cluster, "web", STOPPED);
    cluster.api.scale("dev", "web", 0).unwrap();
    assert!(lines.any(|line| line.unwrap().contains("web    0          stopped")));
    program.kill().unwrap();
    program.wait().unwrap();
}
