//! The reads of single objects that a controller may send: one after each conflict, and one to look up the
//! manager that reverted a recent count.

use std::collections::HashMap;

use crate::checker::scalers::known::{Instants, Known};

/// `--revert-window`, in milliseconds.
const REVERT_WINDOW: i64 = 15 * 60_000;

/// The reasons for which one process may read an object, by namespace and name.
#[derive(Default)]
pub struct Reads {
    conflicts: HashMap<(String, String), u32>,
    /// Recent counts that the process set, and counts that others set while it waited for a response.
    counts: HashMap<(String, String), Vec<SetCount>>,
}

/// A count that the process set and has not looked up since.
struct SetCount {
    uid: String,
    from: u32,
    to: u32,
    /// Does not include the time for which the machine slept.
    at: i64,
}

impl Reads {
    /// The response to a patch was a conflict.
    pub fn conflicted(&mut self, namespace: &str, name: &str) {
        let object = (namespace.to_owned(), name.to_owned());
        *self.conflicts.entry(object).or_default() += 1;
    }

    /// A patch that sets a count was accepted: the process's own, or one that it might take for its own.
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

    /// The process reads an object. Returns whether that is a lookup of the count's manager, as opposed to a
    /// read after a conflict, or the violated rule.
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
        let mut asked: Result<(), String> = Err("it is read without a conflict or a revert".into());
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
    /// The process looks up the manager of the count. Returns the violated rule, if any.
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
        // A process whose clock was wrong at the revert looks it up once the clock is right.
        if later > REVERT_WINDOW && clock_set <= self.at + at.slept {
            return Err(format!("it is read {later} ms after its count was set"));
        }
        if !known.iter().any(is_back) {
            return Err("its manager is looked up, but its count was not reverted".into());
        }
        Ok(())
    }
}
