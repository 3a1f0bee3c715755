//! HTTP: from a request to a response, without a socket.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::FutureExt as _;
use futures::future::{self, BoxFuture};
use http::header::{ACCEPT, CONTENT_TYPE, DATE, HeaderMap, RETRY_AFTER, USER_AGENT};
use http::{HeaderValue, Request, Response, request};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::Bytes;
use kube::client::Body;
use serde_json::{Value, json};
use tower::{BoxError, Service};

use super::list::list;
use super::ownership::Writer;
use super::patch::{PatchForm, go_error};
use super::request::{Call, Route};
use super::requests::{Fault, RequestLine};
use super::resource::Resource;
use super::server::{Admission, Api, Server};
use super::status::{Details, Status};
use super::watch::{watch, whole};
use super::write::{Deleted, Write};

/// The most that a request's body may hold.
const BODY_LIMIT: usize = 3 * 1024 * 1024;
const OBJECT_TYPES: &str =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf";
const PATCH_TYPES: &str = "application/json-patch+json, application/merge-patch+json, \
                           application/strategic-merge-patch+json, application/apply-patch+yaml";
/// How much of a body that is no object an error shows.
const SUMMARY: usize = 30;

type ResponseBody = UnsyncBoxBody<Bytes, Infallible>;
type Exchange = BoxFuture<'static, Result<Response<ResponseBody>, BoxError>>;

/// The connection broke: the client cannot know whether its request took effect.
#[derive(Debug, thiserror::Error)]
#[error("connection closed before message completed")]
pub(super) struct ConnectionLost;

/// A client's end of the connection.
#[derive(Clone)]
struct Connection {
    server: Arc<Server>,
    who: Arc<str>,
}

/// What a request is answered with.
enum Answer {
    Json(u16, Vec<u8>),
    Text(u16, &'static str),
    Stream(ResponseBody),
}

impl Api {
    /// A client that the request log knows as `dayshift`; its default namespace is `default`.
    /// It must be made within a tokio runtime.
    pub fn client(&self) -> kube::Client {
        self.client_as("dayshift")
    }

    /// A client that the request log knows as `who`.
    pub fn client_as(&self, who: &str) -> kube::Client {
        kube::Client::new(self.connection(who), "default")
    }

    /// What such a client sends its requests to, for one who builds a client around it.
    pub fn connection(
        &self,
        who: &str,
    ) -> impl Service<
        Request<Body>,
        Response = Response<ResponseBody>,
        Error = BoxError,
        Future = Exchange,
    > + Clone
    + Send
    + use<> {
        Connection {
            server: Arc::clone(&self.server),
            who: who.into(),
        }
    }
}

impl Service<Request<Body>> for Connection {
    type Response = Response<ResponseBody>;
    type Error = BoxError;
    type Future = Exchange;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let connection = self.clone();
        async move { Ok(connection.serve(request).await?) }.boxed()
    }
}

impl Connection {
    async fn serve(
        &self,
        request: Request<Body>,
    ) -> Result<Response<ResponseBody>, ConnectionLost> {
        let (head, body) = request.into_parts();
        let query = head.uri.query().unwrap_or_default();
        let route = Route::of(&head.method, head.uri.path(), query);
        let line = self.line(&route, &head);
        let fault = self.server.fault(&line);
        let place = self.server.log().push(line);
        match &fault {
            Some(Fault::DropBefore) => return Err(ConnectionLost),
            Some(Fault::Hang) => future::pending().await,
            Some(Fault::Delay(time)) => tokio::time::sleep(*time).await,
            Some(Fault::Answer(_) | Fault::DropAfter) | None => {}
        }
        let answer = match &fault {
            Some(Fault::Answer(status)) => Err(status.clone()),
            _ => {
                let body = body.collect().await.map_err(|_| ConnectionLost)?.to_bytes();
                self.answer(&route, &head, &body)
            }
        };
        if matches!(fault, Some(Fault::DropAfter)) {
            return Err(ConnectionLost);
        }
        let response = self.respond(answer);
        self.server
            .log()
            .answered(place, response.status().as_u16());
        Ok(response)
    }

    fn line(&self, route: &Route, head: &request::Parts) -> RequestLine {
        let (verb, resource, namespace, name) = match route {
            Route::Call(call) => (
                call.verb,
                call.resource.plural,
                &*call.namespace,
                &*call.name,
            ),
            Route::Refused(resource) => ("", resource.plural, "", ""),
            Route::Page(_) | Route::Unknown | Route::NoResource => ("", head.uri.path(), "", ""),
        };
        RequestLine {
            verb,
            resource: resource.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            query: head.uri.query().unwrap_or_default().to_owned(),
            code: None,
            at: self.server.now(),
            who: self.who.to_string(),
        }
    }

    fn answer(&self, route: &Route, head: &request::Parts, body: &[u8]) -> Result<Answer, Status> {
        let call = match route {
            Route::Call(call) => call,
            Route::Page(text) => return Ok(page(text)),
            Route::Unknown => return Ok(Answer::Text(404, "404 page not found\n")),
            Route::NoResource => return Err(Status::no_such_resource()),
            Route::Refused(_) => return Err(Status::method_not_allowed()),
        };
        if !accepts_json(&head.headers) {
            return Err(Status::not_acceptable(call.name.is_empty()));
        }
        if body.len() > BODY_LIMIT {
            let why = format!("Request entity too large: limit is {BODY_LIMIT}");
            return Err(Status::new(413, "RequestEntityTooLarge", why));
        }
        match call.verb {
            "list" => Ok(Answer::Json(200, list(&mut self.server.store(), call)?)),
            "watch" => Ok(Answer::Stream(
                StreamBody::new(watch(&self.server, call)?).boxed_unsync(),
            )),
            "get" => self.get(call),
            _ => self.write(call, head, body),
        }
    }

    fn get(&self, call: &Call) -> Result<Answer, Status> {
        let resource = call.resource;
        let object = self
            .server
            .store()
            .get(resource, &resource.key(&call.namespace, &call.name));
        let object = object.ok_or_else(|| Status::not_found(resource, &call.name))?;
        Ok(Answer::Json(200, whole(resource, &object.body)))
    }

    fn write(&self, call: &Call, head: &request::Parts, body: &[u8]) -> Result<Answer, Status> {
        let content = content_type(&head.headers);
        let form = if call.verb == "patch" {
            Some(patch_form(content, body)?)
        } else {
            None
        };
        let manager = call.query.get("fieldManager");
        let manager = if manager.is_empty() {
            agent(&head.headers, &self.who)
        } else {
            manager
        };
        let admit = |admission: &Admission<'_>| self.server.refusal(admission);
        let mut store = self.server.store();
        let mut write = Write {
            store: &mut store,
            resource: call.resource,
            namespace: &call.namespace,
            name: &call.name,
            now: self.server.now(),
            writer: Writer {
                manager,
                subresource: "",
            },
            dry_run: call.query.get("dryRun") == "All",
            admit: &admit,
        };
        let resource = call.resource;
        let (code, object) = match (call.verb, form) {
            ("create", _) => (201, write.create(object(resource, content, body)?)?),
            ("update", _) => (200, write.update(object(resource, content, body)?)?),
            (_, Some(form)) => (200, write.patch(form, body)?),
            _ => {
                let options = serde_json::from_slice(body).unwrap_or_default();
                match write.delete(&options)? {
                    Deleted::Waiting(object) => (200, object),
                    Deleted::Gone(uid) => return Ok(gone(resource, &call.name, uid)),
                }
            }
        };
        Ok(Answer::Json(code, whole(resource, &object.body)))
    }

    fn respond(&self, answer: Result<Answer, Status>) -> Response<ResponseBody> {
        let mut wait = 0;
        let answer = answer.unwrap_or_else(|status| {
            wait = status
                .details
                .as_ref()
                .map_or(0, |details| details.retry_after_seconds);
            Answer::Json(status.code, status.to_value().to_string().into_bytes())
        });
        let (code, kind, body) = match answer {
            Answer::Json(code, body) => (code, "application/json", full(body)),
            Answer::Text(code, text) => (code, "text/plain; charset=utf-8", full(text)),
            Answer::Stream(body) => (200, "application/json", body),
        };
        let mut response = Response::new(body);
        *response.status_mut() = http::StatusCode::from_u16(code).unwrap_or_default();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        let date = self
            .server
            .now()
            .format("%a, %d %b %Y %H:%M:%S GMT")
            .to_string();
        if let Ok(date) = HeaderValue::from_str(&date) {
            headers.insert(DATE, date);
        }
        if wait > 0 {
            headers.insert(RETRY_AFTER, HeaderValue::from(wait));
        }
        response
    }
}

fn full(body: impl Into<Bytes>) -> ResponseBody {
    Full::new(body.into()).boxed_unsync()
}

fn page(text: &'static str) -> Answer {
    if text.starts_with('{') {
        Answer::Json(200, text.as_bytes().to_vec())
    } else {
        Answer::Text(200, text)
    }
}

fn gone(resource: &Resource, name: &str, uid: String) -> Answer {
    let details = Details {
        name: name.into(),
        group: resource.group.into(),
        kind: resource.plural.into(),
        uid,
        ..Details::default()
    };
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details,
    });
    Answer::Json(200, status.to_string().into_bytes())
}

/// The program's name: what stands before the slash in the User-Agent.
fn agent<'a>(headers: &'a HeaderMap, who: &'a str) -> &'a str {
    let agent = headers
        .get(USER_AGENT)
        .and_then(|agent| agent.to_str().ok());
    agent
        .and_then(|agent| agent.split('/').next())
        .unwrap_or(who)
}

fn content_type(headers: &HeaderMap) -> &str {
    let text = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    text.split(';').next().unwrap_or_default().trim()
}

fn accepts_json(headers: &HeaderMap) -> bool {
    let text = headers
        .get(ACCEPT)
        .and_then(|value| value.to_str().ok())
        .unwrap_or("*/*");
    let known = |kind: &str| matches!(kind.split(";q=").next(), Some("application/json" | "*/*"));
    text.split(',').any(|kind| known(kind.trim()))
}

fn patch_form(content: &str, body: &[u8]) -> Result<PatchForm, Status> {
    match content {
        "application/json-patch+json" => Ok(PatchForm::Json),
        "application/merge-patch+json" => Ok(PatchForm::Merge),
        "application/strategic-merge-patch+json" if is_plain(body) => Ok(PatchForm::Strategic),
        _ if content.split(',').any(is_patch_type) => {
            Err(Status::unsupported_media_type(PATCH_TYPES))
        }
        _ => Err(Status::unsupported_patch()),
    }
}

fn is_patch_type(content: &str) -> bool {
    PATCH_TYPES.split(", ").any(|known| known == content)
}

/// Whether a strategic merge patch is no more than a merge patch: no lists, no directives.
fn is_plain(body: &[u8]) -> bool {
    !body.contains(&b'[') && !body.windows(2).any(|pair| pair == b"\"$")
}

fn object(resource: &Resource, content: &str, body: &[u8]) -> Result<Value, Status> {
    if !matches!(content, "application/json" | "") {
        return Err(Status::unsupported_media_type(OBJECT_TYPES));
    }
    let unrecognized = |why: &str| {
        Status::bad_request(format!(
            "the object provided is unrecognized (must be of type {}): couldn't get version/kind; \
             json parse error: {why} ({})",
            resource.kind,
            summary(body)
        ))
    };
    let mut object: Value =
        serde_json::from_slice(body).map_err(|error| unrecognized(&go_error(&error)))?;
    let Value::Object(members) = &mut object else {
        return Err(unrecognized(
            r#"json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#,
        ));
    };
    let (kind, version) = (resource.kind, resource.api_version());
    let mut take = |key: &str, own: &str| {
        let given = members.remove(key);
        given
            .and_then(|given| given.as_str().map(str::to_owned))
            .unwrap_or_else(|| own.to_owned())
    };
    let (given_kind, given_version) = (take("kind", kind), take("apiVersion", &version));
    if given_version != version {
        return Err(Status::bad_request(format!(
            "the API version in the data ({given_version}) does not match the expected API version ({version})"
        )));
    }
    if given_kind != kind {
        let short = resource.version;
        return Err(Status::bad_request(format!(
            "{given_kind} in version {short:?} cannot be handled as a {kind}: converting \
             ({short}.{given_kind}) to ({}.{kind}): unknown conversion",
            resource.group
        )));
    }
    Ok(object)
}

/// What is shown of a body that is no object.
fn summary(body: &[u8]) -> String {
    let more = if body.len() > SUMMARY { " ..." } else { "" };
    let head = &body[..body.len().min(SUMMARY)];
    match head.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => format!("{}{more}", String::from_utf8_lossy(head)),
        Some(_) => {
            let hex: String = head.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{hex}{more}")
        }
    }
}
