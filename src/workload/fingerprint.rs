//! Which schedule, on which object, a state belongs to.

use std::fmt;

use sha2::{Digest, Sha256};

use super::{inputs::Inputs, keys::Key};

/// A hash of the text of the schedule and the object's UID.
///
/// Version 1 is the first 16 hexadecimal digits of the SHA-256 of `uid`, then for each of
/// `start stop hours timezone except jitter` that is present, in this order, a line feed, the
/// name, `=`, the length of the text in bytes, `:` and the text. What is absent does not count,
/// and neither do flags nor versions, so the same object keeps its fingerprint when dayshift
/// is upgraded or started with another `--timezone`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Fingerprint {
    /// Version 1, shown as `v1-` and 16 hexadecimal digits.
    V1(u64),
    /// Of a version that this program does not know; its object is left alone.
    Newer(Box<str>),
}

impl Fingerprint {
    /// The fingerprint of these inputs on the object with this UID.
    pub fn of(inputs: &Inputs, uid: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(uid);
        for key in [
            Key::Start,
            Key::Stop,
            Key::Hours,
            Key::Timezone,
            Key::Except,
            Key::Jitter,
        ] {
            if let Some(text) = inputs.text(key) {
                hash.update(format!("\n{key}={}:{text}", text.len()));
            }
        }
        let digest: [u8; 32] = hash.finalize().into();
        let mut first = [0; 8];
        first.copy_from_slice(&digest[..8]);
        Self::V1(u64::from_be_bytes(first))
    }

    /// Reads the text of a label; `None` where it is no fingerprint of any version.
    pub fn parse(text: &str) -> Option<Self> {
        let (version, hash) = text.strip_prefix('v')?.split_once('-')?;
        match version.parse::<u32>().ok()? {
            0 => None,
            1 if hash.len() == 16 => u64::from_str_radix(hash, 16).ok().map(Self::V1),
            1 => None,
            _ => Some(Self::Newer(text.into())),
        }
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V1(hash) => write!(f, "v1-{hash:016x}"),
            Self::Newer(text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Anybody can compute it: `printf 'uid-1\nstart=13:Mon-Fri 09:00' | sha256sum`.
    #[test]
    fn is_the_documented_hash_for_ever() {
        let inputs = Inputs::default().with(Key::Start, "Mon-Fri 09:00");
        assert_eq!(
            Fingerprint::of(&inputs, "uid-1").to_string(),
            "v1-e88ac71724f40589"
        );
    }

    #[test]
    fn counts_the_schedule_and_the_uid_and_nothing_else() {
        let base = Inputs::default().with(Key::Hours, "09:00-17:00");
        let of = |inputs: &Inputs| Fingerprint::of(inputs, "a");
        for key in Key::ALL {
            let counts = matches!(
                key,
                Key::Start | Key::Stop | Key::Hours | Key::Timezone | Key::Except | Key::Jitter
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
        for text in ["v1-0123456789abcdef", "v1-0000000000000000", "v2-whatever"] {
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
        ] {
            assert_eq!(Fingerprint::parse(text), None, "{text}");
        }
    }
}
