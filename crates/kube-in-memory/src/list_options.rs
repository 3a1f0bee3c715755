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
    let field = "resourceVersionMatch";
    let (wanted, version) = (query.get(field), query.get("resourceVersion"));
    let is_initial = !query.get("sendInitialEvents").is_empty();
    let is_continued = !query.get("continue").is_empty();
    let is_watch = call.verb == "watch";
    let is_given = !wanted.is_empty();
    let forbidden = [
        (
            is_watch && is_initial && wanted != "NotOlderThan",
            "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        ),
        (
            is_watch && is_given && !is_initial,
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        ),
        (
            !is_watch && is_given && version.is_empty(),
            "resourceVersionMatch is forbidden unless resourceVersion is provided",
        ),
        (
            !is_watch && is_given && is_continued,
            "resourceVersionMatch is forbidden when continue is provided",
        ),
        (
            !is_watch && wanted == "Exact" && version == "0",
            "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
        ),
    ];
    let forbidden = forbidden.iter().filter(|(is_wrong, _)| *is_wrong);
    let mut causes: Vec<_> = forbidden
        .map(|(_, why)| Cause::forbidden(field, why))
        .collect();
    let known: &[_] = match is_watch {
        true => &["NotOlderThan"],
        false => &["Exact", "NotOlderThan", ""],
    };
    if is_given && !known.contains(&wanted) {
        causes.push(Cause::not_supported(
            field,
            &format_args!("{wanted:?}"),
            known,
        ));
    }
    if is_initial && !is_watch {
        let why = "sendInitialEvents is forbidden for list";
        causes.push(Cause::forbidden("sendInitialEvents", why));
    }
    causes
}
