//! A watch for each kind, so that one that may not be read hides none of the others.

use chrono::TimeDelta;
use futures::{
    StreamExt as _,
    stream::{self, BoxStream, SelectAll, select_all},
};
use kube::Client;

use crate::{
    clock::Clock,
    cluster::{FindError, Query, WatchEvent, WatchEvents, WithManagers, watch},
    workload::Kind,
};

/// So long after a refusal a kind is asked for again: somebody may have given the permission.
const AGAIN: TimeDelta = TimeDelta::seconds(30);

type Seen = Result<WatchEvent<WithManagers>, FindError>;

/// The watches of a query, and how far each of them is.
pub(super) struct KindWatches {
    all: SelectAll<BoxStream<'static, (usize, Seen)>>,
    states: Vec<State>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Listing,
    Listed,
    Forbidden(FindError),
}

/// What a watch has shown.
#[derive(Debug)]
pub(super) enum Shown {
    Event(WatchEvent<WithManagers>),
    /// The objects of a kind may not be seen now.
    Forbidden(Kind),
}

impl KindWatches {
    pub(super) fn of(client: &Client, query: &Query, clock: &Clock) -> Self {
        let queries = of_each_kind(query);
        let states = vec![State::Listing; queries.len()];
        let each = queries.into_iter().enumerate();
        let watch = |(at, query)| again_and_again(client.clone(), query, clock.clone(), at);
        let all = select_all(each.map(watch));
        Self { all, states }
    }

    /// What has been shown by now, of which there is something.
    ///
    /// # Errors
    /// What no new try can fix, such as a refusal of every kind.
    pub(super) async fn next(&mut self) -> Result<Vec<Shown>, FindError> {
        let mut ready = (&mut self.all).ready_chunks(1024);
        let chunk = ready.next().await.unwrap_or_default();
        let mut shown = Vec::with_capacity(chunk.len());
        for (at, seen) in chunk {
            shown.extend(self.take_in(at, seen)?);
        }
        Ok(shown)
    }

    fn take_in(&mut self, at: usize, seen: Seen) -> Result<Vec<Shown>, FindError> {
        let was_listing = self.states.contains(&State::Listing);
        let mut shown = Vec::new();
        let mut answers = was_listing;
        match seen {
            Ok(WatchEvent::Complete) => {
                self.states[at] = State::Listed;
                answers = true;
            }
            Ok(event) => return Ok(vec![Shown::Event(event)]),
            Err(error @ FindError::Forbidden { kind, .. }) => {
                self.states[at] = State::Forbidden(error.clone());
                let mut states = self.states.iter();
                if states.all(|it| matches!(it, State::Forbidden(_))) {
                    return Err(error);
                }
                shown.push(Shown::Forbidden(kind));
            }
            Err(error) => return Err(error),
        }
        if answers && !self.states.contains(&State::Listing) {
            shown.push(Shown::Event(WatchEvent::Complete));
        }
        Ok(shown)
    }

    /// The kinds that may not be read now, and why.
    pub(super) fn forbidden(&self) -> Vec<String> {
        let why = |state: &State| match state {
            State::Forbidden(error @ FindError::Forbidden { kind, .. }) => {
                Some(format!("{}s are not shown: {error}", kind.name()))
            }
            _ => None,
        };
        self.states.iter().filter_map(why).collect()
    }
}

fn of_each_kind(query: &Query) -> Vec<Query> {
    match query {
        Query::Named { .. } => vec![query.clone()],
        Query::All {
            kinds,
            namespace,
            selector,
        } => kinds
            .iter()
            .map(|kind| Query::All {
                kinds: vec![*kind],
                namespace: namespace.clone(),
                selector: selector.clone(),
            })
            .collect(),
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
            let is_refused = matches!(seen, Err(FindError::Forbidden { .. }));
            Some((seen, (!is_refused).then_some(events)))
        }
    });
    seen.map(move |seen| (at, seen)).boxed()
}
