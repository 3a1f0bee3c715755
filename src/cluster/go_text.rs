//! JSON as Go's encoder writes it.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// What Go writes as an escape although JSON does not ask for it.
const ESCAPED: [char; 5] = ['<', '>', '&', '\u{2028}', '\u{2029}'];

/// The value as JSON whose texts are byte for byte those of the API server.
///
/// A `test` of a JSON Patch compares texts as they are written, not as they are meant
/// (evanphx/json-patch v4): a plain `&` never equals the `\u0026` that the server writes.
pub(super) fn to_vec(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut bytes, GoFormatter))?;
    Ok(bytes)
}

struct GoFormatter;

impl Formatter for GoFormatter {
    fn write_string_fragment<W>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + Write,
    {
        let mut rest = fragment;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| ESCAPED.contains(c)) {
            writer.write_all(&rest.as_bytes()[..at])?;
            write!(writer, "\\u{:04x}", u32::from(c))?;
            rest = &rest[at + c.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_what_go_escapes() {
        let text = "a<b>&\"\\/\u{8}\u{c}\n\r\t\u{1b}\u{7f}\u{2028}日";
        let written = String::from_utf8(to_vec(&text).unwrap()).unwrap();
        assert_eq!(
            written,
            "\"a\\u003cb\\u003e\\u0026\\\"\\\\/\\b\\f\\n\\r\\t\\u001b\u{7f}\\u2028日\""
        );
        assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
    }
}
