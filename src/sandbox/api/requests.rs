//! What was asked of the API, and what goes wrong on the way: the audit log and the fault hook.

use std::collections::VecDeque;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::status::Status;

/// One request, as an audit log has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestLine {
    /// `get`, `list`, `watch`, `create`, `update`, `patch` or `delete`; empty for `/version` and the like.
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

/// What a fault hook may do to a request.
#[derive(Clone, Debug)]
pub enum Fault {
    /// Answer this instead: an outage, a refusal by RBAC or by a policy.
    Answer(Status),
    /// The connection breaks before the server has read the request.
    DropBefore,
    /// The request takes effect, then the connection breaks: the answer is lost.
    DropAfter,
    /// The request never arrives and no answer ever comes.
    Hang,
    /// The request is served after this time (tokio's clock).
    Delay(Duration),
}

/// The last requests, oldest first, in a ring.
#[derive(Debug)]
pub(super) struct Log {
    lines: VecDeque<RequestLine>,
    first: usize,
    limit: usize,
}

impl Log {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            lines: VecDeque::new(),
            first: 0,
            limit,
        }
    }

    pub(super) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
        self.trim();
    }

    /// Adds a line and returns its place, for [`Log::answered`].
    pub(super) fn push(&mut self, line: RequestLine) -> usize {
        let place = self.first + self.lines.len();
        self.lines.push_back(line);
        self.trim();
        place
    }

    pub(super) fn answered(&mut self, place: usize, code: u16) {
        let line = place
            .checked_sub(self.first)
            .and_then(|index| self.lines.get_mut(index));
        if let Some(line) = line {
            line.code = Some(code);
        }
    }

    pub(super) fn lines(&self) -> Vec<RequestLine> {
        self.lines.iter().cloned().collect()
    }

    pub(super) fn clear(&mut self) {
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
