//! A server that answers from a script.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::{StreamExt as _, future::pending, stream};
use http::{Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt as _, StreamBody, combinators::UnsyncBoxBody};
use hyper::body::{Bytes, Frame};
use kube::{Client, client::Body};
use serde_json::{Value, json};
use tokio::time::Instant;
use tower::{BoxError, service_fn};

use super::{Events, watch_by};

/// The response to one request.
#[derive(Clone)]
pub(super) enum ScriptedResponse {
    /// Accepts the watch, sends these pieces, then ends it.
    Ends(Vec<String>),
    /// Accepts the watch, sends these pieces, then stays silent.
    FallsSilent(Vec<String>),
    /// Accepts the watch, sends these pieces, then breaks the connection.
    Breaks(Vec<String>),
    /// Rejects the request with this code and `Retry-After` header.
    Refuses(StatusCode, &'static str),
    /// Rejects the request with this code and body.
    RefusesWith(u16, Value),
    /// Never answers.
    Hangs,
}

type Answered = Response<UnsyncBoxBody<Bytes, BoxError>>;

/// A server that answers from a script, whose last line repeats.
#[derive(Clone)]
pub(super) struct Script {
    answers: Arc<Mutex<VecDeque<ScriptedResponse>>>,
    /// The time and query of each request.
    pub(super) asked: Arc<Mutex<Vec<(Instant, String)>>>,
}

impl Script {
    pub(super) fn of(answers: impl IntoIterator<Item = ScriptedResponse>) -> Self {
        Self {
            answers: Arc::new(Mutex::new(answers.into_iter().collect())),
            asked: Arc::default(),
        }
    }

    pub(super) fn watch(&self) -> Events {
        let script = self.clone();
        let service = service_fn(move |request: Request<Body>| {
            let script = script.clone();
            async move { script.answer(request.uri()).await }
        });
        watch_by(Client::new(service, "default"))
    }

    async fn answer(&self, uri: &Uri) -> Result<Answered, BoxError> {
        let query = uri.query().unwrap_or_default().to_owned();
        self.asked.lock().unwrap().push((Instant::now(), query));
        let answer = {
            let mut answers = self.answers.lock().unwrap();
            match answers.len() {
                1 => answers[0].clone(),
                _ => answers.pop_front().unwrap(),
            }
        };
        let chunks = |text: Vec<String>| {
            let pieces = text.into_iter().map(|it| Ok(Frame::data(Bytes::from(it))));
            stream::iter(pieces.collect::<Vec<Result<_, BoxError>>>())
        };
        let body = match answer {
            ScriptedResponse::Ends(text) => StreamBody::new(chunks(text)).boxed_unsync(),
            ScriptedResponse::FallsSilent(text) => {
                StreamBody::new(chunks(text).chain(stream::pending())).boxed_unsync()
            }
            ScriptedResponse::Breaks(text) => {
                let broken = stream::iter([Err("the connection is reset".into())]);
                StreamBody::new(chunks(text).chain(broken)).boxed_unsync()
            }
            ScriptedResponse::Refuses(code, after) => {
                let answer = Response::builder().status(code);
                let nothing = StreamBody::new(chunks(Vec::new())).boxed_unsync();
                return Ok(answer.header("retry-after", after).body(nothing)?);
            }
            ScriptedResponse::RefusesWith(code, status) => {
                let answer = Response::builder().status(code);
                let body = StreamBody::new(chunks(vec![status.to_string()])).boxed_unsync();
                return Ok(answer.body(body)?);
            }
            ScriptedResponse::Hangs => pending().await,
        };
        Ok(Response::new(body))
    }

    /// The version from which each request except the first resumes.
    pub(super) fn resumed_from(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        let versions = asked.iter().skip(1).map(|(_, query)| {
            let mut pairs = form_urlencoded::parse(query.as_bytes());
            let is_list = query.contains("sendInitialEvents=true");
            let version = pairs.find(|(name, _)| name == "resourceVersion");
            match version {
                Some((_, version)) if !is_list => version.into_owned(),
                _ => "list".to_owned(),
            }
        });
        versions.collect()
    }

    /// The time between each request and the previous one.
    pub(super) fn pauses(&self) -> Vec<Duration> {
        let asked = self.asked.lock().unwrap();
        asked.windows(2).map(|two| two[1].0 - two[0].0).collect()
    }
}

pub(super) fn line(kind: &str, name: &str, version: u32) -> String {
    let object = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 1},
        "metadata": {"name": name, "namespace": "dev", "resourceVersion": version.to_string()},
    });
    format!("{}\n", json!({"type": kind, "object": object}))
}

pub(super) fn bookmark(version: u32, is_end: bool) -> String {
    let marks = json!({"k8s.io/initial-events-end": "true"});
    let annotations = if is_end { marks } else { json!({}) };
    let object = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"resourceVersion": version.to_string(), "annotations": annotations},
    });
    format!("{}\n", json!({"type": "BOOKMARK", "object": object}))
}

/// An error event, as the API server sends it on an accepted watch.
pub(super) fn failure(code: u16) -> String {
    let status = json!({"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code});
    format!("{}\n", json!({"type": "ERROR", "object": status}))
}

/// The initial list: one Deployment at version 7.
pub(super) fn listed() -> Vec<String> {
    vec![line("ADDED", "web", 5), bookmark(7, true)]
}

/// The initial list, followed by these events.
pub(super) fn listed_and(more: &[String]) -> Vec<String> {
    [listed(), more.to_vec()].concat()
}

pub(super) const LISTED: &str = "open init +web ready";
