//! The causes of a validation error, in the words of kube-apiserver.

use std::fmt::Display;

use serde::Serialize;

/// An invalid field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// For example `FieldValueInvalid` or `FieldValueRequired`. Empty if a policy denies the write.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The problem.
    pub message: String,
    /// The path of the field, for example `spec.replicas`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field: String,
}

impl Cause {
    /// A value that is not allowed. `shown` is the value as the server prints it.
    pub fn invalid(field: &str, shown: &dyn Display, why: &str) -> Self {
        let message = format!("Invalid value: {shown}: {why}");
        Self::new("FieldValueInvalid", field, message)
    }

    /// A string that is not allowed.
    pub fn invalid_text(field: &str, text: &str, why: &str) -> Self {
        Self::invalid(field, &format_args!("{text:?}"), why)
    }

    /// A missing field.
    pub fn required(field: &str, why: &str) -> Self {
        let separator = if why.is_empty() { "" } else { ": " };
        let message = format!("Required value{separator}{why}");
        Self::new("FieldValueRequired", field, message)
    }

    /// A field that is not allowed.
    pub fn forbidden(field: &str, why: &str) -> Self {
        Self::new("FieldValueForbidden", field, format!("Forbidden: {why}"))
    }

    /// A value that is longer than `limit` bytes.
    pub fn too_long(field: &str, limit: usize) -> Self {
        let message = format!("Too long: may not be more than {limit} bytes");
        Self::new("FieldValueTooLong", field, message)
    }

    /// A value that is not one of the supported ones.
    pub fn not_supported(field: &str, shown: &dyn Display, known: &[&str]) -> Self {
        let known: Vec<_> = known.iter().map(|value| format!("{value:?}")).collect();
        let known = known.join(", ");
        let message = format!("Unsupported value: {shown}: supported values: {known}");
        Self::new("FieldValueNotSupported", field, message)
    }

    pub(crate) fn new(reason: &str, field: &str, message: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            message: message.into(),
            field: field.into(),
        }
    }
}
