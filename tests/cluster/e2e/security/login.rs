//! `run --user-header` with `manifests/dashboard-login.yaml`: users of a proxy see and do only what
//! the API server allows them, and dayshift's token can do little more in their name.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use super::login_proxy::{LoginProxy, TRUSTED};
use super::oauth2_proxy;
use crate::e2e::overrides::authors::{apply_stamp, by};
use crate::e2e::test_namespace::TestNamespace;
use crate::support::{
    ControlPlane, Dayshift, Parts, Scenario, deployment, eventually, nightly, scenarios, soon,
    wait_until,
};

const LOGIN: &str = include_str!("../../../../manifests/dashboard-login.yaml");

pub(crate) fn scenarios() -> Vec<Scenario> {
    let mut all = scenarios![
        Parts::Pods;
        users_of_a_login_proxy_act_with_their_own_permissions,
    ];
    all.extend(nightly(scenarios![
        Parts::Pods;
        oauth2_proxy_users_act_with_their_own_permissions,
    ]));
    all
}

/// An account with dayshift's permissions and those of the file, separate from the account of other
/// scenarios.
fn account(team: &TestNamespace<'_>) -> PathBuf {
    let (plane, name) = (team.plane(), team.name());
    plane.install();
    team.create_account("scaler");
    team.bind_everywhere("dayshift", &format!("scaler-{name}"), "scaler");
    let text = LOGIN
        .replace(
            "name: dayshift-dashboard-login",
            &format!("name: login-{name}"),
        )
        .replace(
            "name: dayshift\n    namespace: dayshift",
            &format!("name: scaler\n    namespace: {name}"),
        );
    plane.apply(&text);
    plane.kubeconfig_of(name, "scaler")
}

fn bind(team: &TestNamespace<'_>, role: &str, subject: &str) {
    let name = subject.replace(['=', '-'], "");
    let role = format!("--clusterrole={role}");
    team.kubectl(&["create", "rolebinding", &name, &role, subject])
        .success();
}

/// The address of the pages.
fn page_address(controller: &Dayshift) -> Option<SocketAddr> {
    let log = controller.log();
    let (_, rest) = log.split_once("the dashboard is served listen=")?;
    rest.split_whitespace().next()?.parse().ok()
}

/// The result of a confirmed form.
fn act(proxy: &LoginProxy, session: &str, fields: &[(&str, &str)]) -> String {
    let token = proxy.get(session, "/timeline").field("token");
    let asked = proxy.post(
        session,
        "/confirm",
        &[fields, &[("token", &token)]].concat(),
    );
    assert_eq!(asked.status, 200, "{asked:?}");
    let plan = asked.field("plan");
    let done = proxy.post(session, "/act", &[("token", &token), ("plan", &plan)]);
    assert_eq!(done.status, 303, "{done:?}");
    eventually("the action is done", || {
        let result = proxy.get(session, done.location()).body;
        (!result.contains("under way")).then_some(result)
    })
}

fn users_of_a_login_proxy_act_with_their_own_permissions(plane: &ControlPlane) {
    assert_users_act_with_their_own_permissions(plane, LoginProxy::minimal);
}

fn oauth2_proxy_users_act_with_their_own_permissions(plane: &ControlPlane) {
    assert_users_act_with_their_own_permissions(plane, oauth2_proxy::before);
}

fn assert_users_act_with_their_own_permissions(
    plane: &ControlPlane,
    before: fn(SocketAddr) -> LoginProxy,
) {
    let others = TestNamespace::without_controller(plane, "login-others");
    let team = TestNamespace::without_controller(plane, "login");
    let kubeconfig = account(&team);
    apply_stamp(&team);
    team.kubectl(&["delete", "deployment", "probe"]).success();
    let now = soon(0);
    let (start, stop) = (now.plus(-3600).text(), now.plus(7200).text());
    let scheduled = |name| deployment(name).start(start.clone()).stop(stop.clone());
    team.create(scheduled("web").replicas(3));
    others.create(scheduled("theirs").replicas(3));
    bind(&team, "edit", "--user=ann@example.com");
    bind(&team, "view", "--group=viewers");
    bind(&team, "edit", "--user=mia");
    bind(&others, "view", "--user=mia");
    let (ann, vic, nora) = ("ann@example.com;staff", "vic;staff,viewers", "nora;staff");
    let mia = "mia;staff";

    let flags = [
        "run",
        "-n",
        team.name(),
        "-n",
        others.name(),
        "--dashboard-listen=127.0.0.1:0",
        "--user-header=X-Forwarded-User",
        "--group-header=X-Forwarded-Groups",
        "--trusted-proxy",
        TRUSTED,
    ];
    let mark = plane.audit().mark();
    let mut controller = Dayshift::run_as(&kubeconfig, &flags);
    let upstream = eventually("the pages are served", || page_address(&controller));
    let proxy = before(upstream);
    team.await_label("web", "dayshift/state", "adopted");
    others.await_label("theirs", "dayshift/state", "adopted");

    // Requests without a user, requests that bypass the proxy, and requests as a system user of Kubernetes.
    let anonymous = proxy.ask("", "GET /timeline", "", "");
    assert!(matches!(anonymous.status, 302 | 403), "{anonymous:?}");
    assert_lacks!(anonymous.body, team.name());
    let root = "X-Forwarded-User: root\r\nX-Forwarded-Groups: system:masters\r\n";
    let ann_said = "X-Forwarded-User: ann@example.com\r\n";
    for headers in ["", ann_said, root, "Impersonate-User: root\r\n"] {
        for path in ["/", "/timeline", &format!("/ns/{}", team.name())] {
            let answer = proxy.past(path, headers);
            assert_eq!(answer.status, 403, "{answer:?}");
            assert_lacks!(answer.body, "web");
        }
    }
    for session in ["root;system:masters", "system:admin;staff"] {
        let answer = proxy.get(session, "/");
        assert_eq!(answer.status, 403, "{answer:?}");
        assert_contains!(answer.body, "begins with system:");
    }

    // Each user sees the workloads that they may list.
    let is_seen = |session: &str| {
        eventually("the API server knows the permissions of a user", || {
            let overview = proxy.get(session, "/timeline");
            assert_eq!(overview.status, 200, "{overview:?}");
            assert_lacks!(overview.body, "theirs");
            assert_lacks!(overview.body, others.name());
            overview.body.contains("web").then_some(())
        });
    };
    is_seen(ann);
    is_seen(vic);
    // A user header from the browser is ignored.
    let forged = proxy.ask(nora, "GET /timeline", &format!("{ann_said}{root}"), "");
    assert_eq!(forged.status, 200);
    assert!(!forged.body.contains("web") && !forged.body.contains("theirs"));
    for path in [
        format!("/ns/{}", others.name()),
        format!("/object/{}/deploy/theirs", others.name()),
    ] {
        assert_eq!(proxy.get(ann, &path).status, 404, "{path}");
    }

    // The editor puts the namespace to sleep and wakes it.
    let here = ("namespace", team.name());
    let slept = act(&proxy, ann, &[("do", "sleep"), ("for", "2h"), here]);
    assert_contains!(slept, "Put to sleep: done<");
    team.await_replicas("web", 0);
    assert_eq!(by(&team, "deploy/web").as_deref(), Some("ann@example.com"));
    // A page can be a second old; the confirmation shows the current state.
    let page = format!("/object/{}/deploy/web", team.name());
    wait_until("the pages show the sleep", || {
        let body = proxy.get(ann, &page).body;
        body.contains("dayshift/override-by")
    });
    let woken = act(
        &proxy,
        ann,
        &[("do", "wake"), ("for", "2h"), ("reason", "a demo"), here],
    );
    assert_contains!(woken, "Wake: done<");
    team.await_replicas("web", 3);

    wait_until("the pages show the wake", || {
        let body = proxy.get(vic, &page).body;
        body.contains("a demo")
    });

    // The viewer changes nothing, and no user changes a workload that they cannot see.
    let web = format!("{}/deploy/web", team.name());
    for path in ["/timeline".to_owned(), format!("{page}?refresh=off")] {
        let shown = proxy.get(vic, &path).body;
        assert_contains!(shown, "Your permissions do not allow");
        assert_lacks!(shown, "name=\"token\"");
    }
    // A preview leaves out the changes that the API server would deny.
    wait_until("the API server knows the permissions of mia", || {
        let shown = proxy.get(mia, "/timeline").body;
        shown.contains("theirs") && shown.contains("name=\"token\"")
    });
    let token = proxy.get(mia, "/timeline").field("token");
    let theirs = format!("{}/deploy/theirs", others.name());
    let fields = [
        ("token", &*token),
        ("do", "pause"),
        ("object", &*web),
        ("object", &*theirs),
    ];
    let asked = proxy.post(mia, "/confirm", &fields).body;
    let denied = format!("</strong> in namespace {}: ", others.name());
    for part in [
        "1 change that your permissions do not allow",
        &denied,
        "Pause 1 workload<",
    ] {
        assert_contains!(asked, part);
    }
    let token = proxy.get(ann, "/timeline").field("token");
    let fields = [
        ("token", &*token),
        ("do", "sleep"),
        ("for", "2h"),
        ("object", &*theirs),
        ("namespace", others.name()),
    ];
    let asked = proxy.post(ann, "/confirm", &fields);
    assert_contains!(asked.body, "Nothing would change.");
    thread::sleep(Duration::from_secs(1));
    assert_eq!((team.replicas("web"), others.replicas("theirs")), (3, 3));

    // Every request for a user impersonates that user, and every change is attributed to them in
    // the audit log.
    assert!(controller.stop().success());
    let of_users = plane.audit().since(mark).into_iter();
    let account = format!("system:serviceaccount:{}:scaler", team.name());
    let of_users: Vec<_> = of_users
        .filter(|it| it.user == account && it.user_agent.ends_with("(dashboard)"))
        .collect();
    assert!(!of_users.is_empty());
    let made: Vec<_> = of_users.iter().filter(|it| it.is_made()).collect();
    assert!(
        of_users.iter().all(|it| !it.impersonated.is_empty()),
        "{of_users:#?}"
    );
    for request in &made {
        assert_eq!(request.impersonated, "ann@example.com", "{request:#?}");
        assert_eq!(request.namespace, team.name(), "{request:#?}");
    }
    assert!(made.iter().any(|it| it.verb == "patch"), "{made:#?}");

    // The requests that a stolen token can send in the name of users: only these.
    let as_ann = ["--as=ann@example.com", "-n", team.name()];
    let ask = |arguments: &[&str]| plane.kubectl_as(&kubeconfig, &[arguments, &as_ann].concat());
    ask(&["get", "deployments"]).success();
    for arguments in [
        &["get", "secrets"][..],
        &["get", "pods"],
        &["delete", "deployment", "web"],
        &["create", "configmap", "x"],
        &["get", "deployments", "--as-group=system:masters"],
    ] {
        let answer = ask(arguments);
        assert!(!answer.ok, "{arguments:?}: {answer:?}");
        assert_contains!(answer.stderr, "orbidden", "{arguments:?}");
    }
}
