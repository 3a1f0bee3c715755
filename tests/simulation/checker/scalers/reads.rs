//! Which reads of one object a scaler may make: one after a conflict, and one for a count of its
//! own that somebody has set back of late, to learn who it was.

use std::collections::HashMap;

use crate::checker::scalers::known::{Instants, Known};

/// `--revert-window`, in milliseconds.
const REVERT_WINDOW: i64 = 15 * 60_000;

/// What one process has that a read of an object can be for; by namespace and name.
#[derive(Default)]
pub struct Reads {
    conflicts: HashMap<(String, String), u32>,
    /// Those that it has set of late, and that others have set while it waited for an answer.
    counts: HashMap<(String, String), Vec<SetCount>>,
}

/// A count that it has set, and nobody was asked about since.
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

    /// A patch was accepted that sets a count: its own, or one that it may take for its own.
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

    /// An object is read, of which this is known: whether for who has set its count, and not after a
    /// conflict; or why it must not be.
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
    /// It is read for who has set this back; why it must not be.
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
        // Who had a wrong clock meanwhile reads once that is right.
        if later > REVERT_WINDOW && clock_set <= self.at + at.slept {
            return Err(format!("it is read {later} ms after its count was set"));
        }
        if !known.iter().any(is_back) {
            return Err("it is read, and nobody has set its count back".into());
        }
        Ok(())
    }
}
