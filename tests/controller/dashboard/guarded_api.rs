//! The API in memory behind a guard that checks permissions as an API server does. It answers only
//! requests that impersonate a user.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use http::{HeaderMap, Method, Request, Response};
use http_body_util::BodyExt as _;
use hyper::body::Bytes;
use kube::{Client, client::Body};
use kube_in_memory::Api;
use serde_json::{Value, json};
use tower::{BoxError, service_fn};

/// The permissions and the observations of the guard.
#[derive(Default)]
pub(super) struct Guard {
    /// The number of permission checks.
    pub(super) asked: AtomicUsize,
    /// Whether all permissions are revoked.
    pub(super) is_closed: AtomicBool,
    /// Whether the server is unreachable.
    pub(super) is_down: AtomicBool,
}

#[derive(Debug)]
struct Asked<'a> {
    user: &'a str,
    groups: Vec<&'a str>,
    verb: &'a str,
    resource: &'a str,
    namespace: &'a str,
}

impl Asked<'_> {
    /// The users of the scenarios: `ann` and `bob` edit the workloads of `team-a`, `vic` views them, members
    /// of the group `admins` may do everything, and `nora` may do nothing.
    fn is_allowed(&self) -> bool {
        let is_workload = ["deployments", "statefulsets", "cronjobs"].contains(&self.resource);
        let looks = ["get", "list", "watch"].contains(&self.verb);
        let is_here = is_workload && self.namespace == "team-a";
        match self.user {
            _ if self.groups.contains(&"admins") => true,
            "ann" | "bob" => is_here && (looks || self.verb == "patch"),
            "vic" => is_here && looks,
            _ => false,
        }
    }
}

/// A client that may impersonate every user and sends no request as itself.
pub(super) fn client(api: &Api, guard: &Arc<Guard>) -> Client {
    let (api, guard) = (api.clone(), Arc::clone(guard));
    let service = service_fn(move |request: Request<Body>| {
        let (api, guard) = (api.clone(), Arc::clone(&guard));
        async move { answer(&api, &guard, request).await }
    });
    Client::new(service, "default")
}

async fn answer(
    api: &Api,
    guard: &Guard,
    request: Request<Body>,
) -> Result<Response<Body>, BoxError> {
    if guard.is_down.load(Ordering::Relaxed) {
        return Err("connection refused".into());
    }
    let (head, body) = request.into_parts();
    let (user, groups) = named(&head.headers);
    let is_closed = guard.is_closed.load(Ordering::Relaxed);
    if head.uri.path().ends_with("/selfsubjectaccessreviews") {
        guard.asked.fetch_add(1, Ordering::Relaxed);
        let body = body.collect().await?.to_bytes();
        let review: Value = serde_json::from_slice(&body)?;
        let text = |name: &str| {
            let attributes = &review["spec"]["resourceAttributes"];
            attributes[name].as_str().unwrap_or_default()
        };
        let asked = Asked {
            user: &user,
            groups: groups.iter().map(|it| &**it).collect(),
            verb: text("verb"),
            resource: text("resource"),
            namespace: text("namespace"),
        };
        let is_allowed = asked.is_allowed() && !is_closed;
        let review = json!({"status": {"allowed": is_allowed}});
        return Ok(json_answer(201, &review));
    }
    let (resource, namespace, has_name) = target(head.uri.path());
    let is_watch = head.uri.query().unwrap_or_default().contains("watch=");
    let verb = match (&head.method, is_watch, has_name) {
        (&Method::GET, true, _) => "watch",
        (&Method::GET, false, true) => "get",
        (&Method::GET, false, false) => "list",
        (&Method::PATCH, ..) => "patch",
        _ => "another",
    };
    let asked = Asked {
        user: &user,
        groups: groups.iter().map(|it| &**it).collect(),
        verb,
        resource: &resource,
        namespace: &namespace,
    };
    if !asked.is_allowed() || is_closed {
        let message = format!(
            "{resource} is forbidden: User \"{user}\" cannot {verb} resource \"{resource}\""
        );
        let status = json!({
            "kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message,
            "reason": "Forbidden", "code": 403,
        });
        return Ok(json_answer(403, &status));
    }
    let request = Request::from_parts(head, body);
    Ok(api.client_as(&user).send(request).await?)
}

/// The user and groups that a request impersonates. Panics unless the request impersonates exactly one user.
fn named(headers: &HeaderMap) -> (String, Vec<String>) {
    let all = |name: &str| -> Vec<String> {
        let values = headers.get_all(name).iter();
        values.map(|it| it.to_str().unwrap().to_owned()).collect()
    };
    let users = all("impersonate-user");
    let [user] = &users[..] else {
        panic!("a request impersonates {users:?}");
    };
    (user.clone(), all("impersonate-group"))
}

/// The plural and namespace in a path, and whether it names an object.
fn target(path: &str) -> (String, String, bool) {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let rest = if parts[0] == "api" {
        &parts[2..]
    } else {
        &parts[3..]
    };
    match rest {
        ["namespaces", name] => ("namespaces".to_owned(), (*name).to_owned(), true),
        ["namespaces", namespace, plural, name @ ..] => (
            (*plural).to_owned(),
            (*namespace).to_owned(),
            !name.is_empty(),
        ),
        [plural, name @ ..] => ((*plural).to_owned(), String::new(), !name.is_empty()),
        [] => (String::new(), String::new(), false),
    }
}

fn json_answer(code: u16, body: &Value) -> Response<Body> {
    Response::builder()
        .status(code)
        .header("content-type", "application/json")
        .body(Body::from(Bytes::from(body.to_string()).to_vec()))
        .unwrap()
}
