//! The network between one controller and the server, with its faults.

use std::{
    future,
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::Duration,
};

use dayshift_cluster::clock::Clock;
use futures::{StreamExt as _, future::BoxFuture, stream};
use http::{HeaderValue, Request, Response, Uri, header};
use http_body_util::{BodyExt as _, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::body::{Bytes, Frame};
use kube::{Client, client::Body};
use kube_in_memory::Api;
use serde_json::json;
use tokio::time::sleep;
use tower::{BoxError, Service};

use crate::{
    checker::{
        observer::Observer,
        scalers::request::{NAMESPACES, Request as Parsed},
    },
    harness::{
        faults::{Faults, millis},
        troubles::Troubles,
    },
    scenario::{
        fault::{Fault, Stage, Trouble},
        kinds::object_at,
    },
};

/// The read timeout of dayshift's own transport, which this client replaces.
const READ_TIMEOUT: Duration = Duration::from_secs(295);

#[derive(Clone)]
pub struct Transport {
    pub server: Client,
    /// The faults, for inspection.
    pub api: Api,
    pub faults: Faults,
    /// The server's clock.
    pub truth: Clock,
    /// The name of the process that sends the requests.
    pub by: String,
    /// Whether the server streams lists, or only serves pages.
    pub streams: bool,
    pub observer: Arc<Mutex<Observer>>,
    pub troubles: Troubles,
}

type Answer = Response<UnsyncBoxBody<Bytes, BoxError>>;

impl Service<Request<Body>> for Transport {
    type Response = Answer;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Answer, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let transport = self.clone();
        let is_patch = request.method() == http::Method::PATCH;
        if is_patch {
            // The observer records the knowledge from which the patch was decided.
            let number = self.observer().sends(&self.by, request.uri().path());
            let uri = format!("{}&sent={number}", request.uri());
            *request.uri_mut() = uri.parse::<Uri>().unwrap();
        } else if request.method() == http::Method::GET {
            self.observer().reads_object(&self.by, request.uri().path());
            if request.uri().path() == NAMESPACES {
                self.observer().asks_for_namespaces(&self.by);
            }
            if request.uri().query() == Some("limit=1") {
                self.observer().record_version_query(&self.by);
            }
        }
        if !self.streams {
            // Pages of two objects, so that lists have several pages.
            let uri = request.uri().to_string().replace("limit=100", "limit=2");
            *request.uri_mut() = uri.parse::<Uri>().unwrap();
        }
        if self.observer().record_request() {
            return Box::pin(never());
        }
        let stage = is_patch.then(|| self.faults.killed()).flatten();
        let fault = self.faults.of_request(request.uri().path());
        Box::pin(async move {
            match stage {
                Some(stage) => transport.killed(request, stage).await,
                None => transport.exchange(request, fault).await,
            }
        })
    }
}

impl Transport {
    fn observer(&self) -> std::sync::MutexGuard<'_, Observer> {
        self.observer.lock().unwrap()
    }

    async fn killed(self, request: Request<Body>, stage: Stage) -> Result<Answer, BoxError> {
        match stage {
            Stage::Before => {}
            Stage::OnTheWay => drop(self.arrives_in(request, millis(700))),
            Stage::After => drop(self.reach(request).await),
        }
        self.faults.kill();
        future::pending().await
    }

    async fn exchange(
        self,
        request: Request<Body>,
        fault: Option<Fault>,
    ) -> Result<Answer, BoxError> {
        let parsed = Parsed::of(&request);
        match self.troubles.of(request.method(), request.uri().path()) {
            None => {}
            Some(Trouble::Hangs) => {
                self.observer().record_fault(&self.by, parsed.patch, None);
                return never().await;
            }
            Some(trouble) => {
                let mut observer = self.observer();
                observer.record_fault(&self.by, parsed.patch, Some(trouble));
                drop(observer);
                let (code, message) = trouble.answer();
                return Ok(self.respond_with(code, message, &json!({}), None));
            }
        }
        let is_watch = parsed.is_watch;
        match fault {
            None => {}
            Some(Fault::Lost) => return Err("connection refused".into()),
            Some(Fault::AnswerLost) => {
                self.reach(request).await?;
                return Err("connection reset".into());
            }
            Some(Fault::Hangs) => return never().await,
            Some(Fault::AnswerHangs) => {
                self.reach(request).await?;
                return never().await;
            }
            Some(Fault::Late(time)) => {
                let answer = self.arrives_in(request, millis(time)).await??;
                return self.passes(answer, parsed).await;
            }
            Some(Fault::AnswerLate(time)) => {
                let answer = self.reach(request).await?;
                sleep(millis(time)).await;
                self.observer().record_late_response(&self.by, time);
                return self.passes(answer, parsed).await;
            }
            Some(Fault::Torn) => {
                let body = self.reach(request).await?.into_body();
                if is_watch {
                    return Err("connection reset".into());
                }
                let body = body.collect_bytes().await?;
                let half = body.slice(..body.len() / 2);
                return Ok(Response::new(
                    Full::new(half).map_err(Into::into).boxed_unsync(),
                ));
            }
            Some(Fault::Code(code)) => {
                if parsed.patch.is_some() && matches!(code, 409 | 422) {
                    self.observer().conflicts(&self.by, &parsed.path);
                }
                return Ok(self.respond(code, &json!({}), None));
            }
            Some(Fault::Refused) => {
                let causes = json!({"causes": [{"message": "no", "field": "spec.replicas"}]});
                return Ok(self.respond(422, &causes, None));
            }
            Some(Fault::Busy(seconds)) => return Ok(self.respond(429, &json!({}), Some(seconds))),
            Some(other) => unreachable!("{other:?} befalls no request"),
        }
        let query = request.uri().query().unwrap_or_default();
        if query.contains("sendInitialEvents") && !self.streams {
            return Ok(self.respond(422, &json!({}), None));
        }
        let answer = self.reach(request).await?;
        self.passes(answer, parsed).await
    }

    /// Forwards the request to the server.
    async fn reach(&self, request: Request<Body>) -> kube::Result<Response<Body>> {
        let Parsed { path, patch, .. } = Parsed::of(&request);
        let answer = self.server.send(request).await?;
        if let Some(number) = patch
            && matches!(answer.status().as_u16(), 409 | 422)
            && let Some((kind, namespace, name)) = object_at(&path)
        {
            let object = self.api.get(kind.name, namespace, name);
            self.observer().conflicted(number, object.as_ref());
        }
        Ok(answer)
    }

    /// Forwards the request later, even if its sender no longer waits for the response.
    fn arrives_in(
        &self,
        request: Request<Body>,
        time: Duration,
    ) -> tokio::task::JoinHandle<kube::Result<Response<Body>>> {
        let transport = self.clone();
        tokio::spawn(async move {
            sleep(time).await;
            transport.reach(request).await
        })
    }

    fn respond(&self, code: u16, details: &serde_json::Value, wait: Option<u16>) -> Answer {
        let message = match code {
            403 => r#"User "dayshift" cannot patch resource "deployments" in API group "apps""#,
            _ => "it is spoilt",
        };
        self.respond_with(code, message, details, wait)
    }

    fn respond_with(
        &self,
        code: u16,
        message: &str,
        details: &serde_json::Value,
        wait: Option<u16>,
    ) -> Answer {
        let status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": message, "reason": "Spoilt", "details": details, "code": code,
        });
        let body = Full::new(Bytes::from(status.to_string()));
        let mut answer = Response::new(body.map_err(Into::into).boxed_unsync());
        *answer.status_mut() = http::StatusCode::from_u16(code).unwrap();
        let headers = answer.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        let date = self
            .truth
            .now()
            .format("%a, %d %b %Y %H:%M:%S GMT")
            .to_string();
        headers.insert(header::DATE, date.parse().unwrap());
        if let Some(wait) = wait {
            headers.insert(header::RETRY_AFTER, wait.into());
        }
        answer
    }

    async fn passes(&self, answer: Response<Body>, parsed: Parsed) -> Result<Answer, BoxError> {
        let (head, body) = answer.into_parts();
        if !parsed.is_watch || !head.status.is_success() {
            let body = body.collect_bytes().await?;
            let code = head.status.as_u16();
            self.observer()
                .receive_response(&self.by, &parsed, code, &body);
            let body = Full::new(body).map_err(Into::into).boxed_unsync();
            return Ok(Response::from_parts(head, body));
        }
        self.observer().opens(&self.by, &parsed);
        let events = Events {
            frames: body.into_data_stream().boxed(),
            faults: self.faults.clone(),
            path: parsed.path.clone(),
            cuts: self.faults.cuts(),
            older: None,
            twice: None,
        };
        let (observer, by) = (self.observer.clone(), self.by.clone());
        let start = (events, observer, by, parsed);
        let frames = stream::unfold(start, |mut watch| async move {
            let frame = watch.0.next().await?;
            if let Ok(lines) = &frame {
                watch
                    .1
                    .lock()
                    .unwrap()
                    .receive_events(&watch.2, &watch.3, lines);
            }
            Some((frame.map(Frame::data), watch))
        });
        Ok(Response::from_parts(
            head,
            StreamBody::new(frames).boxed_unsync(),
        ))
    }
}

async fn never<T>() -> Result<T, BoxError> {
    sleep(READ_TIMEOUT).await;
    Err("nothing was read for too long".into())
}

/// The events of one watch.
struct Events {
    frames: stream::BoxStream<'static, Result<Bytes, kube::Error>>,
    faults: Faults,
    path: String,
    cuts: tokio::sync::broadcast::Receiver<()>,
    older: Option<Bytes>,
    twice: Option<Bytes>,
}

impl Events {
    async fn next(&mut self) -> Option<Result<Bytes, BoxError>> {
        if let Some(again) = self.twice.take() {
            return Some(Ok(again));
        }
        let frame = tokio::select! {
            biased;
            _ = self.cuts.recv() => return None,
            frame = self.frames.next() => match frame? {
                Ok(frame) => frame,
                Err(error) => return Some(Err(error.into())),
            },
        };
        match self.faults.of_event(&self.path) {
            Some(Fault::EventLate(time)) => sleep(millis(time)).await,
            Some(Fault::EventTwice) => self.twice = Some(frame.clone()),
            Some(Fault::EventStale) => self.twice.clone_from(&self.older),
            Some(Fault::Cut) => return None,
            Some(Fault::Broken) => return Some(Err("connection reset".into())),
            Some(Fault::Silent) => future::pending().await,
            _ => {}
        }
        // The first event of a watch; it might be repeated later as an old event.
        self.older.get_or_insert_with(|| frame.clone());
        Some(Ok(frame))
    }
}
