//! The annotations of one object, as texts.

use super::{
    keys::{ERROR, Key, Prefix},
    replicas::Replicas,
};

/// What a user wrote under the prefix: a text or none for every [`Key`], and the names of what
/// is no key. Equal inputs ask for the same thing, so what is read from them can be shared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Inputs {
    texts: [Option<Box<str>>; Key::ALL.len()],
    unknown: Vec<(Box<str>, Box<str>)>,
}

impl Inputs {
    /// The inputs among an object's annotations, given as full names and texts.
    pub fn from_annotations<'a>(
        prefix: &Prefix,
        annotations: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let mut inputs = Self::default();
        for (full, text) in annotations {
            let Some(name) = prefix.strip(full) else {
                continue;
            };
            match Key::from_name(name) {
                Some(key) => inputs.texts[key as usize] = Some(text.into()),
                None if name == ERROR => {}
                None => inputs.unknown.push((name.into(), text.into())),
            }
        }
        inputs.unknown.sort();
        inputs
    }

    /// These inputs with one text more, or another text for a key.
    #[must_use]
    pub fn with(mut self, key: Key, text: &str) -> Self {
        self.texts[key as usize] = Some(text.into());
        self
    }

    /// These inputs without the texts of some keys.
    #[must_use]
    pub fn without(mut self, keys: &[Key]) -> Self {
        for key in keys {
            self.texts[*key as usize] = None;
        }
        self
    }

    /// The text of a key, as it was written.
    pub fn text(&self, key: Key) -> Option<&str> {
        self.texts[key as usize].as_deref()
    }

    /// Names (behind the prefix) and texts of annotations that are no key, in order of the name.
    pub fn unknown(&self) -> impl Iterator<Item = (&str, &str)> {
        self.unknown.iter().map(|(name, text)| (&**name, &**text))
    }

    /// Whether any of `start`, `stop` and `hours` is there.
    pub fn has_schedule(&self) -> bool {
        [Key::Start, Key::Stop, Key::Hours]
            .into_iter()
            .any(|key| self.text(key).is_some())
    }

    /// Whether nothing at all stands under the prefix.
    pub fn is_empty(&self) -> bool {
        self.unknown.is_empty() && self.texts.iter().all(Option::is_none)
    }

    /// The count after a stop; what cannot be read counts as the default, 0.
    pub fn stop_replicas(&self) -> Replicas {
        self.text(Key::StopReplicas)
            .and_then(|text| Replicas::parse(text).ok())
            .unwrap_or_default()
    }
}
