//! Reverts of dayshift's changes: one read, one Event, and nothing waits for them.

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
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(web("web"));
    story.sleep_until("19:00:01");
    assert_eq!(story.replicas("web"), 0);
    story.api.forget_requests();
    story
}

fn set_by(story: &Sandbox, by: Writer<'_>, name: &str, count: u32) {
    let patch = json!({"spec": {"replicas": count}});
    let api = &story.api;
    api.merge_by(by, "Deployment", "dev", name, &patch).unwrap();
    story.settle();
}

/// The texts of the `Reverted` Events of an object.
fn told(story: &Sandbox, name: &str) -> Vec<String> {
    let mut events = story.api.list("Event");
    events.retain(|it| it["regarding"]["name"] == name && it["reason"] == "Reverted");
    let text = |it: &Value| {
        assert_eq!(it["type"], "Warning");
        it["note"].as_str().unwrap().to_owned()
    };
    events.iter().map(text).collect()
}

fn reads(story: &Sandbox) -> usize {
    story.requests("get").len()
}

fn counted(story: &Sandbox, manager: &str) -> u32 {
    let metrics = story.metrics();
    let name = format!("dayshift_reverts_total{{manager=\"{manager}\"}} ");
    let line = metrics.lines().find_map(|line| line.strip_prefix(&name));
    line.unwrap().parse().unwrap()
}
