//! Whether the server's history goes on from what is known of it.
//!
//! etcd restored from a backup counts on from the backup's revision, and a watch that begins at a
//! later one shows nothing until that is reached again (Kubernetes' own clients then stand still).
//! What the server answers to a request of ours gives it away, and where a watch is resumed early one
//! is made for that (`watch::resumed`).

use std::{collections::HashMap, time::Duration};

use tokio::time::Instant;

use crate::{cluster::Version, workload::Kind};

/// Everything is listed anew for it no more often than this: two servers that know different
/// histories may take turns.
const SELDOM: Duration = Duration::from_secs(60);

/// How a watch shows an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::controller) enum Sight {
    /// In a list of what there is, which counts whatever was known before it was asked for.
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

    /// The newest version of a kind that was shown so far.
    pub(in crate::controller) fn newest(&self, kind: Kind) -> Version {
        self.newest.get(&kind).copied().unwrap_or_default()
    }

    /// A write of ours has made this version of an object of which `known` was known, after `newest`
    /// of its kind was shown. It is newer than that, unless the write has changed nothing; it may
    /// well be older than what was shown while it was under way.
    pub(in crate::controller) fn written(
        &mut self,
        version: Version,
        (known, newest): (Version, Version),
    ) {
        self.went_back |= version.is_before(newest) && version != known;
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
        let (known, newest) = (version(80), history.newest(Kind::Deployment));
        history.shown(Kind::Deployment, version(92));
        history.written(version(91), (known, newest));
        history.written(version(7), (version(6), history.newest(Kind::StatefulSet)));
        history.written(known, (known, newest));
        assert!(!history.is_to_be_listed(now));
        history.written(version(89), (known, newest));
        assert!(history.is_to_be_listed(now) && !history.is_to_be_listed(now));
        history.written(version(8), (version(7), history.newest(Kind::Deployment)));
        assert!(!history.is_to_be_listed(now), "nothing was shown since");
        history.answered(version(8), version(9));
        assert!(!history.is_to_be_listed(now), "so soon");
        now += SELDOM;
        assert!(history.is_to_be_listed(now));
    }
}
