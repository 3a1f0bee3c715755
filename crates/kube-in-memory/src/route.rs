//! Routing: from method, path and query to a verb on a resource, or to a discovery page.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::Method;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::{
    objects::{Resource, names::go_error},
    status::Status,
};

/// The target of a request.
#[derive(Debug)]
pub(crate) enum Route {
    /// A verb on a resource.
    Call(Call),
    /// A page such as `/version` or `/readyz`.
    Page(&'static str),
    /// A discovery document.
    Discovery(Value),
    /// An unknown path.
    Unknown,
    /// An unknown resource in a known group.
    NoResource,
    /// A method that the resource does not support.
    Refused(Arc<Resource>),
    /// A method that a discovery page does not support.
    RefusedPage,
}

/// A verb on a resource.
#[derive(Debug)]
pub(crate) struct Call {
    pub verb: &'static str,
    pub resource: Arc<Resource>,
    /// Empty for all namespaces.
    pub namespace: String,
    /// Empty for a collection.
    pub name: String,
    pub query: Query,
}

/// The `/version` of the server whose behavior is reproduced.
const VERSION: &str = r#"{"major":"1","minor":"36","gitVersion":"v1.36.3","gitCommit":"","gitTreeState":"","buildDate":"","goVersion":"","compiler":"gc","platform":""}"#;

impl Route {
    /// `kinds` are the served ones.
    pub(crate) fn parse(kinds: &[Arc<Resource>], method: &Method, path: &str, query: &str) -> Self {
        let parts: Vec<_> = path.split('/').skip(1).collect();
        if let Some(page) = discovery_page(kinds, &parts) {
            // Group pages accept any method.
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
        if resource.namespaced() == namespace.is_empty() && !(resource.namespaced() && spans) {
            return Self::Unknown;
        }
        let query = Query::parse(query);
        let watch = query.is_set("watch");
        let verb = match (method, name.is_empty()) {
            (&Method::GET, true) if watch => "watch",
            (&Method::GET, true) => "list",
            (&Method::GET, false) => "get",
            (&Method::POST, true) if !(resource.namespaced() && spans) => "create",
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
        let pairs = form_urlencoded::parse(text.as_bytes());
        Self(pairs.into_owned().collect())
    }

    /// The first value of a parameter, or an empty text.
    pub(crate) fn get(&self, key: &str) -> &str {
        self.all(key).next().unwrap_or_default()
    }

    pub(crate) fn all(&self, key: &str) -> impl Iterator<Item = &str> {
        let values = self.0.iter().filter(move |(known, _)| known == key);
        values.map(|(_, value)| &**value)
    }

    /// Whether a flag is set and not `false` or `0`.
    pub(crate) fn is_set(&self, key: &str) -> bool {
        self.all(key).any(|value| !matches!(value, "false" | "0"))
    }

    /// The value of a numeric parameter.
    pub(crate) fn number(&self, key: &str) -> Result<Option<u64>, Status> {
        match self.get(key) {
            "" => Ok(None),
            text => match text.parse::<i64>() {
                Ok(number) => Ok(u64::try_from(number).ok()),
                Err(error) => {
                    let why = go_error(&error);
                    let why = format!("strconv.ParseInt: parsing {text:?}: {why}");
                    Err(Status::bad_request(why))
                }
            },
        }
    }
}

/// The verbs of built-in kinds.
const VERBS: &str = "create delete deletecollection get list patch update watch";
/// The verbs of custom kinds, in the server's order.
const CUSTOM_VERBS: &str = "delete deletecollection get list patch create update watch";

/// The discovery page for a path below `/api` or `/apis`.
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
    // Namespaces have no `deletecollection`.
    let verbs = verbs.split(' ');
    let verbs = verbs.filter(|verb| kind.namespaced() || *verb != "deletecollection");
    let verbs: Vec<_> = verbs.collect();
    let mut resource = json!({
        "name": kind.plural, "singularName": kind.kind.to_lowercase(),
        "namespaced": kind.namespaced(), "kind": kind.kind, "verbs": verbs,
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

/// The hash of the storage version.
fn storage_hash(kind: &Resource) -> String {
    // Events of both groups are stored in the core group.
    let group = kind.error_group();
    let text = format!("{group}/{}/{}", kind.version, kind.kind);
    STANDARD.encode(&digest(&SHA256, text.as_bytes()).as_ref()[..8])
}
