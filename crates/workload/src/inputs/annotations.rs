//! The annotations on one object or Namespace, as text, and where an annotation in force is written.

use std::sync::Arc;

use dayshift_schedule::{cut_too_long, is_too_long};

use crate::keys::{Key, OWN_ANNOTATIONS, Prefix};

/// Where an annotation is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// On the object itself.
    Own,
    /// On its Namespace, as a default.
    Namespace,
    /// Nowhere in the cluster: it is the default of the scaler, its `--default-hours` say.
    Scaler,
}

impl Origin {
    /// Its name in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Own => "object",
            Self::Namespace => "namespace",
            Self::Scaler => "scaler",
        }
    }

    /// Where that is, in a sentence.
    pub(super) const fn place(self) -> &'static str {
        match self {
            Self::Own => "on the object",
            Self::Namespace => "on the Namespace",
            Self::Scaler => "by the default of the scaler",
        }
    }
}

/// What a user wrote on one object under the prefix: a text or none for every [`Key`], and the
/// names of what is not a key. These are what a guarded patch tests, but for texts that are too
/// long; what is in force may come from elsewhere too and is [`Inputs`](crate::Inputs).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Annotations {
    texts: [Option<Box<str>>; Key::ALL.len()],
    unknown: Vec<UnknownAnnotation>,
    /// How many more there are.
    unknown_more: u32,
    /// The default schedule of the scaler, for whatever these give none to. Where it was read from
    /// an object, the zone of the scaler is there too.
    default_schedule: Option<Arc<Self>>,
}

/// An annotation under the prefix that is not a [`Key`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnknownAnnotation {
    /// The name behind the prefix.
    pub name: Box<str>,
    /// How long its text is, in bytes.
    pub length: usize,
}

/// How many unknown names are kept: 256 kB hold seventeen thousand, and each has a message.
const MAX_UNKNOWN: usize = 16;

impl Annotations {
    /// Those under the prefix, of all annotations of an object as full names and texts.
    pub fn under<'a>(
        prefix: &Prefix,
        annotations: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let mut found = Self::default();
        for (full, text) in annotations {
            let Some(name) = prefix.strip(full) else {
                continue;
            };
            match Key::from_name(name) {
                Some(key) => found.texts[key as usize] = Some(cut_too_long(text).into()),
                None if OWN_ANNOTATIONS.contains(&name) => {}
                None => found.note_unknown(name, text.len()),
            }
        }
        found
    }

    /// Keeps the first ones in order of the name, whatever order they come in.
    fn note_unknown(&mut self, name: &str, length: usize) {
        let at = self.unknown.partition_point(|known| &*known.name < name);
        if at < MAX_UNKNOWN {
            let name = name.into();
            self.unknown.insert(at, UnknownAnnotation { name, length });
        }
        if at >= MAX_UNKNOWN || self.unknown.len() > MAX_UNKNOWN {
            self.unknown.truncate(MAX_UNKNOWN);
            self.unknown_more += 1;
        }
    }

    /// Sets or removes the text of a key.
    pub(crate) fn set(&mut self, key: Key, text: Option<&str>) {
        self.texts[key as usize] = text.map(Into::into);
    }

    /// These texts of keys, and nothing else.
    pub fn from_texts(texts: impl IntoIterator<Item = (Key, String)>) -> Self {
        let mut annotations = Self::default();
        for (key, text) in texts {
            annotations.set(key, Some(&text));
        }
        annotations
    }

    /// These, with others as the default schedule of the scaler.
    #[must_use]
    pub(super) fn with_default_schedule(&self, other: Arc<Self>) -> Self {
        Self {
            default_schedule: Some(other),
            ..self.clone()
        }
    }

    /// The text of a key, as the user wrote it, or the [beginning](cut_too_long) of one that is too
    /// long; `None` without it.
    pub fn text(&self, key: Key) -> Option<&str> {
        self.texts[key as usize].as_deref()
    }

    /// Whether the text of any key is too long.
    pub(super) fn are_too_long(&self) -> bool {
        let mut texts = self.texts.iter().flatten();
        texts.any(|text| is_too_long(text))
    }

    /// The first annotations that are no key, in order of the name.
    pub fn unknown(&self) -> &[UnknownAnnotation] {
        &self.unknown
    }

    /// How many annotations are no key besides those.
    pub const fn unknown_more(&self) -> usize {
        self.unknown_more as usize
    }

    /// The default schedule of the scaler, for whatever these give none to.
    pub(super) fn default_schedule(&self) -> Option<&Self> {
        self.default_schedule.as_deref()
    }

    /// Whether any of `start`, `stop`, `hours` and `scale` is there.
    pub fn has_schedule(&self) -> bool {
        Key::SCHEDULE.iter().any(|key| self.text(*key).is_some())
    }

    /// Whether nothing at all stands under the prefix, and there is no default schedule either.
    pub fn is_empty(&self) -> bool {
        self.unknown.is_empty()
            && self.texts.iter().all(Option::is_none)
            && self.default_schedule.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_unknown_names_the_first_are_kept_and_the_others_counted() {
        let names: Vec<_> = (0..17_000).map(|n| format!("dayshift/k{n:05}")).collect();
        let forth = names.iter().map(|name| (&**name, "x"));
        let back = names.iter().rev().map(|name| (&**name, "x"));
        let prefix = Prefix::default();
        let annotations = Annotations::under(&prefix, forth);
        assert_eq!(annotations, Annotations::under(&prefix, back));
        assert_eq!(annotations.unknown().len(), MAX_UNKNOWN);
        assert_eq!(&*annotations.unknown()[0].name, "k00000");
        assert_eq!(annotations.unknown_more(), 17_000 - MAX_UNKNOWN);
    }
}
