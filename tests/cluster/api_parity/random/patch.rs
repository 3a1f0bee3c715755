//! One patch, JSON or merge.

use fastrand::Rng;
use serde_json::Value;

use super::operation;

/// The parts are JSON strings, because serde cannot write every form that is sent.
#[derive(Clone)]
pub enum Patch {
    Json(Vec<String>),
    /// Paths and values; a repeated path makes a duplicate key.
    Merge(Vec<(String, String)>),
}

impl Patch {
    pub fn random(rng: &mut Rng, object: &Value) -> Self {
        let count = rng.usize(1..=5);
        if rng.u8(..3) > 0 {
            return Self::Json((0..count).map(|_| operation::random(rng, object)).collect());
        }
        let member = |_| {
            let path = operation::path(rng);
            let value = match rng.u8(..5) {
                0 => "null".to_owned(),
                _ => operation::value(rng, &path, object, false),
            };
            (path, value)
        };
        Self::Merge((0..count).map(member).collect())
    }

    pub fn content_type(&self) -> &'static str {
        match self {
            Self::Json(_) => "application/json-patch+json",
            Self::Merge(_) => "application/merge-patch+json",
        }
    }

    pub fn body(&self) -> String {
        match self {
            Self::Json(operations) => format!("[{}]", operations.join(",")),
            Self::Merge(members) => {
                let members: Vec<_> = members
                    .iter()
                    .map(|(path, value)| {
                        let keys = path.split('/').skip(1).map(|key| key.replace("~1", "/"));
                        (keys.collect(), value.as_str())
                    })
                    .collect();
                nested(&members)
            }
        }
    }

    /// The number of its parts.
    pub fn len(&self) -> usize {
        match self {
            Self::Json(operations) => operations.len(),
            Self::Merge(members) => members.len(),
        }
    }

    pub fn without(&self, part: usize) -> Self {
        let mut less = self.clone();
        match &mut less {
            Self::Json(operations) => drop(operations.remove(part)),
            Self::Merge(members) => drop(members.remove(part)),
        }
        less
    }
}

/// An object with each value below its keys. Adjacent values share their parents.
fn nested(members: &[(Vec<String>, &str)]) -> String {
    let mut parts = Vec::new();
    let mut rest = members;
    while let Some((keys, value)) = rest.first() {
        let Some((key, below)) = keys.split_first() else {
            rest = &rest[1..];
            continue;
        };
        let key_text = Value::from(key.as_str()).to_string();
        if below.is_empty() {
            parts.push(format!("{key_text}:{value}"));
            rest = &rest[1..];
            continue;
        }
        let same = |(keys, _): &&(Vec<String>, &str)| keys.len() > 1 && keys[0] == *key;
        let count = rest.iter().take_while(same).count();
        let inner: Vec<_> = rest[..count]
            .iter()
            .map(|(keys, value)| (keys[1..].to_vec(), *value))
            .collect();
        parts.push(format!("{key_text}:{}", nested(&inner)));
        rest = &rest[count..];
    }
    format!("{{{}}}", parts.join(","))
}
