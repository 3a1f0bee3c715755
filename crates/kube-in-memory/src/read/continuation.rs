//! Continue tokens: where a list goes on, and in the state of which resourceVersion.

use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use base64::{DecodeError, Engine as _};
use serde_json::{Value, json};

/// A decoded token. The format is the server's own.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Continuation {
    /// The first key of the page, without the namespace of a namespaced list.
    pub start: String,
    /// The state listed; `None` for the newest, which the token in a 410 stands for.
    pub revision: Option<u64>,
}

impl Continuation {
    /// Reads a token; an error is the message of a 400.
    pub(crate) fn decode(token: &str) -> Result<Self, String> {
        let wrong = |why: &str| format!("continue key is not valid: {why}");
        let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|error| match error {
            DecodeError::InvalidByte(at, _) => {
                wrong(&format!("illegal base64 data at input byte {at}"))
            }
            error => wrong(&error.to_string()),
        })?;
        let value: Value =
            serde_json::from_slice(&bytes).map_err(|error| wrong(&error.to_string()))?;
        let version = value["v"].as_str().unwrap_or_default();
        if version != "meta.k8s.io/v1" {
            return Err(wrong(&format!(
                "server does not recognize this encoded version {version}"
            )));
        }
        let revision = match value["rv"].as_i64().unwrap_or_default() {
            0 => {
                return Err(wrong(
                    "incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
                ));
            }
            revision => u64::try_from(revision).ok(),
        };
        match value["start"].as_str().unwrap_or_default() {
            "" => Err(wrong("encoded start key empty (version meta.k8s.io/v1)")),
            start => Ok(Self {
                start: start.to_owned(),
                revision,
            }),
        }
    }

    pub(crate) fn encode(&self) -> String {
        let revision = self.revision.map_or(json!(-1), |revision| json!(revision));
        let token = json!({"v": "meta.k8s.io/v1", "rv": revision, "start": self.start});
        URL_SAFE_NO_PAD.encode(token.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_says_where_the_list_goes_on() {
        for revision in [Some(7), None] {
            let there = Continuation {
                start: "web\0".into(),
                revision,
            };
            assert_eq!(Continuation::decode(&there.encode()), Ok(there));
        }
        assert!(Continuation::decode("what is this").is_err());
        assert!(Continuation::decode(&URL_SAFE_NO_PAD.encode("{}")).is_err());
    }
}
