//! How long a text may be.

/// The longest text that is read, in bytes. Longer ones are refused unread.
pub const MAX_TEXT: usize = 4096;

/// What has to be kept of a text: all that is read, or of one that is too long its beginning, which
/// is too long as well. An object may have 256 KiB of annotations, and a cluster many objects.
pub fn kept(text: &str) -> &str {
    let end = (MAX_TEXT + 1..text.len()).find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(text.len())]
}

/// Whether a text is not too long, so that it is kept whole.
pub const fn is_whole(text: &str) -> bool {
    text.len() <= MAX_TEXT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_text_too_long_is_too_long_and_ends_between_characters() {
        for letter in ["x", "é", "日", "🌙"] {
            let text = letter.repeat(5000);
            let beginning = kept(&text);
            assert!((MAX_TEXT + 1..MAX_TEXT + 5).contains(&beginning.len()));
            assert!(!is_whole(beginning));
        }
        for read in ["", "09:00", &"x".repeat(MAX_TEXT)] {
            assert!(is_whole(read) && kept(read) == read);
        }
    }
}
