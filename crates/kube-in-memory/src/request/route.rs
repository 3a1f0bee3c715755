//! From an HTTP request to what it asks for.

use http::Method;

use super::query::Query;
use crate::objects::Resource;

/// What a path and a method ask for.
#[derive(Debug)]
pub(crate) enum Route {
    /// Something of a resource.
    Call(Call),
    /// `/version`, `/readyz` and the like, with their JSON or text.
    Page(&'static str),
    /// A path that is not served.
    Unknown,
    /// A resource that its group does not have.
    NoResource,
    /// A method that the path does not take.
    Refused(&'static Resource),
}

/// A request for a resource.
#[derive(Debug)]
pub(crate) struct Call {
    pub verb: &'static str,
    pub resource: &'static Resource,
    /// Empty for all namespaces.
    pub namespace: String,
    /// Empty for the whole collection.
    pub name: String,
    pub query: Query,
}

/// `GET /version` of the server that is imitated.
const VERSION: &str = r#"{"major":"1","minor":"36","gitVersion":"v1.36.3","gitCommit":"","gitTreeState":"","buildDate":"","goVersion":"","compiler":"gc","platform":""}"#;

impl Route {
    pub(crate) fn of(method: &Method, path: &str, query: &str) -> Self {
        let parts: Vec<_> = path.split('/').skip(1).collect();
        let (group, version, rest) = match parts.as_slice() {
            ["version"] => return Self::Page(VERSION),
            ["healthz" | "livez" | "readyz"] => return Self::Page("ok"),
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
        let Some(resource) = Resource::at(group, version, plural) else {
            let served = Resource::is_group(group, version);
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
        let query = Query::of(query);
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
