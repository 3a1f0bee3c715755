//! HTTP without a socket: a [`tower::Service`] that parses a request, serves it, and writes the response. It
//! checks the media types of bodies and their size like kube-apiserver.

use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
};

use chrono::{DateTime, Datelike as _, Timelike as _, Utc};
use futures::{
    FutureExt as _,
    future::{self, BoxFuture},
};
use http::{
    HeaderValue, Request, Response,
    header::{ACCEPT, CONTENT_TYPE, DATE, HeaderMap, RETRY_AFTER, USER_AGENT},
    request,
};
use http_body_util::{BodyExt as _, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::body::Bytes;
use kube::client::Body;
use serde_json::{Value, json};
use tower::{BoxError, Service};

use crate::{
    api::Api,
    cause::Cause,
    objects::Resource,
    ownership::Writer,
    patch::PatchForm,
    read::{Form, list, watch},
    route::{Call, Route},
    server::{Admission, Fault, RequestLine, Server},
    status::{Details, Status},
    write::{Deleted, Write},
};

/// The maximum size of a request body.
const MAX_BODY: usize = 3 * 1024 * 1024;

type Exchange = BoxFuture<'static, Result<Response<ResponseBody>, BoxError>>;

/// The connection broke, so the client cannot know whether its request took effect.
#[derive(Debug, thiserror::Error)]
#[error("connection closed before message completed")]
pub(crate) struct ConnectionLost;

/// The service that a client sends its requests to.
#[derive(Clone)]
struct Connection {
    server: Arc<Server>,
    who: Arc<str>,
}

impl Api {
    /// A client that the request log calls `client`, with the default namespace `default`. It must be
    /// created within a tokio runtime.
    pub fn client(&self) -> kube::Client {
        self.client_as("client")
    }

    /// A client that the request log calls `name`, which is also its default field manager.
    pub fn client_as(&self, who: &str) -> kube::Client {
        kube::Client::new(self.connection(who), "default")
    }

    /// The service of such a client, for a test that builds its own client.
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
        let route = Route::parse(&self.server.kinds(), &head.method, head.uri.path(), query);
        let line = self.line(&route, &head);
        let fault = self.server.fault(&line);
        let place = self.server.log().push(line);
        match &fault {
            Some(Fault::DropBefore) => return Err(ConnectionLost),
            Some(Fault::Hang) => future::pending().await,
            Some(Fault::Delay(time) | Fault::AnswerAfter(time, _)) => {
                tokio::time::sleep(*time).await;
            }
            Some(Fault::Answer(_) | Fault::DropAfter) | None => {}
        }
        let answer = match &fault {
            Some(Fault::Answer(status) | Fault::AnswerAfter(_, status)) => Err(status.clone()),
            _ => {
                let body = body.collect().await.map_err(|_| ConnectionLost)?.to_bytes();
                self.answer(&route, &head, &body)
            }
        };
        if matches!(fault, Some(Fault::DropAfter)) {
            return Err(ConnectionLost);
        }
        let response = Answer::respond(answer, self.server.now());
        self.server
            .log()
            .answered(place, response.status().as_u16());
        Ok(response)
    }

    fn line(&self, route: &Route, head: &request::Parts) -> RequestLine {
        let (verb, resource, namespace, name) = match route {
            Route::Call(Call {
                verb,
                resource,
                namespace,
                name,
                ..
            }) => (*verb, &*resource.plural, &**namespace, &**name),
            Route::Refused(resource) => ("", &*resource.plural, "", ""),
            _ => ("", head.uri.path(), "", ""),
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
            Route::Page(text) => return Ok(Answer::page(text)),
            Route::Discovery(page) => return Ok(Answer::Json(200, page.to_string().into_bytes())),
            Route::Unknown => {
                let reviewed = self.review(head, body);
                return Ok(reviewed.unwrap_or(Answer::Text(404, "404 page not found\n")));
            }
            Route::NoResource => return Err(Status::no_such_resource()),
            Route::Refused(_) | Route::RefusedPage => return Err(Status::method_not_allowed()),
        };
        let form = form(&head.headers);
        if body.len() > MAX_BODY {
            let why = format!("Request entity too large: limit is {MAX_BODY}");
            return Err(Status::new(413, "RequestEntityTooLarge", why));
        }
        match call.verb {
            "list" => {
                let list = list(&mut self.server.store(), call, form)?;
                Ok(Answer::Json(200, list))
            }
            "watch" => {
                let events = StreamBody::new(watch(&self.server, call, form)?);
                Ok(Answer::Stream(events.boxed_unsync()))
            }
            "get" => self.get(call, form),
            _ => self.write(call, form, head, body),
        }
    }

    /// The answer to a SelfSubjectAccessReview, if the server serves them.
    fn review(&self, head: &request::Parts, body: &[u8]) -> Option<Answer> {
        const PATH: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
        if head.uri.path() != PATH || head.method != http::Method::POST {
            return None;
        }
        let mut review: Value = serde_json::from_slice(body).ok()?;
        let allowed = self
            .server
            .access_review(&review["spec"]["resourceAttributes"])?;
        review["status"] = json!({"allowed": allowed});
        Some(Answer::Json(201, review.to_string().into_bytes()))
    }

    fn get(&self, call: &Call, form: Form) -> Result<Answer, Status> {
        let resource = &*call.resource;
        let key = resource.key(&call.namespace, &call.name);
        let object = self.server.store().get(resource, &key);
        let object = object.ok_or_else(|| Status::not_found(resource, &call.name))?;
        Ok(Answer::Json(200, form.object(resource, &object.body)))
    }

    fn write(
        &self,
        call: &Call,
        form: Form,
        head: &request::Parts,
        body: &[u8],
    ) -> Result<Answer, Status> {
        let content = content_type(&head.headers);
        let is_patch = call.verb == "patch";
        let patch = is_patch
            .then(|| patch_form(&call.resource, content, body))
            .transpose()?;
        let manager = match call.query.get("fieldManager") {
            "" => agent(&head.headers, &self.who),
            manager => manager,
        };
        let options: Value = match call.verb {
            "delete" => serde_json::from_slice(body).unwrap_or_default(),
            _ => Value::Null,
        };
        let dry_run = dry_run(call, &options)?;
        let admit = |admission: &Admission<'_>| self.server.refusal(admission);
        let mutate = |admission: &Admission<'_>| self.server.mutation(admission);
        let mut store = self.server.store();
        let mut write = Write {
            store: &mut store,
            resource: &call.resource,
            namespace: &call.namespace,
            name: &call.name,
            now: self.server.now(),
            writer: Writer::new(manager),
            dry_run,
            admit: &admit,
            mutate: &mutate,
        };
        let resource = &*call.resource;
        let (code, object) = match (call.verb, patch) {
            ("create", _) => (201, write.create(object(resource, content, body)?)?),
            ("update", _) => (200, write.update(object(resource, content, body)?)?),
            (_, Some(patch)) => (200, write.patch(patch, body)?),
            _ => match write.delete(&options)? {
                Deleted::Waiting(object) => (200, object),
                Deleted::Gone(uid) => return Ok(Answer::gone(resource, &call.name, uid)),
            },
        };
        Ok(Answer::Json(code, form.object(resource, &object.body)))
    }
}

/// A date of HTTP. chrono's formats take ten times as long, which a simulated day with thousands of responses shows.
fn date(at: DateTime<Utc>) -> String {
    let (weekday, month) = (at.weekday(), MONTHS[at.month0() as usize]);
    let (day, year) = (at.day(), at.year());
    let (hour, minute, second) = (at.hour(), at.minute(), at.second());
    format!("{weekday}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT")
}

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// The representation of the response: only metadata if the client accepts nothing else.
fn form(headers: &HeaderMap) -> Form {
    let accept = headers
        .get(ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .unwrap_or_default();
    let is_metadata = |part: &str| part.contains("as=PartialObjectMetadata");
    match accept.split(',').all(is_metadata) {
        true => Form::Metadata,
        false => Form::Whole,
    }
}

pub(crate) type ResponseBody = UnsyncBoxBody<Bytes, Infallible>;

/// The content of a response.
pub(crate) enum Answer {
    Json(u16, Vec<u8>),
    Text(u16, &'static str),
    Stream(ResponseBody),
}

impl Answer {
    /// `now` is for the `Date` header.
    pub(crate) fn respond(
        answer: Result<Self, Status>,
        now: DateTime<Utc>,
    ) -> Response<ResponseBody> {
        let mut wait = 0;
        let answer = answer.unwrap_or_else(|status| {
            let details = status.details.as_ref();
            wait = details.map_or(0, |details| details.retry_after_seconds);
            Self::Json(status.code, status.to_value().to_string().into_bytes())
        });
        let (code, kind, body) = match answer {
            Self::Json(code, body) => (code, "application/json", full(body)),
            Self::Text(code, text) => (code, "text/plain; charset=utf-8", full(text)),
            Self::Stream(body) => (200, "application/json", body),
        };
        let mut response = Response::new(body);
        *response.status_mut() = http::StatusCode::from_u16(code).unwrap_or_default();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        if let Ok(date) = HeaderValue::from_str(&date(now)) {
            headers.insert(DATE, date);
        }
        if wait > 0 {
            headers.insert(RETRY_AFTER, HeaderValue::from(wait));
        }
        response
    }

    /// A page such as `/version` or `/readyz`.
    pub(crate) fn page(text: &'static str) -> Self {
        if text.starts_with('{') {
            Self::Json(200, text.as_bytes().to_vec())
        } else {
            Self::Text(200, text)
        }
    }

    /// The response to a deletion that is complete.
    pub(crate) fn gone(resource: &Resource, name: &str, uid: String) -> Self {
        let mut details = Details::new(&resource.group, &resource.plural, name);
        details.uid = uid;
        let status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details,
        });
        Self::Json(200, status.to_string().into_bytes())
    }
}

fn full(body: impl Into<Bytes>) -> ResponseBody {
    Full::new(body.into()).boxed_unsync()
}

const OBJECT_TYPES: &str =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf";
const PATCH_TYPES: &str = "application/json-patch+json, application/merge-patch+json, \
                           application/strategic-merge-patch+json, application/apply-patch+yaml";
/// The schema of a custom kind does not say how to merge its lists, so the server rejects the patch.
const CUSTOM_PATCH_TYPES: &str =
    "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";

/// The program name, before the slash in the User-Agent.
pub(crate) fn agent<'a>(headers: &'a HeaderMap, who: &'a str) -> &'a str {
    let agent = headers
        .get(USER_AGENT)
        .and_then(|agent| agent.to_str().ok());
    agent
        .and_then(|agent| agent.split('/').next())
        .unwrap_or(who)
}

pub(crate) fn content_type(headers: &HeaderMap) -> &str {
    let text = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    text.and_then(|text| text.split(';').next())
        .unwrap_or_default()
        .trim()
}

pub(crate) fn patch_form(
    resource: &Resource,
    content: &str,
    body: &[u8],
) -> Result<PatchForm, Status> {
    match content {
        "application/json-patch+json" => Ok(PatchForm::Json),
        "application/merge-patch+json" => Ok(PatchForm::Merge),
        "application/strategic-merge-patch+json" if resource.custom => {
            Err(Status::unsupported_media_type(CUSTOM_PATCH_TYPES))
        }
        "application/strategic-merge-patch+json" if is_plain(body) => Ok(PatchForm::Strategic),
        _ if content.split(',').any(is_patch_type) => {
            Err(Status::unsupported_media_type(PATCH_TYPES))
        }
        _ => Err(Status::unsupported_patch()),
    }
}

pub(crate) fn is_patch_type(content: &str) -> bool {
    PATCH_TYPES.split(", ").any(|known| known == content)
}

/// Whether a strategic merge patch has no lists and no directives, so that it equals a merge patch.
pub(crate) fn is_plain(body: &[u8]) -> bool {
    !body.contains(&b'[') && !body.windows(2).any(|pair| pair == b"\"$")
}

/// Whether the request is a dry run, by its query or by delete options.
pub(crate) fn dry_run(call: &Call, options: &Value) -> Result<bool, Status> {
    let asked: Vec<&str> = match options {
        Value::Null => call.query.all("dryRun").collect(),
        options => {
            let asked = options["dryRun"].as_array().into_iter().flatten();
            asked
                .map(|value| value.as_str().unwrap_or_default())
                .collect()
        }
    };
    if asked.iter().all(|value| *value == "All") {
        return Ok(!asked.is_empty());
    }
    let kind = match call.verb {
        "create" => "CreateOptions",
        "update" => "UpdateOptions",
        "patch" => "PatchOptions",
        _ => "DeleteOptions",
    };
    let cause = Cause::not_supported("dryRun", &json!(asked), &["All"]);
    Err(Status::invalid("meta.k8s.io", kind, "", vec![cause]))
}

pub(crate) fn object(resource: &Resource, content: &str, body: &[u8]) -> Result<Value, Status> {
    if !matches!(content, "application/json" | "") {
        return Err(Status::unsupported_media_type(OBJECT_TYPES));
    }
    let not_an_object = || Status::bad_request(format!("the body is not a {}", resource.kind));
    let mut object: Value = serde_json::from_slice(body).map_err(|_| not_an_object())?;
    let Value::Object(members) = &mut object else {
        return Err(not_an_object());
    };
    let (kind, version) = (&*resource.kind, resource.api_version());
    let mut take = |key: &str, own: &str| {
        let given = members.remove(key);
        given
            .and_then(|given| given.as_str().map(str::to_owned))
            .filter(|given| resource.custom || !given.is_empty())
            .unwrap_or_else(|| own.to_owned())
    };
    let (given_kind, given_version) = (take("kind", kind), take("apiVersion", &version));
    if given_version != version {
        return Err(Status::bad_request(format!(
            "the API version in the data ({given_version}) does not match the expected API version ({version})"
        )));
    }
    if given_kind != kind && resource.custom {
        let cause = Cause::invalid_text("kind", &given_kind, &format!("must be {kind}"));
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        return Err(Status::invalid(
            &resource.group,
            &given_kind,
            name,
            vec![cause],
        ));
    }
    if given_kind != kind {
        let short = &*resource.version;
        return Err(Status::bad_request(format!(
            "{given_kind} in version {short:?} cannot be handled as a {kind}: converting \
             ({short}.{given_kind}) to ({}.{kind}): unknown conversion",
            resource.group
        )));
    }
    Ok(object)
}
