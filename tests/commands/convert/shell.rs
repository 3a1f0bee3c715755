//! An admin may pipe the output of `convert` into a shell. Whatever the objects of other tools
//! contain, each line must be one call of kubectl. A real shell is the oracle.

use std::{fs, path::Path, process::Command};

use serde_json::{Value, json};

use super::convert;
use crate::rows::rows;
use crate::{fake_server::Cluster, program::run};

/// Values that a malicious user could write into a ScaledObject.
const HOSTILE: [&str; 12] = [
    "x; touch MARK",
    "$(touch MARK)",
    "`touch MARK`",
    "x\ntouch MARK",
    "x' ; touch MARK ; '",
    "x\" ; touch MARK ; \"",
    "x | touch MARK",
    "x && touch MARK",
    "x > MARK",
    "--kubeconfig=MARK",
    "x y",
    "${IFS}touch${IFS}MARK",
];

/// A directory with a `kubectl` that records its arguments, one call per line.
fn with_kubectl() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let script = "#!/bin/sh\nprintf '<%s>' \"$@\" >> calls\necho >> calls\n";
    // Another process writes the file: a child started by another thread would inherit an open file
    // descriptor, and the file could not be executed.
    let mut write = Command::new("/bin/sh");
    write
        .args(["-c", "cat > kubectl && chmod 755 kubectl"])
        .current_dir(directory.path());
    assert_eq!(run(&mut write, script).status, 0);
    directory
}

/// The calls of kubectl after a shell has run the text.
fn calls(directory: &Path, text: &str) -> Vec<String> {
    let ended = Command::new("/bin/sh")
        .args(["-c", text])
        .current_dir(directory)
        .env("PATH", format!("{}:/usr/bin:/bin", directory.display()))
        .status();
    ended.unwrap();
    assert!(
        !directory.join("MARK").exists(),
        "{text} ran more than kubectl"
    );
    let calls = fs::read_to_string(directory.join("calls")).unwrap_or_default();
    calls.lines().map(str::to_owned).collect()
}

fn scaled_object(api_version: &str, kind: &str, name: &str) -> String {
    let text = |text: &str| serde_json::to_string(text).unwrap();
    format!(
        r#"{{"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject",
  "metadata": {{"name": "cron", "namespace": "team"}},
  "spec": {{
    "scaleTargetRef": {{"apiVersion": {}, "kind": {}, "name": {}}},
    "triggers": [{{"type": "cron", "metadata": {{"timezone": "Asia/Tokyo",
      "start": "0 9 * * 1-5", "end": "0 19 * * 1-5", "desiredReplicas": "3"}}}}]}}}}"#,
        text(api_version),
        text(kind),
        text(name)
    )
}

/// The commands in the output: for objects outside the files, and in the help of findings.
fn commands(err: &str) -> Vec<String> {
    let of = |before: fn(&str) -> bool| {
        err.lines().filter_map(move |line| {
            let at = line.find("kubectl").filter(|at| before(&line[..*at]))?;
            Some(line[at..].to_owned())
        })
    };
    of(|it| it == "  ")
        .chain(of(|it| it.contains("= help: ")))
        .collect()
}

#[test]
fn kinds_and_versions_run_nothing_in_a_shell() {
    let directory = with_kubectl();
    for text in HOSTILE {
        let deployment = ("apps/v1", "Deployment", "web");
        for (api_version, kind, name) in [
            (text, deployment.1, deployment.2),
            (&*format!("{text}/v1"), "Rollout", deployment.2),
            (deployment.0, text, deployment.2),
            (deployment.0, deployment.1, text),
        ] {
            let input = scaled_object(api_version, kind, name);
            let (_, _, err) = convert(&["-", "--check"], &input);
            for command in commands(&err) {
                let called = calls(directory.path(), &command);
                assert_eq!(called.len(), 1, "{command}\n{called:#?}");
                fs::remove_file(directory.path().join("calls")).unwrap();
            }
        }
    }
}

/// Without special characters there is one command for the workload and one for the ScaledObject.
#[test]
fn the_commands_are_whole_words() {
    let (_, _, err) = convert(
        &["-", "--check"],
        &scaled_object("argoproj.io/v1alpha1", "Rollout", "web"),
    );
    let directory = with_kubectl();
    let all = commands(&err).join("\n");
    assert_eq!(
        calls(directory.path(), &all),
        [
            "<annotate><rollout.argoproj.io><web><-n><team>\
             <dayshift/start=Mon-Fri 09:00><dayshift/stop=Mon-Fri 19:00>\
             <dayshift/timezone=Asia/Tokyo><dayshift/replicas=3><dayshift/stop-replicas=0>",
            "<delete><scaledobject.keda.sh><cron><-n><team>",
        ]
    );
}

/// The name of a ScaledObject in a file can be any text.
#[test]
fn names_run_nothing_in_a_shell() {
    let directory = with_kubectl();
    for text in HOSTILE {
        let name = serde_json::to_string(text).unwrap();
        let input = scaled_object("apps/v1", "Deployment", "web");
        for input in [
            input.replace("\"cron\", \"namespace\"", &format!("{name}, \"namespace\"")),
            input.replace("\"team\"", &name),
        ] {
            let (_, _, err) = convert(&["-", "--check"], &input);
            let all = commands(&err);
            for command in &all {
                calls(directory.path(), command);
            }
            assert!(all.len() <= 1, "{all:#?}");
        }
    }
}

/// The values that a malicious user could write into a Deployment, a SleepInfo or a CronHPA.
fn objects_with(text: &str) -> Vec<Value> {
    let times = json!({"downscaler/uptime": "Mon-Fri 08:00-20:00 UTC", "downscaler/original-replicas": "3"});
    let object =
        |api_version: &str, kind: &str, namespace: &str, name: &str, annotations: &Value| {
            json!({
                "apiVersion": api_version, "kind": kind,
                "metadata": {"name": name, "namespace": namespace, "annotations": annotations},
            })
        };
    let own = |key: &str, value: &str| {
        let mut all = times.clone();
        all[key] = value.into();
        all
    };
    let sleep = |spec: Value| {
        json!({
            "apiVersion": "kube-green.com/v1alpha1", "kind": "SleepInfo",
            "metadata": {"name": "night", "namespace": "team"}, "spec": spec,
        })
    };
    let cron_hpa = |target: Value, job: Value| {
        json!({
            "apiVersion": "autoscaling.alibabacloud.com/v1beta1",
            "kind": "CronHorizontalPodAutoscaler",
            "metadata": {"name": "night", "namespace": "team"},
            "spec": {"scaleTargetRef": target, "jobs": [job]},
        })
    };
    let job =
        |name: &str, schedule: &str| json!({"name": name, "schedule": schedule, "targetSize": 1});
    let web = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
    let work_day = |extra: Value| {
        let mut spec =
            json!({"weekdays": "1-5", "sleepAt": "20:00", "wakeUpAt": "08:00", "timeZone": "UTC"});
        spec.as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        spec
    };
    vec![
        object("apps/v1", "Deployment", "team", text, &times),
        object("apps/v1", "Deployment", text, "web", &times),
        object("apps/v1", text, "team", "web", &times),
        object(&format!("{text}/v1"), "Rollout", "team", "web", &times),
        object("v1", "Namespace", "", text, &times),
        object(
            "apps/v1",
            "Deployment",
            "team",
            "web",
            &own("downscaler/uptime", text),
        ),
        object(
            "apps/v1",
            "Deployment",
            "team",
            "web",
            &own("downscaler/original-replicas", text),
        ),
        object(
            "apps/v1",
            "Deployment",
            "team",
            "web",
            &own(&format!("downscaler/{text}"), "true"),
        ),
        object(
            "apps/v1",
            "Deployment",
            "team",
            "web",
            &own("downscaler/downtime-replicas", text),
        ),
        sleep(work_day(
            json!({"excludeRef": [{"matchLabels": {"team": text}}]}),
        )),
        sleep(work_day(
            json!({"excludeRef": [{"matchLabels": {text: "a"}}]}),
        )),
        sleep(work_day(
            json!({"excludeRef": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": text}]}),
        )),
        sleep(work_day(
            json!({"includeRef": [{"apiVersion": "apps/v1", "kind": text, "name": "web"}]}),
        )),
        sleep(work_day(json!({"timeZone": text}))),
        sleep(work_day(json!({"weekdays": text}))),
        cron_hpa(
            json!({"apiVersion": text, "kind": text, "name": text}),
            job("up", "0 0 8 * * *"),
        ),
        cron_hpa(web.clone(), job(text, "0 0 8 * * *")),
        cron_hpa(web, job("up", text)),
    ]
}

/// Each line of output for any of these objects is empty or one call of kubectl.
#[test]
fn text_of_objects_never_runs_in_a_shell() {
    let directory = with_kubectl();
    for text in HOSTILE {
        for object in objects_with(text) {
            let (_, _, err) = convert(&["-", "--check"], &object.to_string());
            for command in commands(&err) {
                let called = calls(directory.path(), &command);
                assert_eq!(called.len(), 1, "{object}: {command}\n{called:#?}");
                assert_lacks!(called[0], "<--kubeconfig=MARK>", "{object}");
                fs::remove_file(directory.path().join("calls")).unwrap();
            }
        }
    }
}

/// Pipes the commands for all live objects into a shell. The in-memory API validates names as a
/// real server does, but labels and annotations can contain any text.
#[test]
fn live_objects_run_only_kubectl_in_a_shell() {
    let cluster = Cluster::new();
    cluster.api.namespace("team");
    for [group, version, plural, kind] in rows(
        "
            kube-green.com => v1alpha1 => sleepinfos => SleepInfo
            autoscaling.alibabacloud.com => v1beta1 => cronhorizontalpodautoscalers => CronHorizontalPodAutoscaler
        "
    ) {
        cluster.api.serve_custom(group, version, plural, kind);
    }
    let mut created = 0;
    for (number, text) in HOSTILE.into_iter().enumerate() {
        for (at, mut object) in objects_with(text).into_iter().enumerate() {
            let name = format!("web-{number}-{at}");
            let is_made = match object["kind"].as_str() {
                Some("Deployment") => {
                    cluster.deployment(&name, 0, &[]);
                    let patch =
                        json!({"metadata": {"annotations": object["metadata"]["annotations"]}});
                    let api = &cluster.api;
                    api.merge("Deployment", "dev", &name, &patch).is_ok()
                }
                _ => {
                    object["metadata"]["name"] = name.into();
                    cluster.api.create(object).is_ok()
                }
            };
            created += usize::from(is_made);
        }
    }
    assert!(created > 20, "{created}");
    let ended = run(cluster.command().args(["convert", "-A"]), "");
    let directory = with_kubectl();
    let called = calls(directory.path(), &ended.out);
    assert_eq!(called.len(), ended.out.lines().count(), "{}", ended.out);
    assert!(!called.is_empty(), "{ended:?}");
    for it in called {
        assert_lacks!(it, "<--kubeconfig=MARK>");
    }
}
