//! `--team-defaults` for files, and overrides with `--team`.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fake_server::{Cluster, Controller};
use crate::rows::words;

/// A directory with a workload, its Namespace, and the ConfigMap of its team.
fn file(data: &str) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.yaml").display().to_string();
    let text = format!(
        "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n  annotations:\n    \
         dayshift/hours: Mon-Fri 09:00-20:00\n    dayshift/timezone: Asia/Tokyo\n\
         ---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: shop}}\n\
         ---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: dayshift, namespace: shop}}\n\
         data:\n{data}\
         ---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: other, namespace: shop}}\n\
         data:\n  hours: Mon-Fry 09:00-19:00\n"
    );
    fs::write(&path, text).unwrap();
    (folder, path)
}

#[test]
fn plan_of_files_reads_the_config_map_of_the_team_only_with_the_flag() {
    let cluster = Cluster::new();
    let (_folder, path) = file("  hours: Mon-Fri 09:00-17:00\n");
    for (flags, from, at) in [
        (
            &["--team-defaults"][..],
            "team",
            "2026-11-20T17:00:00+09:00",
        ),
        (&[], "namespace", "2026-11-20T20:00:00+09:00"),
    ] {
        let plan = ["plan", "-f", &path, "-o=json", "--from=2026-11-20 05:00"];
        let planned = cluster.dayshift(&[&plan[..], flags].concat()).json();
        let web = &planned["workloads"][0];
        assert_eq!(
            (&web["from"], &web["boundaries"][0]["at"]),
            (&json!(from), &json!(at))
        );
    }
}

#[test]
fn lint_checks_the_config_map_of_the_team_only_with_the_flag() {
    let cluster = Cluster::new();
    for (data, rule, line, words) in [
        (
            "  hours: Mon-Fry 09:00-17:00\n",
            "bad-hours",
            17,
            "write hours: \"Mon-Fri 09:00-17:00\"",
        ),
        (
            "  hour: 09:00-17:00\n",
            "unknown-annotation",
            17,
            "write hours: ",
        ),
        ("  replicas: 3\n", "not-text", 17, "write replicas: \"3\""),
        (
            "  allow-volume-deletion: \"true\"\n",
            "no-effect",
            17,
            "remove it",
        ),
        (
            "  wake-until: 2020-01-01 12:00\n",
            "past-until",
            17,
            "remove it",
        ),
        (
            "  hours: 09:00-17:00\n  team-defaults: \"true\"\n",
            "bad-override",
            18,
            "write it on the Namespace",
        ),
        (
            "  team-defaults: \"false\"\n",
            "bad-override",
            17,
            "write it on the Namespace",
        ),
    ] {
        let (_folder, path) = file(data);
        let ran = cluster.dayshift(&["lint", &path, "--team-defaults", "-o=json"]);
        let findings = ran.json()["findings"].clone();
        let found = findings.as_array().unwrap().iter();
        let mut found = found.filter(|it| it["object"]["kind"] == "ConfigMap");
        let finding = found.find(|it| it["rule"] == rule);
        let finding = finding.unwrap_or_else(|| panic!("{rule}: {findings}"));
        assert_eq!(finding["place"]["line"], line, "{finding}");
        assert_contains!(finding["help"].as_str().unwrap(), words);
        let texts = ["message", "help", "annotation"].map(|field| finding[field].to_string());
        assert!(
            !texts.concat().contains("dayshift/"),
            "keys have no prefix: {finding}"
        );
        let ran = cluster.dayshift(&["lint", &path, "-o=json"]);
        assert_eq!(ran.json()["findings"], json!([]), "{ran:?}");
    }
}

/// A namespace whose controller reads the defaults of teams, and a running workload that they schedule.
struct Shop {
    cluster: Cluster,
    _controller: Controller,
}

impl Shop {
    fn new() -> Self {
        let cluster = Cluster::new();
        cluster
            .api
            .serve_custom("", "v1", "configmaps", "ConfigMap");
        cluster.deployment("web", 3, &[]);
        let controller = Controller::with(&cluster, &["--team-defaults"]);
        Self {
            cluster,
            _controller: controller,
        }
    }

    fn data(&self) -> Value {
        let config_map = self.cluster.api.get("ConfigMap", "dev", "dayshift");
        config_map.map_or(Value::Null, |object| object["data"].clone())
    }
}

#[test]
fn team_overrides_act_on_the_namespace_and_keep_the_other_keys() {
    let shop = Shop::new();
    // A schedule that runs, and whose next boundary is a stop.
    let data = json!({"start": "2000-01-01 00:00", "stop": "2099-01-01 00:00"});
    let config_map = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"namespace": "dev", "name": "dayshift"}, "data": data,
    });
    shop.cluster.api.create(config_map).unwrap();
    shop.cluster.wait_for_state(&["web"], "adopted");
    for (line, state, key) in [
        ("sleep --team --for=1h", "slept", Some("sleep-until")),
        ("wake --team -n dev --for=1h", "woken", Some("wake-until")),
        ("resume --team", "running", None),
        ("pause --team", "paused", Some("pause")),
        ("resume --team", "adopted", None),
    ] {
        let words = words(line);
        let ran = shop.cluster.dayshift(&words);
        assert_eq!((ran.status, &*ran.err), (0, ""), "{line}: {ran:?}");
        assert!(
            ran.out.starts_with("team/dev ") && ran.out.contains("1 of 1 workload"),
            "{ran:?}"
        );
        assert_eq!(
            shop.cluster.label("web", "state").as_deref(),
            Some(state),
            "{line}"
        );
        let mut written = shop.data();
        let members = written.as_object_mut().unwrap();
        let overrides = ["wake-until", "sleep-until", "pause"];
        let overrides: Vec<_> = overrides
            .into_iter()
            .filter(|key| members.remove(*key).is_some())
            .collect();
        assert_eq!(overrides, Vec::from_iter(key), "{line}");
        assert_eq!(written, data, "{line}");
        let status = shop.cluster.dayshift(&["status", "-o=json"]).json();
        assert_eq!(status["workloads"][0]["from"], "team", "{line}: {status}");
    }
    assert_eq!(shop.cluster.annotation("web", "pause"), None);
    // A resume of the workload names the command that ends the override of its team.
    let ran = shop.cluster.dayshift(&["pause", "--team"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let ran = shop.cluster.dayshift(&["resume", "web"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    ran.assert_err("dayshift resume --team -n dev");
}

#[test]
fn team_override_creates_the_config_map_for_workloads_with_their_own_schedule() {
    let shop = Shop::new();
    let hours = [("start", "2000-01-01 00:00"), ("stop", "2000-01-02 00:00")];
    shop.cluster.deployment("api", 0, &hours);
    shop.cluster.wait_until_seen(&["api"]);
    let dry = shop
        .cluster
        .dayshift(&["wake", "--team", "--for=1h", "--dry-run"]);
    assert_eq!((dry.status, shop.data()), (0, Value::Null), "{dry:?}");
    let ran = shop
        .cluster
        .dayshift(&["wake", "--team", "--for=1h", "--reason=demo"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(shop.cluster.api.replicas("dev", "api"), Some(1));
    assert_eq!(shop.data()["reason"], "demo");
    assert_eq!(
        shop.cluster.api.replicas("dev", "web"),
        Some(3),
        "it has no schedule"
    );
}

#[test]
fn team_is_one_namespace_and_excludes_other_targets() {
    let cluster = Cluster::new();
    for line in [
        "wake --team deploy/web --for=1h",
        "wake --team --all --for=1h",
        "wake --team -A --for=1h",
        "wake --team -l team=shop --for=1h",
        "wake --team -n dev,shop --for=1h",
        "sync --team",
        "wake --team --from=18:00 --for=1h",
    ] {
        let words = words(line);
        let ran = cluster.dayshift(&words);
        assert_eq!(ran.status, 2, "{line}: {ran:?}");
    }
}
