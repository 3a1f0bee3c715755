//! How long a text may be.

/// The longest text that is read, in bytes. Longer ones are refused unread.
pub const MAX_TEXT: usize = 4096;

/// The beginning of a text that is too long, which is too long as well; the whole of any other. An
/// object may have 256 KiB of annotations, and a cluster many objects: no more than this is kept.
pub fn cut_too_long(text: &str) -> &str {
    let end = (MAX_TEXT + 1..text.len()).find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(text.len())]
}

/// Whether a text is longer than what is read.
pub const fn is_too_long(text: &str) -> bool {
    text.len() > MAX_TEXT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_text_too_long_is_too_long_and_ends_between_characters() {
        for letter in ["x", "é", "日", "🌙"] {
            let text = letter.repeat(5000);
            let beginning = cut_too_long(&text);
            assert!((MAX_TEXT + 1..MAX_TEXT + 5).contains(&beginning.len()));
            assert!(is_too_long(beginning));
        }
        for read in ["", "09:00", &"x".repeat(MAX_TEXT)] {
            assert!(!is_too_long(read) && cut_too_long(read) == read);
        }
    }
}
