//! What an unquoted word of YAML means.

use serde_json::Number;

/// The meaning of a word.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scalar {
    Null,
    Bool(bool),
    Number(Number),
    Text,
}

impl Scalar {
    /// Reads an unquoted word as kubectl does, whose parser (go-yaml v2) is one of YAML 1.1:
    /// `on` and `y` are booleans, `0o17` and `017` octal; a date is text, and so is `9:00`.
    pub(crate) fn of(word: &str) -> Self {
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

/// The longest number that is looked at; no longer one is a number to anybody.
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
    fn a_word_means_what_it_means_to_kubectl() {
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
            let read = match Scalar::of(word) {
                Scalar::Null => json!(null),
                Scalar::Bool(value) => json!(value),
                Scalar::Number(number) => json!(number),
                Scalar::Text => json!(word),
            };
            assert_eq!(read, expected, "{word}");
        }
    }

    #[test]
    fn what_only_looks_like_a_number_is_text() {
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
            assert_eq!(Scalar::of(word), Scalar::Text, "{word}");
        }
        assert_eq!(Scalar::of(&"9".repeat(MAX_NUMBER + 1)), Scalar::Text);
    }
}
