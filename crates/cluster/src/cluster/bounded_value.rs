//! Values that may be nested to any depth.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};

/// What is nested deeper is passed over: no field that is read lies there. `serde_json` reads no text with
/// values below 128 others, while the API server stores 10,000 (Go's `encoding/json`): one object would
/// make its whole list unreadable.
const MAX_DEPTH: u8 = 32;

/// A value, with `null` in place of what lies too deep in it.
#[derive(Clone, Debug, Default)]
pub(super) struct BoundedValue(pub(super) Value);

impl<'de> Deserialize<'de> for BoundedValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Within(MAX_DEPTH).deserialize(deserializer).map(Self)
    }
}

/// How many levels may be read.
#[derive(Clone, Copy)]
struct Within(u8);

impl Within {
    const fn below(self) -> Self {
        Self(self.0 - 1)
    }
}

impl<'de> DeserializeSeed<'de> for Within {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        if self.0 == 0 {
            return IgnoredAny::deserialize(deserializer).map(|_| Value::Null);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Within {
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
        while let Some(item) = seq.next_element_seed(self.below())? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = map.next_key()? {
            members.insert(name, map.next_value_seed(self.below())?);
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_read_whole_but_for_what_lies_too_deep() {
        let all = json!({"a": [1, -2, 2.5, "text", true, null, {"b": {}}]});
        let read: BoundedValue = serde_json::from_str(&all.to_string()).unwrap();
        assert_eq!(read.0, all);

        let deep = format!("{}7{}", "[".repeat(5_000), "]".repeat(5_000));
        let read: BoundedValue = serde_json::from_str(&deep).unwrap();
        let shown = format!("{}null{}", "[".repeat(32), "]".repeat(32));
        assert_eq!(read.0.to_string(), shown);
    }
}
