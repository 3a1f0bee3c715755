//! A request of a controller to the server.

use http::Method;

use crate::scenario::kinds::{is_collection, object_at};

/// The subject of a request.
pub struct Request {
    pub path: String,
    /// The name of the Namespace, if only one is requested.
    pub one: Option<String>,
    pub is_watch: bool,
    /// Whether the request begins a list: as a stream, or with the first page.
    pub begins: bool,
    pub is_list: bool,
    /// The number of the patch.
    pub patch: Option<usize>,
}

/// The path of the Namespace collection.
pub const NAMESPACES: &str = "/api/v1/namespaces";

/// Selects the Namespace with this name; `metadata.name!=dev` excludes one.
const NAME_IS: &str = "fieldSelector=metadata.name%3D";

impl Request {
    pub fn of<B>(request: &http::Request<B>) -> Self {
        let query = request.uri().query().unwrap_or_default();
        let has = |text: &str| query.split('&').any(|it| it.starts_with(text));
        let number = query.split('&').find_map(|it| it.strip_prefix("sent="));
        let path = request.uri().path().to_owned();
        let is_watch = has("watch=true");
        // A list with a limit of one only queries the server's time.
        let one = query.split('&').find_map(|it| it.strip_prefix(NAME_IS));
        let is_list = (is_collection(&path) || path == NAMESPACES)
            && request.method() == Method::GET
            && !is_watch
            && !query.split('&').any(|it| it == "limit=1");
        Self {
            begins: has("sendInitialEvents=true") || is_list && !has("continue="),
            patch: number.map(|number| number.parse().unwrap()),
            is_watch,
            is_list,
            one: one.map(str::to_owned),
            path,
        }
    }
}

/// The namespace and name of the object with this path.
pub fn name_of(path: &str) -> Option<(&str, &str)> {
    object_at(path).map(|(_, namespace, name)| (namespace, name))
}
