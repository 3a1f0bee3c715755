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
    After(String),
    /// The end: the list was complete, as of this version.
    End(String),
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
        token: Option<String>,
    ) -> Result<Self, WatchError> {
        let failed = |error| WatchError::new("list", error);
        let body = source.list(limit, token).await?;
        let text = bounded(body).await;
        let text = text.map_err(|error| failed(Error::Service(error)))?;
        let list: ObjectList<D> =
            serde_json::from_slice(&text).map_err(|error| failed(Error::SerdeError(error)))?;
        let said = |text: Option<String>| text.filter(|text| !text.is_empty());
        let next = said(list.metadata.continue_).map(Next::After);
        let end = said(list.metadata.resource_version).map(Next::End);
        let next = next.or(end).ok_or_else(|| WatchError::no_version("list"))?;
        let objects = list.items.into_iter();
        Ok(Self { objects, next })
    }
}
