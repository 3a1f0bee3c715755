//! Lists, page by page, each page of one list in the same state.

use std::ops::Bound;
use std::sync::Arc;

use super::continuation::Continuation;
use super::form::Form;
use crate::objects::Resource;
use crate::request::{Call, ListOptions, Version};
use crate::status::Status;
use crate::store::{Object, Objects, Store};

/// A page as JSON.
pub(crate) fn list(store: &mut Store, call: &Call, form: Form) -> Result<Vec<u8>, Status> {
    let options = ListOptions::of(call)?;
    let resource = call.resource;
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
    let page = Page::of(&objects, &format!("{prefix}{start}"), &prefix, &options);
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

/// Where the page starts, below the prefix, and in which state; `None` is the newest.
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
    let token = Continuation {
        start: start.to_owned(),
        revision: None,
    }
    .encode();
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

/// What all keys of a list begin with.
fn prefix(resource: &Resource, namespace: &str) -> String {
    if resource.namespaced && !namespace.is_empty() {
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
    /// The key of the last object looked at, where more follow.
    last: Option<&'a str>,
    remaining: usize,
}

impl<'a> Page<'a> {
    fn of(objects: &'a Objects, start: &str, prefix: &str, options: &ListOptions) -> Self {
        let mut page = Self {
            items: Vec::new(),
            last: None,
            remaining: 0,
        };
        let limit = match options.version {
            // From the watch cache the server takes no limit.
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
            let token = Continuation {
                start,
                revision: Some(revision),
            }
            .encode();
            page.extend(format!(r#","continue":"{token}""#).bytes());
            if options.selectors.take_all() {
                page.extend(format!(r#","remainingItemCount":{}"#, self.remaining).bytes());
            }
        }
        if self.last.is_none() && resource.custom && form == Form::Whole {
            page.extend_from_slice(br#","continue":"""#);
        }
        if self.items.is_empty() && form != Form::Whole {
            // In Go the items of this list are nil until there is one.
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
