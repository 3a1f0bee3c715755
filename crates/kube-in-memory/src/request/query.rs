//! The parameters of a query, and what their numbers may be.

use std::num::IntErrorKind;

use crate::status::Status;

/// The parameters of a query.
#[derive(Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn of(text: &str) -> Self {
        Self(
            form_urlencoded::parse(text.as_bytes())
                .into_owned()
                .collect(),
        )
    }

    /// The first value of a parameter; empty where there is none.
    pub(crate) fn get(&self, key: &str) -> &str {
        self.all(key).next().unwrap_or_default()
    }

    /// All values of a parameter.
    pub(crate) fn all(&self, key: &str) -> impl Iterator<Item = &str> {
        let values = self.0.iter().filter(move |(known, _)| known == key);
        values.map(|(_, value)| &**value)
    }

    /// Whether a flag is there and not `false` or `0`.
    pub(crate) fn is_set(&self, key: &str) -> bool {
        self.0
            .iter()
            .any(|(known, value)| known == key && !matches!(&**value, "false" | "0"))
    }

    /// A whole number; `None` where there is none.
    pub(crate) fn number(&self, key: &str) -> Result<Option<u64>, Status> {
        match self.get(key) {
            "" => Ok(None),
            text => text
                .parse::<i64>()
                .map(|number| u64::try_from(number).ok())
                .map_err(|error| {
                    let why = match error.kind() {
                        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => {
                            "value out of range"
                        }
                        _ => "invalid syntax",
                    };
                    let why = format!("strconv.ParseInt: parsing {text:?}: {why}");
                    Status::bad_request(why)
                }),
        }
    }
}
