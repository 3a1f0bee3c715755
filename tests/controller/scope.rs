//! Which objects are in scope, and dry runs.

use std::time::Duration;

use dayshift_controller::{OwnPod, Scope, Settings};
use dayshift_workload::Prefix;
use kube_in_memory::{Fault, Status};
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, default_with, deployment, logged, stateful_set};

fn scenario_with(settings: Settings) -> Sandbox {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    for namespace in ["a", "b", "c"] {
        scenario.api.namespace(namespace);
        scenario.apply(
            deployment("web")
                .namespace(namespace)
                .label("tier", namespace)
                .stop("19:00"),
        );
    }
    scenario.start_controller(settings);
    scenario.sleep_until("19:00");
    scenario
}

fn stopped(scenario: &Sandbox) -> String {
    let is_stopped = |namespace: &&str| scenario.api.replicas(namespace, "web") == Some(0);
    ["a", "b", "c"].into_iter().filter(is_stopped).collect()
}

#[test]
fn namespaces_and_a_selector_limit_the_scope() {
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    for (scope, expected) in [
        (Scope::default(), "abc"),
        (
            Scope {
                namespaces: names(&["a", "c"]),
                ..Scope::default()
            },
            "ac",
        ),
        (
            Scope {
                excluded_namespaces: names(&["a", "c"]),
                ..Scope::default()
            },
            "b",
        ),
        (
            Scope {
                selector: Some("tier in (b,c)".into()),
                ..Scope::default()
            },
            "bc",
        ),
    ] {
        let scenario = scenario_with(default_with(|settings| settings.scope = scope));
        assert_eq!(stopped(&scenario), expected);
    }
}

#[test]
fn forgets_a_workload_that_leaves_the_selector_without_a_write() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    scenario.apply(
        deployment("web")
            .replicas(3)
            .label("tier", "dev")
            .stop("19:00"),
    );
    let scope = Scope {
        selector: Some("tier=dev".into()),
        ..Scope::default()
    };
    scenario.start_with(|settings| settings.scope = scope);
    scenario
        .api
        .label("dev", "web", "tier", Some("prod"))
        .unwrap();
    scenario.sleep_until("20:00");
    assert_eq!(
        (scenario.replicas("web"), scenario.patched("web").len()),
        (3, 1)
    );
}

#[test]
fn another_prefix_is_another_controller() {
    let prefix = Prefix::parse("scaling.example.com").unwrap();
    let scenario = scenario_with(default_with(|settings| settings.prefix = prefix));
    assert_eq!(stopped(&scenario), "");
}

#[test]
fn never_scales_its_own_deployment() {
    let own_pod = Some(OwnPod {
        namespace: "b".into(),
        name: "web-7c9f8d6b5-x2x4z".into(),
    });
    let scenario = scenario_with(default_with(|settings| settings.own_pod = own_pod));
    assert_eq!(stopped(&scenario), "ac");
}

#[test]
fn dry_run_writes_nothing_and_continues_as_if_it_had() {
    let scenario = scenario_with(default_with(|settings| settings.dry_run = true));
    scenario.sleep_until("2026-11-22 20:00");
    assert_eq!(stopped(&scenario), "");
    let writes = scenario
        .api
        .requests()
        .into_iter()
        .filter(|line| !["list", "watch"].contains(&line.verb));
    assert_eq!(writes.count(), 0);
    let metrics = scenario.telemetry.render();
    let message = r#"dayshift_transitions_total{action="stop",outcome="dry_run"} 9"#;
    assert!(metrics.contains(message), "{metrics}");
}

/// A pilot with 300 namespaces reads one line for each of them instead of one or two for each
/// workload.
#[test]
fn dry_run_begins_with_a_summary_by_namespace() {
    let (_guard, log) = logged();
    let mut scenario = Sandbox::empty_at("2026-11-20 20:00 UTC");
    for namespace in ["a", "b"] {
        scenario.api.namespace(namespace);
    }
    let office = |name: &str, namespace: &str| {
        let workload = deployment(name).namespace(namespace).replicas(2);
        workload.hours("Mon-Fri 09:00-19:00")
    };
    (0..20).for_each(|n| scenario.apply(office(&format!("web-{n}"), "a")));
    scenario.apply(office("web", "b").stop("Mon-Fri 18:00").hours(""));
    scenario.apply(office("late", "b").annotation("dayshift/timezone", "Asia/Tokyo"));
    scenario.apply(deployment("plain").namespace("b"));
    let mut volumes: Value = stateful_set("db").namespace("b").replicas(3).into();
    volumes["metadata"]["annotations"] = json!({"dayshift/stop": "Mon-Fri 18:30"});
    volumes["spec"]["persistentVolumeClaimRetentionPolicy"] = json!({"whenScaled": "Delete"});
    scenario.api.apply(volumes).unwrap();
    scenario.start_with(|settings| settings.dry_run = true);
    let log_text = || std::fs::read_to_string(log.path()).unwrap();
    let text = log_text();
    for message in [
        r#"namespace="a" scheduled=20 next_stop="2026-11-23T19:00:00Z" stops=20 replicas=40 lose_volumes=0 refused=0"#,
        r#"namespace="b" scheduled=3 next_stop="2026-11-23T19:00:00+09:00" stops=1 replicas=2 lose_volumes=1 refused=2"#,
        r#"namespace="(all)" scheduled=23 next_stop="2026-11-23T19:00:00+09:00" stops=21 replicas=42 lose_volumes=1 refused=2"#,
    ] {
        assert!(text.contains(message), "{message}: {text}");
    }
    for not in ["would adopt", "the schedule specifies stopped"] {
        assert!(!text.contains(not), "{not}: {text}");
    }
    // Later workloads are logged one by one.
    scenario.apply(office("new", "a"));
    assert!(log_text().contains("would adopt kind=Deployment object=a/new"));
    assert_eq!(log_text().matches("the next stops of all").count(), 1);
}

#[test]
fn adoptions_wait_until_everything_is_listed() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    for n in 0..250 {
        let web = deployment(&format!("web-{n}")).stop("19:00");
        scenario.api.apply(web.into()).unwrap();
    }
    let refusal = Status::invalid("meta.k8s.io", "ListOptions", "", Vec::new());
    scenario.api.on_request(move |line| {
        let is_stream = line.query.contains("sendInitialEvents");
        is_stream.then(|| Fault::Answer(refusal.clone()))
    });
    scenario.start_controller(Settings::default());
    scenario.pass(Duration::from_secs(1));
    let verbs: Vec<_> = scenario
        .api
        .requests()
        .iter()
        .map(|line| line.verb)
        .collect();
    let last_page = verbs.iter().rposition(|verb| *verb == "list").unwrap();
    let first_patch = verbs.iter().position(|verb| *verb == "patch").unwrap();
    assert!(last_page < first_patch, "{verbs:?}");
    assert_eq!(verbs.iter().filter(|verb| **verb == "patch").count(), 250);
}

#[test]
fn namespace_that_cannot_be_listed_delays_no_other() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    for namespace in ["a", "b"] {
        scenario.api.namespace(namespace);
        let web = deployment("web").namespace(namespace);
        scenario.apply(web.replicas(2).stop("19:00"));
    }
    let refusal = || Status::forbidden("apps", "deployments", "", "not this namespace");
    scenario
        .api
        .on_request(move |line| (line.namespace == "b").then(|| Fault::Answer(refusal())));
    scenario.start_with(|settings| settings.scope.namespaces = vec!["a".into(), "b".into()]);
    scenario.sleep_until("19:01");
    assert_eq!(scenario.api.replicas("a", "web"), Some(0));
    assert_eq!(scenario.api.replicas("b", "web"), Some(2));
    assert!(scenario.telemetry.ready().is_err());
}

/// A name with a typo looks like a namespace without workloads.
#[test]
fn reports_a_configured_namespace_until_it_exists() {
    let (_guard, log) = logged();
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    scenario.api.namespace("a");
    scenario.apply(deployment("web").namespace("a").replicas(3).stop("19:00"));
    let scope = Scope {
        namespaces: vec!["a".to_owned(), "tema".to_owned()],
        ..Scope::default()
    };
    scenario.start_with(|settings| settings.scope = scope);
    let log_text = || std::fs::read_to_string(log.path()).unwrap();
    let missing = "namespace tema does not exist";
    assert_eq!(scenario.telemetry.unwatched(), [missing]);
    assert_eq!(
        scenario.telemetry.ready(),
        Ok(()),
        "the other namespaces are still managed"
    );
    scenario.api.close_watches();
    scenario.sleep_until("19:00");
    assert_eq!(scenario.api.replicas("a", "web"), Some(0));
    assert_eq!(
        log_text().matches("the namespace does not exist").count(),
        1
    );
    scenario.api.namespace("tema");
    scenario.settle();
    assert_eq!(scenario.telemetry.unwatched(), [""; 0]);
    assert_eq!(log_text().matches("the namespace exists now").count(), 1);
    // A deleted one is missing too.
    scenario.api.delete_of("Namespace", "", "tema").unwrap();
    scenario.settle();
    assert_eq!(scenario.telemetry.unwatched(), [missing]);
    assert_eq!(
        log_text().matches("the namespace does not exist").count(),
        2
    );
    // A selector might be the reason why one is not visible.
    scenario.kill_controllers();
    let scope = Scope {
        namespaces: vec!["a".to_owned()],
        namespace_selector: Some("env=dev".to_owned()),
        ..Scope::default()
    };
    scenario.start_with(|settings| settings.scope = scope);
    assert_eq!(scenario.telemetry.unwatched(), [""; 0]);
    assert!(
        scenario.requests("get").is_empty(),
        "it sends no further request"
    );
}
