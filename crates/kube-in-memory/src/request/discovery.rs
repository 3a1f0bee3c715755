//! What a client can learn of the kinds that are served.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::objects::Resource;

/// What can be done to objects of a kind of the server's own.
const VERBS: [&str; 8] = [
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
];
/// The same of a custom kind, in the order in which the server says it.
const CUSTOM_VERBS: [&str; 8] = [
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
];

/// The page at these parts of a path below `/api` or `/apis`; `None` where there is nothing.
pub(super) fn page(kinds: &[&'static Resource], path: &[&str]) -> Option<Value> {
    match path {
        ["api"] => Some(json!({
            "kind": "APIVersions", "versions": ["v1"],
            "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443"}],
        })),
        ["api", version] => resources(kinds, "", version),
        ["apis"] => {
            let mut groups: Vec<&str> = Vec::new();
            for kind in kinds.iter().filter(|kind| !kind.group.is_empty()) {
                if !groups.contains(&kind.group) {
                    groups.push(kind.group);
                }
            }
            let groups: Vec<_> = groups
                .iter()
                .filter_map(|group| of_group(kinds, group))
                .collect();
            Some(json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}))
        }
        ["apis", group] => {
            let mut page = of_group(kinds, group)?;
            page["kind"] = json!("APIGroup");
            page["apiVersion"] = json!("v1");
            Some(page)
        }
        ["apis", group, version] => resources(kinds, group, version),
        _ => None,
    }
}

fn of_group(kinds: &[&'static Resource], group: &str) -> Option<Value> {
    let mut versions: Vec<Value> = Vec::new();
    for kind in kinds.iter().filter(|kind| kind.group == group) {
        let version = json!({"groupVersion": kind.api_version(), "version": kind.version});
        if !versions.contains(&version) {
            versions.push(version);
        }
    }
    let preferred = versions.first()?.clone();
    Some(json!({"name": group, "versions": versions, "preferredVersion": preferred}))
}

fn resources(kinds: &[&'static Resource], group: &str, version: &str) -> Option<Value> {
    let of_version = |kind: &&&Resource| kind.group == group && kind.version == version;
    let kinds: Vec<_> = kinds.iter().filter(of_version).collect();
    let version = kinds.first()?.api_version();
    let mut resources: Vec<_> = kinds.iter().map(|kind| resource(kind)).collect();
    resources.sort_by_key(|resource| resource["name"].to_string());
    let mut page =
        json!({"kind": "APIResourceList", "groupVersion": version, "resources": resources});
    if !group.is_empty() {
        page["apiVersion"] = json!("v1");
    }
    Some(page)
}

fn resource(kind: &Resource) -> Value {
    let verbs = if kind.custom { CUSTOM_VERBS } else { VERBS };
    // All Namespaces cannot be deleted at once.
    let verbs = verbs
        .iter()
        .filter(|verb| kind.namespaced || **verb != "deletecollection");
    let verbs: Vec<_> = verbs.collect();
    let mut resource = json!({
        "name": kind.plural, "singularName": kind.kind.to_lowercase(),
        "namespaced": kind.namespaced, "kind": kind.kind, "verbs": verbs,
        "storageVersionHash": storage_hash(kind),
    });
    if !kind.short_name.is_empty() {
        resource["shortNames"] = json!([kind.short_name]);
    }
    if matches!(kind.group, "apps" | "batch" | "autoscaling") {
        resource["categories"] = json!(["all"]);
    }
    resource
}

/// A hash of the form in which objects are stored.
fn storage_hash(kind: &Resource) -> String {
    // Events of all groups are stored as those of the core.
    let group = if kind.group == "events.k8s.io" {
        ""
    } else {
        kind.group
    };
    let text = format!("{group}/{}/{}", kind.version, kind.kind);
    STANDARD.encode(&digest(&SHA256, text.as_bytes()).as_ref()[..8])
}
