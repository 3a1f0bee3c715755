//! Whether the server's history goes on from what is known of it.
//!
//! etcd restored from a backup counts on from the backup's revision, and a watch that begins at a
//! later one shows nothing until that is reached again (Kubernetes' own clients then stand still).
//! What the server answers to a request of ours gives it away.

use std::{collections::HashMap, time::Duration};

use tokio::time::Instant;

use crate::{cluster::Version, workload::Kind};

/// Everything is listed anew for it no more often than this: two servers that know different
/// histories may take turns.
const SELDOM: Duration = Duration::from_secs(60);

/// How a watch shows an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::controller) enum Sight {
    /// In a list of what there is, which counts whatever was known before.
    Listed,
    /// Because it has changed.
    Changed,
}

/// The newest version of each kind, and whether the server has fallen behind it.
#[derive(Default)]
pub(in crate::controller) struct History {
    newest: HashMap<Kind, Version>,
    went_back: bool,
    last: Option<Instant>,
}

impl History {
    /// A watch shows this version of an object.
    pub(in crate::controller) fn shown(&mut self, kind: Kind, version: Version) {
        let newest = self.newest.entry(kind).or_default();
        if *newest == Version::default() || newest.is_before(version) {
            *newest = version;
        }
    }

    /// A write of ours has made this version of an object of which `known` was known. It is newer
    /// than all before it, unless the write has changed nothing.
    pub(in crate::controller) fn written(&mut self, kind: Kind, version: Version, known: Version) {
        let newest = self.newest.get(&kind);
        let is_behind = newest.is_some_and(|newest| version.is_before(*newest));
        self.went_back |= is_behind && version != known;
    }

    /// The server has answered with this version of an object, of which `known` is known.
    pub(in crate::controller) fn answered(&mut self, version: Version, known: Version) {
        self.went_back |= version.is_before(known);
    }

    /// Whether everything is to be listed anew now, because the history went back. What is shown
    /// from now on counts.
    pub(in crate::controller) fn is_to_be_listed(&mut self, now: Instant) -> bool {
        let is_soon = self.last.is_some_and(|last| now < last + SELDOM);
        if !self.went_back || is_soon {
            return false;
        }
        *self = Self {
            last: Some(now),
            ..Self::default()
        };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_before_what_was_shown_is_of_an_older_history_and_lists_once_a_minute() {
        let (mut history, mut now) = (History::default(), Instant::now());
        let version = |number: u32| Version::parse(&number.to_string());
        history.shown(Kind::Deployment, version(90));
        history.shown(Kind::Deployment, version(80));
        history.written(Kind::Deployment, version(91), version(80));
        history.written(Kind::StatefulSet, version(7), version(6));
        history.written(Kind::Deployment, version(80), version(80));
        assert!(!history.is_to_be_listed(now));
        history.written(Kind::Deployment, version(89), version(80));
        assert!(history.is_to_be_listed(now) && !history.is_to_be_listed(now));
        history.written(Kind::Deployment, version(8), version(7));
        assert!(!history.is_to_be_listed(now), "nothing was shown since");
        history.answered(version(8), version(9));
        assert!(!history.is_to_be_listed(now), "so soon");
        now += SELDOM;
        assert!(history.is_to_be_listed(now));
    }
}
