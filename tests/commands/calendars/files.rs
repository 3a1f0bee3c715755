//! The calendars, and a Deployment that uses some of them.

use crate::program::{Ended, dayshift_with};

pub(super) const GERMANY: &str = "de=docs/samples/germany.ics";
pub(super) const USA: &str = "us=crates/schedule/tests/semantics/calendars/usa.ics";
pub(super) const OFFICE: &str = "docs/samples/office.yaml";

pub(super) fn dayshift(args: &[&str]) -> Ended {
    dayshift_with(&[], args, "")
}

/// A Deployment with these annotations.
pub(super) fn web(name: &str, annotations: &[(&str, &str)]) -> String {
    let lines = annotations
        .iter()
        .map(|(key, text)| format!("\n    dayshift/{key}: \"{text}\""));
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\n  annotations:{}\nspec:\n  replicas: 3\n---\n",
        lines.collect::<String>()
    )
}
