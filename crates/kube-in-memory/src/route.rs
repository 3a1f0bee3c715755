//! From the method, path and query of a request to the resource and verb, or to a discovery page.

use std::{num::IntErrorKind, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::Method;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::{objects::Resource, status::Status};

/// What a path and a method ask for.
#[derive(Debug)]
pub(crate) enum Route {
    /// Something of a resource.
    Call(Call),
    /// `/version`, `/readyz` and the like, with their JSON or text.
    Page(&'static str),
    /// What is said of the kinds that are served.
    Discovery(Value),
    /// A path that is not served.
    Unknown,
    /// A resource that its group does not have.
    NoResource,
    /// A method that the path does not take.
    Refused(Arc<Resource>),
    /// The same of a page about the kinds.
    RefusedPage,
}

/// A request for a resource.
#[derive(Debug)]
pub(crate) struct Call {
    pub verb: &'static str,
    pub resource: Arc<Resource>,
    /// Empty for all namespaces.
    pub namespace: String,
    /// Empty for the whole collection.
    pub name: String,
    pub query: Query,
}

/// `GET /version` of the server that is imitated.
const VERSION: &str = r#"{"major":"1","minor":"36","gitVersion":"v1.36.3","gitCommit":"","gitTreeState":"","buildDate":"","goVersion":"","compiler":"gc","platform":""}"#;

impl Route {
    /// `kinds` are those that are served.
    pub(crate) fn parse(kinds: &[Arc<Resource>], method: &Method, path: &str, query: &str) -> Self {
        let parts: Vec<_> = path.split('/').skip(1).collect();
        if let Some(page) = discovery_page(kinds, &parts) {
            // The groups' pages are given whatever the method is.
            return match parts.as_slice() {
                ["apis"] | ["apis", _] => Self::Discovery(page),
                _ if method == Method::GET => Self::Discovery(page),
                _ => Self::RefusedPage,
            };
        }
        let (group, version, rest) = match parts.as_slice() {
            ["version"] => return Self::Page(VERSION),
            ["healthz" | "livez" | "readyz"] => return Self::Page("ok"),
            ["apis", group, _]
                if kinds
                    .iter()
                    .any(|kind| kind.group == *group && !kind.custom) =>
            {
                return Self::NoResource;
            }
            ["api", version, rest @ ..] => ("", *version, rest),
            ["apis", group, version, rest @ ..] => (*group, *version, rest),
            _ => return Self::Unknown,
        };
        let (namespace, plural, name) = match rest {
            ["namespaces", namespace, plural] => (*namespace, *plural, ""),
            ["namespaces", namespace, plural, name] => (*namespace, *plural, *name),
            [plural] => ("", *plural, ""),
            [plural, name] => ("", *plural, *name),
            _ => return Self::Unknown,
        };
        let mut of_version = kinds
            .iter()
            .filter(|kind| kind.group == group && kind.version == version);
        let served = of_version.clone().any(|kind| !kind.custom);
        let Some(resource) = of_version.find(|kind| kind.plural == plural).cloned() else {
            return if served {
                Self::NoResource
            } else {
                Self::Unknown
            };
        };
        let spans = namespace.is_empty() && name.is_empty();
        if resource.namespaced == namespace.is_empty() && !(resource.namespaced && spans) {
            return Self::Unknown;
        }
        let query = Query::parse(query);
        let watch = query.is_set("watch");
        let verb = match (method, name.is_empty()) {
            (&Method::GET, true) if watch => "watch",
            (&Method::GET, true) => "list",
            (&Method::GET, false) => "get",
            (&Method::POST, true) if !(resource.namespaced && spans) => "create",
            (&Method::PUT, false) => "update",
            (&Method::PATCH, false) => "patch",
            (&Method::DELETE, false) => "delete",
            _ => return Self::Refused(resource),
        };
        let (namespace, name) = (namespace.to_owned(), name.to_owned());
        Self::Call(Call {
            verb,
            resource,
            namespace,
            name,
            query,
        })
    }
}

/// The parameters of a query.
#[derive(Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn parse(text: &str) -> Self {
        Self(
            form_urlencoded::parse(text.as_bytes())
                .into_owned()
                .collect(),
        )
    }

    /// The first value of a parameter; empty where there is none.
    pub(crate) fn get(&self, key: &str) -> &str {
        self.all(key).next().unwrap_or_default()
    }

    /// All values of a parameter.
    pub(crate) fn all(&self, key: &str) -> impl Iterator<Item = &str> {
        let values = self.0.iter().filter(move |(known, _)| known == key);
        values.map(|(_, value)| &**value)
    }

    /// Whether a flag is there and not `false` or `0`.
    pub(crate) fn is_set(&self, key: &str) -> bool {
        self.0
            .iter()
            .any(|(known, value)| known == key && !matches!(&**value, "false" | "0"))
    }

    /// A whole number; `None` where there is none.
    pub(crate) fn number(&self, key: &str) -> Result<Option<u64>, Status> {
        match self.get(key) {
            "" => Ok(None),
            text => text
                .parse::<i64>()
                .map(|number| u64::try_from(number).ok())
                .map_err(|error| {
                    let why = match error.kind() {
                        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => {
                            "value out of range"
                        }
                        _ => "invalid syntax",
                    };
                    let why = format!("strconv.ParseInt: parsing {text:?}: {why}");
                    Status::bad_request(why)
                }),
        }
    }
}

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
fn discovery_page(kinds: &[Arc<Resource>], path: &[&str]) -> Option<Value> {
    match path {
        ["api"] => Some(json!({
            "kind": "APIVersions", "versions": ["v1"],
            "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443"}],
        })),
        ["api", version] => resources(kinds, "", version),
        ["apis"] => {
            let mut groups: Vec<&str> = Vec::new();
            for kind in kinds.iter().filter(|kind| !kind.group.is_empty()) {
                if !groups.contains(&&*kind.group) {
                    groups.push(&kind.group);
                }
            }
            let groups: Vec<_> = groups
                .iter()
                .filter_map(|group| group_page(kinds, group))
                .collect();
            Some(json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}))
        }
        ["apis", group] => {
            let mut page = group_page(kinds, group)?;
            page["kind"] = json!("APIGroup");
            page["apiVersion"] = json!("v1");
            Some(page)
        }
        ["apis", group, version] => resources(kinds, group, version),
        _ => None,
    }
}

fn group_page(kinds: &[Arc<Resource>], group: &str) -> Option<Value> {
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

fn resources(kinds: &[Arc<Resource>], group: &str, version: &str) -> Option<Value> {
    let of_version = |kind: &&Arc<Resource>| kind.group == group && kind.version == version;
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
    if matches!(&*kind.group, "apps" | "batch" | "autoscaling") {
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
        &kind.group
    };
    let text = format!("{group}/{}/{}", kind.version, kind.kind);
    STANDARD.encode(&digest(&SHA256, text.as_bytes()).as_ref()[..8])
}
