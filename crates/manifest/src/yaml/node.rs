//! The tree of a YAML document: nodes with their places, and the values of scalars as kubectl reads
//! them.

use std::{borrow::Cow, ops::Range, rc::Rc};

use dayshift_text::quote;
use granit_parser::{Marker, Span};
use serde_json::{Map, Number, Value};

/// A span of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The line of its first character, from 1.
    pub line: usize,
    /// The column of its first character, in characters from 1.
    pub column: usize,
    /// Its bytes in the file.
    pub span: Range<usize>,
}

impl Location {
    pub(crate) fn new(start: Marker, end: Marker) -> Self {
        let from = start.byte_offset().unwrap_or_default();
        Self {
            line: start.line(),
            column: start.col() + 1,
            span: from..end.byte_offset().unwrap_or_default().max(from),
        }
    }

    pub(crate) fn from_span(span: &Span) -> Self {
        Self::new(span.start, span.end)
    }
}

/// A value with its place. Nodes behind aliases are shared.
#[derive(Debug)]
pub(crate) struct Node<'a> {
    pub(crate) place: Location,
    /// The number of levels, including this one.
    pub(crate) height: usize,
    /// The approximate number of bytes when written out with all aliases expanded.
    pub(crate) cost: usize,
    pub(crate) content: NodeContent<'a>,
}

#[derive(Debug)]
pub(crate) enum NodeContent<'a> {
    /// A scalar. Without quotes it can be a number, a boolean or null.
    Scalar {
        text: Cow<'a, str>,
        bare: bool,
    },
    List(Vec<Rc<Node<'a>>>),
    Map(Vec<MapEntry<'a>>),
}

/// A key and its value. If several entries have the same key, the last one counts.
#[derive(Clone, Debug)]
pub(crate) struct MapEntry<'a> {
    pub(crate) key: Rc<Node<'a>>,
    pub(crate) value: Rc<Node<'a>>,
    /// Whether `<<` merged it from another map.
    pub(crate) merged: bool,
}

impl MapEntry<'_> {
    /// The key as it is written. The parser rejects keys that are not scalars.
    pub(crate) fn name(&self) -> &str {
        self.key.written().unwrap_or_default()
    }
}

impl<'a> Node<'a> {
    /// The entries of a map; empty for other nodes.
    pub(crate) fn entries(&self) -> &[MapEntry<'a>] {
        match &self.content {
            NodeContent::Map(entries) => entries,
            NodeContent::Scalar { .. } | NodeContent::List(_) => &[],
        }
    }

    /// The items of a list; empty for other nodes.
    pub(crate) fn items(&self) -> &[Rc<Self>] {
        match &self.content {
            NodeContent::List(items) => items,
            NodeContent::Scalar { .. } | NodeContent::Map(_) => &[],
        }
    }

    /// The value of a key, unless it is null.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        let entry = self.entries().iter().rfind(|entry| entry.name() == name)?;
        Some(&*entry.value).filter(|value| value.scalar() != Some(Scalar::Null))
    }

    /// The value behind several keys, unless it is null.
    pub(crate) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, name| node.get(name))
    }

    /// The text behind several keys.
    pub(crate) fn text_at(&self, path: &[&str]) -> Option<&str> {
        self.at(path)?.text()
    }

    /// Whether the value behind several keys is `true`.
    pub(crate) fn is_true(&self, path: &[&str]) -> bool {
        let flag = self.at(path).and_then(Self::scalar);
        flag == Some(Scalar::Bool(true))
    }

    /// The items of a key's list; empty if there is none.
    pub(crate) fn list(&self, name: &str) -> &[Rc<Self>] {
        self.get(name).map_or(&[], Self::items)
    }

    /// The scalar at a key, as it is written in the file; empty if there is none.
    pub(crate) fn word(&self, name: &str) -> &str {
        self.get(name).and_then(Self::written).unwrap_or_default()
    }

    /// The scalar as it is written in the file, of any type.
    pub(crate) fn written(&self) -> Option<&str> {
        match &self.content {
            NodeContent::Scalar { text, .. } => Some(text),
            NodeContent::List(_) | NodeContent::Map(_) => None,
        }
    }

    /// The value of a scalar.
    pub(crate) fn scalar(&self) -> Option<Scalar> {
        match &self.content {
            NodeContent::Scalar { text, bare: true } => Some(Scalar::parse(text)),
            NodeContent::Scalar { bare: false, .. } => Some(Scalar::Text),
            NodeContent::List(_) | NodeContent::Map(_) => None,
        }
    }

    /// A scalar that is text.
    pub(crate) fn text(&self) -> Option<&str> {
        self.written()
            .filter(|_| self.scalar() == Some(Scalar::Text))
    }

    /// The type, as messages name it.
    pub(crate) fn type_name(&self) -> &'static str {
        match (&self.content, self.scalar()) {
            (NodeContent::List(_), _) => "a list",
            (NodeContent::Map(_), _) => "a map",
            (_, Some(Scalar::Null)) => "nothing",
            (_, Some(Scalar::Bool(_))) => "true or false",
            (_, Some(Scalar::Number(_))) => "a number",
            _ => "text",
        }
    }

    /// The quoted scalar, or the type.
    pub(crate) fn described(&self) -> String {
        self.written().map_or_else(
            || self.type_name().to_owned(),
            |text| format!("`{}`", quote(text)),
        )
    }

    /// The node as JSON.
    pub(crate) fn json(&self) -> Value {
        match &self.content {
            NodeContent::List(items) => items.iter().map(|item| item.json()).collect(),
            NodeContent::Map(entries) => {
                let fields = entries
                    .iter()
                    .map(|entry| (entry.name().to_owned(), entry.value.json()));
                Value::Object(fields.collect::<Map<_, _>>())
            }
            NodeContent::Scalar { text, .. } => match self.scalar() {
                Some(Scalar::Null) => Value::Null,
                Some(Scalar::Bool(value)) => Value::Bool(value),
                Some(Scalar::Number(number)) => Value::Number(number),
                _ => Value::String(text.clone().into_owned()),
            },
        }
    }
}

/// The value of a scalar.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scalar {
    Null,
    Bool(bool),
    Number(Number),
    Text,
}

impl Scalar {
    /// Parses an unquoted scalar as kubectl does, whose parser (go-yaml v2) implements YAML 1.1:
    /// `on` and `y` are booleans, `0o17` and `017` are octal, and a date is text, as `9:00` is.
    pub(crate) fn parse(word: &str) -> Self {
        match word {
            "" | "~" | "null" | "Null" | "NULL" => return Self::Null,
            "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "true" | "True" | "TRUE" => {
                return Self::Bool(true);
            }
            "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" | "false" | "False"
            | "FALSE" => return Self::Bool(false),
            _ => {}
        }
        number(word).map_or(Self::Text, Self::Number)
    }
}

/// The maximum length of a number. No parser accepts longer ones.
const MAX_NUMBER: usize = 400;

fn number(word: &str) -> Option<Number> {
    let unsigned = word.strip_prefix(['+', '-']).unwrap_or(word);
    if word.len() > MAX_NUMBER || !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let plain = word.replace('_', "");
    integer(&plain).or_else(|| {
        let decimal = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
        let float: f64 = plain.parse().ok().filter(|_| plain.chars().all(decimal))?;
        Number::from_f64(float)
    })
}

fn integer(plain: &str) -> Option<Number> {
    let negative = plain.starts_with('-');
    let digits = plain.strip_prefix(['+', '-']).unwrap_or(plain);
    let prefix = digits.get(..2).map(str::to_ascii_lowercase);
    let (radix, digits) = match prefix.as_deref() {
        Some("0x") => (16, &digits[2..]),
        Some("0o") => (8, &digits[2..]),
        Some("0b") => (2, &digits[2..]),
        Some(_) if digits.starts_with('0') => (8, &digits[1..]),
        _ => (10, digits),
    };
    if !digits.starts_with(|c: char| c.is_ascii_hexdigit()) {
        return None;
    }
    let size = u64::from_str_radix(digits, radix).ok()?;
    if negative {
        0_i64.checked_sub_unsigned(size).map(Number::from)
    } else {
        Some(size.into())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_words_as_kubectl_does() {
        for (word, expected) in [
            ("2", json!(2)),
            ("-7", json!(-7)),
            ("+7", json!(7)),
            ("1_000", json!(1000)),
            ("0x1F", json!(31)),
            ("0o17", json!(15)),
            ("017", json!(15)),
            ("0b11", json!(3)),
            ("-0b11", json!(-3)),
            ("08", json!(8.0)),
            ("18446744073709551615", json!(u64::MAX)),
            ("-9223372036854775808", json!(i64::MIN)),
            ("1.5", json!(1.5)),
            (".5", json!(0.5)),
            ("1e3", json!(1000.0)),
            ("on", json!(true)),
            ("No", json!(false)),
            ("y", json!(true)),
            ("TRUE", json!(true)),
            ("", json!(null)),
            ("~", json!(null)),
        ] {
            let read = match Scalar::parse(word) {
                Scalar::Null => json!(null),
                Scalar::Bool(value) => json!(value),
                Scalar::Number(number) => json!(number),
                Scalar::Text => json!(word),
            };
            assert_eq!(read, expected, "{word}");
        }
    }

    #[test]
    fn reads_number_lookalikes_as_text() {
        for word in [
            "9:00",
            "2026-12-24",
            "2026-12-24 18:00",
            "Mon-Fri 09:00",
            "10m",
            "64Mi",
            "1.2.3",
            "-",
            "+",
            ".",
            "..",
            "0x",
            "0xG",
            "--1",
            "+-1",
            "1e",
            "e3",
            "yEs",
            "nan",
            "inf",
            "1e999",
            "１",
            "infinity",
            "_1",
        ] {
            assert_eq!(Scalar::parse(word), Scalar::Text, "{word}");
        }
        assert_eq!(Scalar::parse(&"9".repeat(MAX_NUMBER + 1)), Scalar::Text);
    }
}
