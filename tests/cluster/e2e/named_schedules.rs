//! The file of named schedules in a ConfigMap, mounted by the controller and edited while it runs, as described
//! in `docs/guides/named-schedules.md`.

use std::fs;
use std::path::Path;

use crate::e2e::calendars::{mount, read_object};
use crate::e2e::test_namespace::TestNamespace;
use crate::rows::words;
use crate::support::{
    ControlPlane, Parts, Scenario, deployment, eventually, scenarios, soon, wait_until,
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![Parts::Server; edited_schedules_of_a_config_map_apply_to_all_workloads_that_name_them]
}

const CONFIG_MAP: &str = "dayshift-schedules";

/// Creates or replaces the ConfigMap with this file, and mounts it.
fn give(plane: &ControlPlane, directory: &Path, version: &str, text: &str) {
    let file = directory.join("schedules.yaml");
    fs::write(&file, text).unwrap();
    let create = format!(
        "kubectl create configmap {CONFIG_MAP} -n dayshift --from-file={} --dry-run=client -o yaml \
         | kubectl apply --server-side -f -",
        file.display()
    );
    plane.shell(&create).success();
    mount(plane, &directory.join("mounted"), CONFIG_MAP, version);
}

fn edited_schedules_of_a_config_map_apply_to_all_workloads_that_name_them(plane: &ControlPlane) {
    plane.install();
    let directory = tempfile::tempdir().unwrap();
    let mounted = directory.path().join("mounted");
    fs::create_dir(&mounted).unwrap();
    let delete = format!("kubectl delete configmap {CONFIG_MAP} -n dayshift --ignore-not-found");
    plane.shell(&delete).success();
    let patch =
        "kubectl patch deployment dayshift -n dayshift --patch-file manifests/schedules.yaml";
    plane.shell(patch).success();
    let pod = read_object(plane, "deployment dayshift")["spec"]["template"]["spec"].clone();
    let variables = pod["containers"][0]["env"].as_array().unwrap().iter();
    let mut named = variables.filter(|it| it["name"] == "DAYSHIFT_SCHEDULES");
    let path = named.next().unwrap()["value"].as_str().unwrap().to_owned();

    let night = "night: {stop: \"2099-01-01 00:00\"}\n";
    let later = format!("office: {{stop: \"2099-01-01 00:00\", timezone: Asia/Tokyo}}\n{night}");
    give(plane, directory.path(), "..1", &later);
    let mut team = TestNamespace::without_controller(plane, "named");
    let path = path.replace("/etc/dayshift-schedules", mounted.to_str().unwrap());
    team.run(&["--schedules", &path]);
    let name = |name: &str, schedule: &str| {
        let named = deployment(name).replicas(3);
        team.create(named.annotation("dayshift/schedule", schedule));
    };
    name("web", "office");
    name("api", "office");
    name("job", "night");
    name("typo", "ofice");
    team.create(deployment("plain").replicas(2));
    // Its own annotation, and the schedule of its Namespace for the workloads without one.
    team.annotate_namespace(&["dayshift/schedule=night"]);
    let next = |name: &str, expected: &str| {
        wait_until(&format!("{name} is next at {expected}"), || {
            team.label(name, "dayshift/next").as_deref() == Some(expected)
        });
    };
    for name in ["web", "api"] {
        next(name, "2098-12-31T15.00.00Z");
    }
    for name in ["job", "plain"] {
        next(name, "2099-01-01T00.00.00Z");
    }
    let reported = team.await_event("typo", "InvalidSchedule");
    let expected =
        "dayshift/schedule: `ofice` is not a schedule of the file of --schedules; write `office`";
    assert_contains!(reported, expected);
    let warnings = words(
        "get events --field-selector=type=Warning -o=jsonpath={.items[*].involvedObject.name}",
    );
    let warned = team.kubectl(&warnings).success();
    assert_eq!(warned.trim(), "typo");

    // The controller reads the file every 10 s.
    let stop = soon(25);
    let edited = format!("office: {{stop: \"{}\"}}\n{night}", stop.text());
    give(plane, directory.path(), "..2", &edited);
    for name in ["web", "api"] {
        stop.await_true(&format!("{name} follows the edited schedule"), || {
            let next_stop = stop.0.format("%Y-%m-%dT%H.%M.%SZ").to_string();
            team.label(name, "dayshift/next") == Some(next_stop)
        });
        team.await_event(name, "ScheduleChanged");
    }
    for name in ["web", "api"] {
        team.await_replicas(name, 0);
        team.assert_punctual(name, 2, stop);
    }
    // An unreadable file changes nothing.
    give(plane, directory.path(), "..3", "- office\n");
    eventually("the controller reports the unreadable file", || {
        let (_, metrics) = team.newest().get("/metrics")?;
        let line = "dayshift_schedules_last_reload_successful 0\n";
        metrics.contains(line).then_some(())
    });
    let counts = ["web", "job", "plain", "typo"].map(|name| team.replicas(name));
    assert_eq!(counts, [0, 3, 2, 3]);
    team.ends([
        ("web", 3),
        ("api", 3),
        ("job", 1),
        ("plain", 1),
        ("typo", 1),
    ]);
}
