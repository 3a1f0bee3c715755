//! Inputs as text, and invariants of errors.

use std::fmt::Debug;

use dayshift_schedule::{Diagnostic, MAX_TEXT, Proposal};
use dayshift_text::is_unprintable;

/// The lines of an input. A missing line is empty.
pub fn lines<const N: usize>(bytes: &[u8]) -> Option<[&str; N]> {
    let mut lines = std::str::from_utf8(bytes).ok()?.splitn(N, '\n');
    Some([(); N].map(|()| lines.next().unwrap_or_default()))
}

/// The items in reverse order, which should have the same meaning.
pub fn reversed(text: &str) -> String {
    let items: Vec<_> = text.rsplit(';').collect();
    items.join(";")
}

/// The text with other case and blanks, which should have the same meaning.
pub fn respelled(text: &str) -> String {
    text.to_ascii_uppercase().replace(' ', "\t ")
}

/// Parses text. The items in reverse order, and the text with other case and blanks, should give
/// the same result.
pub fn parse<T: Debug + PartialEq>(
    text: &str,
    parse: fn(&str) -> Result<T, Diagnostic>,
) -> Option<T> {
    let parsed = read(text, parse)?;
    for same in [reversed(text), respelled(text)] {
        if same.len() <= MAX_TEXT {
            assert_eq!(parse(&same).as_ref(), Ok(&parsed), "{text:?}: {same:?}");
        }
    }
    Some(parsed)
}

/// Parses text. If there is an error, checks it and parses its proposal.
pub fn read<T>(text: &str, parse: impl Fn(&str) -> Result<T, Diagnostic>) -> Option<T> {
    let error = match parse(text) {
        Ok(parsed) => return Some(parsed),
        Err(error) => error,
    };
    check_error(text, &error);
    let Some(Proposal::Replace {
        span: place,
        text: meant,
    }) = error.proposal()
    else {
        return None;
    };
    assert!(
        meant.is_empty() || parse(&meant).is_ok(),
        "{meant:?} for {text:?}"
    );
    let all = error.proposal().and_then(|meant| meant.apply_to(text));
    let all = all.expect("the proposal is applied to the same text");
    // Another item might be invalid too.
    if let Some(next) = parse(&all).err().filter(|_| all.len() <= MAX_TEXT) {
        assert!(next.span().end > place.start, "{text:?}: {all:?}");
    }
    None
}

/// An error should point at existing bytes, and its message should be printable.
pub fn check_error(text: &str, error: &Diagnostic) {
    let span = error.span();
    let pointed = text.get(span.clone());
    assert!(pointed.is_some(), "{span:?} is outside of {text:?}");
    assert!(
        !span.is_empty() || text.is_empty(),
        "{error} points at no part of {text:?}"
    );
    check_printable(&error.to_string());
}

/// A message should not contain characters that control a terminal.
pub fn check_printable(message: &str) {
    assert!(!message.chars().any(is_unprintable), "{message:?}");
    assert!(!message.is_empty());
}

/// Whether the API server accepts the text as a label value.
pub fn is_label_value(text: &str) -> bool {
    let bytes = text.as_bytes();
    let ends = [bytes.first(), bytes.last()];
    bytes.len() <= 63
        && bytes
            .iter()
            .all(|it| it.is_ascii_alphanumeric() || b"-_.".contains(it))
        && ends.into_iter().flatten().all(u8::is_ascii_alphanumeric)
}
