//! Reverts of dayshift's changes: each is looked up once, reported in one Event, and delays nothing.

mod admission;
mod crowd;
mod each;

use kube_in_memory::Writer;
use serde_json::{Value, json};

use crate::sandbox::{DeploymentBuilder, Sandbox, deployment};

const ARGO_CD: Writer<'static> = Writer::new("argocd-controller");

fn web(name: &str) -> DeploymentBuilder {
    deployment(name).replicas(3).hours("Mon-Fri 09:00-19:00")
}

/// Friday, a second after the stop at 19:00.
fn stopped() -> Sandbox {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(web("web"));
    scenario.sleep_until("19:00:01");
    assert_eq!(scenario.replicas("web"), 0);
    scenario.api.forget_requests();
    scenario
}

fn set_by(scenario: &Sandbox, by: Writer<'_>, name: &str, count: u32) {
    let patch = json!({"spec": {"replicas": count}});
    let api = &scenario.api;
    api.merge_by(by, "Deployment", "dev", name, &patch).unwrap();
    scenario.settle();
}

/// The texts of the `Reverted` Events of an object.
fn reported(scenario: &Sandbox, name: &str) -> Vec<String> {
    let mut events = scenario.api.list("Event");
    events.retain(|it| it["regarding"]["name"] == name && it["reason"] == "Reverted");
    let text = |it: &Value| {
        assert_eq!(it["type"], "Warning");
        it["note"].as_str().unwrap().to_owned()
    };
    events.iter().map(text).collect()
}

fn reads(scenario: &Sandbox) -> usize {
    scenario.requests("get").len()
}

fn counted(scenario: &Sandbox, manager: &str) -> u32 {
    let metrics = scenario.metrics();
    let name = format!("dayshift_reverts_total{{manager=\"{manager}\"}} ");
    let line = metrics.lines().find_map(|line| line.strip_prefix(&name));
    line.unwrap().parse().unwrap()
}
