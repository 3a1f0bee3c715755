//! A request of a scaler to the server.

use http::Method;

/// What a request asks for.
pub struct Request {
    pub path: String,
    pub is_watch: bool,
    /// Whether it is the first request of a list: a stream, or the first page.
    pub begins: bool,
    pub is_list: bool,
    /// The number of the patch that it is.
    pub patch: Option<usize>,
}

impl Request {
    pub fn of<B>(request: &http::Request<B>) -> Self {
        let query = request.uri().query().unwrap_or_default();
        let has = |text: &str| query.split('&').any(|it| it.starts_with(text));
        let number = query.split('&').find_map(|it| it.strip_prefix("sent="));
        let path = request.uri().path().to_owned();
        let is_watch = has("watch=true");
        // With one at most somebody asks for the time.
        let is_list = path.ends_with("/deployments")
            && request.method() == Method::GET
            && !is_watch
            && !query.split('&').any(|it| it == "limit=1");
        Self {
            begins: has("sendInitialEvents=true") || is_list && !has("continue="),
            patch: number.map(|number| number.parse().unwrap()),
            is_watch,
            is_list,
            path,
        }
    }
}

/// Namespace and name of the object at a path.
pub fn name_of(path: &str) -> Option<(&str, &str)> {
    let rest = path.strip_prefix("/apis/apps/v1/namespaces/")?;
    let (namespace, name) = rest.split_once("/deployments/")?;
    Some((namespace, name))
}
