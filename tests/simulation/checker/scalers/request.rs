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
        let is_list = (path.ends_with("/deployments") || path.ends_with("/cronjobs"))
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

impl Request {
    /// Whether it asks for Namespaces, which in these stories have nothing to say.
    pub fn is_of_namespaces(&self) -> bool {
        self.path == "/api/v1/namespaces"
    }
}

/// Namespace and name of the object at a path.
pub fn name_of(path: &str) -> Option<(&str, &str)> {
    let deployments = ("/apis/apps/v1/namespaces/", "/deployments/");
    let cron_jobs = ("/apis/batch/v1/namespaces/", "/cronjobs/");
    let mut kinds = [deployments, cron_jobs].into_iter();
    kinds.find_map(|(root, plural)| path.strip_prefix(root)?.split_once(plural))
}
