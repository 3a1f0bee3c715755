//! Texts, and what is said of the wrong ones.

use std::fmt::{Debug, Display};

use dayshift::schedule::{MAX_TEXT, TextError};
use dayshift::text::is_unprintable;

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

/// What a text is read as, if it can be. Its items in another order mean the same, and so does what
/// is printed of them.
pub fn parse<T: Display + Debug + PartialEq>(
    text: &str,
    parse: fn(&str) -> Result<T, TextError>,
) -> Option<T> {
    let parsed = read(text, parse)?;
    assert_eq!(parse(&reversed(text)).as_ref(), Ok(&parsed), "{text:?}");
    let printed = parsed.to_string();
    if printed.len() <= MAX_TEXT {
        assert_eq!(parse(&printed).as_ref(), Ok(&parsed), "{text:?}");
    }
    Some(parsed)
}

/// What a text is read as; an error is checked.
pub fn read<'a, T>(
    text: &'a str,
    parse: impl FnOnce(&'a str) -> Result<T, TextError>,
) -> Option<T> {
    parse(text)
        .inspect_err(|error| check_error(text, error))
        .ok()
}

/// An error points at something that is there, and can be shown.
pub fn check_error(text: &str, error: &TextError) {
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
