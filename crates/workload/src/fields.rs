//! Reads the values at known positions of JSON, and skips all others without keeping them.
//!
//! A custom kind can have a value of any form at any position, nested to any depth, and any number of
//! values. No such value makes an object, and with it the whole list, unreadable, or needs much memory.

use std::{borrow::Cow, cell::Cell, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};

/// Collects values while JSON is read.
pub trait FieldReader {
    /// A position in the JSON.
    type Position: Copy;

    /// Begins the object at this position.
    fn begin(&mut self, _at: Self::Position) {}

    /// How to read a member of the object at this position.
    fn member(&mut self, at: Self::Position, name: &str) -> Member<Self::Position>;

    /// The position of the items of the list at this position; `None` to skip them.
    fn item(&self, _list: Self::Position) -> Option<Self::Position> {
        None
    }

    /// Reads a string or a number.
    fn scalar(&mut self, at: Self::Position, scalar: &Scalar<'_>);

    /// Ends the member or item at the position `at`.
    fn end(&mut self, _within: Self::Position, _at: Self::Position) {}

    /// Keeps a whole member.
    fn keep(&mut self, _name: &str, _value: Value) {}
}

/// How to read a member.
#[derive(Clone, Copy, Debug)]
pub enum Member<P> {
    /// It has this position.
    At(P),
    /// It is kept whole.
    Whole,
    /// It is not read.
    Skipped,
}

/// A string or a number.
#[derive(Clone, Debug)]
pub enum Scalar<'v> {
    /// A string.
    Text(&'v str),
    /// A number.
    Number(Number),
}

impl Scalar<'_> {
    /// A string; `None` for a number.
    pub const fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Number(_) => None,
        }
    }

    /// A whole number, also if it is written as a string.
    pub fn whole(&self) -> Option<i64> {
        match self {
            Self::Text(text) => text.parse().ok(),
            Self::Number(number) => number.as_i64(),
        }
    }
}

/// Reads a value, whose position is `at`.
///
/// # Errors
/// If it is not JSON.
pub fn read_fields<'de, R: FieldReader, D: Deserializer<'de>>(
    reader: &mut R,
    at: R::Position,
    deserializer: D,
) -> Result<(), D::Error> {
    let left = Cell::new(MAX_VALUES);
    let bounds = Bounds::new(&left);
    let any = AnyForm { reader, at, bounds };
    any.deserialize(deserializer)
}

/// A value of any form.
struct AnyForm<'r, R: FieldReader> {
    reader: &'r mut R,
    at: R::Position,
    /// The bounds of all members together that are kept whole.
    bounds: Bounds<'r>,
}

/// The name of a member, borrowed if it contains no escapes.
#[derive(Deserialize)]
struct Name<'n>(#[serde(borrow)] Cow<'n, str>);

impl<R: FieldReader> AnyForm<'_, R> {
    fn below(&mut self, at: R::Position) -> AnyForm<'_, R> {
        AnyForm {
            reader: self.reader,
            at,
            bounds: self.bounds,
        }
    }

    fn scalar(self, scalar: &Scalar<'_>) {
        self.reader.scalar(self.at, scalar);
    }
}

impl<'de, R: FieldReader> DeserializeSeed<'de> for AnyForm<'_, R> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, R: FieldReader> Visitor<'de> for AnyForm<'_, R> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.scalar(&Scalar::Number(number.into()));
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.scalar(&Scalar::Number(number.into()));
        Ok(())
    }

    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        if let Some(number) = Number::from_f64(number) {
            self.scalar(&Scalar::Number(number));
        }
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.scalar(&Scalar::Text(text));
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        let Some(at) = self.reader.item(self.at) else {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(());
        };
        while seq.next_element_seed(self.below(at))?.is_some() {
            self.reader.end(self.at, at);
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        self.reader.begin(self.at);
        while let Some(Name(name)) = map.next_key()? {
            match self.reader.member(self.at, &name) {
                Member::At(at) => {
                    map.next_value_seed(self.below(at))?;
                    self.reader.end(self.at, at);
                }
                Member::Whole if self.bounds.has_room() => {
                    let value = map.next_value_seed(self.bounds)?;
                    self.reader.keep(&name, value);
                }
                Member::Whole | Member::Skipped => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// The deepest nesting that is kept; no field that dayshift reads is deeper. `serde_json` rejects values
/// below 128 levels, while the API server stores up to 10,000 (Go's `encoding/json`), so one such object
/// would make its whole list unreadable.
const MAX_DEPTH: u8 = 32;

/// The maximum number of values that are kept. A pod template with a thousand environment variables has
/// 4,000. A value can need a hundred times the memory of its text, and a user can write 100,000 of them.
const MAX_VALUES: usize = 10_000;

/// A value with `null` in place of everything that is nested too deeply, and without the values after
/// the first 10,000.
#[derive(Clone, Debug, Default)]
pub struct BoundedValue(pub Value);

impl<'de> Deserialize<'de> for BoundedValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let left = Cell::new(MAX_VALUES);
        Bounds::new(&left).deserialize(deserializer).map(Self)
    }
}

/// The bounds of a value that is read.
#[derive(Clone, Copy)]
struct Bounds<'b> {
    /// The number of levels that are still read.
    depth: u8,
    /// The number of values that are still read, at all levels together.
    left: &'b Cell<usize>,
}

impl<'b> Bounds<'b> {
    const fn new(left: &'b Cell<usize>) -> Self {
        Self {
            depth: MAX_DEPTH,
            left,
        }
    }

    const fn below(self) -> Self {
        Self {
            depth: self.depth - 1,
            ..self
        }
    }

    fn has_room(self) -> bool {
        self.left.get() > 0
    }
}

impl<'de> DeserializeSeed<'de> for Bounds<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        if self.depth == 0 || !self.has_room() {
            return IgnoredAny::deserialize(deserializer).map(|_| Value::Null);
        }
        self.left.set(self.left.get() - 1);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Bounds<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while self.has_room() {
            match seq.next_element_seed(self.below())? {
                Some(item) => items.push(item),
                None => return Ok(Value::Array(items)),
            }
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while self.has_room() {
            match map.next_key()? {
                Some(name) => members.insert(name, map.next_value_seed(self.below())?),
                None => return Ok(Value::Object(members)),
            };
        }
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_values_below_the_depth_limit_are_dropped() {
        let all = json!({"a": [1, -2, 2.5, "text", true, null, {"b": {}}]});
        let read: BoundedValue = serde_json::from_str(&all.to_string()).unwrap();
        assert_eq!(read.0, all);

        let deep = format!("{}7{}", "[".repeat(5_000), "]".repeat(5_000));
        let read: BoundedValue = serde_json::from_str(&deep).unwrap();
        let shown = format!("{}null{}", "[".repeat(32), "]".repeat(32));
        assert_eq!(read.0.to_string(), shown);
    }

    /// The number of values in a value, itself included.
    fn count(value: &Value) -> usize {
        1 + match value {
            Value::Array(items) => items.iter().map(count).sum(),
            Value::Object(members) => members.values().map(count).sum(),
            _ => 0,
        }
    }

    #[test]
    fn a_value_of_many_values_is_read_in_part() {
        let many = |item: &str| format!("[{}]", vec![item; 100_000].join(","));
        for text in [many("7"), many(r#"{"a":[{}]}"#), many("[[[]]]")] {
            let text = format!(r#"{{"first":1,"many":{text},"last":1}}"#);
            let read: BoundedValue = serde_json::from_str(&text).unwrap();
            assert_eq!(read.0["first"], 1);
            assert_eq!(count(&read.0), MAX_VALUES, "{}", &text[..40]);
        }
    }

    /// Keeps all members.
    #[derive(Default)]
    struct Whole(Vec<Value>);

    impl FieldReader for Whole {
        type Position = ();

        fn member(&mut self, (): (), _: &str) -> Member<()> {
            Member::Whole
        }

        fn scalar(&mut self, (): (), _: &Scalar<'_>) {}

        fn keep(&mut self, _: &str, value: Value) {
            self.0.push(value);
        }
    }

    /// A custom kind can have any number of members.
    #[test]
    fn members_of_an_object_share_the_bound() {
        let many = vec!["[0]"; 1_000].join(",");
        let members = (0..1_000).map(|number| format!(r#""m{number}":[{many}]"#));
        let text = format!("{{{}}}", members.collect::<Vec<_>>().join(","));
        let mut whole = Whole::default();
        let mut json = serde_json::Deserializer::from_str(&text);
        read_fields(&mut whole, (), &mut json).unwrap();
        assert_eq!(whole.0.iter().map(count).sum::<usize>(), MAX_VALUES);
    }
}
