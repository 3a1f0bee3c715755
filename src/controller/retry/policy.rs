//! Whether and when something that has failed is tried again.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use tokio::time::Instant;

use crate::{cluster::Unavailable, workload::WorkloadRef};

use crate::controller::ids::Id;
use crate::controller::retry::backoff::Backoff;
use crate::controller::retry::backpressure::Backpressure;
use crate::controller::retry::permission_backoff::PermissionBackoff;

/// What holds requests back: all of them, or those of a kind and namespace without permission.
pub(in crate::controller) struct RetryPolicy {
    backpressure: Backpressure,
    permissions: PermissionBackoff,
    random: fastrand::Rng,
}

impl RetryPolicy {
    /// Nothing has failed yet; at most so many requests are under way. The seed is that of all
    /// jitter.
    pub(in crate::controller) fn new(most: usize, seed: u64) -> Self {
        Self {
            backpressure: Backpressure::new(most),
            permissions: PermissionBackoff::default(),
            random: fastrand::Rng::with_seed(seed),
        }
    }

    /// How long to wait after so many failures in a row.
    pub(in crate::controller) fn delay(&mut self, backoff: &Backoff, failures: u32) -> Duration {
        backoff.delay(failures, &mut self.random)
    }

    /// The jitter of whoever keeps a backoff of its own.
    pub(in crate::controller) const fn random(&mut self) -> &mut fastrand::Rng {
        &mut self.random
    }

    /// The server has answered.
    pub(in crate::controller) fn answered(&mut self, now: Instant) {
        self.backpressure.answered(now);
    }

    /// The server has failed, or asked to be left alone; true where that is the first failure of
    /// those that were under way together.
    pub(in crate::controller) fn server_failed(&mut self, now: Instant, why: &Unavailable) -> bool {
        let is_first = self.backpressure.is_over(now);
        self.backpressure.back_off(now, why, &mut self.random);
        is_first
    }

    /// The server has failed to do what it was asked of one object.
    pub(in crate::controller) fn object_failed(
        &mut self,
        now: Instant,
        id: Id,
        namespace: &Arc<str>,
        why: &Unavailable,
    ) {
        self.backpressure
            .object_failed(now, id, namespace, why, &mut self.random);
    }

    /// An object has got no usable answer: whether the server is to be taken for away.
    pub(in crate::controller) fn is_away(&mut self, now: Instant, id: Id) -> bool {
        self.backpressure.is_away(now, id)
    }

    /// An object has got no answer in time: whether the server is to be asked for something that passes
    /// no admission; it is taken to be asked.
    pub(in crate::controller) fn must_ask(&mut self, now: Instant) -> bool {
        self.backpressure.must_ask(now)
    }

    /// The server was asked, and has answered or not.
    pub(in crate::controller) const fn was_asked(&mut self, has_answered: bool, now: Instant) {
        self.backpressure.was_asked(has_answered, now);
    }

    /// Whether nothing is sent now.
    pub(in crate::controller) fn is_paused(&self, now: Instant) -> bool {
        !self.backpressure.is_over(now)
    }

    /// Until when nothing is sent, or was not.
    pub(in crate::controller) const fn paused_until(&self) -> Option<Instant> {
        self.backpressure.until()
    }

    /// How many requests may be under way now.
    pub(in crate::controller) const fn room(&self) -> usize {
        self.backpressure.room()
    }

    /// A patch of this object was forbidden. Returns who asks next for its kind and namespace, and
    /// when; none if it waits for another's answer.
    pub(in crate::controller) fn forbidden(
        &mut self,
        object: &WorkloadRef,
        id: Id,
    ) -> Option<(Id, Duration)> {
        let (asker, refusals) = self.permissions.refused(object, id)?;
        Some((asker, self.delay(&Backoff::FORBIDDEN, refusals)))
    }

    /// Whether the user may be told on this object that a permission is missing; then it is taken to
    /// be told for all of its kind and namespace.
    pub(in crate::controller) fn may_tell_forbidden(
        &mut self,
        object: &WorkloadRef,
        now: Instant,
    ) -> bool {
        self.permissions.may_tell(object, now)
    }

    /// Whether this object is to wait, for another asks for its kind and namespace; it is noted,
    /// then.
    pub(in crate::controller) fn must_wait(&mut self, object: &WorkloadRef, id: Id) -> bool {
        self.permissions.must_wait(object, id)
    }

    /// A patch of this object was not forbidden; returns those that waited for that.
    pub(in crate::controller) fn permitted(
        &mut self,
        object: &WorkloadRef,
        id: Id,
    ) -> BTreeSet<Id> {
        self.permissions.is_over(object, id)
    }

    /// This object is not known any more.
    pub(in crate::controller) fn gone(&mut self, id: Id) {
        self.permissions.gone(id);
    }

    /// This object asks for nothing any more; returns those that waited for its answer.
    pub(in crate::controller) fn forget(&mut self, id: Id) -> BTreeSet<Id> {
        self.backpressure.forget(id);
        self.permissions.forget(id)
    }

    /// Whether no permission is missing, as far as is known.
    pub(in crate::controller) fn has_every_permission(&self) -> bool {
        self.permissions.is_empty()
    }
}
