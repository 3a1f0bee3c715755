//! How text looks on the reader's screen.

/// What the reader's screen can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Colours, as ANSI sequences.
    pub colour: bool,
    /// More than ASCII.
    pub unicode: bool,
}

/// How a piece of text is drawn, where there is colour. Nothing may depend on it alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Paint {
    /// As the rest.
    #[default]
    Plain,
    /// Headings and sums.
    Bold,
    /// What can be passed over.
    Faint,
    /// What runs.
    Green,
    /// What is stopped.
    Blue,
    /// What somebody has done, or should look at.
    Yellow,
    /// What is wrong.
    Red,
}

impl Style {
    /// The text in that paint, or as it is where there is no colour.
    ///
    /// ```
    /// use dayshift::style::{Paint, Style};
    ///
    /// let style = Style { colour: true, unicode: false };
    /// assert_eq!(style.paint(Paint::Green, "start"), "\u{1b}[32mstart\u{1b}[0m");
    /// assert_eq!(Style::default().paint(Paint::Green, "start"), "start");
    /// ```
    pub fn paint(self, paint: Paint, text: &str) -> String {
        match paint.code() {
            Some(code) if self.colour && !text.is_empty() => {
                format!("\u{1b}[{code}m{text}\u{1b}[0m")
            }
            _ => text.to_owned(),
        }
    }

    /// The one for screens that have more than ASCII, or the other.
    pub fn either<T>(self, unicode: T, ascii: T) -> T {
        if self.unicode { unicode } else { ascii }
    }
}

impl Paint {
    /// The parameter of the ANSI sequence that sets it (ECMA-48, 8.3.117).
    const fn code(self) -> Option<u8> {
        match self {
            Self::Plain => None,
            Self::Bold => Some(1),
            Self::Faint => Some(2),
            Self::Red => Some(31),
            Self::Green => Some(32),
            Self::Yellow => Some(33),
            Self::Blue => Some(34),
        }
    }
}
