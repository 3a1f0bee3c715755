//! Watches: the changes since a resourceVersion, as a stream of lines.
//!
//! A watch holds no queue. It keeps its place in the store's history and reads on when woken, so
//! that ten thousand changes cost a slow reader nothing, until the history no longer goes back to
//! its place: then it ends with a 410, as on the server.

use std::convert::Infallible;
use std::io::Write as _;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use std::vec;

use futures::stream::{self, Stream};
use hyper::body::{Bytes, Frame};
use serde_json::json;
use tokio::time::{Instant, Sleep, sleep_until};

use super::form::Form;
use super::list::initial;
use crate::objects::Resource;
use crate::request::{Call, ListOptions, Version};
use crate::server::Server;
use crate::status::Status;
use crate::store::Listener;
use crate::store::{Change, Object};

/// What the server allows a watch when the client names no time.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(1800);
/// A frame takes no more changes than this, so that a long history goes out in pieces.
const CHANGES_PER_FRAME: usize = 256;

struct Watch {
    server: Arc<Server>,
    resource: &'static Resource,
    form: Form,
    options: ListOptions,
    /// What goes out first.
    initial: vec::IntoIter<Arc<Object>>,
    /// And what ends that.
    initial_end: Option<u64>,
    /// Everything up to here has been looked at.
    place: u64,
    /// The newest resourceVersion that the client knows.
    sent: u64,
    changed: Listener,
    closed: Listener,
    deadline: Pin<Box<Sleep>>,
    over: bool,
}

/// The body of a watch's answer, or why there is none.
pub(crate) fn watch(
    server: &Arc<Server>,
    call: &Call,
    form: Form,
) -> Result<impl Stream<Item = Result<Frame<Bytes>, Infallible>> + Send + use<>, Status> {
    let options = ListOptions::of(call)?;
    let resource = call.resource;
    let timeout = options
        .timeout_seconds
        .map_or(DEFAULT_TIMEOUT, Duration::from_secs);
    let closed = server.closing();
    let store = server.store();
    let current = store.revision();
    let mut first = Vec::new();
    let mut initial_end = None;
    let place = match options.version {
        Version::Exactly(asked) | Version::NotOlderThan(asked) if !options.initial_events => asked,
        Version::Exactly(asked) | Version::NotOlderThan(asked) if asked > current => {
            return Err(Status::version_ahead(asked, current));
        }
        _ => {
            first.extend(initial(&store.objects(resource), resource, &options).cloned());
            initial_end = (options.initial_events && options.bookmarks).then_some(current);
            current
        }
    };
    let changed = store.subscribe(resource);
    drop(store);
    let watch = Watch {
        server: Arc::clone(server),
        resource,
        form,
        options,
        initial: first.into_iter(),
        initial_end,
        place,
        sent: place,
        changed,
        closed,
        deadline: Box::pin(sleep_until(Instant::now() + timeout)),
        // The server cannot write an object as a list, and ends the watch instead.
        over: matches!(form, Form::MetadataList(_)),
    };
    Ok(stream::unfold(watch, |mut watch| async move {
        let lines = watch.next().await?;
        Some((Ok(Frame::data(Bytes::from(lines))), watch))
    }))
}

impl Watch {
    async fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            if self.over {
                return None;
            }
            let initial = self.initial();
            if !initial.is_empty() {
                return Some(initial);
            }
            self.changed.catch_up();
            let lines = self.read();
            if !lines.is_empty() {
                return Some(lines);
            }
            tokio::select! {
                biased;
                () = self.closed.notified() => return None,
                () = self.changed.notified() => {}
                () = &mut self.deadline => {
                    self.over = true;
                    let revision = self.server.store().revision();
                    if self.options.bookmarks && revision > self.sent {
                        let mut last = Vec::new();
                        self.bookmark(&mut last, revision, false);
                        return Some(last);
                    }
                }
            }
        }
    }

    fn initial(&mut self) -> Vec<u8> {
        let mut lines = Vec::new();
        for object in self.initial.by_ref().take(CHANGES_PER_FRAME) {
            line(&mut lines, "ADDED", self.resource, self.form, &object.body);
        }
        if self.initial.len() == 0
            && let Some(revision) = self.initial_end.take()
        {
            self.bookmark(&mut lines, revision, true);
        }
        lines
    }

    fn read(&mut self) -> Vec<u8> {
        let mut lines = Vec::new();
        let store = self.server.store();
        let changes = match store.changes_after(self.resource, self.place) {
            Ok(changes) => changes,
            Err(compacted) => {
                self.over = true;
                let (asked, oldest) = (self.place, compacted.oldest);
                let why = format!("too old resource version: {asked} ({oldest})");
                let status = Status::expired(why);
                lines.extend(
                    json!({"type": "ERROR", "object": status.to_value()})
                        .to_string()
                        .bytes(),
                );
                lines.push(b'\n');
                return lines;
            }
        };
        let mut sent = 0;
        for change in changes {
            self.place = change.revision;
            if let Some((kind, body)) = self.seen(change) {
                line(&mut lines, kind, self.resource, self.form, &body);
                self.sent = change.revision;
                sent += 1;
            }
            if sent == CHANGES_PER_FRAME {
                break;
            }
        }
        lines
    }

    fn bookmark(&self, lines: &mut Vec<u8>, revision: u64, initial_end: bool) {
        let mut metadata = json!({"resourceVersion": revision.to_string()});
        if initial_end {
            metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        let body = format!(r#"{{"metadata":{metadata}{}}}"#, self.resource.empty);
        let (resource, form) = (self.resource, self.form);
        line(lines, "BOOKMARK", resource, form, body.as_bytes());
    }

    /// A change as the selectors show it: an object that stops matching is deleted for this watch,
    /// and shown as it last was, with the resourceVersion of the change.
    fn seen(&self, change: &Change) -> Option<(&'static str, Bytes)> {
        let selects = |object: &Arc<Object>| self.options.selectors.select(object);
        let before = change.before.as_ref().filter(|before| selects(before));
        let after = (!change.deleted && selects(&change.object)).then_some(&change.object);
        match (before, after) {
            (None, None) => None,
            (None, Some(after)) => Some(("ADDED", after.body.clone())),
            (Some(_), Some(after)) => Some(("MODIFIED", after.body.clone())),
            (Some(before), None) => {
                let mut last = before.value();
                last["metadata"]["resourceVersion"] = json!(change.revision.to_string());
                Some(("DELETED", Bytes::from(last.to_string())))
            }
        }
    }
}

/// One event; `body` is the object without `kind` and `apiVersion`.
fn line(lines: &mut Vec<u8>, event: &str, resource: &Resource, form: Form, body: &[u8]) {
    // A write to a vector cannot fail.
    let _ = write!(lines, r#"{{"type":"{event}","object":"#);
    form.push(lines, resource, body);
    lines.extend_from_slice(b"}\n");
}
