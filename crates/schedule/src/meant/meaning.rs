//! What to write in place of a text that is refused.

use std::fmt;
use std::ops::Range;

/// What was meant by a text that is refused. Each text in it can be read where it is to stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meant {
    /// Another text in place of some bytes.
    Instead {
        /// Which bytes of the refused text: mostly one item.
        place: Range<usize>,
        /// What belongs there; nothing where they are too many.
        text: Box<str>,
    },
    /// Windows, in the annotation for hours.
    Hours(Box<str>),
    /// A window over several days, in the annotations for starts and stops.
    StartAndStop {
        /// When it begins.
        start: Box<str>,
        /// When it ends.
        stop: Box<str>,
    },
    /// Times with a zone, each in an annotation of its own.
    InZone {
        /// The times.
        times: Box<str>,
        /// The zone.
        timezone: Box<str>,
    },
}

/// The most characters of a proposal that a message repeats.
const SHOWN: usize = 60;

impl Meant {
    /// Another text in place of all of it.
    pub fn all_of(refused: &str, text: &str) -> Self {
        Self::Instead {
            place: 0..refused.len(),
            text: text.into(),
        }
    }

    /// The refused text with this in it; `None` where it belongs into other annotations.
    pub fn applied_to(&self, refused: &str) -> Option<String> {
        let Self::Instead { place, text } = self else {
            return None;
        };
        let (before, after) = (refused.get(..place.start)?, refused.get(place.end..)?);
        Some(format!("{before}{text}{after}"))
    }

    /// Whether a message has room for it.
    pub(crate) fn is_short(&self) -> bool {
        let texts: [&str; 2] = match self {
            Self::Instead { text, .. } => [text, ""],
            Self::Hours(text) => [text, ""],
            Self::StartAndStop { start, stop } => [start, stop],
            Self::InZone { times, timezone } => [times, timezone],
        };
        texts.iter().map(|text| text.len()).sum::<usize>() <= SHOWN
    }
}

/// What to do, as a message says it.
impl fmt::Display for Meant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Instead { text, .. } if text.is_empty() => f.write_str("remove it"),
            Self::Instead { text, .. } => write!(f, "write `{text}`"),
            Self::Hours(text) => write!(f, "write `{text}` in the hours annotation"),
            Self::StartAndStop { start, stop } => write!(
                f,
                "write `{start}` in the start annotation and `{stop}` in the stop annotation"
            ),
            Self::InZone { times, timezone } => write!(
                f,
                "write `{times}`, and `{timezone}` in the timezone annotation"
            ),
        }
    }
}
