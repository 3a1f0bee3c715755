//! Who set a count, by the API server's managed fields.

use serde_json::Value;

use crate::scenario::kinds::KindInfo;

/// The programs that act in scenarios, by their names in `managedFields` and in Events
/// (`docs/guides/troubleshooting.md`). A user with kubectl is not reported by name.
const PROGRAMS: [(&str, &str); 2] = [
    ("kubectl-replace", "kubectl-replace (kubectl replace) "),
    (
        "kubectl-client-side-apply",
        "kubectl-client-side-apply (kubectl apply) ",
    ),
];

/// The names of the programs that own an object's count, as Events name them. Empty if a user's manager also
/// owns it.
pub fn programs_that_set_the_count(object: &Value) -> Vec<&'static str> {
    let entries = object["metadata"]["managedFields"].as_array();
    let path = match KindInfo::of_spec(&object["spec"]).switch {
        None => vec!["spec", "replicas"],
        Some(it) if it.is_annotation => vec!["metadata", "annotations", it.member],
        Some(it) => ["spec", it.member].into_iter().chain(it.inner).collect(),
    };
    let owns = |entry: &&Value| {
        let mut names = path.iter().map(|name| format!("f:{name}"));
        let fields = entry.get("fieldsV1");
        let owned = names.try_fold(fields, |it, name| it?.get(name).map(Some));
        owned.flatten().is_some()
    };
    let owners = entries.into_iter().flatten().filter(owns);
    let names = owners.map(|entry| entry["manager"].as_str().unwrap_or_default());
    let reported = names.map(|name| PROGRAMS.iter().find(|(program, _)| *program == name));
    let reported: Option<Vec<_>> = reported.collect();
    reported
        .into_iter()
        .flatten()
        .map(|(_, reported)| *reported)
        .collect()
}
