//! HTTP: from a request to a response, without a socket.

use std::sync::Arc;
use std::task::{Context, Poll};

use futures::FutureExt as _;
use futures::future::{self, BoxFuture};
use http::{Request, Response, request};
use http_body_util::{BodyExt as _, StreamBody};
use kube::client::Body;
use serde_json::Value;
use tower::{BoxError, Service};

use super::accept::form;
use super::answer::{Answer, ResponseBody};
use super::body::{agent, content_type, dry_run, object, patch_form};
use crate::api::Api;
use crate::fault::Fault;
use crate::read::{Form, list, watch};
use crate::request::{Call, Route};
use crate::request_log::RequestLine;
use crate::server::{Admission, Server};
use crate::status::Status;
use crate::write::{Deleted, Write, Writer};

/// The most that a request's body may hold.
const MAX_BODY: usize = 3 * 1024 * 1024;

type Exchange = BoxFuture<'static, Result<Response<ResponseBody>, BoxError>>;

/// The connection broke: the client cannot know whether its request took effect.
#[derive(Debug, thiserror::Error)]
#[error("connection closed before message completed")]
pub(crate) struct ConnectionLost;

/// A client's end of the connection.
#[derive(Clone)]
struct Connection {
    server: Arc<Server>,
    who: Arc<str>,
}

impl Api {
    /// A client that the request log knows as `client`; its default namespace is `default`.
    /// It must be made within a tokio runtime.
    pub fn client(&self) -> kube::Client {
        self.client_as("client")
    }

    /// A client that the request log knows as `who`: so tests tell several clients apart. It is the
    /// field manager too where a request names none.
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
        let route = Route::of(&self.server.kinds(), &head.method, head.uri.path(), query);
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
            Route::Call(call) => (
                call.verb,
                call.resource.plural,
                &*call.namespace,
                &*call.name,
            ),
            Route::Refused(resource) => ("", resource.plural, "", ""),
            Route::Page(_)
            | Route::Discovery(_)
            | Route::RefusedPage
            | Route::Unknown
            | Route::NoResource => ("", head.uri.path(), "", ""),
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
            Route::Unknown => return Ok(Answer::Text(404, "404 page not found\n")),
            Route::NoResource => return Err(Status::no_such_resource()),
            Route::Refused(_) | Route::RefusedPage => return Err(Status::method_not_allowed()),
        };
        let form = form(&head.headers, call)?;
        if body.len() > MAX_BODY {
            let why = format!("Request entity too large: limit is {MAX_BODY}");
            return Err(Status::new(413, "RequestEntityTooLarge", why));
        }
        match call.verb {
            "list" => Ok(Answer::Json(
                200,
                list(&mut self.server.store(), call, form)?,
            )),
            "watch" => Ok(Answer::Stream(
                StreamBody::new(watch(&self.server, call, form)?).boxed_unsync(),
            )),
            "get" => self.get(call, form),
            _ => self.write(call, form, head, body),
        }
    }

    fn get(&self, call: &Call, form: Form) -> Result<Answer, Status> {
        let resource = call.resource;
        let object = self
            .server
            .store()
            .get(resource, &resource.key(&call.namespace, &call.name));
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
        let patch = if call.verb == "patch" {
            Some(patch_form(call.resource, content, body)?)
        } else {
            None
        };
        let manager = call.query.get("fieldManager");
        let manager = if manager.is_empty() {
            agent(&head.headers, &self.who)
        } else {
            manager
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
            resource: call.resource,
            namespace: &call.namespace,
            name: &call.name,
            now: self.server.now(),
            writer: Writer {
                manager,
                subresource: "",
            },
            dry_run,
            admit: &admit,
            mutate: &mutate,
        };
        let resource = call.resource;
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
