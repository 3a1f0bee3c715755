//! `manifests/policy/stamp.yaml`: the author of an override, which no user can forge.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::e2e::test_namespace::TestNamespace;
use crate::support::{
    ControlPlane, Output, Parts, Scenario, deployment, eventually, scenarios, soon, wait_until,
};

const STAMP: &str = include_str!("../../../../manifests/policy/stamp.yaml");
const BY: &str = "dayshift/override-by";

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Server;
        override_has_the_name_of_its_author_until_it_ends,
    ]
}

fn annotate(team: &TestNamespace<'_>, user: &str, object: &str, texts: &[&str]) -> Output {
    let user = format!("--as={user}");
    let whole = ["annotate", "--overwrite", object];
    let who = [&*user, "--as-group=system:masters"];
    team.kubectl(&[&whole[..], texts, &who].concat())
}

/// The annotations of dayshift on an object.
fn annotations(team: &TestNamespace<'_>, object: &str) -> BTreeMap<String, String> {
    let json = team.kubectl(&["get", object, "-o", "json"]).success();
    let object: Value = serde_json::from_str(&json).unwrap();
    let all = object["metadata"]["annotations"].as_object().cloned();
    let all = all.into_iter().flatten();
    let ours = all.filter(|(key, _)| key.starts_with("dayshift/"));
    ours.map(|(key, text)| (key, text.as_str().unwrap().to_owned()))
        .collect()
}

pub(crate) fn by(team: &TestNamespace<'_>, object: &str) -> Option<String> {
    annotations(team, object).remove(BY)
}

/// The shipped policy, only in the namespace of the team.
pub(crate) fn apply_stamp(team: &TestNamespace<'_>) {
    let own = format!(
        "policyName: stamp-{0}\n  matchResources: {{namespaceSelector: {{matchLabels: \
         {{kubernetes.io/metadata.name: {0}}}}}}}\n",
        team.name()
    );
    let text = STAMP.replace("policyName: dayshift-stamp\n", &own).replace(
        "name: dayshift-stamp",
        &format!("name: stamp-{}", team.name()),
    );
    assert_contains!(text, own);
    team.plane().apply(&text);
    team.create(deployment("probe"));
    let mut year = 2100;
    eventually("the policy is in force", || {
        year += 1;
        let text = format!("dayshift/wake-until={year}-01-01 00:00");
        annotate(team, "jane", "deploy/probe", &[&text]).success();
        by(team, "deploy/probe")
    });
}

fn override_has_the_name_of_its_author_until_it_ends(plane: &ControlPlane) {
    let mut team = TestNamespace::without_controller(plane, "authors");
    apply_stamp(&team);
    let web = deployment("web").replicas(2).stop("Mon-Fri 19:00");
    team.create(web.annotation(BY, "boss"));
    assert_eq!(by(&team, "deploy/web"), None, "there is no override");
    annotate(&team, "kim", "deploy/web", &["dayshift/override-by=boss"]).success();
    assert_eq!(by(&team, "deploy/web"), None);

    let jane = "jane@example.com";
    annotate(&team, jane, "deploy/web", &["dayshift/pause=true"]).success();
    assert_eq!(by(&team, "deploy/web").as_deref(), Some(jane));
    for claim in ["dayshift/override-by=boss", "dayshift/override-by-"] {
        annotate(&team, "kim", "deploy/web", &[claim]).success();
        assert_eq!(by(&team, "deploy/web").as_deref(), Some(jane), "{claim}");
    }
    annotate(&team, "kim", "deploy/web", &["example.com/a=1"]).success();
    assert_eq!(by(&team, "deploy/web").as_deref(), Some(jane));
    let change = [
        "dayshift/pause=2199-01-01 00:00",
        "dayshift/override-by=boss",
    ];
    annotate(&team, "kim", "deploy/web", &change).success();
    assert_eq!(by(&team, "deploy/web").as_deref(), Some("kim"));
    // Users write the reason themselves.
    annotate(&team, jane, "deploy/web", &["dayshift/reason=load test"]).success();
    assert_eq!(by(&team, "deploy/web").as_deref(), Some(jane));
    // Annotations can be written through a subresource too.
    let through_status = json!({"metadata": {"annotations": {
        "dayshift/pause": "2198-01-01 00:00", "dayshift/override-by": "boss",
    }}});
    let patch = through_status.to_string();
    let arguments = [
        "patch",
        "deploy/web",
        "--subresource=status",
        "--type=merge",
        "-p",
        &patch,
    ];
    let user = ["--as=lee", "--as-group=system:masters"];
    team.kubectl(&[&arguments[..], &user].concat()).success();
    assert_eq!(by(&team, "deploy/web").as_deref(), Some("lee"));
    // A user who removes one override does not become the author of the other.
    let wake = ["dayshift/wake-until=2199-01-01 00:00"];
    annotate(&team, jane, "deploy/web", &wake).success();
    annotate(&team, "kim", "deploy/web", &["dayshift/pause-"]).success();
    assert_eq!(by(&team, "deploy/web").as_deref(), Some(jane));
    annotate(&team, jane, "deploy/web", &["dayshift/wake-until-"]).success();
    assert_eq!(by(&team, "deploy/web"), None);

    // A new workload with an override gets the name of the user who created it.
    let born = deployment("born").annotation("dayshift/pause", "true");
    team.create(born.annotation(BY, "boss"));
    let creator = by(&team, "deploy/born").unwrap();
    assert_ne!(creator, "boss");

    // The same applies to a Namespace.
    let namespace = format!("namespace/{}", team.name());
    annotate(&team, jane, &namespace, &["dayshift/pause=true"]).success();
    assert_eq!(by(&team, &namespace).as_deref(), Some(jane));
    annotate(&team, jane, &namespace, &["dayshift/pause-"]).success();
    assert_eq!(by(&team, &namespace), None);

    // The command writes the annotations, and the controller removes them at the end.
    team.run(&[]);
    let end = soon(9);
    let wake = format!(
        "dayshift wake deploy/web -n {} --until {} --reason 'migration of the database'",
        team.name(),
        end.until()
    );
    plane.shell(&wake).success();
    let shown = annotations(&team, "deploy/web");
    let status = format!("dayshift status -n {} deploy/web -o json", team.name());
    let status: Value = serde_json::from_str(&plane.shell(&status).stdout).unwrap();
    end.assert_in_future("the wake is checked before its end");
    let me = shown[BY].clone();
    assert_eq!(shown["dayshift/reason"], "migration of the database");
    let over = &status["workloads"][0]["override"];
    assert_eq!(
        (&over["by"], &over["reason"]),
        (&me.clone().into(), &"migration of the database".into())
    );
    let event = team.await_event("web", "Woken");
    assert_contains!(event, format!("by {me}: migration of the database"));

    wait_until("the wake is over", || {
        let left = annotations(&team, "deploy/web");
        let keys: Vec<_> = left.keys().map(String::as_str).collect();
        keys == ["dayshift/stop"]
    });
    team.stop_controllers();
}
