//! The calendar in a ConfigMap, mounted by the controller and replaced as described in
//! `docs/guides/holidays.md`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use chrono::TimeDelta;
use serde_json::Value;

use crate::e2e::test_namespace::TestNamespace;
use crate::support::{ControlPlane, Parts, Scenario, Soon, deployment, scenarios, soon};

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![Parts::Server; calendar_from_a_config_map_is_mounted_and_replaced]
}

const CONFIG_MAP: &str = "dayshift-calendars";

/// The commands of the page, in order: create, patch, replace.
fn commands(file: &Path) -> Vec<String> {
    let page = include_str!("../../../docs/guides/holidays.md");
    let (_, section) = page
        .split_once("## Give the calendar to the controller")
        .unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let lines = section.lines().filter(|line| line.starts_with("kubectl "));
    let from = format!("--from-file=de.ics={}", file.display());
    lines
        .map(|line| line.replace("--from-file=de.ics", &from))
        .collect()
}

/// A calendar with one day, `later` days after a time, in UTC.
fn calendar(day: Soon, later: i64) -> String {
    let day = (day.0 + TimeDelta::days(later)).format("%Y%m%d");
    format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:test\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTAMP:20260101T000000Z\r\nDTSTART;VALUE=DATE:{day}\r\nSUMMARY:Feiertag\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
}

/// An object of the controller's namespace.
pub(super) fn read_object(plane: &ControlPlane, kind_and_name: &str) -> Value {
    let line = format!("kubectl get {kind_and_name} -n dayshift -o json");
    serde_json::from_str(&plane.shell(&line).success()).unwrap()
}

/// Mounts the ConfigMap as the kubelet does: each version is a directory of its own, and one link
/// is moved.
pub(super) fn mount(plane: &ControlPlane, directory: &Path, config_map: &str, version: &str) {
    let data = read_object(plane, &format!("configmap {config_map}"))["data"].clone();
    let new = directory.join(version);
    fs::create_dir(&new).unwrap();
    for (name, text) in data.as_object().unwrap() {
        fs::write(new.join(name), text.as_str().unwrap()).unwrap();
        let link = directory.join(name);
        if !link.exists() {
            symlink(Path::new("..data").join(name), link).unwrap();
        }
    }
    symlink(version, directory.join("..data_tmp")).unwrap();
    fs::rename(directory.join("..data_tmp"), directory.join("..data")).unwrap();
}

fn calendar_from_a_config_map_is_mounted_and_replaced(plane: &ControlPlane) {
    plane.install();
    let directory = tempfile::tempdir().unwrap();
    let (file, mounted) = (
        directory.path().join("de.ics"),
        directory.path().join("mounted"),
    );
    fs::create_dir(&mounted).unwrap();
    let commands = commands(&file);
    let [create, patch, replace] = &commands[..] else {
        panic!("{commands:?}");
    };
    let delete = "kubectl delete configmap dayshift-calendars -n dayshift --ignore-not-found";
    plane.shell(delete).success();

    let start = soon(30);
    fs::write(&file, calendar(start, 0)).unwrap();
    plane.shell(create).success();
    plane.shell(patch).success();
    let pod = read_object(plane, "deployment dayshift")["spec"]["template"]["spec"].clone();
    let container = &pod["containers"][0];
    let of = |list: &Value, name: &str| {
        let mut all = list.as_array().unwrap().iter();
        all.find(|it| it["name"] == name).unwrap().clone()
    };
    let path = of(&container["volumeMounts"], "calendars")["mountPath"].clone();
    let config_map = of(&pod["volumes"], "calendars")["configMap"]["name"].clone();
    assert_eq!(config_map, CONFIG_MAP);
    let value = of(&container["env"], "DAYSHIFT_CALENDAR")["value"].clone();
    // The patch keeps existing variables.
    of(&container["env"], "DAYSHIFT_POD_NAMESPACE");
    let value = value.as_str().unwrap();
    assert_eq!(value, format!("de={}/de.ics", path.as_str().unwrap()));
    mount(plane, &mounted, CONFIG_MAP, "..1");

    let mut team = TestNamespace::without_controller(plane, "calendars");
    let value = value.replace(path.as_str().unwrap(), mounted.to_str().unwrap());
    team.run(&["--calendar", &value]);
    let web = deployment("web").replicas(0).start(start.text());
    team.create(web.annotation("dayshift/except", "calendar:de"));
    let next = |at: Soon| at.0.format("%Y-%m-%dT%H.%M.%SZ").to_string();
    let await_next = |at: Soon| {
        start.await_true(&format!("web is next at {}", next(at)), || {
            team.label("web", "dayshift/next") == Some(next(at))
        });
    };
    await_next(Soon(start.0 + TimeDelta::days(1)));

    fs::write(&file, calendar(start, 1)).unwrap();
    plane.shell(replace).success();
    mount(plane, &mounted, CONFIG_MAP, "..2");
    await_next(start);
    team.await_replicas("web", 1);
    team.assert_punctual("web", 2, start);
    team.ends([("web", 3)]);
}
