//! The rendered chart.

use std::collections::BTreeMap;
use std::io::Write as _;

use serde_json::Value;
use tempfile::NamedTempFile;

use crate::support::ControlPlane;

pub(super) const CHART: &str = "charts/dayshift";

/// Objects by kind and name.
pub(super) type Objects = BTreeMap<(String, String), Value>;

/// The objects of manifests, as kubectl reads them.
pub(super) fn objects(plane: &ControlPlane, manifests: &str) -> Objects {
    let mut file = NamedTempFile::with_suffix(".yaml").unwrap();
    file.write_all(manifests.as_bytes()).unwrap();
    let path = file.path().to_str().unwrap();
    let read = ["create", "--dry-run=client", "-o", "json", "-f", path];
    let text = plane.kubectl(&read).success();
    let documents = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    let documents = documents.map(Result::unwrap);
    let items = documents.flat_map(|it| match it["items"].as_array() {
        Some(items) => items.clone(),
        None => vec![it],
    });
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    items
        .map(|it| ((text(&it["kind"]), text(&it["metadata"]["name"])), it))
        .collect()
}

pub(super) fn rendered(plane: &ControlPlane, more: &[&str]) -> Objects {
    let render = ["template", "dayshift", CHART, "-n", "dayshift"];
    // Without a server, Helm 3 assumes a version that is years old.
    let all = [&render[..], &["--kube-version", "1.36.0"], more].concat();
    objects(plane, &plane.helm(4, &all).success())
}
