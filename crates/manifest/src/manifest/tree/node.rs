//! The tree of one document.

use std::{borrow::Cow, rc::Rc};

use serde_json::{Map, Value};

use super::location::Location;
use super::scalar::Scalar;

/// A value of a document and where it stands. An alias is the node it names, shared.
#[derive(Debug)]
pub(crate) struct Node<'a> {
    pub(crate) place: Location,
    /// How many levels it has, itself included.
    pub(crate) height: usize,
    /// What it takes to write it out, with all that its aliases repeat; about bytes.
    pub(crate) cost: usize,
    pub(crate) content: Content<'a>,
}

#[derive(Debug)]
pub(crate) enum Content<'a> {
    /// A word or text. One that stands without quotes may mean something else than text.
    Scalar {
        text: Cow<'a, str>,
        bare: bool,
    },
    List(Vec<Rc<Node<'a>>>),
    Map(Vec<Entry<'a>>),
}

/// A key and its value. Of entries with equal keys the last counts.
#[derive(Clone, Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) key: Rc<Node<'a>>,
    pub(crate) value: Rc<Node<'a>>,
    /// Whether it comes from another map, by `<<`.
    pub(crate) merged: bool,
}

impl Entry<'_> {
    /// The key as it is written. Keys are scalars, which the parser has seen to.
    pub(crate) fn name(&self) -> &str {
        self.key.written().unwrap_or_default()
    }
}

impl<'a> Node<'a> {
    /// The entries of a map, and none of anything else.
    pub(crate) fn entries(&self) -> &[Entry<'a>] {
        match &self.content {
            Content::Map(entries) => entries,
            Content::Scalar { .. } | Content::List(_) => &[],
        }
    }

    /// The items of a list, and none of anything else.
    pub(crate) fn items(&self) -> &[Rc<Self>] {
        match &self.content {
            Content::List(items) => items,
            Content::Scalar { .. } | Content::Map(_) => &[],
        }
    }

    /// What stands at a key, unless it is null.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        let entry = self.entries().iter().rfind(|entry| entry.name() == name)?;
        Some(&*entry.value).filter(|value| value.scalar() != Some(Scalar::Null))
    }

    /// A scalar as it is written, whatever it means.
    pub(crate) fn written(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar { text, .. } => Some(text),
            Content::List(_) | Content::Map(_) => None,
        }
    }

    /// What a scalar means.
    pub(crate) fn scalar(&self) -> Option<Scalar> {
        match &self.content {
            Content::Scalar { text, bare: true } => Some(Scalar::of(text)),
            Content::Scalar { bare: false, .. } => Some(Scalar::Text),
            Content::List(_) | Content::Map(_) => None,
        }
    }

    /// A text.
    pub(crate) fn text(&self) -> Option<&str> {
        self.written()
            .filter(|_| self.scalar() == Some(Scalar::Text))
    }

    /// What it is, in words.
    pub(crate) fn what(&self) -> &'static str {
        match (&self.content, self.scalar()) {
            (Content::List(_), _) => "a list",
            (Content::Map(_), _) => "a map",
            (_, Some(Scalar::Null)) => "nothing",
            (_, Some(Scalar::Bool(_))) => "true or false",
            (_, Some(Scalar::Number(_))) => "a number",
            _ => "text",
        }
    }

    /// Whether another has the same entries, items and words in the same order. Those of which it has
    /// not may still mean the same.
    pub(crate) fn is_written_as(&self, other: &Self) -> bool {
        match (&self.content, &other.content) {
            (
                Content::Scalar { text, bare },
                Content::Scalar {
                    text: other,
                    bare: is_bare,
                },
            ) => text == other && bare == is_bare,
            (Content::List(items), Content::List(others)) => {
                let mut pairs = items.iter().zip(others);
                items.len() == others.len() && pairs.all(|(item, other)| item.is_written_as(other))
            }
            (Content::Map(entries), Content::Map(others)) => {
                let mut pairs = entries.iter().zip(others);
                entries.len() == others.len()
                    && pairs.all(|(entry, other)| {
                        entry.name() == other.name() && entry.value.is_written_as(&other.value)
                    })
            }
            _ => false,
        }
    }

    /// The same as JSON.
    pub(crate) fn json(&self) -> Value {
        match &self.content {
            Content::List(items) => items.iter().map(|item| item.json()).collect(),
            Content::Map(entries) => {
                let fields = entries
                    .iter()
                    .map(|it| (it.name().to_owned(), it.value.json()));
                Value::Object(fields.collect::<Map<_, _>>())
            }
            Content::Scalar { text, .. } => match self.scalar() {
                Some(Scalar::Null) => Value::Null,
                Some(Scalar::Bool(value)) => Value::Bool(value),
                Some(Scalar::Number(number)) => Value::Number(number),
                _ => Value::String(text.clone().into_owned()),
            },
        }
    }
}
