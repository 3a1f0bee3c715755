//! Texts, and what is said of the wrong ones.

use std::fmt::Debug;

use dayshift_schedule::{Diagnostic, MAX_TEXT, Proposal};
use dayshift_text::is_unprintable;

/// The lines of an input; a missing one is empty.
pub fn lines<const N: usize>(bytes: &[u8]) -> Option<[&str; N]> {
    let mut lines = std::str::from_utf8(bytes).ok()?.splitn(N, '\n');
    Some([(); N].map(|()| lines.next().unwrap_or_default()))
}

/// The same items in another order, which is to mean the same.
pub fn reversed(text: &str) -> String {
    let items: Vec<_> = text.rsplit(';').collect();
    items.join(";")
}

/// The same text in other letters and with other blanks, which is to mean the same.
pub fn respelt(text: &str) -> String {
    text.to_ascii_uppercase().replace(' ', "\t ")
}

/// What a text is read as, if it can be. Its items in another order mean the same, and so does the
/// text in another spelling.
pub fn parse<T: Debug + PartialEq>(
    text: &str,
    parse: fn(&str) -> Result<T, Diagnostic>,
) -> Option<T> {
    let parsed = read(text, parse)?;
    for same in [reversed(text), respelt(text)] {
        if same.len() <= MAX_TEXT {
            assert_eq!(parse(&same).as_ref(), Ok(&parsed), "{text:?}: {same:?}");
        }
    }
    Some(parsed)
}

/// What a text is read as; an error is checked, and what it proposes is read.
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
    let all = all.expect("it stands in the text");
    // Another item may be wrong too.
    if let Some(next) = parse(&all).err().filter(|_| all.len() <= MAX_TEXT) {
        assert!(next.span().end > place.start, "{text:?}: {all:?}");
    }
    None
}

/// An error points at something that is there, and can be shown.
pub fn check_error(text: &str, error: &Diagnostic) {
    let span = error.span();
    let pointed = text.get(span.clone());
    assert!(pointed.is_some(), "{span:?} is no part of {text:?}");
    assert!(
        !span.is_empty() || text.is_empty(),
        "{error} is nowhere in {text:?}"
    );
    check_printable(&error.to_string());
}

/// What is shown to somebody acts on no terminal.
pub fn check_printable(message: &str) {
    assert!(!message.chars().any(is_unprintable), "{message:?}");
    assert!(!message.is_empty());
}

/// Whether the API server takes the text as the value of a label.
pub fn is_label_value(text: &str) -> bool {
    let bytes = text.as_bytes();
    let ends = [bytes.first(), bytes.last()];
    bytes.len() <= 63
        && bytes
            .iter()
            .all(|it| it.is_ascii_alphanumeric() || b"-_.".contains(it))
        && ends.into_iter().flatten().all(u8::is_ascii_alphanumeric)
}
