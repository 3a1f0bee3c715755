//! The annotations of a Namespace are defaults for its workloads.
//!
//! - `defaults`: inheritance and precedence
//! - `inherited`: the annotation with the inherited schedule
//! - `trouble`: Namespaces that are many, unknown, unreadable or being deleted
//! - `teams`: defaults in the ConfigMap of a team
//! - `scope`: the default schedule of the controller, and the namespaces in scope

mod adoption_starts;
mod defaults;
mod inherited;
mod rolling;
mod scope;
mod teams;
mod trouble;

use crate::sandbox::Sandbox;

/// Sets or removes annotations of a Namespace, each as key and value.
fn annotate(scenario: &Sandbox, namespace: &str, texts: &[(&str, Option<&str>)]) {
    for (key, text) in texts {
        let key = format!("dayshift/{key}");
        scenario
            .api
            .annotate_of("Namespace", "", namespace, &key, *text)
            .unwrap();
    }
    scenario.settle();
}

fn office() -> Vec<(&'static str, Option<&'static str>)> {
    vec![("hours", Some("Mon-Fri 09:00-19:00"))]
}

fn patches(scenario: &Sandbox) -> usize {
    let lines = scenario.api.requests();
    lines.iter().filter(|line| line.verb == "patch").count()
}
