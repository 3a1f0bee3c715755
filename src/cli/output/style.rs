//! How text looks on the reader's screen.

use anstyle::AnsiColor;

/// What the reader's screen can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Style {
    /// Colours, as ANSI sequences.
    pub(crate) colour: bool,
    /// More than ASCII.
    pub(crate) unicode: bool,
}

/// How a piece of text is drawn, where there is colour. Nothing may depend on it alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Paint {
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
    pub(crate) fn paint(self, paint: Paint, text: &str) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        let style = paint.style();
        format!("{style}{text}{style:#}")
    }

    /// The one for screens that have more than ASCII, or the other.
    pub(crate) fn either<T>(self, unicode: T, ascii: T) -> T {
        if self.unicode { unicode } else { ascii }
    }
}

impl Paint {
    const fn style(self) -> anstyle::Style {
        match self {
            Self::Plain => anstyle::Style::new(),
            Self::Bold => anstyle::Style::new().bold(),
            Self::Faint => anstyle::Style::new().dimmed(),
            Self::Red => AnsiColor::Red.on_default(),
            Self::Green => AnsiColor::Green.on_default(),
            Self::Yellow => AnsiColor::Yellow.on_default(),
            Self::Blue => AnsiColor::Blue.on_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paint_is_for_screens_with_colour() {
        let style = Style {
            colour: true,
            unicode: false,
        };
        assert_eq!(
            style.paint(Paint::Green, "start"),
            "\u{1b}[32mstart\u{1b}[0m"
        );
        assert_eq!(style.paint(Paint::Plain, "start"), "start");
        assert_eq!(Style::default().paint(Paint::Green, "start"), "start");
    }
}
