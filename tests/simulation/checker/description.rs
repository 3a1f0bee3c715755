//! A write in words.

use crate::{
    checker::objects::object::{NEVER, Object},
    scenario::calendar::show,
};

/// The difference between an object before and after a write, in words.
pub fn describe(old: &Object, new: &Object) -> String {
    let at = |at: Option<i64>| at.map_or_else(|| "-".to_owned(), show);
    let state = &new.state;
    let expired = if old.texts == new.texts {
        ""
    } else {
        ", lifts"
    };
    let error = if new.error.is_some() { ", error" } else { "" };
    let phase = state
        .phase
        .map_or_else(|| "-".to_owned(), |phase| format!("{phase:?}"));
    format!(
        "{}: {} -> {}, {phase}, last {}, next {}, saved {:?}{expired}{error}",
        new.full_name(),
        old.replicas,
        new.replicas,
        at(state.last),
        at(state.next.filter(|next| *next != NEVER)),
        state.saved,
    )
}
