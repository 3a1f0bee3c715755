//! Which object of the files another object means.

use std::path::Path;

use super::state::{Id, Work, id};
use crate::convert::finding::ObjectName;

/// What an object's name stands for among the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meant {
    /// This document.
    Document(usize),
    /// No document: it may be in the cluster.
    Elsewhere,
    /// One or another of several, or one that may be of another cluster.
    Unclear,
}

impl Work<'_, '_> {
    /// Files of two folders may be for two clusters, and have objects of the same name: the same file
    /// is meant before the same folder, and another folder only where both write their namespace.
    pub(super) fn meant(&self, from: usize, object: &ObjectName) -> Meant {
        self.meant_of(from, &id(object))
    }

    pub(super) fn meant_of(&self, from: usize, id: &Id) -> Meant {
        let all = self.index.get(id).map_or(&[][..], Vec::as_slice);
        let nearest = [Self::is_in_file_of, Self::is_beside].into_iter();
        let mut nearest = nearest.map(|is_near: fn(&Self, usize, usize) -> bool| {
            all.iter()
                .copied()
                .filter(move |at| is_near(self, from, *at))
                .collect::<Vec<_>>()
        });
        let near = nearest.find(|near| !near.is_empty()).unwrap_or_default();
        match (&near[..], all) {
            ([at], _) => Meant::Document(*at),
            ([], []) => Meant::Elsewhere,
            _ => Meant::Unclear,
        }
    }

    /// Whether two documents are for the same cluster, as far as files tell.
    pub(super) fn is_beside(&self, from: usize, at: usize) -> bool {
        let folder = |at: usize| {
            let source = self.sources.get(self.documents[at].source);
            source.and_then(|it| Path::new(it.name()).parent())
        };
        let has_namespace = |at: usize| {
            let metadata = self.documents[at].metadata();
            let namespace = metadata.and_then(|it| it.get("namespace")?.written());
            namespace.is_some_and(|it| !it.is_empty())
        };
        folder(from) == folder(at) || has_namespace(from) && has_namespace(at)
    }

    fn is_in_file_of(&self, from: usize, at: usize) -> bool {
        self.documents[from].source == self.documents[at].source
    }
}
