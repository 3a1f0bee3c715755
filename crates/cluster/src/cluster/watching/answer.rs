//! Answers to the requests of a watch, with a bound on the memory they take.

use std::{error::Error as StdError, io, iter::successors, mem};

use bytes::BytesMut;
use dayshift_text::cut_bytes;
use http::{Response, StatusCode};
use http_body_util::{BodyDataStream, BodyExt as _};
use kube::{
    Error,
    client::Body,
    core::{Status, WatchEvent},
};
use memchr::memchr;
use serde::de::DeserializeOwned;

use crate::cluster::{
    connection::{
        instrument::{bounded, next_piece},
        patient::retry_after,
    },
    watching::error::WatchError,
};

/// The most bytes of one event of a watch: etcd holds no object of more than 1.5 MB.
const MAX_EVENT: usize = 16 << 20;

/// The answer if the server has granted the request, otherwise why not.
pub(super) async fn granted(
    verb: &'static str,
    answer: Response<Body>,
) -> Result<Body, WatchError> {
    let (parts, body) = answer.into_parts();
    if parts.status.is_success() {
        return Ok(body);
    }
    let text = bounded(body).await;
    let text = text.map_err(|error| WatchError::new(verb, Error::Service(error)))?;
    let error = WatchError::new(verb, Error::Api(status(parts.status, &text)));
    Err(WatchError {
        retry_after: retry_after(&parts.headers).or(error.retry_after),
        ..error
    })
}

/// The message of a server that refuses; a proxy may send anything.
fn status(code: StatusCode, text: &[u8]) -> Box<Status> {
    let status = serde_json::from_slice::<Status>(text);
    let foreign = || {
        let text = String::from_utf8_lossy(text);
        Status::failure(cut_bytes(text.trim(), 200), "Unknown")
    };
    Box::new(
        status
            .unwrap_or_else(|_| foreign())
            .with_code(code.as_u16()),
    )
}

/// The events of a watch: a line of JSON for each.
pub(super) struct EventLines {
    body: BodyDataStream<Body>,
    read: BytesMut,
    /// How many of its bytes hold no end of a line.
    searched: usize,
}

impl EventLines {
    pub(super) fn of(body: Body) -> Self {
        Self {
            body: body.into_data_stream(),
            read: BytesMut::new(),
            searched: 0,
        }
    }

    /// The next event; `None` at the end of the watch. An incomplete line is no event.
    pub(super) async fn next<D>(&mut self) -> Option<Result<WatchEvent<D>, Error>>
    where
        D: DeserializeOwned,
    {
        loop {
            if let Some(end) = memchr(b'\n', &self.read[self.searched..]) {
                let line = match self.searched + end + 1 {
                    // No buffer is kept while the watch is silent.
                    all if all == self.read.len() => mem::take(&mut self.read),
                    some => self.read.split_to(some),
                };
                self.searched = 0;
                return Some(event(&line));
            }
            self.searched = self.read.len();
            if self.searched > MAX_EVENT {
                return Some(Err(Error::LinesCodecMaxLineLengthExceeded));
            }
            match next_piece(&mut self.body, !self.read.is_empty()).await? {
                Ok(piece) => self.read.extend_from_slice(&piece),
                // A proxy or a load balancer has cut it off, as many do after some minutes.
                Err(error) if is_cut_off(&error) => return None,
                Err(error) => return Some(Err(Error::ReadEvents(io::Error::other(error)))),
            }
        }
    }
}

/// A line of a watch may be a bare status.
fn event<D: DeserializeOwned>(line: &[u8]) -> Result<WatchEvent<D>, Error> {
    serde_json::from_slice(line).map_err(|error| {
        let status = serde_json::from_slice::<Status>(line);
        match status.ok().filter(|status| status.code > 0) {
            Some(status) => Error::Api(Box::new(status)),
            None => Error::SerdeError(error),
        }
    })
}

fn is_cut_off(error: &(dyn StdError + 'static)) -> bool {
    let is_end = |error: &(dyn StdError + 'static)| {
        let error = error.downcast_ref::<io::Error>();
        error.is_some_and(|it| it.kind() == io::ErrorKind::UnexpectedEof)
    };
    successors(Some(error), |error| (*error).source()).any(is_end)
        || error.to_string().contains("unexpected EOF during chunk")
}
