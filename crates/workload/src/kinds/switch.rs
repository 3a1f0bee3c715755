//! An on/off field: its values, and the values that a stop and a start write.

use crate::names::is_label_value;

/// The value of an on/off field.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SwitchValue {
    /// The field is absent, and so are this many of its parents.
    Absent(u8),
    /// `true` or `false`.
    Flag(bool),
    /// A string.
    Text(Box<str>),
}

/// The on/off field of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchField {
    /// The value.
    pub value: SwitchValue,
    /// The number of parents, beginning with the nearest, that contain no other field.
    pub alone: u8,
    /// The number of absent parents of the field [`Switch::not_beside`], if that field is absent.
    pub beside_missing: u8,
}

/// A value in the definition of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SwitchConstant {
    /// `true` or `false`.
    Flag(bool),
    /// A string.
    Text(String),
    /// The time of the stop. Any other string has the same effect.
    Instant,
}

/// The definition of an on/off field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// The value that a stop writes.
    pub stopped: SwitchConstant,
    /// Other strings with the same meaning, case-sensitive.
    pub also_stopped: Vec<String>,
    /// The value that a start writes if none was saved; `None` if it removes the field.
    pub running: Option<SwitchConstant>,
    /// Whether an object without the field is stopped.
    pub is_absent_stopped: bool,
    /// Another field that changes the meaning of this one, as the tokens of a JSON pointer.
    pub not_beside: Option<Vec<String>>,
}

/// The label value for an absent field.
const ABSENT: &str = "absent";

impl SwitchValue {
    /// The label value; `None` if the string is not a valid label value
    /// (<https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set>),
    /// or would be parsed as another value.
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
    /// A field that is absent while the object runs. Set the other members if that is not true.
    pub const fn new(stopped: SwitchConstant, running: Option<SwitchConstant>) -> Self {
        Self {
            stopped,
            also_stopped: Vec::new(),
            running,
            is_absent_stopped: false,
            not_beside: None,
        }
    }

    /// Parses a label value; `None` if it is not a value with which the object runs.
    pub fn from_label(&self, text: &str) -> Option<SwitchValue> {
        let value = match (absent(text), &self.stopped) {
            (Some(parents), _) => SwitchValue::Absent(parents),
            (None, SwitchConstant::Flag(_)) => SwitchValue::Flag(text.parse().ok()?),
            (None, _) => SwitchValue::Text(text.into()),
        };
        (!self.is_stopped(&value)).then_some(value)
    }

    /// Whether the object is stopped if the field has this value.
    pub fn is_stopped(&self, value: &SwitchValue) -> bool {
        match (value, &self.stopped) {
            (SwitchValue::Absent(_), _) => self.is_absent_stopped,
            (SwitchValue::Flag(flag), SwitchConstant::Flag(stopped)) => flag == stopped,
            (SwitchValue::Text(_), SwitchConstant::Instant) => true,
            (SwitchValue::Text(text), SwitchConstant::Text(stopped)) => {
                **text == **stopped || self.also_stopped.iter().any(|also| **also == **text)
            }
            _ => false,
        }
    }

    /// The value that a start writes if none was saved.
    pub fn default_running(&self) -> SwitchValue {
        match &self.running {
            Some(SwitchConstant::Flag(flag)) => SwitchValue::Flag(*flag),
            Some(SwitchConstant::Text(text)) => SwitchValue::Text(text.as_str().into()),
            Some(SwitchConstant::Instant) | None => SwitchValue::Absent(0),
        }
    }

    /// The valid values as text.
    pub const fn wanted(&self) -> &'static str {
        match self.stopped {
            SwitchConstant::Flag(_) => "true or false",
            SwitchConstant::Text(_) | SwitchConstant::Instant => "a text",
        }
    }
}

/// The number of absent members if a label value means an absent field.
fn absent(text: &str) -> Option<u8> {
    match text.strip_prefix(ABSENT)? {
        "" => Some(0),
        rest => rest.strip_prefix('.')?.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> Switch {
        Switch {
            also_stopped: vec!["halted".to_owned()],
            ..Switch::new(
                SwitchConstant::Text("Halted".to_owned()),
                Some(SwitchConstant::Text("Always".to_owned())),
            )
        }
    }

    #[test]
    fn a_label_preserves_the_value_exactly() {
        for value in [
            SwitchValue::Absent(0),
            SwitchValue::Absent(2),
            SwitchValue::Text("RerunOnFailure".into()),
            SwitchValue::Text("".into()),
        ] {
            let label = value.to_label().unwrap();
            assert_eq!(policy().from_label(&label), Some(value));
        }
        let flag = Switch {
            stopped: SwitchConstant::Flag(true),
            ..policy()
        };
        let label = SwitchValue::Flag(false).to_label().unwrap();
        assert_eq!(flag.from_label(&label), Some(SwitchValue::Flag(false)));
    }

    #[test]
    fn values_that_do_not_fit_into_a_label_are_not_saved() {
        let long = "a".repeat(64);
        for text in ["a b", "-a", "a.", "ü", "absent", "absent.1", &long] {
            assert_eq!(SwitchValue::Text(text.into()).to_label(), None, "{text}");
        }
    }

    #[test]
    fn a_label_with_a_stopped_value_is_not_restored() {
        for text in ["Halted", "halted"] {
            assert_eq!(policy().from_label(text), None, "{text}");
        }
        let flag = Switch {
            stopped: SwitchConstant::Flag(true),
            ..policy()
        };
        for text in ["true", "yes", ""] {
            assert_eq!(flag.from_label(text), None, "{text}");
        }
    }
}
