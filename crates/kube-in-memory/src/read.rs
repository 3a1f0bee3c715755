//! Lists and watches, with pagination, initial events and bookmarks, as complete objects or as metadata only.

use std::{
    convert::Infallible, io::Write as _, ops::Bound, pin::Pin, sync::Arc, time::Duration, vec,
};

use base64::{DecodeError, Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use futures::stream::{self, Stream};
use hyper::body::{Bytes, Frame};
use serde_json::{Value, json};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::{
    list_options::{ListOptions, Version},
    objects::Resource,
    route::Call,
    server::Server,
    status::Status,
    store::{Change, Listener, Object, Objects, Store},
};

/// The group and version of partial metadata.
const META: &str = "meta.k8s.io/v1";

/// The representation of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Whole,
    /// `PartialObjectMetadata`, or `PartialObjectMetadataList`.
    Metadata,
}

impl Form {
    /// The object with `kind` and `apiVersion` before the fields in `body`.
    pub(crate) fn object(self, resource: &Resource, body: &[u8]) -> Vec<u8> {
        let mut object = Vec::with_capacity(body.len() + 64);
        self.push(&mut object, resource, body);
        object
    }

    /// Appends the object to `text`.
    pub(crate) fn push(self, text: &mut Vec<u8>, resource: &Resource, body: &[u8]) {
        match self {
            Self::Whole => push_with_kind(text, &resource.kind, &resource.api_version(), body),
            Self::Metadata => {
                push_with_kind(text, "PartialObjectMetadata", META, &metadata(body));
            }
        }
    }

    /// Appends an item of a list. Complete objects of built-in kinds have no `kind` in lists.
    pub(crate) fn push_item(self, list: &mut Vec<u8>, resource: &Resource, body: &[u8]) {
        match self {
            Self::Whole if !resource.custom => list.extend_from_slice(body),
            _ => self.push(list, resource, body),
        }
    }

    /// The kind and version of a list.
    pub(crate) fn list_kind(self, resource: &Resource) -> (String, String) {
        match self {
            Self::Whole => (format!("{}List", resource.kind), resource.api_version()),
            Self::Metadata => ("PartialObjectMetadataList".to_owned(), META.to_owned()),
        }
    }
}

fn push_with_kind(text: &mut Vec<u8>, kind: &str, version: &str, body: &[u8]) {
    // Writing to a vector never fails.
    let _ = write!(text, r#"{{"kind":"{kind}","apiVersion":"{version}","#);
    text.extend_from_slice(body.get(1..).unwrap_or_default());
}

/// The object with only its metadata.
fn metadata(body: &[u8]) -> Vec<u8> {
    let object: Value = serde_json::from_slice(body).unwrap_or_default();
    json!({"metadata": object["metadata"]})
        .to_string()
        .into_bytes()
}

/// The object with its kind and version.
pub(crate) fn whole_value(resource: &Resource, object: &Object) -> Value {
    let mut value = object.value();
    value["kind"] = json!(resource.kind);
    value["apiVersion"] = json!(resource.api_version());
    value
}

/// Renders one page of a list as JSON.
pub(crate) fn list(store: &mut Store, call: &Call, form: Form) -> Result<Vec<u8>, Status> {
    let options = ListOptions::from_call(call)?;
    let resource = &call.resource;
    let prefix = prefix(resource, &call.namespace);
    let (start, revision) = begin(store, &options)?;
    let objects = match revision {
        None => store.objects(resource),
        Some(revision) => store.objects_at(resource, revision).map_err(|_| {
            if options.continue_token.is_empty() {
                Status::expired("The resourceVersion for the provided list is too old.")
            } else {
                expired_token(&start)
            }
        })?,
    };
    let revision = revision.unwrap_or_else(|| store.revision());
    let page = Page::new(&objects, &format!("{prefix}{start}"), &prefix, &options);
    Ok(page.encode(resource, form, revision, &prefix, &options))
}

/// The objects that a watch sends first.
pub(crate) fn initial<'a>(
    objects: &'a Objects,
    resource: &Resource,
    options: &'a ListOptions,
) -> impl Iterator<Item = &'a Arc<Object>> {
    let prefix = prefix(resource, &options.selectors.namespace);
    let start = prefix.clone();
    range(objects, &start, prefix).filter(|object| options.selectors.select(object))
}

/// The first key of the page below the prefix, and the revision; `None` is the current one.
fn begin(store: &Store, options: &ListOptions) -> Result<(String, Option<u64>), Status> {
    if !options.continue_token.is_empty() {
        if !matches!(options.version, Version::Newest | Version::Any) {
            let why = "specifying resource version is not allowed when using continue";
            return Err(Status::bad_request(why));
        }
        let there = Continuation::decode(&options.continue_token)
            .map_err(|why| Status::bad_request(format!("invalid continue token: {why}")))?;
        return Ok((there.start, there.revision));
    }
    let current = store.revision();
    match options.version {
        Version::Exactly(asked) | Version::NotOlderThan(asked) if asked > current => {
            Err(Status::version_ahead(asked, current))
        }
        Version::Exactly(asked) => Ok((String::new(), Some(asked))),
        Version::Newest | Version::Any | Version::NotOlderThan(_) => Ok((String::new(), None)),
    }
}

fn expired_token(start: &str) -> Status {
    let (start, revision) = (start.to_owned(), None);
    let token = Continuation { start, revision }.encode();
    let status = Status::expired(
        "The provided continue parameter is too old to display a consistent list result. You can \
         start a new list without the continue parameter, or use the continue token in this response \
         to retrieve the remainder of the results. Continuing with the provided token results in an \
         inconsistent list - objects that were created, modified, or deleted between the time the \
         first chunk was returned and now may show up in the list.",
    );
    Status {
        continue_token: Some(token),
        ..status
    }
}

/// The common prefix of all keys in a list.
fn prefix(resource: &Resource, namespace: &str) -> String {
    if resource.namespaced() && !namespace.is_empty() {
        format!("{namespace}/")
    } else {
        String::new()
    }
}

fn range<'a>(
    objects: &'a Objects,
    start: &str,
    prefix: String,
) -> impl Iterator<Item = &'a Arc<Object>> + use<'a> {
    objects
        .range::<str, _>((Bound::Included(start), Bound::Unbounded))
        .map(|(_, object)| object)
        .take_while(move |object| object.key.starts_with(&prefix))
}

struct Page<'a> {
    items: Vec<&'a Object>,
    /// The last key of this page, if more follow.
    last: Option<&'a str>,
    remaining: usize,
}

impl<'a> Page<'a> {
    fn new(objects: &'a Objects, start: &str, prefix: &str, options: &ListOptions) -> Self {
        let mut page = Self {
            items: Vec::new(),
            last: None,
            remaining: 0,
        };
        let limit = match options.version {
            // The watch cache ignores the limit.
            Version::Any => usize::MAX,
            _ => options.limit.unwrap_or(usize::MAX),
        };
        let mut last = None;
        let mut rest = range(objects, start, prefix.to_owned());
        for object in rest.by_ref() {
            if page.items.len() == limit {
                page.last = last;
                page.remaining = 1 + rest.count();
                break;
            }
            last = Some(&*object.key);
            if options.selectors.select(object) {
                page.items.push(object);
            }
        }
        page
    }

    fn encode(
        &self,
        resource: &Resource,
        form: Form,
        revision: u64,
        prefix: &str,
        options: &ListOptions,
    ) -> Vec<u8> {
        let size: usize = self.items.iter().map(|item| item.body.len() + 1).sum();
        let mut page = Vec::with_capacity(size + 256);
        let (kind, version) = form.list_kind(resource);
        page.extend(format!(
            r#"{{"kind":"{kind}","apiVersion":"{version}","metadata":{{"resourceVersion":"{revision}""#
        ).bytes());
        if let Some(last) = self.last {
            let start = format!("{}\0", last.strip_prefix(prefix).unwrap_or(last));
            let revision = Some(revision);
            let token = Continuation { start, revision }.encode();
            page.extend(format!(r#","continue":"{token}""#).bytes());
            if options.selectors.matches_all() {
                page.extend(format!(r#","remainingItemCount":{}"#, self.remaining).bytes());
            }
        }
        if self.last.is_none() && resource.custom && form == Form::Whole {
            page.extend_from_slice(br#","continue":"""#);
        }
        if self.items.is_empty() && form != Form::Whole {
            // An empty slice is nil in Go, and so null in JSON.
            page.extend_from_slice(br#"},"items":null}"#);
            return page;
        }
        page.extend_from_slice(br#"},"items":["#);
        for (index, item) in self.items.iter().enumerate() {
            if index > 0 {
                page.push(b',');
            }
            form.push_item(&mut page, resource, &item.body);
        }
        page.extend_from_slice(b"]}");
        page
    }
}

/// A decoded continue token in the format of kube-apiserver.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Continuation {
    /// The first key of the page. In a namespaced list it has no namespace.
    pub start: String,
    /// The listed revision. `None` is the current one, as in the token of a 410.
    pub revision: Option<u64>,
}

impl Continuation {
    /// Decodes a token. The error is the message of a 400.
    pub(crate) fn decode(token: &str) -> Result<Self, String> {
        let wrong = |why: &str| format!("continue key is not valid: {why}");
        let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|error| match error {
            DecodeError::InvalidByte(at, _) => {
                wrong(&format!("illegal base64 data at input byte {at}"))
            }
            error => wrong(&error.to_string()),
        })?;
        let value: Value =
            serde_json::from_slice(&bytes).map_err(|error| wrong(&error.to_string()))?;
        let version = value["v"].as_str().unwrap_or_default();
        if version != "meta.k8s.io/v1" {
            return Err(wrong(&format!(
                "server does not recognize this encoded version {version}"
            )));
        }
        let revision = match value["rv"].as_i64().unwrap_or_default() {
            0 => {
                return Err(wrong(
                    "incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
                ));
            }
            revision => u64::try_from(revision).ok(),
        };
        match value["start"].as_str().unwrap_or_default() {
            "" => Err(wrong("encoded start key empty (version meta.k8s.io/v1)")),
            start => Ok(Self {
                start: start.to_owned(),
                revision,
            }),
        }
    }

    pub(crate) fn encode(&self) -> String {
        let revision = self.revision.map_or(json!(-1), |revision| json!(revision));
        let token = json!({"v": "meta.k8s.io/v1", "rv": revision, "start": self.start});
        URL_SAFE_NO_PAD.encode(token.to_string())
    }
}

/// The default time limit of a watch.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(1800);
/// The maximum number of changes in a frame, so that a long history is sent in parts.
const CHANGES_PER_FRAME: usize = 256;

struct Watch {
    server: Arc<Server>,
    resource: Arc<Resource>,
    form: Form,
    options: ListOptions,
    /// The initial objects.
    initial: vec::IntoIter<Arc<Object>>,
    /// The revision of the bookmark that ends the initial objects.
    initial_end: Option<u64>,
    /// The revision up to which changes were examined.
    place: u64,
    /// The last resourceVersion that the client received.
    sent: u64,
    changed: Listener,
    closed: Listener,
    deadline: Pin<Box<Sleep>>,
    over: bool,
}

/// The body of a watch response.
pub(crate) fn watch(
    server: &Arc<Server>,
    call: &Call,
    form: Form,
) -> Result<impl Stream<Item = Result<Frame<Bytes>, Infallible>> + Send + use<>, Status> {
    let options = ListOptions::from_call(call)?;
    let resource = &call.resource;
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
        resource: Arc::clone(resource),
        form,
        options,
        initial: first.into_iter(),
        initial_end,
        place,
        sent: place,
        changed,
        closed,
        deadline: Box::pin(sleep_until(Instant::now() + timeout)),
        over: false,
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
            line(&mut lines, "ADDED", &self.resource, self.form, &object.body);
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
        let changes = match store.changes_after(&self.resource, self.place) {
            Ok(changes) => changes,
            Err(compacted) => {
                self.over = true;
                let (asked, oldest) = (self.place, compacted.oldest);
                let why = format!("too old resource version: {asked} ({oldest})");
                let status = Status::expired(why);
                let event = json!({"type": "ERROR", "object": status.to_value()});
                return format!("{event}\n").into_bytes();
            }
        };
        let mut sent = 0;
        for change in changes {
            self.place = change.revision;
            if let Some((kind, body)) = self.seen(change) {
                line(&mut lines, kind, &self.resource, self.form, &body);
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
        let (resource, form) = (&self.resource, self.form);
        line(lines, "BOOKMARK", resource, form, body.as_bytes());
    }

    /// The event that the selectors allow. If an object no longer matches, the watch sends a deletion with
    /// its last matching state and the resourceVersion of the change.
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

/// Appends an event. `body` is the object without `kind` and `apiVersion`.
fn line(lines: &mut Vec<u8>, event: &str, resource: &Resource, form: Form, body: &[u8]) {
    // Writing to a vector never fails.
    let _ = write!(lines, r#"{{"type":"{event}","object":"#);
    form.push(lines, resource, body);
    lines.extend_from_slice(b"}\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continue_token_contains_the_next_key() {
        for revision in [Some(7), None] {
            let there = Continuation {
                start: "web\0".into(),
                revision,
            };
            assert_eq!(Continuation::decode(&there.encode()), Ok(there));
        }
        assert!(Continuation::decode("what is this").is_err());
        assert!(Continuation::decode(&URL_SAFE_NO_PAD.encode("{}")).is_err());
    }
}
