//! What was asked of the API, as an audit log has it.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};

/// One request, as an audit log has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestLine {
    /// `get`, `list`, `watch`, `create`, `update`, `patch` or `delete`; empty for `/version` and
    /// the like.
    pub verb: &'static str,
    /// The plural, such as `deployments`; for a path of no resource, the path.
    pub resource: String,
    /// The namespace; empty where the request spans all of them.
    pub namespace: String,
    /// The object's name; empty for lists, watches and creations.
    pub name: String,
    /// The query, as sent.
    pub query: String,
    /// The answer's HTTP code; `None` while there is none, or when it was lost.
    pub code: Option<u16>,
    /// When it arrived, by the server's clock.
    pub at: DateTime<Utc>,
    /// Who asked: the name given to the client.
    pub who: String,
}

/// The last requests, oldest first, in a ring.
#[derive(Debug)]
pub(crate) struct Log {
    lines: VecDeque<RequestLine>,
    first: usize,
    limit: usize,
}

impl Log {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            lines: VecDeque::new(),
            first: 0,
            limit,
        }
    }

    pub(crate) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
        self.trim();
    }

    /// Adds a line and returns its place, for [`Log::answered`].
    pub(crate) fn push(&mut self, line: RequestLine) -> usize {
        let place = self.first + self.lines.len();
        self.lines.push_back(line);
        self.trim();
        place
    }

    pub(crate) fn answered(&mut self, place: usize, code: u16) {
        let line = place
            .checked_sub(self.first)
            .and_then(|index| self.lines.get_mut(index));
        if let Some(line) = line {
            line.code = Some(code);
        }
    }

    pub(crate) fn lines(&self) -> Vec<RequestLine> {
        self.lines.iter().cloned().collect()
    }

    pub(crate) fn clear(&mut self) {
        self.first += self.lines.len();
        self.lines.clear();
    }

    fn trim(&mut self) {
        while self.lines.len() > self.limit {
            self.lines.pop_front();
            self.first += 1;
        }
    }
}
