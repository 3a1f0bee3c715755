//! A field that says whether an object runs, in place of a count: what stands in it, and what a stop
//! and a start write.

use crate::names::is_label_value;

/// What stands in the field of a switch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SwitchValue {
    /// Nothing, nor any of so many of the members that would hold it.
    Absent(u8),
    /// `true` or `false`.
    Flag(bool),
    /// A text.
    Text(Box<str>),
}

/// What an object shows of its switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchField {
    /// What stands there.
    pub value: SwitchValue,
    /// How many of the members above it, from the nearest one on, hold nothing else.
    pub alone: u8,
    /// How many of the members above the field of [`Switch::not_beside`] are missing, as that is.
    pub beside_missing: u8,
}

/// A value that a row of the table names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchConstant {
    /// `true` or `false`.
    Flag(bool),
    /// A text.
    Text(&'static str),
    /// The instant of the stop. Any text there is as good.
    Instant,
}

/// How a kind is switched off and on.
#[derive(Debug, PartialEq, Eq)]
pub struct Switch {
    /// What a stop writes.
    pub stopped: SwitchConstant,
    /// Other texts that mean the same, in this case of letters.
    pub also_stopped: &'static [&'static str],
    /// What a start writes where nothing says what was there before; `None` where the field goes.
    pub running: Option<SwitchConstant>,
    /// Whether an object without the field is stopped.
    pub is_absent_stopped: bool,
    /// Another field, as the tokens of a JSON pointer, beside which this one means something else.
    pub not_beside: Option<&'static [&'static str]>,
}

/// What the label of a switch holds where nothing stood in the field.
const ABSENT: &str = "absent";

impl SwitchValue {
    /// The text by which a label keeps it; `None` for a text that cannot be the value of a label
    /// (<https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set>),
    /// or would be read as something else.
    pub fn to_label(&self) -> Option<Box<str>> {
        match self {
            Self::Absent(0) => Some(ABSENT.into()),
            Self::Absent(parents) => Some(format!("{ABSENT}.{parents}").into()),
            Self::Flag(flag) => Some(if *flag { "true" } else { "false" }.into()),
            Self::Text(text) => {
                let fits = is_label_value(text) && absent(text).is_none();
                fits.then(|| text.clone())
            }
        }
    }
}

impl Switch {
    /// What the text of a label means, as something that a start brings back; `None` where that is
    /// nothing that this switch holds while it is on.
    pub fn from_label(&self, text: &str) -> Option<SwitchValue> {
        let value = match (absent(text), self.stopped) {
            (Some(parents), _) => SwitchValue::Absent(parents),
            (None, SwitchConstant::Flag(_)) => SwitchValue::Flag(text.parse().ok()?),
            (None, _) => SwitchValue::Text(text.into()),
        };
        (!self.is_stopped(&value)).then_some(value)
    }

    /// Whether a value means that the object is stopped.
    pub fn is_stopped(&self, value: &SwitchValue) -> bool {
        match (value, self.stopped) {
            (SwitchValue::Absent(_), _) => self.is_absent_stopped,
            (SwitchValue::Flag(flag), SwitchConstant::Flag(stopped)) => *flag == stopped,
            (SwitchValue::Text(_), SwitchConstant::Instant) => true,
            (SwitchValue::Text(text), SwitchConstant::Text(stopped)) => {
                **text == *stopped || self.also_stopped.contains(&&**text)
            }
            _ => false,
        }
    }

    /// What a start writes where it is not known what was there before.
    pub fn default_running(&self) -> SwitchValue {
        match self.running {
            Some(SwitchConstant::Flag(flag)) => SwitchValue::Flag(flag),
            Some(SwitchConstant::Text(text)) => SwitchValue::Text(text.into()),
            Some(SwitchConstant::Instant) | None => SwitchValue::Absent(0),
        }
    }

    /// What may stand in the field, in words.
    pub const fn wanted(&self) -> &'static str {
        match self.stopped {
            SwitchConstant::Flag(_) => "true or false",
            SwitchConstant::Text(_) | SwitchConstant::Instant => "a text",
        }
    }
}

/// How many members were missing too, if a label says that the field was.
fn absent(text: &str) -> Option<u8> {
    match text.strip_prefix(ABSENT)? {
        "" => Some(0),
        rest => rest.strip_prefix('.')?.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: Switch = Switch {
        stopped: SwitchConstant::Text("Halted"),
        also_stopped: &["halted"],
        running: Some(SwitchConstant::Text("Always")),
        is_absent_stopped: false,
        not_beside: None,
    };

    #[test]
    fn a_label_gives_back_what_it_was_made_of_to_the_letter() {
        for value in [
            SwitchValue::Absent(0),
            SwitchValue::Absent(2),
            SwitchValue::Text("RerunOnFailure".into()),
            SwitchValue::Text("".into()),
        ] {
            let label = value.to_label().unwrap();
            assert_eq!(POLICY.from_label(&label), Some(value));
        }
        let flag = Switch {
            stopped: SwitchConstant::Flag(true),
            ..POLICY
        };
        let label = SwitchValue::Flag(false).to_label().unwrap();
        assert_eq!(flag.from_label(&label), Some(SwitchValue::Flag(false)));
    }

    #[test]
    fn what_a_label_cannot_keep_is_not_kept() {
        let long = "a".repeat(64);
        for text in ["a b", "-a", "a.", "ü", "absent", "absent.1", &long] {
            assert_eq!(SwitchValue::Text(text.into()).to_label(), None, "{text}");
        }
    }

    #[test]
    fn a_label_that_would_leave_it_stopped_is_not_brought_back() {
        for text in ["Halted", "halted"] {
            assert_eq!(POLICY.from_label(text), None, "{text}");
        }
        let flag = Switch {
            stopped: SwitchConstant::Flag(true),
            ..POLICY
        };
        for text in ["true", "yes", ""] {
            assert_eq!(flag.from_label(text), None, "{text}");
        }
    }
}
