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
        team.create_all(&cron_job("report").hours("00:00-24:00").manifest());
        team.create_account(ACCOUNT);
        team.bind("Role", ACCOUNT, ACCOUNT, ACCOUNT);
        let reader = Self { team };
        reader.may_read(&[]);
        wait_until("the API server knows the Role", || {
            reader.can("list", "statefulsets.apps")
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
        self.team.apply(&role.to_string());
    }

    fn can(&self, verb: &str, resource: &str) -> bool {
        self.team.can(ACCOUNT, verb, resource)
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
    wait_until("the API server knows the changed permission", || {
        !reader.can("list", "cronjobs.batch")
    });
    way.close();
    await_pages(&reader, &dashboard, true);
}

/// The user may patch Deployments, too.
fn command_acts_on_readable_workloads_and_names_unreadable_kinds(plane: &ControlPlane) {
    let reader = Reader::of(plane, "command-reader");
    let (team, namespace) = (&reader.team, reader.team.name());
    team.grant("patcher", ACCOUNT, &[("patch", "deployments.apps", "")]);
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
    let annotations = |api: &str, object: &str| {
        let object = team.read(api, object).unwrap();
        object["metadata"]["annotations"].to_string()
    };
    let web = annotations("apis/apps/v1", "deployments/web");
    assert_contains!(web, "dayshift/sleep-until");
    let report = annotations("apis/batch/v1", "cronjobs/report");
    assert_lacks!(report, "dayshift/sleep-until");
}
