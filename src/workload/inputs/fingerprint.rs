//! Which schedule, on which object, a state belongs to.

use std::fmt;

use ring::digest::{Context, SHA256};

use super::effective::Inputs;
use crate::workload::keys::Key;

/// A hash of the object's UID, and one of the text of the schedule.
///
/// Version 2 is the first 16 hexadecimal digits of the SHA-256 of the UID, `-`, and the first 16
/// of the SHA-256 of the schedule's text: for each of `start stop hours scale timezone except
/// jitter` that is present, in this order, a line feed, the name, `=`, the length of the text in
/// bytes, `:` and the text. What is absent does not count, and neither do flags nor versions, so
/// the same object keeps its fingerprint when dayshift is upgraded or started with another
/// `--timezone`.
///
/// Version 1 is the first 16 digits of the SHA-256 of both, the UID first. It is read and no
/// longer written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Fingerprint {
    /// Version 1, shown as `v1-` and 16 hexadecimal digits.
    V1(u64),
    /// Version 2, shown as `v2-` and twice 16 hexadecimal digits.
    V2 {
        /// The hash of the UID.
        object: u64,
        /// The hash of the schedule's text.
        text: u64,
    },
    /// Of a version that this program does not know; its object is left alone.
    Newer(Box<str>),
}

impl Fingerprint {
    /// The fingerprint of these inputs on the object with this UID.
    pub fn of(inputs: &Inputs, uid: &str) -> Self {
        Self::V2 {
            object: hash_of(uid),
            text: first_bytes(with_text(sha256_of(""), inputs)),
        }
    }

    /// Whether it is the fingerprint of these inputs on the object with this UID, of whatever
    /// version.
    pub fn is_of(&self, inputs: &Inputs, uid: &str) -> bool {
        match self {
            Self::V1(hash) => *hash == first_bytes(with_text(sha256_of(uid), inputs)),
            Self::V2 { .. } => *self == Self::of(inputs, uid),
            Self::Newer(_) => false,
        }
    }

    /// Whether it was made for the object with this UID; `None` where it does not say.
    pub fn is_of_object(&self, uid: &str) -> Option<bool> {
        match self {
            Self::V2 { object, .. } => Some(*object == hash_of(uid)),
            Self::V1(_) | Self::Newer(_) => None,
        }
    }

    /// Reads the text of a label; `None` where it is not a fingerprint of any version.
    pub fn parse(text: &str) -> Option<Self> {
        let (version, rest) = text.strip_prefix('v')?.split_once('-')?;
        let hash = |text: &str| {
            let is_hash = text.len() == 16 && text.bytes().all(|it| it.is_ascii_hexdigit());
            u64::from_str_radix(text, 16).ok().filter(|_| is_hash)
        };
        match version.parse::<u32>().ok()? {
            0 => None,
            1 => hash(rest).map(Self::V1),
            2 => {
                let (object, text) = rest.split_once('-')?;
                let (object, text) = (hash(object)?, hash(text)?);
                Some(Self::V2 { object, text })
            }
            _ => Some(Self::Newer(text.into())),
        }
    }
}

/// The first eight bytes of the SHA-256 of a text.
pub(super) fn hash_of(text: &str) -> u64 {
    first_bytes(sha256_of(text))
}

fn sha256_of(text: &str) -> Context {
    let mut hash = Context::new(&SHA256);
    hash.update(text.as_bytes());
    hash
}

fn with_text(mut hash: Context, inputs: &Inputs) -> Context {
    for key in [
        Key::Start,
        Key::Stop,
        Key::Hours,
        Key::Scale,
        Key::Timezone,
        Key::Except,
        Key::Jitter,
    ] {
        if let Some(text) = inputs.text(key) {
            let length = text.len().to_string();
            for part in ["\n", key.name(), "=", &length, ":", text] {
                hash.update(part.as_bytes());
            }
        }
    }
    hash
}

fn first_bytes(hash: Context) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&hash.finish().as_ref()[..8]);
    u64::from_be_bytes(first)
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V1(hash) => write!(f, "v1-{hash:016x}"),
            Self::V2 { object, text } => write!(f, "v2-{object:016x}-{text:016x}"),
            Self::Newer(text) => f.write_str(text),
        }
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
    fn understands_version_1() {
        let inputs = Inputs::default().with(Key::Start, "Mon-Fri 09:00");
        let v1 = Fingerprint::parse("v1-e88ac71724f40589").unwrap();
        assert!(v1.is_of(&inputs, "uid-1"));
        assert!(!v1.is_of(&inputs, "uid-2"));
        assert!(!v1.is_of(&Inputs::default(), "uid-1"));
        assert_eq!(v1.is_of_object("uid-1"), None, "it does not say");
    }

    #[test]
    fn tells_the_object_from_the_text() {
        let inputs = Inputs::default().with(Key::Hours, "09:00-17:00");
        let edited = Inputs::default().with(Key::Hours, "09:00-18:00");
        let fingerprint = Fingerprint::of(&inputs, "a");
        assert!(fingerprint.is_of(&inputs, "a"));
        assert!(!fingerprint.is_of(&inputs, "b") && !fingerprint.is_of(&edited, "a"));
        assert_eq!(fingerprint.is_of_object("a"), Some(true));
        assert_eq!(fingerprint.is_of_object("b"), Some(false));
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
        for text in [
            "v1-0123456789abcdef",
            "v1-0000000000000000",
            "v2-0123456789abcdef-0000000000000000",
            "v3-whatever",
        ] {
            assert_eq!(Fingerprint::parse(text).unwrap().to_string(), text);
        }
        for text in [
            "",
            "v1-",
            "v1-012345678",
            "1-0123456789abcdef",
            "v0-0",
            "vx-1",
            "v1-zz23456789abcdef",
            "v1-+123456789abcdef",
            "v2-0123456789abcdef",
            "v2-0123456789abcdef-",
            "v2-0123456789abcdef-0123456789abcdef-0",
        ] {
            assert_eq!(Fingerprint::parse(text), None, "{text}");
        }
    }
}
