//! From an HTTP request to what it asks for.

use std::num::IntErrorKind;

use http::Method;

use super::cause::Cause;
use super::resource::Resource;
use super::selectors::Selectors;
use super::status::Status;

/// What a path and a method ask for.
#[derive(Debug)]
pub(super) enum Route {
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
pub(super) struct Call {
    pub verb: &'static str,
    pub resource: &'static Resource,
    /// Empty for all namespaces.
    pub namespace: String,
    /// Empty for the whole collection.
    pub name: String,
    pub query: Query,
}

/// The parameters of a query.
#[derive(Debug, Default)]
pub(super) struct Query(Vec<(String, String)>);

/// `GET /version` of the server that is imitated.
const VERSION: &str = r#"{"major":"1","minor":"36","gitVersion":"v1.36.3","gitCommit":"","gitTreeState":"","buildDate":"","goVersion":"","compiler":"gc","platform":""}"#;

impl Route {
    pub(super) fn of(method: &Method, path: &str, query: &str) -> Self {
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
            (&Method::DELETE, false) if resource.deletable => "delete",
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

impl Query {
    fn of(text: &str) -> Self {
        Self(
            form_urlencoded::parse(text.as_bytes())
                .into_owned()
                .collect(),
        )
    }

    /// The first value of a parameter; empty where there is none.
    pub(super) fn get(&self, key: &str) -> &str {
        self.0
            .iter()
            .find(|(known, _)| known == key)
            .map_or("", |(_, value)| value)
    }

    /// Whether a flag is there and not `false` or `0`.
    pub(super) fn is_set(&self, key: &str) -> bool {
        self.0
            .iter()
            .any(|(known, value)| known == key && !matches!(&**value, "false" | "0"))
    }

    /// A whole number; `None` where there is none.
    pub(super) fn number(&self, key: &str) -> Result<Option<u64>, Status> {
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

/// What a list or a watch is limited to.
#[derive(Debug)]
pub(super) struct ListOptions {
    pub selectors: Selectors,
    /// The most items of a page; `None` for all.
    pub limit: Option<usize>,
    pub continue_token: String,
    pub version: Version,
    /// The watch begins with the objects there are, and says when it has sent them.
    pub initial_events: bool,
    pub bookmarks: bool,
    pub timeout_seconds: Option<u64>,
}

/// Which state is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// The newest, whatever it takes.
    Newest,
    /// Any, cheaply: `resourceVersion=0`.
    Any,
    /// This one or a newer.
    NotOlderThan(u64),
    /// Exactly this one.
    Exactly(u64),
}

impl ListOptions {
    pub(super) fn of(call: &Call) -> Result<Self, Status> {
        let query = &call.query;
        let limit = query.number("limit")?.filter(|limit| *limit > 0);
        let timeout_seconds = query.number("timeoutSeconds")?;
        let selectors = Selectors::new(
            &call.namespace,
            query.get("labelSelector"),
            query.get("fieldSelector"),
        )
        .map_err(Status::bad_request)?;
        let causes = check_versions(call);
        if !causes.is_empty() {
            return Err(Status::invalid("meta.k8s.io", "ListOptions", "", causes));
        }
        let text = query.get("resourceVersion");
        let number = match text {
            "" => 0,
            text => text.parse().map_err(|_| no_version(text, call.verb))?,
        };
        let version = match (text, query.get("resourceVersionMatch")) {
            ("", _) => Version::Newest,
            ("0", _) => Version::Any,
            (_, "Exact") => Version::Exactly(number),
            (_, "") if limit.is_some() => Version::Exactly(number),
            _ => Version::NotOlderThan(number),
        };
        Ok(Self {
            selectors,
            limit: limit.and_then(|limit| usize::try_from(limit).ok()),
            continue_token: query.get("continue").to_owned(),
            version,
            initial_events: query.is_set("sendInitialEvents"),
            bookmarks: query.is_set("allowWatchBookmarks"),
            timeout_seconds: timeout_seconds.filter(|seconds| *seconds > 0),
        })
    }
}

/// A resourceVersion that is no number; a watch does not expect one.
fn no_version(text: &str, verb: &str) -> Status {
    let why = format!(
        "resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax"
    );
    match verb {
        "watch" => Status::unexpected(why),
        _ => Status::bad_request(format!("invalid resource version: {why}")),
    }
}

/// The rules of `resourceVersionMatch` and `sendInitialEvents`.
fn check_versions(call: &Call) -> Vec<Cause> {
    let query = &call.query;
    let (wanted, version) = (
        query.get("resourceVersionMatch"),
        query.get("resourceVersion"),
    );
    let (initial, continued) = (
        !query.get("sendInitialEvents").is_empty(),
        !query.get("continue").is_empty(),
    );
    let field = "resourceVersionMatch";
    let mut causes = Vec::new();
    let mut forbid = |field: &str, why: &str| causes.push(Cause::forbidden(field, why));
    if call.verb == "watch" {
        if initial && wanted != "NotOlderThan" {
            forbid(
                field,
                "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
            );
        }
        if !wanted.is_empty() {
            if !initial {
                forbid(
                    field,
                    "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
                );
            }
            if wanted != "NotOlderThan" {
                let shown = format!("{wanted:?}");
                causes.push(Cause::not_supported(field, &shown, &["NotOlderThan"]));
            }
        }
        return causes;
    }
    if !wanted.is_empty() {
        if version.is_empty() {
            forbid(
                field,
                "resourceVersionMatch is forbidden unless resourceVersion is provided",
            );
        }
        if continued {
            forbid(
                field,
                "resourceVersionMatch is forbidden when continue is provided",
            );
        }
        if wanted == "Exact" && version == "0" {
            forbid(
                field,
                "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
            );
        }
        if !matches!(wanted, "Exact" | "NotOlderThan") {
            let (shown, known) = (format!("{wanted:?}"), ["Exact", "NotOlderThan", ""]);
            causes.push(Cause::not_supported(field, &shown, &known));
        }
    }
    if initial {
        causes.push(Cause::forbidden(
            "sendInitialEvents",
            "sendInitialEvents is forbidden for list",
        ));
    }
    causes
}
