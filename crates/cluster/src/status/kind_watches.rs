//! A watch for each kind, or for each name, so that what may not be read hides nothing else.

use chrono::TimeDelta;
use futures::{
    StreamExt as _,
    stream::{self, BoxStream, SelectAll, select_all},
};
use kube::Client;

use crate::{
    clock::Clock,
    cluster::{FindError, Part, Query, Refused, WatchEvent, WatchEvents, WithManagers, watch},
};

/// How long after a refusal a kind is asked for again: somebody may have given the permission.
const AGAIN: TimeDelta = TimeDelta::seconds(5);

type Seen = Result<WatchEvent<WithManagers>, FindError>;

/// The watches of a query, and how far each of them is.
pub struct KindWatches {
    all: SelectAll<BoxStream<'static, (usize, Seen)>>,
    parts: Vec<(Part, State)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Listing,
    Listed,
    Refused(FindError),
}

/// What a watch has shown.
#[derive(Debug)]
pub enum Shown {
    /// Something of the objects that may be seen.
    Event(WatchEvent<WithManagers>),
    /// These may not be seen now.
    Refused(Part),
}

impl KindWatches {
    /// Those of a query; nothing is asked before [`Self::next`].
    pub fn of(client: &Client, query: &Query, clock: &Clock) -> Self {
        let each = query.parts().into_iter().enumerate();
        let (parts, watches): (Vec<_>, Vec<_>) = each
            .map(|(at, (part, query))| {
                let watch = again_and_again(client.clone(), query, clock.clone(), at);
                ((part, State::Listing), watch)
            })
            .unzip();
        let all = select_all(watches);
        Self { all, parts }
    }

    /// What has been shown by now, of which there is something.
    ///
    /// # Errors
    /// What no new try can fix, such as a refusal of everything.
    pub async fn next(&mut self) -> Result<Vec<Shown>, FindError> {
        let mut ready = (&mut self.all).ready_chunks(1024);
        let chunk = ready.next().await.unwrap_or_default();
        let mut shown = Vec::with_capacity(chunk.len());
        for (at, seen) in chunk {
            shown.extend(self.take_in(at, seen)?);
        }
        Ok(shown)
    }

    fn take_in(&mut self, at: usize, seen: Seen) -> Result<Vec<Shown>, FindError> {
        let was_listing = self.are_listing();
        let mut shown = Vec::new();
        let mut answers = was_listing;
        match seen {
            Ok(WatchEvent::Complete) => {
                self.parts[at].1 = State::Listed;
                answers = true;
            }
            Ok(event) => return Ok(vec![Shown::Event(event)]),
            Err(error) if error.is_refusal() => {
                self.parts[at].1 = State::Refused(error.clone());
                let refused = self.refused();
                if refused.len() == self.parts.len() {
                    // Whichever came last, it is the same each time.
                    return Err(refused.into_iter().next().map_or(error, |it| it.error));
                }
                shown.push(Shown::Refused(self.parts[at].0.clone()));
            }
            Err(error) => return Err(error),
        }
        if answers && !self.are_listing() {
            shown.push(Shown::Event(WatchEvent::Complete));
        }
        Ok(shown)
    }

    fn are_listing(&self) -> bool {
        let mut parts = self.parts.iter();
        parts.any(|(_, state)| *state == State::Listing)
    }

    /// What may not be read now, and why.
    pub fn refused(&self) -> Vec<Refused> {
        let refused = |(part, state): &(Part, State)| match state {
            State::Refused(error) => Some(Refused {
                part: part.clone(),
                error: error.clone(),
            }),
            State::Listing | State::Listed => None,
        };
        self.parts.iter().filter_map(refused).collect()
    }
}

/// A watch that is begun anew, from its list, some time after it was refused.
fn again_and_again(
    client: Client,
    query: Query,
    clock: Clock,
    at: usize,
) -> BoxStream<'static, (usize, Seen)> {
    let begun = Some(watch(&client, &query));
    let seen = stream::unfold(begun, move |begun| {
        let (client, query, clock) = (client.clone(), query.clone(), clock.clone());
        async move {
            let mut events: WatchEvents<WithManagers> = match begun {
                Some(events) => events,
                None => {
                    clock.sleep_until(clock.now() + AGAIN).await;
                    watch(&client, &query)
                }
            };
            let seen = events.next().await?;
            let is_refused = seen.as_ref().is_err_and(FindError::is_refusal);
            Some((seen, (!is_refused).then_some(events)))
        }
    });
    seen.map(move |seen| (at, seen)).boxed()
}
