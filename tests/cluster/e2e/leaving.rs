//! Runs the commands of docs/guides/uninstall.md as the page shows them.

use tempfile::NamedTempFile;

use crate::support::{
    ControlPlane, Dayshift, Parts, Scenario, cron_job, deployment, eventually, scenarios, soon,
    wait_until,
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![Parts::Server; documented_uninstall_restores_every_count]
}

/// The lines of the marked block, in one namespace instead of all, and without the line that deletes objects
/// which other test cases use.
fn lines(namespace: &str) -> Vec<String> {
    let page = include_str!("../../../docs/guides/uninstall.md");
    let (_, rest) = page
        .split_once("tests/cluster/e2e/leaving.rs runs these lines")
        .unwrap();
    let (_, rest) = rest.split_once("```sh\n").unwrap();
    let (block, _) = rest.split_once("```").unwrap();
    let ours = block
        .lines()
        .filter(|line| !line.starts_with("kubectl delete"));
    ours.map(|line| in_one(line, namespace)).collect()
}

/// `dayshift restore` requires `--all` without `-A`.
fn in_one(line: &str, namespace: &str) -> String {
    let all = if line.starts_with("dayshift ") {
        " --all"
    } else {
        ""
    };
    line.replacen(" -A", &format!(" -n {namespace}{all}"), 1)
}

fn documented_uninstall_restores_every_count(plane: &ControlPlane) {
    let team = plane.namespace("leaving");
    let mut dayshift = Dayshift::run(plane, &["run", "-n", team.name()]);
    dayshift.wait_ready();
    let stop = soon(8);
    let report = NamedTempFile::new().unwrap();
    let manifest = cron_job("report").stop(stop.text()).manifest();
    std::fs::write(report.path(), manifest).unwrap();
    let create = ["create", "-f", report.path().to_str().unwrap()];
    team.kubectl(&create).success();
    // A workload that inherits its schedule has an annotation of dayshift.
    let inherited = [
        "annotate",
        "namespace",
        team.name(),
        "dayshift/timezone=UTC",
    ];
    plane.kubectl(&inherited).success();
    team.create(deployment("web").replicas(3).stop(stop.text()));
    // A rejected workload has an annotation of dayshift.
    team.create(deployment("other").replicas(2).stop("soon"));
    team.create(deployment("gone").replicas(4).stop(stop.text()));
    for name in ["web", "gone"] {
        stop.before(&format!("{name} is adopted"), || {
            team.label(name, "dayshift/state")
        });
    }
    team.await_replicas("web", 0);
    team.await_replicas("gone", 0);
    assert!(team.annotation("web", "dayshift/inherited").is_some());
    eventually("the workload `other` is rejected", || {
        team.annotation("other", "dayshift/error")
    });
    let member = |path: &str| {
        let path = format!("jsonpath={{{path}}}");
        let get = ["get", "cronjob", "report", "-o", &path];
        team.kubectl(&get).success()
    };
    wait_until("report is suspended", || member(".spec.suspend") == "true");
    team.annotate("gone", "dayshift/stop", None);
    team.await_event("gone", "ScheduleRemoved");
    assert!(dayshift.stop().success());

    let lines = lines(team.name());
    assert_eq!(lines.len(), 3);
    let message: Vec<_> = lines
        .iter()
        .map(|line| plane.shell(line).success())
        .collect();
    assert_eq!(
        message[0],
        "deployment.apps/gone restored, 0 -> 4\ndeployment.apps/web restored, 0 -> 3\n\
         cronjob.batch/report restored, suspended -> active\n"
    );
    assert_eq!(
        (
            team.replicas("web"),
            team.replicas("other"),
            team.replicas("gone")
        ),
        (3, 2, 4)
    );
    assert_eq!(member(".spec.suspend"), "false");
    for label in ["state", "last", "next", "saved-replicas", "fingerprint"] {
        assert_eq!(team.label("web", &format!("dayshift/{label}")), None);
        assert_eq!(member(&format!(".metadata.labels.dayshift/{label}")), "");
    }
    for annotation in ["inherited", "error", "override-began"] {
        let name = format!("dayshift/{annotation}");
        assert_eq!(team.annotation("web", &name), None);
        assert_eq!(team.annotation("other", &name), None);
    }
}
