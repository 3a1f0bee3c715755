//! JSON that escapes more than it has to.

use std::{
    borrow::Cow,
    fmt::Write as _,
    io::{self, Write},
};

use crate::schedule::is_unprintable;

/// The JSON text with each character for which `which` holds as `\u....`. Outside of its strings
/// it has none of them.
pub fn escape(json: &str, which: fn(char) -> bool) -> Cow<'_, str> {
    if !json.contains(which) {
        return json.into();
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        if which(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(character);
        }
    }
    escaped.into()
}

/// Writes JSON with nothing in it that acts on a terminal.
///
/// ```
/// use dayshift::json::Tame;
///
/// let mut shown = Vec::new();
/// serde_json::to_writer(Tame(&mut shown), "a\u{9b}2J")?;
/// assert_eq!(shown, br#""a\u009b2J""#);
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Debug)]
pub struct Tame<W>(pub W);

impl<W: Write> Write for Tame<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (whole, length) = match str::from_utf8(bytes) {
            Ok(text) => (text, bytes.len()),
            Err(error) if error.valid_up_to() > 0 => {
                let length = error.valid_up_to();
                (str::from_utf8(&bytes[..length]).unwrap_or_default(), length)
            }
            Err(_) => return Err(io::ErrorKind::InvalidData.into()),
        };
        let acts = |character| character != '\n' && is_unprintable(character);
        self.0.write_all(escape(whole, acts).as_bytes())?;
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_escaped_means_the_same() {
        let text = "a\u{9b}\u{e0001}\u{202e}日\n\"";
        let mut shown = Vec::new();
        serde_json::to_writer_pretty(Tame(&mut shown), &[text]).unwrap();
        let shown = String::from_utf8(shown).unwrap();
        assert_eq!(shown, "[\n  \"a\\u009b\\udb40\\udc01\\u202e日\\n\\\"\"\n]");
        assert_eq!(
            serde_json::from_str::<[String; 1]>(&shown).unwrap()[0],
            text
        );
    }
}
