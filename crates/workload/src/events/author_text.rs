//! Whose an override is, in words.

use dayshift_text::{cut_chars, printable};

use crate::{Author, MAX_REASON};

/// `by jane: migration of the database`; `None` where nobody says anything.
pub fn author_text(author: &Author) -> Option<String> {
    let shown = |text: &Option<Box<str>>| {
        let text = printable(cut_chars(text.as_deref()?.trim(), MAX_REASON));
        (!text.is_empty()).then_some(text)
    };
    match (shown(&author.by), shown(&author.reason)) {
        (Some(by), Some(reason)) => Some(format!("by {by}: {reason}")),
        (Some(by), None) => Some(format!("by {by}")),
        (None, Some(reason)) => Some(format!("reason: {reason}")),
        (None, None) => None,
    }
}
