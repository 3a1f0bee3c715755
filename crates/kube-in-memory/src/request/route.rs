//! From an HTTP request to what it asks for.

use http::Method;

use serde_json::Value;

use super::discovery;
use super::query::Query;
use crate::objects::Resource;

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
    Refused(&'static Resource),
    /// The same of a page about the kinds.
    RefusedPage,
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
    /// `kinds` are those that are served.
    pub(crate) fn of(
        kinds: &[&'static Resource],
        method: &Method,
        path: &str,
        query: &str,
    ) -> Self {
        let parts: Vec<_> = path.split('/').skip(1).collect();
        if let Some(page) = discovery::page(kinds, &parts) {
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
            .copied()
            .filter(|kind| kind.group == group && kind.version == version);
        let served = of_version.clone().any(|kind| !kind.custom);
        let Some(resource) = of_version.find(|kind| kind.plural == plural) else {
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
