//! That no count is lost, said without phases, schedules and memories: what a user last chose
//! while the object was up is running or saved, until the user lets go of it.

use dayshift::workload::{Change, ChangeKind, Key, Observed, Replicas};

/// The count that must be there to come back to.
#[derive(Clone, Copy, Debug)]
pub struct Promise(u32);

impl Promise {
    pub const fn new(replicas: u32) -> Self {
        Self(replicas)
    }

    /// A user set the count; by night that counts only where a boundary sees it.
    pub fn scaled(&mut self, object: &Observed) {
        if object.state().saved.unwrap_or_default() == Replicas::ZERO {
            self.0 = object.replicas.get();
        } else {
            self.lost(object);
        }
    }

    /// A user destroyed what was saved, and nobody can know better.
    pub fn lost(&mut self, object: &Observed) {
        self.cut(reachable(object));
    }

    /// A user says to come back to this many.
    pub fn cut(&mut self, saved: u32) {
        self.0 = self.0.min(saved);
    }

    /// A user put another object, or an older one, in place of what was there.
    pub fn replaced(&mut self, object: &Observed) {
        self.0 = if object.replicas > object.inputs.stop_replicas() {
            object.replicas.get()
        } else {
            reachable(object)
        };
    }

    pub fn made(&mut self, object: &Observed, change: &Change) {
        let seen = object.replicas.get();
        let up = seen > object.inputs.stop_replicas().get();
        let state = object.state();
        let of_another = state
            .fingerprint
            .as_ref()
            .is_some_and(|it| it.is_of_object(&object.object.uid) == Some(false));
        let leftover = of_another || state.is_only_saved();
        match change.kind {
            // An exact count is the user's choice too.
            ChangeKind::Start | ChangeKind::Wake if object.inputs.text(Key::Replicas).is_some() => {
                self.0 = change.replicas.get();
            }
            // What is left of another object or of a schedule before counts only while down.
            ChangeKind::Adopt(_) | ChangeKind::Pause | ChangeKind::Wake | ChangeKind::Sleep
                if leftover && up =>
            {
                self.0 = seen;
            }
            ChangeKind::Start
            | ChangeKind::Stop
            | ChangeKind::Wake
            | ChangeKind::Sleep
            | ChangeKind::Enforce => self.0 = self.0.max(seen),
            _ => {}
        }
    }

    pub fn is_kept(self, object: &Observed) -> bool {
        reachable(object) >= self.0
    }
}

fn reachable(object: &Observed) -> u32 {
    let saved = object.state().saved.unwrap_or_default();
    object.replicas.max(saved).get()
}
