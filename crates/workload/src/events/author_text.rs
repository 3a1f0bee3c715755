//! Whose an override is, in words.

use dayshift_text::{cut_chars, printable};

use crate::{Author, MAX_REASON};

/// `by jane: migration of the database`; `None` where nobody says anything.
pub fn author_text(author: &Author) -> Option<String> {
    match (user_text(author), shown(author.reason.as_deref())) {
        (Some(by), Some(reason)) => Some(format!("by {by}: {reason}")),
        (Some(by), None) => Some(format!("by {by}")),
        (None, Some(reason)) => Some(format!("reason: {reason}")),
        (None, None) => None,
    }
}

/// `jane`; `None` where nobody is named.
pub fn user_text(author: &Author) -> Option<String> {
    shown(author.by.as_deref())
}

/// As it is shown: anybody may have written it.
fn shown(text: Option<&str>) -> Option<String> {
    let text = printable(cut_chars(text?.trim(), MAX_REASON));
    (!text.is_empty()).then_some(text)
}
