//! Starts that wait until what they need is ready.

use std::{collections::BTreeMap, sync::Arc};

use chrono::{DateTime, Utc};
use dayshift_cluster::write::EventObject;
use dayshift_workload::{
    Change, Decision, Dependency, DependencyState, DueStart, StartWait, UnreadyDependency,
    events::EventText,
};

use crate::{
    ids::Id,
    objects::needed::is_silent,
    reconcile::engine::Engine,
    starts::{starting::Place, waits::Over},
    watch::states::Sight,
};

impl Engine {
    /// Decides about an object. A start that waits is a decision to wait.
    pub(super) fn decide(&mut self, id: Id, now: DateTime<Utc>) -> Option<Decision> {
        let decision = self.index.decide(id, now);
        let Some(Decision::Write(change)) = decision else {
            self.end_wait(id);
            return decision;
        };
        Some(match self.hold_back(id, &change, now) {
            Some(due) => Decision::Wait { due },
            None => Decision::Write(self.with_wait(id, change)),
        })
    }

    /// Ends the wait of an object that is not to be started now.
    fn end_wait(&mut self, id: Id) {
        self.waits.remove(id);
        if self.starting.end_wait(id)
            && let Some(entry) = self.index.get_mut(id)
        {
            entry.work.end_wait();
        }
    }

    /// Holds a start back that waits, for what it needs or for a place. Returns when to look at it again
    /// where nothing changes; `None` for every other change.
    fn hold_back(
        &mut self,
        id: Id,
        change: &Change,
        now: DateTime<Utc>,
    ) -> Option<Option<DateTime<Utc>>> {
        let entry = self.index.get(id)?;
        let spec = entry.parsed.spec();
        let start = spec.and_then(|spec| spec.due_start(change, &entry.observed));
        let Some(start) = start else {
            self.end_wait(id);
            return None;
        };
        // What it needs may be unready again by the time that the start is sent.
        let is_over = self.waits.over(id).is_some_and(|it| it.due == start.due);
        let look = if is_over {
            None
        } else {
            self.hold_for_needs(id, change, start.due, now)
        };
        let for_place = look.is_none();
        if for_place && !self.hold_for_place(id, start, now) {
            return None;
        }
        if let Some(entry) = self.index.get_mut(id) {
            // Boundaries that come meanwhile do not come too fast.
            entry.work.wait(for_place);
        }
        let next = change.state.next_at().filter(|next| *next > now);
        Some(next.into_iter().chain(look).min())
    }

    /// When to look again at a start that waits for what it needs; `None` for every other.
    fn hold_for_needs(
        &mut self,
        id: Id,
        change: &Change,
        due: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Option<DateTime<Utc>> {
        let entry = self.index.get(id)?;
        let spec = entry.parsed.spec();
        let needs = spec.and_then(|spec| spec.needs(change, &entry.observed));
        let Some(needs) = needs else {
            self.waits.remove(id);
            return None;
        };
        let object = entry.object().clone();
        let standing = |needed: &Dependency| match self.standing(&object.namespace, needed, now) {
            DependencyState::NotReady if self.index.waits_for(needed, &object) => {
                DependencyState::Cycle
            }
            _ if needed.is(&object) => DependencyState::Cycle,
            standing => standing,
        };
        let waiting = match needs.wait(now, standing) {
            StartWait::Waits(waiting) => waiting,
            StartWait::Over { without } => {
                self.waits.end(id, (due, now), false, without);
                return None;
            }
        };
        self.starting.end_wait(id);
        if self.waits.wait(id, &object.namespace, &waiting) {
            let (names, until) = (text_of(&waiting.needed), waiting.until);
            tracing::info!(kind = %object.kind, %object, %until, "the start waits for {names}");
        }
        Some(waiting.look)
    }

    /// Whether a start waits for a place among those that are starting.
    fn hold_for_place(&mut self, id: Id, start: DueStart, now: DateTime<Utc>) -> bool {
        let Some(entry) = self.index.get(id).filter(|_| self.starting.is_bounded()) else {
            return false;
        };
        let object = entry.object();
        if is_silent(object.kind) {
            return false;
        }
        match self.starting.ask(id, &object.namespace, start.is_request) {
            Place::Taken => return false,
            Place::TakenAfterWait => {}
            Place::Wait { is_news } => {
                if is_news {
                    self.wait_notices.begin(&object.namespace, now);
                    tracing::debug!(kind = %object.kind, %object, "the start waits for a place");
                }
                return true;
            }
        }
        let object = object.clone();
        let is_lacking = |(needed, _): &&UnreadyDependency| {
            self.standing(&object.namespace, needed, now) != DependencyState::Ready
        };
        let over = self.waits.over(id);
        let without = over.map_or_else(Vec::new, |it| {
            it.without.iter().filter(is_lacking).cloned().collect()
        });
        self.waits.end(id, (start.due, now), true, without);
        if let Some(entry) = self.index.get_mut(id) {
            entry.work.end_wait();
        }
        false
    }

    /// Lets starts go that have waited for a place, as far as there are places.
    pub(super) fn call_starts(&mut self, now: DateTime<Utc>) {
        if !self.starting.is_bounded() {
            return;
        }
        self.starting.open(|| self.watches.were_all_tried());
        self.starting.end_late(&self.index, now);
        while let Some(id) = self.starting.call() {
            self.reconcile(id);
        }
    }

    /// Tells people of starts that wait for a place, on their Namespaces, as far as that is due.
    pub(super) fn tell_waits(&mut self, now: DateTime<Utc>) {
        let Some(max) = self.starting.max() else {
            return;
        };
        if self.wait_notices.next().is_none_or(|next| next > now) {
            return;
        }
        let mut waiting = BTreeMap::new();
        for entry in self
            .starting
            .waiting_ids()
            .filter_map(|id| self.index.get(id))
        {
            let namespace = Arc::clone(&entry.object().namespace);
            *waiting.entry(namespace).or_insert(0) += 1;
        }
        for (namespace, count) in self.wait_notices.take_due(waiting, now) {
            let event = EventText::starts_wait(count, max.get());
            tracing::info!(%namespace, "{}", event.text);
            let uid: Arc<str> = self.index.namespaces.uid(&namespace).into();
            self.reporter
                .announce(EventObject::namespace(namespace, uid), event);
        }
    }

    /// The change, due since its wait has ended.
    fn with_wait(&self, id: Id, change: Change) -> Change {
        match self.waits.over(id).and_then(|it| it.ended) {
            Some(ended) => change.after_wait(ended),
            None => change,
        }
    }

    fn standing(
        &self,
        namespace: &str,
        needed: &Dependency,
        now: DateTime<Utc>,
    ) -> DependencyState {
        let known = self.index.standing(namespace, needed, now);
        known.unwrap_or_else(
            || match self.watches.sight_of(needed.kind.into(), namespace) {
                Sight::Unwatched => DependencyState::Unwatched,
                Sight::Unlisted => DependencyState::NotReady,
                Sight::Listed => DependencyState::Missing,
            },
        )
    }

    /// An object has changed, or is gone: starts may have waited for that.
    pub(super) fn look_at_waits(&mut self, namespace: &str, needed: &Dependency) {
        if !self.waits.are_for(namespace, needed) {
            return;
        }
        let now = self.clock.now();
        if self.standing(namespace, needed, now) == DependencyState::NotReady {
            return;
        }
        // They fall due now: the first is sent before the others are decided about.
        for id in self.waits.take_freed(namespace, needed) {
            self.queue.set_boundary(id, Some(now));
        }
    }

    /// Decides anew about all starts that wait: what they need may have changed.
    pub(super) fn look_at_all_waits(&mut self) {
        for id in self.waits.ids() {
            self.reconcile(id);
        }
    }

    /// Reports what was not ready when a start was carried out.
    pub(super) fn report_lacks(&mut self, id: Id) {
        let over = self.waits.over(id).cloned();
        let Some(Over { due, without, .. }) = over.filter(|it| !it.without.is_empty()) else {
            return;
        };
        let Some(entry) = self.index.get(id) else {
            return;
        };
        let spec = entry.parsed.spec();
        let zone = spec.map_or(self.settings.default_zone, |spec| spec.schedule.zone());
        let event = EventText::started_without(&without, self.clock.now() - due, zone);
        let object = entry.object();
        tracing::warn!(kind = %object.kind, %object, "{}", event.text);
        self.reporter.announce(object, event);
    }
}

/// `sts/db, deploy/cache`
fn text_of(needed: &[Dependency]) -> String {
    let names: Vec<_> = needed.iter().map(Dependency::to_string).collect();
    names.join(", ")
}
