//! The file of named schedules in the scenario of this thread: each plan is an entry.

use std::{cell::RefCell, collections::BTreeMap};

use crate::scenario::calendar::Plan;

type Texts = BTreeMap<String, String>;

/// The annotation that names an entry.
pub const KEY: &str = "schedule";

thread_local! {
    static ENTRIES: RefCell<BTreeMap<String, Texts>> = const { RefCell::new(BTreeMap::new()) };
}

/// Sets the entries of the scenario that begins: one for each plan, or none.
pub fn begin(plans: &[Plan], are_named: bool) {
    let plans = plans.iter().enumerate().filter(|_| are_named);
    let entries = plans.map(|(plan, it)| {
        let texts = it.texts().into_iter();
        let texts = texts.map(|(key, text)| (key.to_owned(), text));
        (name(plan), texts.collect())
    });
    ENTRIES.set(entries.collect());
}

/// The name of the entry of a plan.
pub fn name(plan: usize) -> String {
    format!("plan-{plan}")
}

/// All entries.
pub fn entries() -> BTreeMap<String, Texts> {
    ENTRIES.with_borrow(Clone::clone)
}

/// The values of the entry that these annotations name.
pub fn named_by(texts: &Texts) -> Option<Texts> {
    let name = texts.get(KEY)?;
    ENTRIES.with_borrow(|entries| entries.get(name).cloned())
}
