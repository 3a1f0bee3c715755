//! What dayshift writes besides, and what stands before the slash of every name.

use std::{fmt, sync::Arc};

use dayshift_text::{nearest, quote};

use super::key::Key;
use super::label::Label;
use crate::names::is_dns_label;

/// The name of the annotation in which dayshift writes why a schedule is refused.
const ERROR: &str = "error";

/// The name of the annotation in which dayshift writes when the active override began.
///
/// `kubectl rollout undo` brings it back together with its override, so dayshift can tell an
/// override that has ended (`docs/decisions/state/ended-overrides.md`).
pub const OVERRIDE_BEGAN: &str = "override-began";

/// The name of the annotation in which dayshift writes what an object goes by that is written
/// elsewhere: on its Namespace, or among the flags of the scaler.
pub const INHERITED: &str = "inherited";

/// The name of the label of a Job that dayshift has suspended: the UID of its CronJob.
const SUSPENDED_BY: &str = "suspended-by";

/// The names of the annotations that dayshift writes itself.
pub const OWN_ANNOTATIONS: [&str; 3] = [ERROR, OVERRIDE_BEGAN, INHERITED];

/// What stands before the `/` of every annotation and label, `dayshift` by default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix(Arc<str>);

/// A text that cannot stand before the `/` of an annotation or label key, cut where it is long.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a prefix of Kubernetes keys; write a DNS name in lower case of at most 253 characters, such as dayshift or scaling.example.com"
)]
pub struct PrefixError(String);

impl Prefix {
    /// Reads a prefix; it is a DNS subdomain (RFC 1123), as Kubernetes wants of key prefixes.
    ///
    /// # Errors
    /// The text is not such a name, or is longer than 253 characters.
    pub fn parse(text: &str) -> Result<Self, PrefixError> {
        if text.len() <= 253 && text.split('.').all(is_dns_label) {
            Ok(Self(text.into()))
        } else {
            Err(PrefixError(quote(text)))
        }
    }

    /// The full name of an input annotation, such as `dayshift/start`.
    pub fn annotation(&self, key: Key) -> String {
        self.full(key.name())
    }

    /// The full name of a state label, such as `dayshift/next`.
    pub fn label(&self, label: Label) -> String {
        self.full(label.name())
    }

    /// The full name of the annotation that says why a schedule is refused.
    pub fn error(&self) -> String {
        self.full(ERROR)
    }

    /// The full name of the annotation that says when the active override began.
    pub fn override_began(&self) -> String {
        self.full(OVERRIDE_BEGAN)
    }

    /// The full name of the annotation that says what an object inherits.
    pub fn inherited(&self) -> String {
        self.full(INHERITED)
    }

    /// The full name of the label of a Job that dayshift has suspended.
    pub fn suspended_by(&self) -> String {
        self.full(SUSPENDED_BY)
    }

    /// ` --annotation-prefix scaling.example.com`, for a command; nothing for the default.
    pub fn flag(&self) -> String {
        if *self == Self::default() {
            String::new()
        } else {
            format!(" --annotation-prefix {self}")
        }
    }

    /// `name` behind this prefix and a slash.
    pub fn full(&self, name: &str) -> String {
        format!("{}/{name}", self.0)
    }

    /// What follows this prefix and the slash in a full name, if it stands there.
    pub fn strip<'a>(&self, full: &'a str) -> Option<&'a str> {
        full.strip_prefix(&*self.0)?.strip_prefix('/')
    }

    /// Whether a full name stands behind this prefix, or may have been meant to: the prefix is in
    /// it in any case and with anything around it, or a key follows one that is spelt much alike.
    pub fn resembles(&self, full: &str) -> bool {
        let ours = self.0.as_bytes();
        let holds = |name: &str| {
            let mut parts = name.as_bytes().windows(ours.len());
            parts.any(|part| part.eq_ignore_ascii_case(ours))
        };
        holds(full)
            || full.split_once('/').is_some_and(|(prefix, name)| {
                Key::from_name(name).is_some() && nearest(prefix, [&*self.0]).is_some()
            })
    }
}

impl Default for Prefix {
    fn default() -> Self {
        Self("dayshift".into())
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_a_dns_name() {
        for good in ["dayshift", "scaling.example.com", "a-1"] {
            assert_eq!(Prefix::parse(good).unwrap().to_string(), good);
        }
        for bad in ["", "Dayshift", "a/b", "-a", "a..b", "a_b", &"a".repeat(64)] {
            assert!(Prefix::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_name_may_have_been_meant_to_be_ours() {
        let prefix = Prefix::default();
        for (name, expected) in [
            ("dayshift/start", true),
            ("lint.dayshift/same-instant", true),
            ("Dayshift/start", true),
            ("dayshift.io/start", true),
            ("dayshift-start", true),
            ("dayshfit/start", true),
            ("dayshfit/owner", false),
            ("downscaler/replicas", false),
            ("app", false),
        ] {
            assert_eq!(prefix.resembles(name), expected, "{name}");
        }
    }

    #[test]
    fn another_prefix_that_begins_alike_is_not_ours() {
        let prefix = Prefix::default();
        assert_eq!(prefix.strip("dayshift/start"), Some("start"));
        assert_eq!(prefix.strip("dayshift.io/start"), None);
        assert_eq!(prefix.strip("dayshifts/start"), None);
    }
}
