//! Validation of names, labels and annotations, in the words of kube-apiserver.

use std::num::{IntErrorKind, ParseIntError};

use serde_json::Value;

use crate::cause::Cause;

const LABEL_FORMAT: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const SUBDOMAIN_FORMAT: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const LABEL_RULE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const MAX_ANNOTATIONS: usize = 256 * 1024;

/// Go's error for text that is not a number.
pub(crate) fn go_error(error: &ParseIntError) -> &'static str {
    match error.kind() {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
        _ => "invalid syntax",
    }
}

/// Validates the labels at `field`, for example `metadata.labels`.
pub(crate) fn check_labels(labels: &Value, field: &str, causes: &mut Vec<Cause>) {
    for (key, value) in labels.as_object().into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        for why in label_key(key) {
            causes.push(Cause::invalid_text(field, key, &why));
        }
        for why in label_value(value) {
            causes.push(Cause::invalid_text(field, value, &why));
        }
    }
}

/// Validates the annotations at `field`.
pub(crate) fn check_annotations(annotations: &Value, field: &str, causes: &mut Vec<Cause>) {
    let mut size = 0;
    for (key, value) in annotations.as_object().into_iter().flatten() {
        size += key.len() + value.as_str().map_or(0, str::len);
        for why in label_key(&key.to_lowercase()) {
            causes.push(Cause::invalid_text(field, key, &why));
        }
    }
    if size > MAX_ANNOTATIONS {
        causes.push(Cause::too_long(field, MAX_ANNOTATIONS));
    }
}

/// The errors of a DNS subdomain, which most names must be.
pub(crate) fn subdomain(name: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if name.len() > 253 {
        wrong.push("must be no more than 253 bytes".to_owned());
    }
    if !name.split('.').all(is_label) {
        wrong.push(format!("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{SUBDOMAIN_FORMAT}')"));
    }
    wrong
}

/// The errors of a DNS label, which the name of a Namespace must be.
pub(crate) fn dns_label(name: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if name.len() > 63 {
        wrong.push("must be no more than 63 bytes".to_owned());
    }
    if !is_label(name) {
        wrong.push(if name.split('.').all(is_label) {
            "must not contain dots".to_owned()
        } else {
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')".to_owned()
        });
    }
    wrong
}

/// The errors of a label key.
pub(crate) fn label_key(key: &str) -> Vec<String> {
    let rule = || {
        format!(
            "{LABEL_RULE} (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{LABEL_FORMAT}')"
        )
    };
    let mut wrong = Vec::new();
    let name = match key.split('/').collect::<Vec<_>>().as_slice() {
        [name] => *name,
        ["", name] => {
            wrong.push("prefix part must be non-empty".to_owned());
            *name
        }
        [prefix, name] => {
            let all = subdomain(prefix).into_iter();
            wrong.extend(all.map(|why| format!("prefix part {why}")));
            *name
        }
        _ => {
            let rule = rule();
            return vec![format!(
                "a valid label key {rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        wrong.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        wrong.push("name part must be no more than 63 bytes".to_owned());
    }
    if name.is_empty() || !is_label_text(name) {
        wrong.push(format!("name part {}", rule()));
    }
    wrong
}

/// The errors of a label value.
pub(crate) fn label_value(value: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if value.len() > 63 {
        wrong.push("must be no more than 63 bytes".to_owned());
    }
    if !is_label_text(value) {
        wrong.push(format!("a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '({LABEL_FORMAT})?')"));
    }
    wrong
}

fn is_label_text(text: &str) -> bool {
    let edge = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    edge(bytes.first()) && edge(bytes.last()) && bytes.iter().all(inner)
}

fn is_label(part: &str) -> bool {
    let inner = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = part.as_bytes();
    bytes.first().is_some_and(inner)
        && bytes.last().is_some_and(inner)
        && bytes.iter().all(|byte| inner(byte) || *byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_keys_and_values_are_validated() {
        for (key, value, wrong) in [
            ("app", "web", 0),
            ("dayshift/next", "2026-11-23T00.00.00Z", 0),
            ("app", "", 0),
            ("app", "2026-11-23T00:00:00Z", 1),
            ("app", "-web", 1),
            ("", "web", 2),
            ("a/b/c", "web", 1),
            ("/b", "web", 1),
            ("A/b", "web", 1),
        ] {
            assert_eq!(
                label_key(key).len() + label_value(value).len(),
                wrong,
                "{key}={value}"
            );
        }
        assert_eq!(label_value(&"x".repeat(63)).len(), 0);
        assert_eq!(label_value(&"x".repeat(64)).len(), 1);
        assert_eq!(label_key(&"x".repeat(64)).len(), 1);
    }
}
