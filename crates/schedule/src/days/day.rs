//! The windows of one day.

use std::borrow::Cow;

use crate::ranges::unite;
use crate::windows::DAY;

/// The windows that begin on one day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Day {
    /// Their parts on the day itself, from and to which second; in order, with a second or more
    /// between two.
    pub(crate) own: Box<[(u32, u32)]>,
    /// Up to which second of the next day the longest goes on.
    pub(crate) tail: u32,
}

/// One date: what goes on from the day before, and what begins.
pub(crate) struct Shown<'a> {
    pub(crate) tail: u32,
    pub(crate) own: Cow<'a, [(u32, u32)]>,
}

impl Shown<'_> {
    pub(crate) fn covers(&self, second: u32) -> bool {
        second < self.tail || self.own_window(second).is_some()
    }

    /// From and to which second it is covered, in as few spans as will do.
    pub(crate) fn covered(&self) -> Vec<(u32, u32)> {
        let tail = (self.tail > 0).then_some((0, self.tail));
        let spans = tail.into_iter().chain(self.own.iter().copied());
        unite(spans.collect(), |end, begin| begin <= end)
    }

    fn own_window(&self, second: u32) -> Option<(u32, u32)> {
        window_at(&self.own, second)
    }

    /// The first second from `from` on that is covered, or is not, as `wanted`.
    pub(crate) fn first(&self, from: u32, wanted: bool) -> Option<u32> {
        if wanted {
            if from < self.tail {
                return Some(from);
            }
            let at = self.own.partition_point(|&(_, to)| to <= from);
            return self.own.get(at).map(|&(begin, _)| begin.max(from));
        }
        let free = from.max(self.tail);
        let free = self.own_window(free).map_or(free, |(_, to)| to);
        (free < DAY).then_some(free)
    }

    /// The last second before `to` that is covered, or is not, as `wanted`.
    pub(crate) fn last(&self, to: u32, wanted: bool) -> Option<u32> {
        let last = to.checked_sub(1)?;
        if wanted {
            let at = self.own.partition_point(|&(from, _)| from <= last);
            let own = self
                .own
                .get(..at)?
                .last()
                .map(|&(_, end)| last.min(end - 1));
            return own.max(self.tail.checked_sub(1).map(|end| last.min(end)));
        }
        let free = match self.own_window(last) {
            Some((from, _)) => from.checked_sub(1)?,
            None => last,
        };
        (free >= self.tail).then_some(free)
    }
}

/// The window that a second is in; they are in order.
fn window_at(windows: &[(u32, u32)], second: u32) -> Option<(u32, u32)> {
    let at = windows.partition_point(|&(_, to)| to <= second);
    let window = windows.get(at).copied();
    window.filter(|&(from, _)| from <= second)
}

impl Day {
    /// Whether one of its windows is at this second of the day itself.
    pub(crate) fn covers(&self, second: u32) -> bool {
        window_at(&self.own, second).is_some()
    }

    /// The windows of both.
    pub(crate) fn with(&self, other: &Self) -> Self {
        let own = [&*self.own, &*other.own].concat();
        let tail = self.tail.max(other.tail);
        Self {
            tail,
            ..Self::new(own)
        }
    }

    /// Windows in seconds from midnight; those that reach the next day end after 24:00.
    pub(crate) fn new(windows: Vec<(u32, u32)>) -> Self {
        let tail = windows
            .iter()
            .map(|&(_, to)| to.saturating_sub(DAY))
            .max()
            .unwrap_or_default();
        Self {
            own: unite(windows, |end, begin| begin <= end)
                .into_iter()
                .map(|(from, to)| (from, to.min(DAY)))
                .collect(),
            tail,
        }
    }
}
