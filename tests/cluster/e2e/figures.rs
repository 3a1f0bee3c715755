//! All reports about one cluster agree: stopped and saved replicas, and the effective schedule. This must not
//! depend on the flags of the controller, or on permissions for Namespaces.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use serde_json::{Value, json};

use crate::e2e::test_namespace::TestNamespace;
use crate::support::{
    ControlPlane, Dayshift, Parts, Scenario, deployment, eventually, scenarios, soon, stateful_set,
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Server;
        metrics_dashboard_and_status_agree,
        user_without_namespace_permission_sees_and_wakes_inheriting_workloads,
    ]
}

/// The namespace with these annotations, and a controller with a default schedule.
fn annotate(team: &TestNamespace<'_>, texts: &[&str]) {
    let arguments = ["annotate", "--overwrite", "namespace", team.name()];
    let annotated = team.plane().kubectl(&[&arguments, texts].concat());
    annotated.success();
}

/// The real program as a user.
fn dayshift(who: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dayshift"))
        .args(arguments)
        .env("KUBECONFIG", who)
        .env("NO_COLOR", "1")
        .output()
        .unwrap()
}

/// The `status` of a namespace, by name.
fn status(who: &Path, team: &TestNamespace<'_>) -> Vec<Value> {
    let ran = dayshift(who, &["status", "-n", team.name(), "-o", "json"]);
    let message: Value = serde_json::from_slice(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    message["workloads"].as_array().unwrap().clone()
}

/// The text of an overview page with this cookie; `None` until it has content.
fn words(address: SocketAddr, cookie: &str) -> Option<String> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    write!(stream, "GET / HTTP/1.0\r\nHost: {address}\r\n{cookie}\r\n").ok()?;
    let mut page = String::new();
    stream.read_to_string(&mut page).ok()?;
    if !page.contains(" 200 OK") || page.contains("Reading the cluster") {
        return None;
    }
    let texts = page.split('<').filter_map(|it| it.split_once('>'));
    let texts = texts.flat_map(|(_, text)| text.split_whitespace());
    Some(texts.collect::<Vec<_>>().join(" "))
}

/// The addresses of a controller's pages and of its metrics.
fn addresses(controller: &Dayshift) -> Option<[SocketAddr; 2]> {
    let log = controller.log();
    let at = |is_page: bool| {
        let mut lines = log.lines().filter(|it| it.contains("listen=127.0.0.1:"));
        let line = lines.find(|it| it.contains("the dashboard is served") == is_page)?;
        let (_, text) = line.split_once("listen=")?;
        text.split_whitespace().next()?.parse().ok()
    };
    Some([at(true)?, at(false)?])
}

fn sample(metrics: &str, name: &str) -> f64 {
    let found = metrics.lines().find_map(|line| line.strip_prefix(name));
    found.unwrap().trim().parse().unwrap()
}

/// The response to a GET of the probes.
fn get(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// The replica-hours of a page between these words.
fn hours_between(page: &str, words: [&str; 2]) -> f64 {
    let [from, until] = words;
    let between = page
        .split_once(from)
        .and_then(|(_, it)| it.split_once(until));
    let (between, _) = between.unwrap_or_else(|| panic!("{words:?}: {page}"));
    let (number, _) = between.rsplit_once(" replica-hours").unwrap();
    let number = number.rsplit(' ').next().unwrap();
    number
        .parse()
        .unwrap_or_else(|_| panic!("{number}: {page}"))
}

/// A controller with a default schedule, a Namespace with a partial one, and workloads with their
/// own.
fn metrics_dashboard_and_status_agree(plane: &ControlPlane) {
    let mut team = TestNamespace::without_controller(plane, "figures");
    annotate(&team, &["dayshift/replicas=2"]);
    let stop = soon(9);
    let start = stop.plus(7200);
    let (start, stop_text) = (start.text(), stop.text());
    team.begin(&[
        &format!("--default-start={start}"),
        &format!("--default-stop={stop_text}"),
        "--dashboard-listen=127.0.0.1:0",
    ]);
    let [page, probes] = eventually("the controller has logged its addresses", || {
        addresses(team.newest())
    });
    eventually("the controller is ready", || {
        get(probes, "/readyz").contains(" 200 OK").then_some(())
    });
    // Stopped replicas: 2 of the workload with the default schedule and the count of the Namespace, 400 of
    // 401 of the one with its own schedule, and 0 of the manually started one.
    team.create(deployment("plain").replicas(5));
    let own = |name| {
        deployment(name)
            .start(start.clone())
            .stop(stop_text.clone())
    };
    let many = own("own")
        .replicas(401)
        .annotation("dayshift/replicas", "401");
    let mut many = Value::from(many.annotation("dayshift/stop-replicas", "1"));
    // The requests of a pod can be on the pod itself.
    let requests = json!({"requests": {"cpu": "500m", "memory": "1Gi"}});
    many["spec"]["template"]["spec"]["resources"] = requests;
    team.kubectl_with(&["create"], &many.to_string()).success();
    let db = Value::from(stateful_set("db").replicas(2));
    team.kubectl_with(&["create"], &db.to_string()).success();
    team.create(own("raised").replicas(2));
    for name in ["plain", "own", "raised"] {
        team.await_stopped(name, stop.plus(20));
    }
    team.scale("raised", 2);
    let held = 2 + 400 + 2;
    eventually("the stops and the manual change are counted", || {
        let counted = sample(&get(probes, "/metrics"), "dayshift_stopped_replicas ");
        (counted.to_string() == held.to_string()).then_some(())
    });

    let all = status(plane.install(), &team).into_iter();
    let by_status: u64 = all
        .map(|it| it["heldDown"]["replicas"].as_u64().unwrap_or_default())
        .sum();
    assert_eq!(by_status, held);
    let wide = dayshift(
        plane.install(),
        &["status", "-n", team.name(), "-o", "wide"],
    );
    let wide = String::from_utf8(wide.stdout).unwrap();
    assert!(
        wide.contains(&format!("Stopped by schedules now: {held} replicas")),
        "{wide}"
    );

    let saved = || {
        sample(
            &get(probes, "/metrics"),
            "dayshift_saved_replica_seconds_total ",
        ) / 3600.0
    };
    let before = saved();
    let of_controller = eventually("the dashboard of the controller", || words(page, ""));
    let after = saved();
    // The text has two decimals.
    let is_between = |it: f64| before - 0.005 <= it && it <= after + 0.005;
    for words in [
        ["Today ", " This week"],
        ["This week ", " This month"],
        ["This month ", " saved since the controller"],
    ] {
        let found = hours_between(&of_controller, words);
        assert!(
            found > 0.0 && is_between(found),
            "{before} {after}: {of_controller}"
        );
    }
    let arguments = ["dashboard", "-n", team.name()];
    let live = Dayshift::run_as(plane.install(), &arguments);
    let of_somebody = eventually("the dashboard of the user", || {
        words(live.address()?, &live.cookie()?)
    });
    let held =
        format!("Stopped by schedules now: {held} replicas, 200 CPU cores, 400 GiB of memory");
    for page in [&of_controller, &of_somebody] {
        assert!(page.contains(&held), "{held}: {page}");
    }
    let estimate = "estimate for this week from the schedules";
    assert!(of_somebody.contains(estimate), "{of_somebody}");
}

/// A user who may read and change Deployments of one namespace, and no Namespaces.
fn developer(team: &TestNamespace<'_>) -> PathBuf {
    let name = "developer";
    team.kubectl(&["create", "serviceaccount", name]).success();
    let rule = |group: &str, resources: &[&str], verbs: &[&str]| json!({"apiGroups": [group], "resources": resources, "verbs": verbs});
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
        "metadata": {"name": name},
        "rules": [
            rule("apps", &["deployments", "statefulsets"], &["get", "list", "watch", "patch"]),
            rule("batch", &["cronjobs"], &["get", "list", "watch", "patch"]),
            rule("autoscaling", &["horizontalpodautoscalers"], &["list"]),
            rule("keda.sh", &["scaledobjects"], &["list"]),
        ],
    });
    team.kubectl_with(&["create"], &role.to_string()).success();
    let account = format!("--serviceaccount={}:{name}", team.name());
    team.kubectl(&["create", "rolebinding", name, "--role", name, &account])
        .success();
    let who = team.plane().kubeconfig_of(team.name(), name);
    eventually("the API server knows the new permission", || {
        let can = |verb, resource| {
            let ask = ["auth", "can-i", verb, resource, "-n", team.name()];
            team.plane().kubectl_as(&who, &ask).stdout.trim() == "yes"
        };
        assert!(!can("get", "namespaces"));
        (can("patch", "deployments.apps") && can("list", "cronjobs.batch")).then_some(())
    });
    who
}

fn user_without_namespace_permission_sees_and_wakes_inheriting_workloads(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "developers");
    let now = soon(0);
    let (start, stop) = (now.plus(7200).text(), now.plus(14_400).text());
    annotate(
        &team,
        &[
            &format!("dayshift/start={start}"),
            &format!("dayshift/stop={stop}"),
        ],
    );
    team.create(deployment("web").replicas(3));
    team.create(deployment("api").replicas(2));
    for name in ["web", "api"] {
        team.await_label(name, "dayshift/state", "adopted");
    }
    let who = developer(&team);
    let shown = status(&who, &team);
    let names: Vec<_> = shown
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["api", "web"], "{shown:?}");
    for (command, count) in [("sleep", [0, 0]), ("wake", [2, 3])] {
        let arguments = [command, "--all", "-n", team.name(), "--for", "1h"];
        let ran = dayshift(&who, &arguments);
        assert_eq!(ran.status.code(), Some(0), "{ran:?}");
        let found = ["api", "web"].map(|name| team.replicas(name));
        assert_eq!(found, count, "{command}");
        // The effective schedule is shown too, and there is no problem.
        let ran = dayshift(&who, &["status", "-n", team.name()]);
        assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    }
}
