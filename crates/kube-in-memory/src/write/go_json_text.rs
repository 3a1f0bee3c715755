//! Texts of a patch that the server, which compares them as they are written, would write
//! differently.
//!
//! A `test` compares bytes of JSON: the object as Go's encoder writes it, with `<`, `>`, `&`,
//! U+2028 and U+2029 as `\u....`, and the patch as it was sent. So a test for a plain `<` fails.

use serde_json::{Map, Value};

/// Stands before a character that is not written as Go would; no character of any language.
const MARK: char = '\u{fdd0}';

/// Whether a text uses the mark itself.
pub(crate) fn is_marked(text: &str) -> bool {
    text.contains(MARK)
}

/// The JSON text with a mark before each character that is not written as Go's encoder would.
pub(crate) fn mark(text: &str) -> String {
    let mut marked = String::with_capacity(text.len() + 8);
    let mut rest = text.char_indices();
    while let Some((at, c)) = rest.next() {
        if is_escaped_by_go(c) {
            marked.push(MARK);
        }
        if c == '\\' {
            let written = match text.as_bytes().get(at + 1) {
                Some(b'u') => text.get(at..at + 6).unwrap_or("\\"),
                Some(_) => text.get(at..at + 2).unwrap_or("\\"),
                None => "\\",
            };
            if !is_written_by_go(written) {
                marked.push(MARK);
            }
            marked.push_str(written);
            if let Some(more) = written.chars().count().checked_sub(2) {
                rest.nth(more);
            }
        } else {
            marked.push(c);
        }
    }
    marked
}

/// Takes the marks out of all texts.
pub(crate) fn unmark(value: &mut Value) {
    match value {
        Value::String(text) if text.contains(MARK) => *text = text.replace(MARK, ""),
        Value::Array(items) => items.iter_mut().for_each(unmark),
        Value::Object(members) => {
            members.values_mut().for_each(unmark);
            unmark_keys(members);
        }
        _ => {}
    }
}

/// Takes the marks out of the keys: they are compared by what they say.
pub(crate) fn unmark_names(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(unmark_names),
        Value::Object(members) => {
            members.values_mut().for_each(unmark_names);
            unmark_keys(members);
        }
        _ => {}
    }
}

fn unmark_keys(members: &mut Map<String, Value>) {
    if members.keys().any(|key| key.contains(MARK)) {
        let all = std::mem::take(members).into_iter();
        *members = all
            .map(|(key, value)| (key.replace(MARK, ""), value))
            .collect();
    }
}

const fn is_escaped_by_go(c: char) -> bool {
    matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}')
}

/// Whether Go's encoder would write an escaped character in this way.
fn is_written_by_go(escaped: &str) -> bool {
    let Some(digits) = escaped.strip_prefix("\\u") else {
        return escaped != "\\/";
    };
    let c = u32::from_str_radix(digits, 16)
        .ok()
        .and_then(char::from_u32);
    c.is_some_and(|c| {
        let needed = is_escaped_by_go(c) || c < ' ' && !"\u{8}\u{c}\n\r\t".contains(c);
        needed && digits == format!("{:04x}", u32::from(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_go_would_write_is_not_marked() {
        for (text, marks) in [
            (r#"{"a":"plain \" \\ \n \t \b \f \u0001 ü 日"}"#, 0),
            (r#""\u003c\u003e\u0026\u2028""#, 0),
            (r#""<>&""#, 3),
            ("\"\u{2028}\"", 1),
            (r#""we\u0062""#, 1),
            (r#""\/ \u003C \u000a""#, 3),
        ] {
            let marked = mark(text);
            assert_eq!(marked.matches(MARK).count(), marks, "{text}");
            let [mut read, plain] = [&*marked, text].map(serde_json::from_str::<Value>);
            unmark(read.as_mut().unwrap());
            assert_eq!(read.unwrap(), plain.unwrap());
        }
    }
}
