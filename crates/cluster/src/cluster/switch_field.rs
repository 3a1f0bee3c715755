//! What stands in the field of a switch.

use dayshift_text::quote;
use dayshift_workload::{SwitchField, SwitchValue};
use serde_json::Value;

use super::spec::Spec;

/// The value of a switch in an annotation. Its map is written apart.
pub(super) fn annotated(text: Option<&String>) -> SwitchField {
    let value = text.map_or(SwitchValue::Absent(0), |it| {
        SwitchValue::Text(it.as_str().into())
    });
    of(value, 0)
}

/// The value of the field at `path` below a `spec`.
///
/// # Errors
/// The value, quoted, if the field or a member above it holds what no switch does.
pub(super) fn in_spec(spec: &Spec, path: &[&str]) -> Result<SwitchField, Box<str>> {
    let absent = |missing| SwitchValue::Absent(u8::try_from(missing).unwrap_or(u8::MAX));
    let mut alone = match spec.members {
        None => return Ok(of(absent(path.len()), 0)),
        Some(members) => u8::from(members == 1),
    };
    let mut found: Option<&Value> = None;
    for (depth, name) in path.iter().enumerate() {
        let next = match found {
            None if *name == "replicas" && spec.replicas.is_some() => {
                return Err("a count".into());
            }
            None => spec.member(name),
            Some(Value::Object(members)) => {
                alone = if members.len() == 1 { alone + 1 } else { 0 };
                members.get(*name).filter(|it| !it.is_null())
            }
            Some(other) => return Err(quote(&other.to_string()).into()),
        };
        if next.is_none() {
            return Ok(of(absent(path.len() - 1 - depth), 0));
        }
        found = next;
    }
    let value = match found {
        Some(Value::Bool(flag)) => SwitchValue::Flag(*flag),
        Some(Value::String(text)) => SwitchValue::Text(text.as_str().into()),
        other => return Err(quote(&other.unwrap_or(&Value::Null).to_string()).into()),
    };
    Ok(of(value, alone))
}

/// What is said of the field alone.
const fn of(value: SwitchValue, alone: u8) -> SwitchField {
    SwitchField {
        value,
        alone,
        beside_missing: 0,
    }
}
