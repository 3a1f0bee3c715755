//! What the oracle makes of counts: adoptions, starts and stops.

use crate::{
    calendar::Turn,
    labels::{Labels, Owner},
    oracle::{Given, Oracle, Write, next_after},
    phase::Phase,
};

impl<G: Given> Oracle<G> {
    pub(crate) fn adopt(
        &self,
        last: i64,
        owner: Owner,
        held: Option<(Phase, Option<i64>)>,
        calendar: &[(i64, Turn)],
    ) -> Write {
        let (phase, next) = held.unwrap_or((Phase::Adopted, next_after(calendar, last)));
        // That a start came before need not be written down where the phase says it.
        let saved = self.count_to_keep();
        let saved = saved.filter(|saved| phase != Phase::Woken || *saved > 0);
        Write {
            what: "adopt",
            labels: Labels {
                phase: Some(phase),
                last: Some(last),
                next,
                saved,
                owner: Some(owner),
                ..Labels::default()
            },
            replicas: self.object.replicas,
            fresh: true,
            lifts: true,
            ..Write::default()
        }
    }

    /// Rule 4.
    pub(crate) fn turn(&self, at: i64, turn: Turn, calendar: &[(i64, Turn)]) -> Write {
        let Some(mind) = &self.mind else {
            unreachable!()
        };
        let state = mind.known.clone();
        let (seen, wish) = (self.object.replicas, &self.object.wish);
        let after_our_start = matches!(state.phase, Some(Phase::Running | Phase::Woken));
        let (what, phase, replicas, saved) = match turn {
            Turn::On => {
                let least = match state.saved {
                    Some(saved) => saved,
                    None if after_our_start => 0,
                    None => 1,
                };
                let count = wish.replicas.unwrap_or(seen.max(least));
                ("start", Phase::Running, count, None)
            }
            Turn::Off => {
                let wanted = (seen > 0 || after_our_start).then_some(seen);
                let count = seen.min(wish.stop_count());
                ("stop", Phase::Stopped, count, state.saved.max(wanted))
            }
        };
        let last = state.last.map_or(at, |last| last.max(at));
        Write {
            what,
            labels: Labels {
                phase: Some(phase),
                last: Some(last),
                next: next_after(calendar, last),
                saved,
                ..state
            },
            replicas,
            fresh: true,
            lifts: true,
            ..Write::default()
        }
    }

    /// Rule 4: what outlives the end of what was followed so far. A start without a count since
    /// is as good as a count of 0; what another object or another schedule has left is dropped
    /// by what is up.
    pub(crate) fn count_to_keep(&self) -> Option<u32> {
        let state = &self.mind.as_ref()?.known;
        let of_another = matches!(state.owner, Some(Owner::Of(_, uid)) if uid != self.object.uid);
        if of_another || state.saved.is_some() && state.is_only_a_count() {
            let is_down = self.object.replicas <= self.object.wish.stop_count();
            return state.saved.filter(|_| is_down);
        }
        let started = matches!(state.phase, Some(Phase::Running | Phase::Woken));
        match state.saved {
            None if started => Some(0),
            saved => saved,
        }
    }
}
