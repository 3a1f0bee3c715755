//! Lists in pages.

use std::vec;

use kube::{Error, core::ObjectList};
use serde::de::DeserializeOwned;

use crate::cluster::connection::instrument::bounded;
use crate::cluster::watching::error::WatchError;
use crate::cluster::watching::request::Source;

/// A page of a list.
pub(super) struct Page<D> {
    pub(super) objects: vec::IntoIter<D>,
    pub(super) next: Next,
}

/// The place after the objects of a page.
pub(super) enum Next {
    /// Before the first page: there are no objects yet.
    First,
    /// The page after this token.
    After(Token),
    /// The end: the list was complete, as of this version.
    End(String),
}

/// The place of a page in a list.
pub(super) struct Token {
    text: String,
    /// The version of the list, as its first page says it: a watch from that of a later page would
    /// miss changes of objects that the first one has shown.
    version: Option<String>,
}

impl<D: Clone + DeserializeOwned> Page<D> {
    /// Before the first page.
    pub(super) fn none() -> Self {
        Self {
            objects: Vec::new().into_iter(),
            next: Next::First,
        }
    }

    /// The page after a token, or the first one. Without a limit it has everything.
    pub(super) async fn fetch(
        source: &Source,
        limit: Option<u32>,
        token: Option<Token>,
    ) -> Result<Self, WatchError> {
        let failed = |error| WatchError::new("list", error);
        let (text, version) = token.map(|it| (it.text, it.version)).unzip();
        let body = source.list(limit, text.clone()).await?;
        let read = bounded(body).await;
        let read = read.map_err(|error| failed(Error::Service(error)))?;
        let list: ObjectList<D> =
            serde_json::from_slice(&read).map_err(|error| failed(Error::SerdeError(error)))?;
        let said = |text: Option<String>| text.filter(|text| !text.is_empty());
        let next = said(list.metadata.continue_);
        if next.is_some() && next == text {
            return Err(failed(Error::Service(
                "a page names itself as the next".into(),
            )));
        }
        let version = version.flatten().or(said(list.metadata.resource_version));
        let next = match next {
            Some(text) => Next::After(Token { text, version }),
            None => Next::End(version.ok_or_else(|| WatchError::no_version("list"))?),
        };
        let objects = list.items.into_iter();
        Ok(Self { objects, next })
    }
}
