//! Text that somebody wrote, as it may stand on a page.

use std::borrow::Cow;

use dayshift_text::{is_unprintable, printable};
use maud::{Markup, html};

/// Text that somebody wrote.
pub(super) fn safe(text: &str) -> Cow<'_, str> {
    if text.chars().any(is_unprintable) {
        printable(text).into()
    } else {
        text.into()
    }
}

/// Text with what stands between backticks as code.
pub(super) fn said(text: &str) -> Markup {
    let text = safe(text);
    html! {
        @for (at, part) in text.split('`').enumerate() {
            @if at % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// Text of several lines that somebody may have had a hand in.
pub(super) fn safe_lines(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(safe).collect();
    lines.join("\n")
}
