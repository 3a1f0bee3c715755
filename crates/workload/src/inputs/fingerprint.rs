//! Which schedule, on which object, a state belongs to.

use std::fmt;

use dayshift_text::number;
use ring::digest::{Context, SHA256};

use super::effective::{Inputs, Origin};
use crate::keys::Key;

/// A hash of the object's UID, and one of the text of the schedule.
///
/// It is shown as `v2-`, the first 16 hexadecimal digits of the SHA-256 of the UID, `-`, and the first
/// 16 of the SHA-256 of the schedule's text: for each of `start stop hours scale timezone except
/// treat-as jitter` that is present, in this order, a line feed, the name, `=`, the length of the text in
/// bytes, `:` and the text. What is absent does not count, and neither do flags nor versions, so
/// the same object keeps its fingerprint when dayshift is upgraded or started with another
/// `--timezone`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint {
    /// The hash of the UID.
    object: u64,
    /// The hash of the schedule's text.
    text: u64,
}

/// What stands before the `-` of a fingerprint, after a `v`.
const VERSION: u32 = 2;

impl Fingerprint {
    /// The fingerprint of these inputs on the object with this UID.
    pub fn of(inputs: &Inputs, uid: &str) -> Self {
        Self {
            object: hash_of(uid),
            text: hash_of_text(inputs),
        }
    }

    /// Whether it is the fingerprint of these inputs on the object with this UID.
    pub fn is_of(self, inputs: &Inputs, uid: &str) -> bool {
        self == Self::of(inputs, uid)
    }

    /// Whether it was made for the object with this UID.
    pub fn is_of_object(self, uid: &str) -> bool {
        self.object == hash_of(uid)
    }

    /// Reads the text of a label; `None` where it is not a fingerprint of this version.
    pub fn parse(text: &str) -> Option<Self> {
        let hash = |text: &str| {
            let is_hash = text.len() == 16 && text.bytes().all(|it| it.is_ascii_hexdigit());
            u64::from_str_radix(text, 16).ok().filter(|_| is_hash)
        };
        let (version, hashes) = split(text)?;
        let (object, text) = hashes.split_once('-').filter(|_| version == VERSION)?;
        Some(Self {
            object: hash(object)?,
            text: hash(text)?,
        })
    }

    /// Whether the text of a label is a fingerprint of a later version, whose object is left alone.
    pub(crate) fn is_of_a_later_version(text: &str) -> bool {
        split(text).is_some_and(|(version, _)| version > VERSION)
    }
}

/// The version of a fingerprint, and what follows it.
fn split(text: &str) -> Option<(u32, &str)> {
    let (version, rest) = text.strip_prefix('v')?.split_once('-')?;
    Some((number(version)?, rest))
}

/// The first eight bytes of the SHA-256 of a text, which are the same in each version.
pub fn hash_of(text: &str) -> u64 {
    let mut hash = Context::new(&SHA256);
    hash.update(text.as_bytes());
    first_bytes(hash)
}

fn hash_of_text(inputs: &Inputs) -> u64 {
    let mut hash = Context::new(&SHA256);
    for key in [
        Key::Start,
        Key::Stop,
        Key::Hours,
        Key::Scale,
        Key::Timezone,
        Key::Except,
        Key::TreatAs,
        Key::Jitter,
    ] {
        // The zone of the scaler is a flag.
        let is_flag = key == Key::Timezone && inputs.origin(key) == Some(Origin::Scaler);
        if let Some(text) = inputs.text(key).filter(|_| !is_flag) {
            let length = text.len().to_string();
            for part in ["\n", key.name(), "=", &length, ":", text] {
                hash.update(part.as_bytes());
            }
        }
    }
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

    /// Anybody can compute it: `printf uid-1 | sha256sum` and
    /// `printf '\nstart=13:Mon-Fri 09:00' | sha256sum`.
    #[test]
    fn is_the_documented_hash_for_ever() {
        let inputs = Inputs::default().with(Key::Start, "Mon-Fri 09:00");
        assert_eq!(
            Fingerprint::of(&inputs, "uid-1").to_string(),
            "v2-4a49acf8a6bd7277-cdb276bb89557700"
        );
    }

    #[test]
    fn tells_the_object_from_the_text() {
        let inputs = Inputs::default().with(Key::Hours, "09:00-17:00");
        let edited = Inputs::default().with(Key::Hours, "09:00-18:00");
        let fingerprint = Fingerprint::of(&inputs, "a");
        assert!(fingerprint.is_of(&inputs, "a"));
        assert!(!fingerprint.is_of(&inputs, "b") && !fingerprint.is_of(&edited, "a"));
        assert!(fingerprint.is_of_object("a"));
        assert!(!fingerprint.is_of_object("b"));
    }

    #[test]
    fn counts_the_schedule_and_the_uid_and_nothing_else() {
        let base = Inputs::default().with(Key::Hours, "09:00-17:00");
        let of = |inputs: &Inputs| Fingerprint::of(inputs, "a");
        for key in Key::ALL {
            let counts = matches!(
                key,
                Key::Start
                    | Key::Stop
                    | Key::Hours
                    | Key::Scale
                    | Key::Timezone
                    | Key::Except
                    | Key::TreatAs
                    | Key::Jitter
            );
            assert_eq!(
                of(&base.clone().with(key, "x")) != of(&base),
                counts,
                "{key}"
            );
        }
        assert_ne!(Fingerprint::of(&base, "a"), Fingerprint::of(&base, "b"));
    }

    #[test]
    fn texts_cannot_run_into_each_other() {
        let one = Inputs::default().with(Key::Start, "a\nstop=1:b");
        let two = Inputs::default().with(Key::Start, "a").with(Key::Stop, "b");
        assert_ne!(Fingerprint::of(&one, "a"), Fingerprint::of(&two, "a"));
    }

    #[test]
    fn prints_what_it_reads() {
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
    fn a_later_version_has_a_larger_number_and_a_text() {
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
