//! Several watches merged into one stream of events.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use futures::{
    Stream, StreamExt as _,
    stream::{BoxStream, SelectAll},
};

use crate::{
    decode::views::Decode,
    watch::reflector::{Reflector, ReflectorEvent},
};

type Events<E> = BoxStream<'static, (usize, E)>;

/// Watches whose events arrive as one stream, each with the number of its watch. The first watch has the
/// number 0.
pub struct WatchSet<E> {
    events: SelectAll<Events<E>>,
    watches: Vec<Box<dyn Fn() -> Events<E> + Send>>,
}

impl<E: Send + 'static> WatchSet<E> {
    /// An empty set.
    pub fn new() -> Self {
        Self {
            events: SelectAll::new(),
            watches: Vec::new(),
        }
    }

    /// Adds a watch, whose events are converted by `event`.
    pub fn add<D>(
        &mut self,
        reflector: Reflector<D>,
        event: impl Fn(ReflectorEvent<D>) -> E + Clone + Send + 'static,
    ) where
        D: Decode,
    {
        let id = self.watches.len();
        let begin = move || {
            let event = event.clone();
            let events = reflector.restarted().into_stream();
            events.map(move |reported| (id, event(reported))).boxed()
        };
        self.events.push(begin());
        self.watches.push(Box::new(begin));
    }

    /// The number of watches.
    pub fn len(&self) -> usize {
        self.watches.len()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.watches.is_empty()
    }

    /// Lists everything again, because the server was restored to an earlier history. Objects that are
    /// not in the new lists are reported as deleted.
    pub fn relist(&mut self) {
        self.events = self.watches.iter().map(|begin| begin()).collect();
    }
}

impl<E: Send + 'static> Default for WatchSet<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E> Stream for WatchSet<E> {
    type Item = (usize, E);

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.events.poll_next_unpin(context)
    }
}
