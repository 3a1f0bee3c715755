//! The parameters of a list or a watch, and the combinations that the server rejects.

use crate::{cause::Cause, route::Call, selectors::Selectors, status::Status};

/// The options of a list or watch.
#[derive(Debug)]
pub(crate) struct ListOptions {
    pub selectors: Selectors,
    /// The maximum number of items on a page.
    pub limit: Option<usize>,
    pub continue_token: String,
    pub version: Version,
    /// Whether a watch begins with the existing objects, followed by a bookmark.
    pub initial_events: bool,
    pub bookmarks: bool,
    pub timeout_seconds: Option<u64>,
}

/// The requested state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// The current state.
    Newest,
    /// Any state in the cache: `resourceVersion=0`.
    Any,
    /// At least this revision.
    NotOlderThan(u64),
    /// Exactly this revision.
    Exactly(u64),
}

impl ListOptions {
    pub(crate) fn from_call(call: &Call) -> Result<Self, Status> {
        let query = &call.query;
        let limit = query.number("limit")?.filter(|limit| *limit > 0);
        let timeout_seconds = query.number("timeoutSeconds")?;
        let selectors = Selectors::new(
            &call.resource,
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

/// The error for an invalid resourceVersion, which differs for a watch.
fn no_version(text: &str, verb: &str) -> Status {
    let why = format!(
        "resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax"
    );
    match verb {
        "watch" => Status::unexpected(why),
        _ => Status::bad_request(format!("invalid resource version: {why}")),
    }
}

/// Validates `resourceVersionMatch` and `sendInitialEvents`.
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
