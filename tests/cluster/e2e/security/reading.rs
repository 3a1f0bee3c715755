//! A user with fewer permissions sees and changes the readable workloads, and the commands name the
//! unreadable kinds. Tests `dashboard`, `sleep` and `restore` under a Role while the permission for
//! one kind is granted and revoked.

use std::path::PathBuf;

use serde_json::json;

use crate::e2e::test_namespace::TestNamespace;
use crate::reliability::BlackholeProxy;
use crate::support::{
    ControlPlane, Dayshift, Parts, Scenario, cron_job, dayshift, deployment, eventually, scenarios,
    wait_until,
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Server;
        dashboard_shows_a_kind_while_it_may_be_read,
        command_acts_on_readable_workloads_and_names_unreadable_kinds,
    ]
}

/// A Namespace with a Deployment and a CronJob, and a user who may read the Deployment.
struct Reader<'a> {
    team: TestNamespace<'a>,
}

const ACCOUNT: &str = "reader";

/// The message while CronJobs are forbidden, for whichever verb fails first.
const REFUSED: &str = "CronJobs are not shown: not allowed to ";

impl<'a> Reader<'a> {
    fn of(plane: &'a ControlPlane, name: &str) -> Self {
        let team = TestNamespace::without_controller(plane, name);
        team.create(deployment("web").replicas(2).hours("00:00-24:00"));
        let report = cron_job("report").hours("00:00-24:00").manifest();
        team.kubectl_with(&["create"], &report).success();
        team.kubectl(&["create", "serviceaccount", ACCOUNT])
            .success();
        let account = format!("{}:{ACCOUNT}", team.name());
        let bind = ["create", "rolebinding", ACCOUNT, "--role", ACCOUNT];
        team.kubectl(&[&bind[..], &["--serviceaccount", &account]].concat())
            .success();
        let reader = Self { team };
        reader.may_read(&[]);
        let kubeconfig = reader.kubeconfig(plane.url());
        wait_until("the API server knows the Role", || {
            let can = ["auth", "can-i", "list", "statefulsets.apps", "-n"];
            let can = [&can[..], &[reader.team.name()]].concat();
            let message = plane.kubectl_as(&kubeconfig, &can);
            message.stdout.trim() == "yes"
        });
        reader
    }

    /// Replaces the rules of the Role with the required permissions and these.
    fn may_read(&self, more: &[(&str, &str)]) {
        let always = [
            ("", "namespaces"),
            ("apps", "deployments"),
            ("apps", "statefulsets"),
            ("autoscaling", "horizontalpodautoscalers"),
            ("keda.sh", "scaledobjects"),
        ];
        let rules = always.iter().chain(more).map(|(group, resource)| {
            json!({"apiGroups": [group], "resources": [resource], "verbs": ["get", "list", "watch"]})
        });
        let role = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
            "metadata": {"name": ACCOUNT}, "rules": rules.collect::<Vec<_>>(),
        });
        self.team
            .kubectl_with(&["apply"], &role.to_string())
            .success();
    }

    fn kubeconfig(&self, url: &str) -> PathBuf {
        let plane = self.team.plane();
        plane.kubeconfig_via(url, self.team.name(), ACCOUNT)
    }
}

/// Waits until each page shows the Deployment, and the CronJobs if they are allowed.
fn await_pages(reader: &Reader<'_>, dashboard: &Dayshift, are_refused: bool) {
    let web = format!("/object/{}/deploy/web", reader.team.name());
    for path in ["/", "/timeline", &web] {
        eventually(&format!("{path}, CronJobs refused: {are_refused}"), || {
            let page = dashboard.page(path)?;
            assert!(page.contains("web"), "{path}: {page}");
            let forbidden = "Your permissions do not allow you to change these workloads.";
            let has_form = page.contains("name=\"token\"");
            let is_explained = page.contains(forbidden) || path == "/";
            assert!(is_explained && !has_form, "{path}: {page}");
            let shows = path != "/timeline" || page.contains("report") != are_refused;
            // After a broken connection, other kinds might be missing for a short time.
            let counts = [REFUSED, "are not shown"].map(|it| page.matches(it).count());
            (counts == [usize::from(are_refused); 2] && shows).then_some(())
        });
    }
}

fn dashboard_shows_a_kind_while_it_may_be_read(plane: &ControlPlane) {
    let reader = Reader::of(plane, "dashboard-reader");
    let way = BlackholeProxy::before(plane.url());
    let arguments = ["dashboard", "-n", reader.team.name()];
    let dashboard = Dayshift::run_as(&reader.kubeconfig(&way.url()), &arguments);
    await_pages(&reader, &dashboard, true);
    let timeline = eventually("the timeline page", || dashboard.page("/timeline"));
    for part in [
        "cronjobs.batch is forbidden: User",
        &format!("namespace {}", reader.team.name()),
        "leave them out with --kinds deployments,statefulsets",
    ] {
        assert_contains!(timeline, part);
    }

    reader.may_read(&[("batch", "cronjobs")]);
    await_pages(&reader, &dashboard, false);

    // The API server does not end an open watch: the next one is denied.
    reader.may_read(&[]);
    let kubeconfig = reader.kubeconfig(plane.url());
    wait_until("the API server knows the changed permission", || {
        let can = [
            "auth",
            "can-i",
            "list",
            "cronjobs",
            "-n",
            reader.team.name(),
        ];
        let message = plane.kubectl_as(&kubeconfig, &can);
        message.stdout.trim() == "no"
    });
    way.close();
    await_pages(&reader, &dashboard, true);
}

/// The user may patch Deployments, too.
fn command_acts_on_readable_workloads_and_names_unreadable_kinds(plane: &ControlPlane) {
    let reader = Reader::of(plane, "command-reader");
    let (team, namespace) = (&reader.team, reader.team.name());
    let role = ["create", "role", "patcher", "--verb=patch"];
    team.kubectl(&[&role[..], &["--resource=deployments.apps"]].concat())
        .success();
    let account = format!("{namespace}:{ACCOUNT}");
    let bind = ["create", "rolebinding", "patcher", "--role=patcher"];
    team.kubectl(&[&bind[..], &["--serviceaccount", &account]].concat())
        .success();
    let kubeconfig = reader.kubeconfig(plane.url());
    let sleep = ["sleep", "--all", "--for", "1h", "--no-wait"];
    for (command, done) in [
        (
            &sleep[..],
            "deployment.apps/web annotated dayshift/sleep-until=",
        ),
        (&["plan", "-o", "table"], ""),
        (&["restore", "--all"], "nothing to restore in namespace "),
    ] {
        // A new permission might take effect late.
        let ran = eventually("the API server knows the permission", || {
            let ran = dayshift(&kubeconfig, &[command, &["-n", namespace]].concat());
            (!ran.stderr.contains("cannot patch")).then_some(ran)
        });
        let (code, out, message) = (ran.code, ran.stdout, ran.stderr);
        assert_eq!(code, Some(3), "{command:?}: {out}{message}");
        assert!(out.starts_with(done), "{command:?}: {out}{message}");
        let [line] = message.lines().collect::<Vec<_>>()[..] else {
            panic!("{command:?}: {message}");
        };
        let expected = "not allowed to list CronJobs in namespace ";
        assert!(
            line.starts_with("error: CronJobs are left ") && line.contains(expected),
            "{line}"
        );
        let cure = "or leave them out with --kinds deployments,statefulsets";
        assert_ends_with!(line, cure);
    }
    let annotations = |object: &str| {
        let path = "jsonpath={.metadata.annotations}";
        team.kubectl(&["get", object, "-o", path]).success()
    };
    assert_contains!(annotations("deploy/web"), "dayshift/sleep-until");
    assert_lacks!(annotations("cj/report"), "dayshift/sleep-until");
}
