//! How an entry of a map is written: its quotes, and whether it is JSON.

use std::ops::Range;

use crate::manifest::{Entry, Scalar};

/// How an entry is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// The key is in double quotes, as in JSON.
    is_json: bool,
    is_flow: bool,
    quote: Quote,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quote {
    None,
    Single,
    Double,
}

impl Style {
    pub(super) fn of(text: &str, entry: &Entry<'_>, is_flow: bool) -> Self {
        let slice = |range: Range<usize>| text.get(range).unwrap_or_default();
        let key = slice(entry.key.place.span.clone());
        let value = slice(entry.value.place.span.clone());
        let between = entry.key.place.span.end..entry.value.place.span.start;
        let is_block = slice(between).contains(['>', '|']);
        let is_text = !is_block && entry.value.scalar() == Some(Scalar::Text);
        let is_json = key.starts_with('"');
        let quote = match value.as_bytes().first() {
            _ if is_json => Quote::Double,
            Some(b'\'') => Quote::Single,
            Some(b'"') | None => Quote::Double,
            Some(_) if is_text => Quote::None,
            Some(_) => Quote::Double,
        };
        Self {
            is_json,
            is_flow,
            quote,
        }
    }

    /// The same for a map of its own: its texts have quotes, as most people write annotations.
    pub(super) fn for_new_map(self) -> Self {
        let quote = match self.quote {
            Quote::None if !self.is_flow => Quote::Double,
            quote => quote,
        };
        Self { quote, ..self }
    }

    pub(super) fn key(self, name: &str) -> String {
        if self.is_json {
            format!("\"{name}\"")
        } else {
            name.to_owned()
        }
    }

    fn value(self, text: &str) -> String {
        match self.quote {
            Quote::None if self.is_plain(text) => text.to_owned(),
            Quote::Single if !text.contains(char::is_control) => {
                format!("'{}'", text.replace('\'', "''"))
            }
            _ => serde_json::Value::from(text).to_string(),
        }
    }

    /// Whether a text means itself without quotes.
    fn is_plain(self, text: &str) -> bool {
        let first = |it: char| it.is_ascii_alphabetic();
        let is_safe = |it: char| it.is_ascii_alphanumeric() || " :;-/_.+".contains(it);
        text.starts_with(first)
            && text
                .chars()
                .all(|it| is_safe(it) || it == ',' && !self.is_flow)
            && !text.contains(": ")
            && !text.ends_with([':', ' '])
            && Scalar::of(text) == Scalar::Text
    }

    pub(super) fn pairs(self, pairs: &[(String, String)], separator: &str) -> String {
        let pairs = pairs.iter();
        let texts = pairs.map(|(name, text)| format!("{}: {}", self.key(name), self.value(text)));
        texts.collect::<Vec<_>>().join(separator)
    }
}
