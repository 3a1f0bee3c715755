//! The annotations on one object or Namespace as strings, and the origin of an annotation in force.

use std::{ops::Range, sync::Arc};

use dayshift_schedule::{MAX_TEXT, cut_too_long, is_too_long, unread_bytes};
use dayshift_text::cut_bytes;

use crate::keys::{Key, OWN_ANNOTATIONS, Prefix};

/// The maximum length of all annotations of one object that users write, in bytes: the values of
/// the keys, and the names and values of unknown annotations. If there is more, none of it is kept.
pub const MAX_TEXTS: usize = 2 * MAX_TEXT;

/// Where an annotation in force is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// On the object itself.
    Own,
    /// On its Namespace, as a default.
    Namespace,
    /// Not in the cluster: it is a default from the controller's flags, for example
    /// `--default-hours`.
    Controller,
}

impl Origin {
    /// Its name in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Own => "object",
            Self::Namespace => "namespace",
            Self::Controller => "scaler",
        }
    }

    /// The place in a sentence.
    pub(super) const fn place(self) -> &'static str {
        match self {
            Self::Own => "on the object",
            Self::Namespace => "on the Namespace",
            Self::Controller => "by the default of the controller",
        }
    }
}

/// The annotations with our prefix on one object: the value of each [`Key`], and the names that are
/// not keys. A guarded patch tests these values, unless they were dropped. The values in force can
/// also come from elsewhere: see [`Inputs`](crate::Inputs).
///
/// Values that are rejected for their length are dropped: an object can have 256 KiB of annotations,
/// and a cluster has many objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Annotations {
    texts: [Option<Box<str>>; Key::ALL.len()],
    /// Set if any value was dropped.
    dropped: Option<Box<Dropped>>,
    unknown: Box<[UnknownAnnotation]>,
    /// The number of further unknown names.
    unknown_more: u32,
    /// The controller's default schedule, for objects to which these annotations give none. If it
    /// was read from an object, it includes the controller's time zone.
    default_schedule: Option<Arc<Self>>,
}

/// An annotation with our prefix whose name is not a [`Key`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnknownAnnotation {
    /// The name after the prefix, at most 63 bytes of it.
    pub name: Box<str>,
    /// The length of its value in bytes.
    pub length: usize,
}

/// Values that are not kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Dropped {
    /// Their keys, each with the bytes of its value that are not read.
    unread: Vec<(Key, Range<usize>)>,
    /// Why all values were dropped; `None` if each of them is too long by itself.
    excess: Option<Excess>,
}

/// Why none of the values of an object are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Excess {
    /// They have at least this many bytes, more than [`MAX_TEXTS`].
    Object(usize),
    /// The long annotations in the namespace have more bytes together than the controller keeps.
    Namespace {
        /// The bytes of this object.
        bytes: usize,
        /// The bytes that are kept for all objects in the namespace.
        limit: usize,
    },
}

/// The maximum number of unknown names that are kept. 256 kB can hold 17,000, and each has a
/// message.
const MAX_UNKNOWN: usize = 16;

/// The maximum length of an unknown name that is kept, in bytes. The API server allows no more.
const MAX_NAME: usize = 63;

/// Unknown names while annotations are read.
#[derive(Default)]
struct Unknown {
    first: Vec<UnknownAnnotation>,
    more: u32,
}

impl Unknown {
    /// Keeps the first names in alphabetical order, in whatever order they come.
    fn add(&mut self, name: &str, length: usize) {
        let name = cut_bytes(name, MAX_NAME);
        let at = self.first.partition_point(|known| &*known.name < name);
        if at < MAX_UNKNOWN {
            let name = name.into();
            self.first.insert(at, UnknownAnnotation { name, length });
        }
        if at >= MAX_UNKNOWN || self.first.len() > MAX_UNKNOWN {
            self.first.truncate(MAX_UNKNOWN);
            self.more += 1;
        }
    }
}

impl Annotations {
    /// The annotations with this prefix, from all annotations of an object.
    pub fn under<'a>(
        prefix: &Prefix,
        annotations: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let mut found = Self::default();
        let mut unknown = Unknown::default();
        let mut long = Vec::new();
        let mut bytes = 0;
        for (full, text) in annotations {
            let Some(name) = prefix.strip(full) else {
                continue;
            };
            // A watch keeps only the beginning of a value that is too long.
            let text = cut_too_long(text);
            match Key::from_name(name) {
                Some(key) if is_too_long(text) => long.push((key, unread_bytes(text))),
                Some(key) => found.texts[key as usize] = Some(text.into()),
                None if OWN_ANNOTATIONS.contains(&name) => continue,
                None => {
                    bytes += name.len();
                    unknown.add(name, text.len());
                }
            }
            bytes += text.len();
        }
        found.unknown = unknown.first.into();
        found.unknown_more = unknown.more;
        if !long.is_empty() {
            long.sort_unstable_by_key(|(key, _)| *key);
            found.dropped = Some(Box::new(Dropped {
                unread: long,
                excess: None,
            }));
        }
        if bytes > MAX_TEXTS {
            found.drop_texts(Excess::Object(bytes));
        }
        found
    }

    /// Drops all values and unknown names, and keeps only which keys are set.
    pub(crate) fn drop_texts(&mut self, excess: Excess) {
        let set = Key::ALL.into_iter().filter(|key| self.has(*key));
        self.dropped = Some(Box::new(Dropped {
            unread: set.map(|key| (key, 0..0)).collect(),
            excess: Some(excess),
        }));
        self.texts = Default::default();
        self.unknown = Box::default();
        self.unknown_more = 0;
    }

    /// Why all values were dropped.
    pub fn excess(&self) -> Option<Excess> {
        self.dropped.as_ref()?.excess
    }

    /// The bytes of a value that are not read, if it was dropped.
    pub(super) fn unread(&self, key: Key) -> Option<Range<usize>> {
        let mut unread = self.dropped.as_ref()?.unread.iter();
        unread
            .find(|(of, _)| *of == key)
            .map(|(_, span)| span.clone())
    }

    /// The length of everything that is kept of it, in bytes.
    pub fn kept_bytes(&self) -> usize {
        let texts = self.texts.iter().flatten().map(|text| text.len());
        let unknown = self.unknown.iter().map(|unknown| unknown.name.len());
        texts.chain(unknown).sum()
    }

    /// Whether the annotation of a key is set, even if its value was dropped.
    pub fn has(&self, key: Key) -> bool {
        self.text(key).is_some() || self.is_dropped(key)
    }

    /// Whether the value of a key was dropped.
    pub fn is_dropped(&self, key: Key) -> bool {
        self.unread(key).is_some()
    }

    /// Sets or removes the value of a key.
    pub(crate) fn set(&mut self, key: Key, text: Option<&str>) {
        if let Some(dropped) = &mut self.dropped {
            dropped.unread.retain(|(of, _)| *of != key);
            let is_over = dropped.unread.is_empty() && dropped.excess.is_none();
            self.dropped = self.dropped.take().filter(|_| !is_over);
        }
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

    /// The value of a key as the user wrote it; `None` if it is not set, or [dropped](Self::is_dropped).
    pub fn text(&self, key: Key) -> Option<&str> {
        self.texts[key as usize].as_deref()
    }

    /// Whether any value was dropped.
    pub(super) const fn has_dropped(&self) -> bool {
        self.dropped.is_some()
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
        Key::SCHEDULE.iter().any(|key| self.has(*key))
    }

    /// Whether no annotation has the prefix and there is no default schedule.
    pub fn is_empty(&self) -> bool {
        self.unknown.is_empty()
            && self.dropped.is_none()
            && self.texts.iter().all(Option::is_none)
            && self.default_schedule.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn under<'a>(texts: impl IntoIterator<Item = &'a (String, String)>) -> Annotations {
        let texts = texts.into_iter();
        Annotations::under(
            &Prefix::default(),
            texts.map(|(key, text)| (&**key, &**text)),
        )
    }

    #[test]
    fn keeps_the_first_unknown_names_and_counts_the_rest() {
        let names: Vec<_> = (0..1_000)
            .map(|n| (format!("dayshift/k{n:03}"), "x".to_owned()))
            .collect();
        let annotations = under(&names);
        assert_eq!(annotations, under(names.iter().rev()));
        assert_eq!(annotations.unknown().len(), MAX_UNKNOWN);
        assert_eq!(&*annotations.unknown()[0].name, "k000");
        assert_eq!(annotations.unknown_more(), 1_000 - MAX_UNKNOWN);
    }

    #[test]
    fn drops_everything_if_all_texts_together_are_too_long() {
        let hours = |length: usize| ("dayshift/hours".to_owned(), "x".repeat(length));
        let stop = ("dayshift/stop".to_owned(), "x".repeat(MAX_TEXT));
        let unknown = |length: usize| ("dayshift/other".to_owned(), "x".repeat(length));
        let error = ("dayshift/error".to_owned(), "x".repeat(MAX_TEXT));
        for (texts, dropped) in [
            (vec![hours(MAX_TEXT), stop.clone()], None),
            (vec![hours(MAX_TEXT), error], None),
            (vec![hours(1), unknown(MAX_TEXT)], None),
            (
                vec![hours(MAX_TEXT - 5), stop.clone(), unknown(1)],
                Some(MAX_TEXTS + 1),
            ),
            (
                vec![hours(9 * MAX_TEXT), stop, unknown(0)],
                Some(MAX_TEXTS + 6),
            ),
        ] {
            let annotations = under(&texts);
            let excess = dropped.map(Excess::Object);
            assert_eq!(annotations.excess(), excess);
            assert!(annotations.has_schedule() && annotations.has(Key::Hours));
            assert!(!annotations.has(Key::Start));
            if dropped.is_some() {
                assert_eq!(annotations.kept_bytes(), 0);
                assert!(annotations.unknown().is_empty() && annotations.is_dropped(Key::Stop));
            }
        }
    }

    #[test]
    fn drops_a_value_that_is_too_long_and_keeps_the_others() {
        let long = ("dayshift/stop".to_owned(), "x".repeat(MAX_TEXT + 1));
        let mut annotations = under(&[("dayshift/start".to_owned(), "09:00".to_owned()), long]);
        assert_eq!(annotations.text(Key::Start), Some("09:00"));
        assert_eq!(annotations.text(Key::Stop), None);
        assert!(annotations.is_dropped(Key::Stop) && annotations.has_dropped());
        annotations.set(Key::Stop, None);
        assert!(!annotations.has_dropped() && !annotations.has(Key::Stop));
    }
}
