//! Which reads of one object a controller may send: one after a conflict, and one to find the
//! manager that reverted a recent count.

use std::collections::HashMap;

use crate::checker::scalers::known::{Instants, Known};

/// `--revert-window`, in milliseconds.
const REVERT_WINDOW: i64 = 15 * 60_000;

/// The reasons of one process for reads of an object, by namespace and name.
#[derive(Default)]
pub struct Reads {
    conflicts: HashMap<(String, String), u32>,
    /// Recent counts that it set, and that others set while it waited for a response.
    counts: HashMap<(String, String), Vec<SetCount>>,
}

/// A count that it set and did not look up since.
struct SetCount {
    uid: String,
    from: u32,
    to: u32,
    /// Without the time that the machine has slept.
    at: i64,
}

impl Reads {
    /// A patch was answered with a conflict.
    pub fn conflicted(&mut self, namespace: &str, name: &str) {
        let object = (namespace.to_owned(), name.to_owned());
        *self.conflicts.entry(object).or_default() += 1;
    }

    /// A patch was accepted that sets a count: its own, or one that it might take for its own.
    pub fn set(&mut self, known: &Known, (from, to): (u32, u32), at: Instants, is_own: bool) {
        let object = &known.object;
        let set = SetCount {
            uid: object.uid.clone(),
            from,
            to,
            at: at.truth - at.slept,
        };
        let name = (object.namespace.clone(), object.name.clone());
        let counts = self.counts.entry(name).or_default();
        if is_own {
            counts.clear();
        }
        counts.push(set);
    }

    /// An object with this knowledge is read. Returns whether that is a lookup of the count's
    /// manager and not a read after a conflict, or why it must not be read.
    pub fn read(
        &mut self,
        (namespace, name): (&str, &str),
        known: &[Known],
        at: Instants,
        clock_set: i64,
    ) -> Result<bool, String> {
        let object = (namespace.to_owned(), name.to_owned());
        if let Some(conflicts) = self.conflicts.get_mut(&object)
            && *conflicts > 0
        {
            *conflicts -= 1;
            return Ok(false);
        }
        let counts = self.counts.remove(&object).unwrap_or_default();
        let mut asked: Result<(), String> =
            Err("it is read, and nothing happened that asks for it".into());
        for set in &counts {
            asked = set.is_read(known, at, clock_set);
            if asked.is_ok() {
                break;
            }
        }
        asked.map(|()| true)
    }
}

impl SetCount {
    /// It is read to find the manager that reverted it; returns why it must not be.
    fn is_read(&self, known: &[Known], at: Instants, clock_set: i64) -> Result<(), String> {
        let is_back = |it: &Known| {
            let count = it.object.replicas;
            let is_back = if self.from > self.to {
                count > self.to
            } else {
                count < self.to
            };
            it.object.uid == self.uid && is_back
        };
        let later = at.truth - at.slept - self.at;
        // A process whose clock was wrong meanwhile reads once the clock is right.
        if later > REVERT_WINDOW && clock_set <= self.at + at.slept {
            return Err(format!("it is read {later} ms after its count was set"));
        }
        if !known.iter().any(is_back) {
            return Err("it is read, and nobody has set its count back".into());
        }
        Ok(())
    }
}
