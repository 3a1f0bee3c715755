//! A user without a permission gets the reason, and all other parts of the dashboard work.

use kube_in_memory::{Fault, Status};

use super::{
    actions::{confirmed, post, token},
    browser::{Page, Served},
};
use crate::fake_server::{Cluster, Controller, refusal};
use crate::program::wait_until;

fn cluster() -> Cluster {
    let cluster = Cluster::new();
    for name in ["web", "api"] {
        cluster.deployment(name, 2, &[("hours", "00:00-24:00")]);
    }
    cluster
}

fn banners(page: &Page) -> Vec<&str> {
    let banners = page
        .all("p")
        .filter(|it| it.has_class("banner") && it.has_class("warn"));
    banners.map(|it| &*it.text).collect()
}

#[test]
fn an_unreadable_kind_does_not_hide_the_others() {
    for verbs in [&["list", "watch"], &["watch"; 2]] {
        let cluster = cluster();
        cluster.refuse(verbs, "cronjobs");
        let served = Served::of(&cluster, &[]);
        // A watch can be rejected shortly after the list was accepted.
        wait_until("rejected", || !banners(&served.page("/")).is_empty());
        for path in ["/", "/timeline", "/object/dev/deploy/web"] {
            let page = served.page(path);
            let [banner] = banners(&page)[..] else {
                panic!("{path}: {}", page.text());
            };
            let expected = format!(
                "CronJobs are not shown: not allowed to {} CronJobs in all namespaces: ",
                verbs[0]
            );
            assert!(banner.starts_with(&expected), "{path}: {banner}");
            assert_contains!(banner, refusal(verbs[0], "cronjobs"));
            assert!(page.text().contains("web"), "{path}: {}", page.text());
        }
        let timeline = served.page("/timeline");
        let found = timeline.text().contains("2 workloads.");
        assert!(found, "{}", timeline.text());
    }
}

#[test]
fn without_readable_kinds_there_is_no_page() {
    let cluster = cluster();
    cluster.api.on_request(|request| {
        let message = refusal(request.verb, &request.resource);
        let status = Status::new(403, "Forbidden", &message);
        matches!(request.verb, "list" | "watch").then_some(Fault::Answer(status))
    });
    let ran = cluster.dayshift(&["dashboard"]);
    assert_eq!(ran.status, 3, "{ran:?}");
    let expected = "error: not allowed to list ";
    assert_starts_with!(ran.err, expected);
}

/// Workloads record the values that they inherit, so Namespaces matter only if no workload is
/// shown.
#[test]
fn pages_mention_unreadable_namespaces_only_without_workloads() {
    let paths = ["/", "/timeline", "/object/dev/deploy/web"];
    let cluster = cluster();
    cluster.refuse(&["list", "get", "watch"], "namespaces");
    let served = Served::of(&cluster, &[]);
    for path in paths {
        let page = served.page(path);
        assert!(banners(&page).is_empty(), "{path}: {}", page.text());
        assert!(page.text().contains("web"), "{path}: {}", page.text());
    }
    let empty = Cluster::new();
    empty.deployment("plain", 1, &[]);
    empty.refuse(&["list", "get", "watch"], "namespaces");
    let served = Served::of(&empty, &[]);
    let page = served.page("/");
    let [banner] = banners(&page)[..] else {
        panic!("{}", page.text());
    };
    let expected = "Namespaces cannot be read, so a workload that inherits its schedule is shown ";
    assert_starts_with!(banner, expected);
    assert_contains!(banner, refusal("list", "namespaces"));
}

#[test]
fn shows_a_workload_without_permission_to_read_events() {
    let cluster = cluster();
    cluster.refuse(&["list"], "events");
    let served = Served::of(&cluster, &[]);
    let page = served.page("/object/dev/deploy/web");
    let output = format!(
        "The Events cannot be read: the API server refuses: {}",
        refusal("list", "events")
    );
    for part in [&*output, "Two weeks", "Its annotations", "Commands"] {
        assert_contains!(page.text(), part);
    }
    assert_eq!(banners(&page), Vec::<&str>::new());
}

/// Forbidden actions are reported for each workload as the command does, and the permitted ones are
/// done.
#[test]
fn reports_a_forbidden_action_as_the_command_does() {
    let cluster = cluster();
    cluster.api.on_request(|request| {
        let is_it = request.verb == "patch" && request.name == "web";
        let message = "deployments.apps \"web\" is forbidden: User \"me\" cannot patch resource \"deployments\"";
        is_it.then(|| Fault::Answer(Status::new(403, "Forbidden", message)))
    });
    let ran = cluster.dayshift(&["pause", "deploy/web"]);
    let expected = ran.err.trim_end().strip_prefix("error: ").unwrap();
    assert!(
        expected.starts_with("deployment.apps/web: not paused: ")
            && expected.contains("cannot patch resource \"deployments\""),
        "{ran:?}"
    );
    let _controller = Controller::on(&cluster);
    let served = Served::of(&cluster, &[]);
    let token = token(&served);
    let fields = [
        ("token", &*token),
        ("do", "pause"),
        ("object", "dev/deploy/web"),
        ("object", "dev/deploy/api"),
    ];
    let (_, result) = confirmed(&served, &post(&served, "/confirm", &fields));
    assert_contains!(result, expected);
    assert!(cluster.annotation("api", "pause").is_some());
    assert_eq!(cluster.annotation("web", "pause"), None);
}

#[test]
fn reports_a_forbidden_namespace_patch_as_the_command_does() {
    let cluster = cluster();
    cluster.refuse(&["patch"], "namespaces");
    let ran = cluster.dayshift(&["pause", "ns/dev"]);
    let expected = ran.err.trim_end().strip_prefix("error: ").unwrap();
    assert_contains!(expected, "cannot patch resource \"namespaces\"", "{ran:?}");
    let served = Served::of(&cluster, &[]);
    let token = token(&served);
    let fields = [("token", &*token), ("do", "pause"), ("namespace", "dev")];
    let (_, result) = confirmed(&served, &post(&served, "/confirm", &fields));
    let expected = expected.split('`').next().unwrap();
    assert_contains!(result, expected);
}

/// If many workloads or several namespaces are selected, all workloads of their kinds are watched.
#[test]
fn acts_on_readable_kinds_beside_an_unreadable_one() {
    let cluster = Cluster::new();
    let names: Vec<_> = (0..9).map(|at| format!("dev/deploy/web-{at}")).collect();
    for name in &names {
        let name = name.rsplit('/').next().unwrap();
        cluster.deployment(name, 2, &[("hours", "00:00-24:00")]);
    }
    cluster.refuse(&["list", "watch"], "cronjobs");
    let _controller = Controller::on(&cluster);
    let served = Served::of(&cluster, &[]);
    let token = token(&served);
    let mut fields = vec![("token", &*token), ("do", "pause")];
    fields.extend(names.iter().map(|it| ("object", &**it)));
    let (_, result) = confirmed(&served, &post(&served, "/confirm", &fields));
    let (_, lines) = result.split_once("Pause: ").unwrap();
    assert!(lines.starts_with("done"), "{result}");
    assert_lacks!(lines, "not allowed");
}

/// An override of a Namespace also applies to kinds that the user may not read. The page states that
/// before and after.
#[test]
fn overrides_a_namespace_with_an_unreadable_kind() {
    let cluster = cluster();
    cluster.refuse(&["list", "watch"], "cronjobs");
    let served = Served::of(&cluster, &[]);
    let token = token(&served);
    let fields = [("token", &*token), ("do", "pause"), ("namespace", "dev")];
    let (page, result) = confirmed(&served, &post(&served, "/confirm", &fields));
    let output =
        "namespace/dev: CronJobs are not seen: not allowed to list CronJobs in namespace dev";
    assert_contains!(page.text(), output);
    let api = cluster.api.get("Namespace", "", "dev").unwrap();
    assert!(
        api["metadata"]["annotations"]["dayshift/pause"].is_string(),
        "{result}"
    );
    let (_, lines) = result.split_once("Pause: ").unwrap();
    assert_contains!(lines, output);
    assert_contains!(lines, "no controller has acted on 2 workloads");
}

/// Denied changes are shown per namespace before anything is written, and only the others are done.
#[test]
fn the_preview_predicts_denied_changes() {
    let cluster = cluster();
    cluster.api.namespace("other");
    for name in ["web", "api"] {
        let mut copy = cluster.api.get("Deployment", "dev", name).unwrap();
        let metadata = copy["metadata"].as_object_mut().unwrap();
        metadata.retain(|key, _| ["name", "annotations"].contains(&&**key));
        metadata.insert("namespace".into(), "other".into());
        cluster.api.create(copy).unwrap();
    }
    // All of dev, and one Deployment of other by its name.
    cluster.api.on_access_review(|asked| {
        assert_eq!(asked["verb"], "patch", "{asked}");
        asked["namespace"] == "dev" || asked["namespace"] == "other" && asked["name"] == "api"
    });
    let _controller = Controller::on(&cluster);
    let served = Served::of(&cluster, &[]);
    let token = token(&served);
    let mut fields = vec![("token", &*token), ("do", "pause")];
    let all = [
        "dev/deploy/web",
        "dev/deploy/api",
        "other/deploy/web",
        "other/deploy/api",
    ];
    fields.extend(all.map(|object| ("object", object)));
    let asked = post(&served, "/confirm", &fields);
    let (page, result) = confirmed(&served, &asked);
    for part in [
        "3 workloads will change",
        "1 change that your permissions do not allow",
        "denied in namespace other: other/web",
        "Pause 3 workloads",
    ] {
        assert_contains!(page.text(), part);
    }
    assert_contains!(result, "Pause: done");
    let is_paused = |namespace: &str, name: &str| {
        let object = cluster.api.get("Deployment", namespace, name).unwrap();
        object["metadata"]["annotations"]["dayshift/pause"].is_string()
    };
    assert!(is_paused("dev", "web") && is_paused("other", "api"));
    assert!(!is_paused("other", "web"));
    // Its Namespace may not be patched either, so the permitted workloads in it are.
    let fields = [("token", &*token), ("do", "resume"), ("namespace", "other")];
    let text = Page::read(&post(&served, "/confirm", &fields).body)
        .text()
        .to_owned();
    assert_contains!(text, "Resume 1 workload");
    assert_lacks!(text, "namespace/other");
}

#[test]
fn forms_that_cannot_work_are_not_offered() {
    let cluster = cluster();
    cluster
        .api
        .on_access_review(|asked| asked["name"] == "web" && asked["resource"] == "deployments");
    let served = Served::of(&cluster, &[]);
    let is_offered = |path: &str| {
        let page = served.page(path);
        let mut forms = page.all("form");
        let offered = forms.any(|it| {
            let action = it.attribute("action");
            action.is_some_and(|action| action.starts_with("/confirm"))
        });
        let said = "Your permissions do not allow you to change these workloads.";
        assert_eq!(page.text().contains(said), !offered, "{}", page.text());
        assert_eq!(
            page.all("input")
                .any(|it| it.attribute("name") == Some("object")),
            offered,
            "{path}"
        );
        offered
    };
    assert!(!is_offered("/timeline"));
    assert!(!is_offered("/ns/dev?refresh=off"));
    assert!(!is_offered("/object/dev/deploy/api?refresh=off"));
    assert!(is_offered("/object/dev/deploy/web?refresh=off"));
    // A timeline without forms refreshes itself.
    assert_eq!(served.get("/timeline").header("refresh"), Some("10"));
}

/// A form can name any namespace. The dashboard rejects those that it does not show.
#[test]
fn rejects_a_namespace_outside_of_the_dashboard() {
    let cluster = cluster();
    for name in ["other", "kube-system"] {
        cluster.api.namespace(name);
    }
    let mut web = cluster.api.get("Deployment", "dev", "web").unwrap();
    let metadata = web["metadata"].as_object_mut().unwrap();
    metadata.retain(|key, _| ["name", "labels", "annotations"].contains(&&**key));
    metadata.insert("namespace".into(), "other".into());
    cluster.api.create(web).unwrap();
    let served = Served::of(&cluster, &["-n", "other"]);
    let token = token(&served);
    for namespace in ["dev", "kube-system", "gone", "", "other/../dev"] {
        let fields = [
            ("token", &*token),
            ("do", "pause"),
            ("namespace", namespace),
        ];
        let asked = post(&served, "/confirm", &fields);
        let text = Page::read(&asked.body).text().to_owned();
        let output = format!("namespace/{namespace}: it has no visible workload");
        assert_contains!(text, output);
        assert_contains!(text, "Nothing would change.");
    }
    let requests = cluster.api.requests().into_iter();
    let of_others = requests.filter(|it| it.verb == "patch" || it.namespace == "dev");
    assert_eq!(of_others.count(), 0, "no request is sent for them");
    let fields = [("token", &*token), ("do", "pause"), ("namespace", "other")];
    let text = Page::read(&post(&served, "/confirm", &fields).body)
        .text()
        .to_owned();
    assert_contains!(text, "Pause 1 workload");
}
