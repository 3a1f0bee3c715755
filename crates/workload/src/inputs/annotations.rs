//! The annotations on one object or Namespace as strings, and the origin of an annotation in force.

use std::sync::Arc;

use dayshift_schedule::{cut_too_long, is_too_long};

use crate::keys::{Key, OWN_ANNOTATIONS, Prefix};

/// Where an annotation in force is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// On the object itself.
    Own,
    /// On its Namespace, as a default.
    Namespace,
    /// Not in the cluster: it is a default from the controller's flags, for example
    /// `--default-hours`.
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

    /// The place in a sentence.
    pub(super) const fn place(self) -> &'static str {
        match self {
            Self::Own => "on the object",
            Self::Namespace => "on the Namespace",
            Self::Scaler => "by the default of the scaler",
        }
    }
}

/// The annotations with our prefix on one object: the value of each [`Key`], and the names that are
/// not keys. A guarded patch tests these values, unless they are too long. The values in force can
/// also come from elsewhere: see [`Inputs`](crate::Inputs).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Annotations {
    texts: [Option<Box<str>>; Key::ALL.len()],
    unknown: Vec<UnknownAnnotation>,
    /// The number of further unknown names.
    unknown_more: u32,
    /// The controller's default schedule, for objects to which these annotations give none. If it
    /// was read from an object, it includes the controller's time zone.
    default_schedule: Option<Arc<Self>>,
}

/// An annotation with our prefix whose name is not a [`Key`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnknownAnnotation {
    /// The name after the prefix.
    pub name: Box<str>,
    /// The length of its value in bytes.
    pub length: usize,
}

/// The maximum number of unknown names that are kept. 256 kB can hold 17,000, and each has a
/// message.
const MAX_UNKNOWN: usize = 16;

impl Annotations {
    /// The annotations with this prefix, from all annotations of an object.
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

    /// Keeps the first names in alphabetical order, in whatever order they come.
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

    /// Sets or removes the value of a key.
    pub(crate) fn set(&mut self, key: Key, text: Option<&str>) {
        self.texts[key as usize] = text.map(Into::into);
    }

    /// Annotations with only these values.
    pub fn from_texts(texts: impl IntoIterator<Item = (Key, String)>) -> Self {
        let mut annotations = Self::default();
        for (key, text) in texts {
            annotations.set(key, Some(&text));
        }
        annotations
    }

    /// Adds the controller's default schedule.
    #[must_use]
    pub(super) fn with_default_schedule(&self, other: Arc<Self>) -> Self {
        Self {
            default_schedule: Some(other),
            ..self.clone()
        }
    }

    /// The value of a key as the user wrote it. If it is too long, only its
    /// [beginning](cut_too_long) is kept.
    pub fn text(&self, key: Key) -> Option<&str> {
        self.texts[key as usize].as_deref()
    }

    /// Whether any value is too long.
    pub(super) fn are_too_long(&self) -> bool {
        let mut texts = self.texts.iter().flatten();
        texts.any(|text| is_too_long(text))
    }

    /// The first annotations that are not keys, in alphabetical order.
    pub fn unknown(&self) -> &[UnknownAnnotation] {
        &self.unknown
    }

    /// The number of further annotations that are not keys.
    pub const fn unknown_more(&self) -> usize {
        self.unknown_more as usize
    }

    /// The controller's default schedule.
    pub(super) fn default_schedule(&self) -> Option<&Self> {
        self.default_schedule.as_deref()
    }

    /// Whether `start`, `stop`, `hours` or `scale` is set.
    pub fn has_schedule(&self) -> bool {
        Key::SCHEDULE.iter().any(|key| self.text(*key).is_some())
    }

    /// Whether no annotation has the prefix and there is no default schedule.
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
    fn keeps_the_first_unknown_names_and_counts_the_rest() {
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
