//! Who has set a count, by what the API server keeps of it.

use serde_json::Value;

use crate::story::kinds::Row;

/// The programs of stories, as they call themselves in `managedFields` and as Events name them
/// (`docs/guides/troubleshooting.md`). A person with kubectl is none.
const PROGRAMS: [(&str, &str); 2] = [
    ("kubectl-replace", "kubectl-replace (kubectl replace) "),
    (
        "kubectl-client-side-apply",
        "kubectl-client-side-apply (kubectl apply) ",
    ),
];

/// What Events call the programs among the owners of an object's count; nothing where others own it too.
pub fn programs_that_set_the_count(object: &Value) -> Vec<&'static str> {
    let entries = object["metadata"]["managedFields"].as_array();
    let path = match Row::of_spec(&object["spec"]).switch {
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
    let told = names.map(|name| PROGRAMS.iter().find(|(program, _)| *program == name));
    let told: Option<Vec<_>> = told.collect();
    told.into_iter().flatten().map(|(_, told)| *told).collect()
}
