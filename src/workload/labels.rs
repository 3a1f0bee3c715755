//! The state labels of one object, as texts.

use super::inputs::fingerprint::Fingerprint;
use super::keys::Label;

/// The texts of the state labels, as they stand on the object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Labels([Option<Box<str>>; Label::ALL.len()]);

impl Labels {
    /// The text of a label.
    pub fn text(&self, label: Label) -> Option<&str> {
        self.0[label as usize].as_deref()
    }

    /// Puts a text in place of another, or takes it away.
    pub fn set(&mut self, label: Label, text: Option<String>) {
        self.0[label as usize] = text.map(String::into_boxed_str);
    }

    /// Whether a later version of dayshift wrote them, whose object is left alone.
    pub fn are_of_a_later_version(&self) -> bool {
        self.text(Label::Fingerprint)
            .is_some_and(Fingerprint::is_of_a_later_version)
    }

    /// Whether no label of ours is there.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }
}
