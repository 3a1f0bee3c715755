//! Assertions about text that print the text and the missing or unexpected part. A third argument is a format
//! string for the context.

#![allow(unused_macros, reason = "each test binary uses a part of it")]

/// Panics with both texts unless `holds`.
#[track_caller]
pub(crate) fn check(
    text: impl AsRef<str>,
    part: impl AsRef<str>,
    holds: fn(&str, &str) -> bool,
    problem: &str,
    context: &str,
) {
    let (text, part) = (text.as_ref(), part.as_ref());
    assert!(holds(text, part), "{context} {part:?} {problem}:\n{text}");
}

macro_rules! check_text {
    ($holds:expr, $problem:literal, $text:expr, $part:expr $(,)?) => {
        crate::text_asserts::check(&$text, &$part, $holds, $problem, "")
    };
    ($holds:expr, $problem:literal, $text:expr, $part:expr, $($context:tt)+) => {
        crate::text_asserts::check(&$text, &$part, $holds, $problem, &format!($($context)+))
    };
}

macro_rules! assert_contains {
    ($($arguments:tt)+) => { check_text!(|text, part| text.contains(part), "is missing in", $($arguments)+) };
}

macro_rules! assert_lacks {
    ($($arguments:tt)+) => { check_text!(|text, part| !text.contains(part), "should not be in", $($arguments)+) };
}

macro_rules! assert_starts_with {
    ($($arguments:tt)+) => { check_text!(|text, part| text.starts_with(part), "is not the beginning of", $($arguments)+) };
}

macro_rules! assert_ends_with {
    ($($arguments:tt)+) => { check_text!(|text, part| text.ends_with(part), "is not the end of", $($arguments)+) };
}
