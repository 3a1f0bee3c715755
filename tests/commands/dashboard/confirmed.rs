//! A confirmed action applies only if nothing has changed since, and failures are reported.

use kube_in_memory::{Fault, Status};
use serde_json::json;

use super::{
    actions::{cluster, confirmed, post, token},
    browser::{Answer, Page, Served},
};
use crate::fake_server::{Cluster, Controller};
use crate::program::wait_until;

fn asked(served: &Served, fields: &[(&str, &str)]) -> Answer {
    let token = token(served);
    let answer = post(
        served,
        "/confirm",
        &[&[("token", &*token)], fields].concat(),
    );
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer
}

fn by_a_colleague(cluster: &Cluster, args: &[&str]) {
    let ran = cluster.dayshift(&[args, &["--no-wait"]].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
}

/// The value of an annotation of the Namespace `dev`.
fn of_namespace(cluster: &Cluster, key: &str) -> Option<String> {
    let namespace = cluster.api.get("Namespace", "", "dev").unwrap();
    let text = namespace["metadata"]["annotations"][key].as_str();
    text.map(str::to_owned)
}

#[test]
fn a_confirmed_sleep_does_not_replace_a_newer_wake() {
    let cluster = cluster();
    let _controller = Controller::on(&cluster);
    let served = Served::of(&cluster, &[]);
    let both = [
        ("do", "sleep"),
        ("for", "2h"),
        ("object", "dev/deploy/web"),
        ("object", "dev/deploy/api"),
    ];
    let preview = asked(&served, &both);
    by_a_colleague(&cluster, &["wake", "deploy/web", "--for", "5h"]);
    let wake = cluster.annotation("web", "wake-until").unwrap();
    let (page, result) = confirmed(&served, &preview);
    assert_contains!(page.text(), "Put to sleep 2 workloads");
    let output = format!(
        "deployment.apps/web: not put to sleep: changed since your preview: dayshift/wake-until is {wake} now"
    );
    assert_contains!(result, output);
    assert_eq!(cluster.annotation("web", "sleep-until"), None);
    assert_eq!(cluster.annotation("web", "wake-until"), Some(wake));
    assert!(
        cluster.annotation("api", "sleep-until").is_some(),
        "{result}"
    );
}

#[test]
fn the_result_repeats_until_when_it_holds_and_what_was_kept() {
    let cluster = cluster();
    let _controller = Controller::on(&cluster);
    cluster.wait_until_seen(&["web", "api"]);
    by_a_colleague(&cluster, &["wake", "deploy/web", "--for", "9h"]);
    let served = Served::of(&cluster, &[]);
    wait_until("seen", || {
        let page = served.page("/timeline?state=awake");
        page.all("a").any(|it| it.text == "web")
    });
    let fields = [
        ("do", "wake"),
        ("for", "2h"),
        ("object", "dev/deploy/web"),
        ("object", "dev/deploy/api"),
    ];
    let (page, result) = confirmed(&served, &asked(&served, &fields));
    assert_contains!(page.text(), "1 override would end earlier");
    assert_contains!(result, "It holds until ");
    let end: chrono::DateTime<chrono::Utc> = cluster
        .annotation("api", "wake-until")
        .unwrap()
        .parse()
        .unwrap();
    assert_contains!(result, &end.format("%H:%M").to_string());
    assert_contains!(
        result,
        "1 override kept, which this action would have ended earlierdev/web was awake until "
    );
    assert_contains!(result, "1 workload changed");
}

#[test]
fn the_result_of_a_wake_counts_the_ready_workloads() {
    let cluster = cluster();
    for (name, ready) in [("web", 2), ("api", 1)] {
        let status = json!({"observedGeneration": 99, "readyReplicas": ready});
        let set = cluster.api.set_status("Deployment", "dev", name, status);
        set.unwrap();
    }
    let _controller = Controller::on(&cluster);
    let served = Served::of(&cluster, &[]);
    let fields = [
        ("do", "wake"),
        ("for", "2h"),
        ("object", "dev/deploy/web"),
        ("object", "dev/deploy/api"),
    ];
    let (_, result) = confirmed(&served, &asked(&served, &fields));
    assert!(result.contains("1 of 2 ready"), "{result}");
    assert!(result.contains("1/2"), "{result}");
}

/// The API server rejects the action even if the page has not seen the change.
#[test]
fn a_wake_after_the_preview_is_not_replaced() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    let fields = [("do", "sleep"), ("for", "2h"), ("object", "dev/deploy/web")];
    let preview = asked(&served, &fields);
    // Watches are rejected, so the page does not see the change.
    cluster.api.on_request(|request| {
        let is_it = matches!(request.verb, "list" | "watch");
        is_it.then(|| Fault::Answer(Status::new(500, "InternalError", "no")))
    });
    cluster.api.close_watches();
    let pause = Some("true");
    cluster
        .api
        .annotate("dev", "web", "dayshift/pause", pause)
        .unwrap();
    let (_, result) = confirmed(&served, &preview);
    assert_contains!(result, "Put to sleep: failed");
    assert_contains!(result, "changed since your preview");
    assert_eq!(cluster.annotation("web", "sleep-until"), None);
    assert_eq!(cluster.annotation("web", "pause"), Some("true".to_owned()));
}

#[test]
fn a_changed_namespace_is_not_overridden() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    let fields = [("do", "pause"), ("namespace", "dev")];
    let preview = asked(&served, &fields);
    let page = Page::read(&preview.body);
    assert_contains!(page.text(), "Pause 2 workloads");
    for name in ["dev/web", "dev/api"] {
        assert!(page.all("li").any(|it| it.text == name), "{}", page.text());
    }
    by_a_colleague(&cluster, &["wake", "ns/dev", "--for", "5h"]);
    let (_, result) = confirmed(&served, &preview);
    assert_contains!(result, "Pause: failed");
    let output = "namespace/dev: not paused: changed since your preview: dayshift/wake-until is ";
    assert_contains!(result, output);
    assert_eq!(of_namespace(&cluster, "dayshift/pause"), None);
    assert!(of_namespace(&cluster, "dayshift/wake-until").is_some());

    let preview = asked(&served, &fields);
    cluster.deployment("new", 2, &[("hours", "00:00-24:00")]);
    let (_, result) = confirmed(&served, &preview);
    assert_contains!(result, "it would apply to dev/new too");
    assert_eq!(of_namespace(&cluster, "dayshift/pause"), None);
}

#[test]
fn objects_left_out_of_the_preview_are_not_changed() {
    let cluster = cluster();
    cluster.deployment("bad", 1, &[("hours", "Mon-Fry 09:00-17:00")]);
    let _controller = Controller::on(&cluster);
    let served = Served::of(&cluster, &[]);
    let fields = [
        ("do", "pause"),
        ("object", "dev/deploy/web"),
        ("object", "dev/deploy/bad"),
    ];
    let preview = asked(&served, &fields);
    let page = Page::read(&preview.body);
    assert_contains!(page.text(), "Pause 1 workload");
    let hours = Some("Mon-Fri 09:00-17:00");
    cluster
        .api
        .annotate("dev", "bad", "dayshift/hours", hours)
        .unwrap();
    let (_, result) = confirmed(&served, &preview);
    assert_lacks!(result, "apps/bad");
    assert_contains!(result, "It holds until you resume the schedule.");
    assert_contains!(result, "Unchangeddev/bad: not paused: ");
    assert_eq!(cluster.annotation("bad", "pause"), None);
    assert!(cluster.annotation("web", "pause").is_some());
}

/// The heading shows "failed" only if all changes fail, otherwise "partly done".
#[test]
fn reports_each_failure_and_a_failed_result() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    let _controller = Controller::on(&cluster);
    let both = [("object", "dev/deploy/web"), ("object", "dev/deploy/api")];
    let sleep = &[("do", "sleep"), ("for", "2h")][..];
    let pause = &[("do", "pause")];
    for (fields, names, heading, failed) in [
        (
            sleep,
            &["web", "api"][..],
            "Put to sleep: failed",
            &["api: not put to sleep", "web: not put to sleep"][..],
        ),
        (pause, &["web"], "Pause: partly done", &["web: not paused"]),
    ] {
        let preview = asked(&served, &[fields, &both].concat());
        cluster.api.on_request(move |request| {
            let is_it = request.verb == "patch" && names.contains(&&*request.name);
            is_it.then(|| Fault::Answer(Status::new(403, "Forbidden", "you may not")))
        });
        let (_, result) = confirmed(&served, &preview);
        assert_contains!(result, heading);
        for it in failed {
            let output = format!("deployment.apps/{it}: ");
            assert_contains!(result, output);
        }
    }
}

/// A wake that ends earlier than that of a colleague is named in the preview, and only the second
/// button carries it out.
#[test]
fn a_shorter_override_needs_a_confirmation_of_its_own() {
    let cluster = cluster();
    let _controller = Controller::on(&cluster);
    let until = "2099-11-28T05:16:00Z";
    for (key, text) in [
        ("wake-until", until),
        ("override-by", "jane"),
        ("reason", "load test"),
    ] {
        let key = format!("dayshift/{key}");
        cluster
            .api
            .annotate("dev", "web", &key, Some(text))
            .unwrap();
    }
    let served = Served::of(&cluster, &[]);
    let both = [
        ("do", "wake"),
        ("for", "30m"),
        ("object", "dev/deploy/web"),
        ("object", "dev/deploy/api"),
    ];
    let named = "dev/web was awake until Sat 2099-11-28 05:16 UTC by jane (load test)";
    let preview = asked(&served, &both);
    let page = Page::read(&preview.body);
    assert_contains!(page.text(), "1 override would end earlier");
    assert_contains!(page.text(), named);
    let buttons: Vec<_> = page.all("button").map(|it| &*it.text).collect();
    for button in [
        "Wake 1 workload",
        "Wake 2 workloads and end 1 override earlier",
    ] {
        assert!(buttons.contains(&button), "{buttons:?}");
    }

    let (_, result) = confirmed(&served, &preview);
    let said = "deployment.apps/web: not woken: it was awake until Sat 2099-11-28 05:16 UTC by jane (load test)";
    assert_contains!(result, said);
    assert_contains!(result, "deployment.apps/api awake until");
    assert_eq!(
        cluster.annotation("web", "wake-until").as_deref(),
        Some(until)
    );
    assert_eq!(
        cluster.annotation("web", "reason").as_deref(),
        Some("load test")
    );
    // The result and its undo concern only the workload that was woken.
    assert_contains!(result, "1 workload changed");

    // A form without the button, as the primary button of another page would send it, does nothing.
    let one = [("do", "wake"), ("for", "30m"), ("object", "dev/deploy/web")];
    let preview = asked(&served, &one);
    let page = Page::read(&preview.body);
    let value = |name: &str| {
        let found = page
            .all("input")
            .find(|it| it.attribute("name") == Some(name));
        found.unwrap().attribute("value").unwrap().to_owned()
    };
    let (token, plan) = (value("token"), value("plan"));
    let fields = [("token", &*token), ("plan", &*plan)];
    let refused = post(&served, "/act", &fields);
    assert_eq!(refused.status, 400, "{}", refused.body);
    assert!(!page.all("button").any(|it| it.text == "Wake 1 workload"));
    let fields = [&fields[..], &[("shorten", "yes")]].concat();
    let done = post(&served, "/act", &fields);
    assert_eq!(done.status, 303, "{}", done.body);
    wait_until("shortened", || {
        cluster.annotation("web", "wake-until").as_deref() != Some(until)
    });
    assert_eq!(cluster.annotation("web", "reason"), None);
}

/// The override of a Namespace is not shortened either, and a longer one needs no confirmation.
#[test]
fn a_shorter_override_of_a_namespace_needs_a_confirmation_too() {
    let cluster = cluster();
    by_a_colleague(&cluster, &["wake", "ns/dev", "--for", "5h"]);
    let before = of_namespace(&cluster, "dayshift/wake-until");
    let served = Served::of(&cluster, &[]);
    let fields = [("do", "wake"), ("for", "1h"), ("namespace", "dev")];
    let page = Page::read(&asked(&served, &fields).body);
    assert_contains!(page.text(), "namespace/dev was awake until ");
    let buttons: Vec<_> = page.all("button").map(|it| &*it.text).collect();
    assert!(
        buttons.contains(&"Wake 2 workloads and end 1 override earlier"),
        "{buttons:?}"
    );
    assert!(!buttons.contains(&"Wake 2 workloads"), "{buttons:?}");
    assert_eq!(of_namespace(&cluster, "dayshift/wake-until"), before);
    let fields = [("do", "wake"), ("for", "9h"), ("namespace", "dev")];
    let page = Page::read(&asked(&served, &fields).body);
    assert_lacks!(page.text(), "would end earlier");
    assert_contains!(page.text(), "; it was awake until ");
}
