//! The real programs that revert dayshift's changes: each is named within 2 s, by one read and one
//! Event.

use tempfile::TempDir;

use super::reported::{assert_never_reported, assert_reported_once, status};
use crate::e2e::test_namespace::TestNamespace;
use crate::support::{
    ControlPlane, Output, Parts, Scenario, deployment, eventually, scenarios, soon, wait_until,
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    [
        scenarios![Parts::Pods; hpa_above_a_stop_count_is_reported],
        scenarios![
            Parts::Server;
            kubectl_replace_is_reported,
            kubectl_apply_is_reported_client_side_and_server_side,
            manual_scaling_and_rollout_undo_are_not_reported,
            a_scale_to_0_after_a_start_is_manual,
            helm_3_reverts_the_stop_and_is_reported,
            helm_4_is_reported_once_it_forces_the_conflict,
        ],
    ]
    .concat()
}

fn kubectl_replace_is_reported(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "replace");
    let stop = soon(6);
    let web = deployment("web").replicas(3).stop(stop.text());
    team.kubectl_with(&["create"], &web.manifest()).success();
    team.await_stopped("web", stop.plus(20));
    team.kubectl_with(&["replace"], &web.manifest()).success();
    let reported = assert_reported_once(&team, "web");
    assert_starts_with!(reported, "kubectl-replace (kubectl replace) set 3 again ");
    let shown = status(&team);
    assert_contains!(shown, "kubectl-replace (kubectl replace) set 3 ");
    // Three writes: adoption, stop, and the labels that the replacement removed.
    team.ends([("web", 3)]);
}

fn kubectl_apply_is_reported_client_side_and_server_side(plane: &ControlPlane) {
    for (name, more, by) in [
        (
            "csapply",
            &[][..],
            "kubectl-client-side-apply (kubectl apply) set 3 again ",
        ),
        (
            "ssapply",
            &["--server-side", "--force-conflicts"],
            "kubectl (server-side apply) set 3 again ",
        ),
    ] {
        let team = TestNamespace::new(plane, name);
        let stop = soon(6);
        let web = deployment("web").replicas(3).stop(stop.text());
        let apply = [&["apply"], more].concat();
        team.kubectl_with(&apply, &web.manifest()).success();
        team.await_stopped("web", stop.plus(20));
        team.kubectl_with(&apply, &web.manifest()).success();
        let reported = assert_reported_once(&team, "web");
        assert_starts_with!(reported, by);
        let shown = status(&team);
        assert!(shown.contains("warning: ") && shown.contains(by), "{shown}");
        team.ends([("web", 2)]);
    }
}

fn manual_scaling_and_rollout_undo_are_not_reported(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "person");
    let stop = soon(8);
    for name in ["scaled", "edited", "undone"] {
        let web = deployment(name).replicas(3).stop(stop.text());
        team.kubectl_with(&["create"], &web.manifest()).success();
    }
    team.kubectl(&["set", "image", "deploy/undone", "nginx=nginx:2"])
        .success();
    for name in ["scaled", "edited", "undone"] {
        team.await_stopped(name, stop.plus(20));
    }
    team.kubectl(&["scale", "deploy/scaled", "--replicas=2"])
        .success();
    let editor = "KUBE_EDITOR=\"sed -i 's/^  replicas: 0$/  replicas: 2/'\"";
    let edit = format!("{editor} kubectl edit deploy/edited -n {}", team.name());
    plane.shell(&edit).success();
    assert_eq!(team.replicas("edited"), 2);
    eventually("the controller has read the managers", || {
        let requests = team.requests();
        let reads = requests.iter().filter(|it| it.verb == "get");
        let read: Vec<&str> = reads.map(|it| &*it.name).collect();
        assert!(read.len() <= 2, "{read:?}");
        (read.contains(&"scaled") && read.contains(&"edited")).then_some(())
    });
    let shown = status(&team);
    let it = team.name();
    let held = format!("note: {it}/edited, {it}/scaled: scaled to 2 manually");
    assert_contains!(shown, held);
    for name in ["scaled", "edited", "undone"] {
        assert_never_reported(&team, name);
    }
    assert_eq!(team.replicas("undone"), 0);
    team.ends([("scaled", 2), ("edited", 2), ("undone", 2)]);
}

/// The API server keeps no field manager of a 0 that is written through the subresource `scale`.
fn a_scale_to_0_after_a_start_is_manual(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "tozero");
    let start = soon(6);
    let web = deployment("web").replicas(1).start(start.text());
    team.create(web.annotation("dayshift/replicas", "3"));
    team.await_replicas("web", 3);
    team.kubectl(&["scale", "deploy/web", "--replicas=0"])
        .success();
    let status = format!("dayshift status -n {}", team.name());
    let shown = plane.shell(&status).success();
    assert_contains!(shown, "scaled to 0 manually");
    assert_lacks!(shown, "webhook");
    assert_never_reported(&team, "web");
    team.delete("web");
}

fn hpa_above_a_stop_count_is_reported(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "hpamin");
    let stop = soon(8);
    let web = deployment("web").replicas(3).stop(stop.text());
    team.create(web.annotation("dayshift/stop-replicas", "1"));
    team.autoscale("web", 2, 4);
    team.await_adopted("web", stop);
    let reported = team.await_event("web", "Reverted");
    assert_starts_with!(reported, "an HPA set the count to 2, ");
    assert_contains!(reported, "remove dayshift/stop-replicas");
    wait_until("the read is in the audit log", || {
        let reads = team.requests();
        let reads = reads.iter().filter(|it| it.verb == "get").count();
        assert!(reads <= 1, "{reads}");
        reads == 1
    });
    let shown = status(&team);
    assert_contains!(shown, "an HPA set the count to 2, ");
    team.delete("web");
}

/// A chart with one Deployment, and the Helm that installs it.
struct Chart<'p> {
    plane: &'p ControlPlane,
    version: u32,
    namespace: String,
    directory: TempDir,
}

impl<'p> Chart<'p> {
    fn new(plane: &'p ControlPlane, version: u32, team: &TestNamespace<'_>, stop: &str) -> Self {
        let chart = Self {
            plane,
            version,
            namespace: team.name().to_owned(),
            directory: TempDir::new().unwrap(),
        };
        let text = "apiVersion: v2\nname: shop\nversion: 1.0.0\n";
        std::fs::write(chart.directory.path().join("Chart.yaml"), text).unwrap();
        std::fs::create_dir(chart.directory.path().join("templates")).unwrap();
        chart.write(Some(3), stop, "nginx:1");
        chart
    }

    fn write(&self, replicas: Option<i32>, stop: &str, image: &str) {
        let web = deployment("web").stop(stop);
        let web = match replicas {
            Some(replicas) => web.replicas(replicas),
            None => web.without_replicas(),
        };
        let text = web
            .manifest()
            .replace("\"image\":\"nginx\"", &format!("\"image\":\"{image}\""));
        assert_contains!(text, image);
        std::fs::write(self.directory.path().join("templates/web.yaml"), text).unwrap();
    }

    /// An upgrade and a rollback while the workload runs, which cause no report.
    fn by_day(&self, team: &TestNamespace<'_>, stop: &str) {
        self.write(Some(3), stop, "nginx:day");
        self.helm(&["upgrade", "shop", "CHART"]).success();
        assert_eq!(image(team), "nginx:day");
        self.helm(&["rollback", "shop", "1"]).success();
        assert_eq!(image(team), "nginx:1");
        assert_eq!(team.replicas("web"), 3);
        assert_never_reported(team, "web");
        let requests = team.requests();
        assert!(requests.iter().all(|it| it.verb != "get"), "{requests:#?}");
    }

    fn helm(&self, arguments: &[&str]) -> Output {
        let directory = self.directory.path().to_str().unwrap();
        let arguments = arguments
            .iter()
            .map(|it| if *it == "CHART" { directory } else { it });
        let all: Vec<_> = arguments.chain(["-n", &self.namespace]).collect();
        self.plane.helm(self.version, &all)
    }
}

fn image(team: &TestNamespace<'_>) -> String {
    let image = "jsonpath={.spec.template.spec.containers[0].image}";
    team.kubectl(&["get", "deploy/web", "-o", image]).success()
}

fn helm_3_reverts_the_stop_and_is_reported(plane: &ControlPlane) {
    // Built first if necessary: that takes longer than a watch lasts.
    plane.helm(3, &["version"]).success();
    let team = TestNamespace::new(plane, "helmthree");
    let stop = soon(16);
    let chart = Chart::new(plane, 3, &team, &stop.text());
    chart.helm(&["install", "shop", "CHART"]).success();
    chart.by_day(&team, &stop.text());
    stop.assert_in_future("the chart is installed before the stop");
    team.await_stopped("web", stop.plus(20));

    chart.write(Some(3), &stop.text(), "nginx:2");
    chart.helm(&["upgrade", "shop", "CHART"]).success();
    assert_eq!(team.replicas("web"), 3);
    let reported = assert_reported_once(&team, "web");
    assert_starts_with!(reported, "helm set 3 again ");
    assert_contains!(reported, "remove replicas from the chart");
    let shown = status(&team);
    assert_contains!(shown, "helm set 3 again ");

    team.scale("web", 0);
    chart.helm(&["rollback", "shop", "1"]).success();
    assert_eq!(team.replicas("web"), 3, "a rollback sets it too");
    team.ends([("web", 2)]);
}

fn helm_4_is_reported_once_it_forces_the_conflict(plane: &ControlPlane) {
    // Built first if necessary: that takes longer than a watch lasts.
    plane.helm(4, &["version"]).success();
    let team = TestNamespace::new(plane, "helmfour");
    let stop = soon(16);
    let chart = Chart::new(plane, 4, &team, &stop.text());
    let upgrade = |more: &[&str]| chart.helm(&[&["upgrade", "shop", "CHART"], more].concat());
    chart.helm(&["install", "shop", "CHART"]).success();
    chart.by_day(&team, &stop.text());
    stop.assert_in_future("the chart is installed before the stop");
    team.await_stopped("web", stop.plus(20));

    chart.write(Some(3), &stop.text(), "nginx:2");
    for refused in [upgrade(&[]), chart.helm(&["rollback", "shop", "1"])] {
        let conflict = "Apply failed with 1 conflict: conflict with \"dayshift\" using apps/v1: .spec.replicas";
        assert!(
            !refused.ok && refused.stderr.contains(conflict),
            "{}",
            refused.stderr
        );
    }
    assert_eq!(team.replicas("web"), 0);
    // A chart without the count leaves it to dayshift.
    chart.write(None, &stop.text(), "nginx:3");
    upgrade(&[]).success();
    assert_eq!(team.replicas("web"), 0);

    chart.write(Some(3), &stop.text(), "nginx:2");
    upgrade(&["--force-conflicts"]).success();
    assert_eq!(team.replicas("web"), 3);
    let reported = assert_reported_once(&team, "web");
    assert_starts_with!(reported, "helm set 3 again ");
    // A field that Helm forced belongs only to Helm: without it in the chart it gets the API
    // server's default.
    chart.write(None, &stop.text(), "nginx:4");
    upgrade(&[]).success();
    assert_eq!(team.replicas("web"), 1);
    team.ends([("web", 2)]);
}
