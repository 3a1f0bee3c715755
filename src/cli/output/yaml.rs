//! JSON values as YAML in its block style.

use std::io::{self, Write};

use serde_json::Value;

/// Writes a value as a YAML document. Texts are quoted as in JSON, which YAML 1.2 takes: none is
/// read as something else, and what may not reach a terminal can be escaped in them afterwards.
/// (The emitter in kube's YAML crate chooses plain and single quotes, where `\\u` is no escape.)
///
/// # Errors
/// What the writer says.
pub(crate) fn write_yaml(out: &mut impl Write, value: &Value) -> io::Result<()> {
    write_value(out, value, 0)
}

/// Writes what stands at `depth`, in a line that has been begun and that ends here.
fn write_value(out: &mut impl Write, value: &Value, depth: usize) -> io::Result<()> {
    let indent = 2 * depth;
    match value {
        Value::Array(items) if !items.is_empty() => {
            for (at, item) in items.iter().enumerate() {
                let indent = if at == 0 { 0 } else { indent };
                write!(out, "{:indent$}- ", "")?;
                write_value(out, item, depth + 1)?;
            }
        }
        Value::Object(fields) if !fields.is_empty() => {
            for (at, (name, field)) in fields.iter().enumerate() {
                let indent = if at == 0 { 0 } else { indent };
                write!(out, "{:indent$}{name}:", "")?;
                let nested = match field {
                    Value::Array(items) => !items.is_empty(),
                    Value::Object(fields) => !fields.is_empty(),
                    _ => false,
                };
                if nested {
                    write!(out, "\n{:width$}", "", width = 2 * (depth + 1))?;
                } else {
                    write!(out, " ")?;
                }
                write_value(out, field, depth + 1)?;
            }
        }
        scalar => writeln!(out, "{scalar}")?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nested_values_are_indented_and_texts_are_quoted() {
        let value = json!({"workloads": [
            {"name": "no", "replicas": 3, "next": null, "owners": [], "problems": [
                {"start": 0, "message": "`Fry` is: \"not\"\na day"},
            ]},
            {"name": "web", "override": {"until": null}},
        ]});
        let mut out = Vec::new();
        write_yaml(&mut out, &value).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            r#"workloads:
  - name: "no"
    next: null
    owners: []
    problems:
      - message: "`Fry` is: \"not\"\na day"
        start: 0
    replicas: 3
  - name: "web"
    override:
      until: null
"#
        );
    }
}
