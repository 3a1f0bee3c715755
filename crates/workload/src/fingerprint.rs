//! The label `fingerprint`, which ties a state to one schedule text on one object. A copied object or an
//! edited schedule has another fingerprint.

use std::fmt;

use dayshift_text::number;
use ring::digest::{Context, SHA256};

/// A hash of the object's UID, and one of the schedule text.
///
/// The text form is `v2-`, the first 16 hexadecimal digits of the SHA-256 of the UID, `-`, and the
/// first 16 of the SHA-256 of the schedule text. That text consists of the annotations `start stop
/// hours scale timezone except treat-as jitter extra stop-after` in this order, without the missing
/// ones: a line feed, the name, `=`, the length of the value in bytes, `:` and the value. Flags and versions are
/// not included, so an object keeps its fingerprint if dayshift is upgraded or started with another
/// `--timezone`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint {
    /// The hash of the UID.
    object: u64,
    /// The hash of the schedule text.
    text: u64,
}

/// The version in the text form, after `v`.
const VERSION: u32 = 2;

impl Fingerprint {
    /// The fingerprint of a schedule on the object with this UID. `schedule` has the names and
    /// values of its annotations in the documented order.
    pub(crate) fn new<'a>(
        uid: &str,
        schedule: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let mut hash = Context::new(&SHA256);
        for (name, text) in schedule {
            let length = text.len().to_string();
            for part in ["\n", name, "=", &length, ":", text] {
                hash.update(part.as_bytes());
            }
        }
        Self {
            object: sha256_prefix(uid),
            text: first_bytes(hash),
        }
    }

    /// Whether it was made for the object with this UID.
    pub fn belongs_to(self, uid: &str) -> bool {
        self.object == sha256_prefix(uid)
    }

    /// Parses a label value; `None` if it is not a fingerprint of this version.
    pub fn parse(text: &str) -> Option<Self> {
        let hash = |text: &str| {
            let is_hash = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
            u64::from_str_radix(text, 16).ok().filter(|_| is_hash)
        };
        let (version, hashes) = split(text)?;
        let (object, text) = hashes.split_once('-').filter(|_| version == VERSION)?;
        Some(Self {
            object: hash(object)?,
            text: hash(text)?,
        })
    }

    /// Whether a label value is a fingerprint of a later dayshift version. Such an object must not
    /// be changed.
    pub(crate) fn is_of_a_later_version(text: &str) -> bool {
        split(text).is_some_and(|(version, _)| version > VERSION)
    }
}

/// The version of a fingerprint, and the rest.
fn split(text: &str) -> Option<(u32, &str)> {
    let (version, rest) = text.strip_prefix('v')?.split_once('-')?;
    Some((number(version)?, rest))
}

/// The first eight bytes of the SHA-256 of a string. They are the same in every version of
/// dayshift.
pub fn sha256_prefix(text: &str) -> u64 {
    let mut hash = Context::new(&SHA256);
    hash.update(text.as_bytes());
    first_bytes(hash)
}

fn first_bytes(hash: Context) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&hash.finish().as_ref()[..8]);
    u64::from_be_bytes(first)
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{VERSION}-{:016x}-{:016x}", self.object, self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parsing_and_printing_are_inverse() {
        let text = "v2-0123456789abcdef-0000000000000000";
        assert_eq!(Fingerprint::parse(text).unwrap().to_string(), text);
        for text in [
            "",
            "v2-",
            "2-0123456789abcdef-0123456789abcdef",
            "vx-0123456789abcdef-0123456789abcdef",
            "v1-0123456789abcdef",
            "v1-0123456789abcdef-0123456789abcdef",
            "v3-0123456789abcdef-0123456789abcdef",
            "v2-0123456789abcdef",
            "v2-0123456789abcdef-",
            "v2-zz23456789abcdef-0123456789abcdef",
            "v2-+123456789abcdef-0123456789abcdef",
            "v2-0123456789abcdef-0123456789abcdef-0",
        ] {
            assert_eq!(Fingerprint::parse(text), None, "{text}");
        }
    }

    #[test]
    fn recognizes_a_fingerprint_of_a_later_version() {
        for (text, is_later) in [
            ("v3-whatever", true),
            ("v10-0123456789abcdef", true),
            ("v2-0123456789abcdef-0000000000000000", false),
            ("v1-0123456789abcdef", false),
            ("v0-0", false),
            ("v3", false),
            ("vx-1", false),
            ("3-x", false),
            ("v99999999999-x", false),
            ("", false),
        ] {
            assert_eq!(Fingerprint::is_of_a_later_version(text), is_later, "{text}");
        }
    }
}
