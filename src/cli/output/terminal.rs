//! The capabilities of the terminal: color, Unicode, its size, and text wrapped to its width.

use std::{
    env,
    ffi::OsString,
    io::{self, IsTerminal},
    sync::OnceLock,
};

use anstyle::AnsiColor;
use clap::ColorChoice;
use unicode_width::UnicodeWidthStr as _;

/// The style for a stream.
pub(crate) fn style(stream: &impl IsTerminal) -> Style {
    Style {
        color: color(stream),
        unicode: unicode(),
    }
}

/// The value of `--color`, set when the arguments are parsed.
static COLOR: OnceLock<ColorChoice> = OnceLock::new();

/// Sets the value of `--color`. Later calls have no effect.
pub(crate) fn set_color(choice: ColorChoice) {
    COLOR.get_or_init(|| choice);
}

/// Whether to use color: as `--color` specifies, or else on a terminal unless `NO_COLOR` is set
/// (<https://no-color.org>), and elsewhere if `CLICOLOR_FORCE` is set
/// (<https://bixense.com/clicolors>).
pub(crate) fn color(stream: &impl IsTerminal) -> bool {
    let forced = || variable("CLICOLOR_FORCE").is_some_and(|value| value != "0");
    match COLOR.get() {
        Some(ColorChoice::Always) => true,
        Some(ColorChoice::Never) => false,
        Some(ColorChoice::Auto) | None => {
            variable("NO_COLOR").is_none() && (forced() || stream.is_terminal() && moves_cursor())
        }
    }
}

/// Whether the terminal understands escape sequences.
pub(crate) fn moves_cursor() -> bool {
    env::var_os("TERM").is_none_or(|terminal| terminal != "dumb")
}

/// Sets the width of all output, also in a pipe.
const WIDTH_VARIABLE: &str = "DAYSHIFT_COLUMNS";

/// The width of standard output if it is known: from `DAYSHIFT_COLUMNS`, or of the terminal.
///
/// `COLUMNS` applies only on a terminal, so that output in a pipe does not depend on the shell.
pub(crate) fn stdout_width() -> Option<usize> {
    let of_terminal = || {
        let width = || terminal_size::terminal_size().map(|(width, _)| width.0.into());
        let known = || columns("COLUMNS").or_else(width).unwrap_or(DEFAULT_WIDTH);
        io::stdout().is_terminal().then(known)
    };
    columns(WIDTH_VARIABLE).or_else(of_terminal)
}

/// The width if the output is neither on a terminal nor set by a variable.
const DEFAULT_WIDTH: usize = 80;

fn columns(name: &str) -> Option<usize> {
    let width = variable(name)?.to_str()?.parse().ok()?;
    (width > 0).then_some(width)
}

/// The height of the terminal, if it is known.
pub(crate) fn height() -> Option<usize> {
    terminal_size::terminal_size().map(|(_, height)| height.0.into())
}

/// The width of standard output, or else 80.
pub(crate) fn width() -> usize {
    stdout_width().unwrap_or(DEFAULT_WIDTH)
}

/// Whether the locale is UTF-8. The first of these variables that is set decides (POSIX, 8.2).
pub(crate) fn unicode() -> bool {
    ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(variable)
        .is_some_and(|locale| is_utf8(&locale.to_string_lossy()))
}

fn is_utf8(locale: &str) -> bool {
    // On macOS a locale can be an encoding only.
    let (_, encoding) = locale.split_once('.').unwrap_or(("", locale));
    let encoding = encoding.split('@').next().unwrap_or_default();
    encoding.eq_ignore_ascii_case("UTF-8") || encoding.eq_ignore_ascii_case("utf8")
}

fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// Wraps words into lines of at most `width` columns, with `indent` spaces before all but the
/// first. A longer word gets its own line. A command in backticks is one word, so that it can be
/// copied.
pub(crate) fn wrapped(text: &str, width: usize, indent: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut is_begun = false;
    for word in words(text) {
        if is_begun && line.width() + 1 + word.width() > width {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
        } else if is_begun {
            line.push(' ');
        }
        line.push_str(word);
        is_begun = true;
    }
    lines.push(line);
    lines
}

/// Splits at spaces outside backticks. A backtick without a counterpart is ignored.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut left = text.matches('`').count();
    let mut is_command = false;
    text.split(move |character| {
        if character == '`' {
            left -= 1;
            is_command = !is_command && left > 0;
        }
        character == ' ' && !is_command
    })
}

/// The capabilities of a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Style {
    /// ANSI color sequences.
    pub(crate) color: bool,
    /// Characters outside ASCII.
    pub(crate) unicode: bool,
}

/// The color of a text. Colors never carry information on their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Paint {
    #[default]
    Plain,
    /// For headings and sums.
    Bold,
    /// For less important text.
    Faint,
    /// For running workloads.
    Green,
    /// For stopped workloads.
    Blue,
    /// For manual changes, and for text that the user should check.
    Yellow,
    /// For errors.
    Red,
}

impl Style {
    /// The text with color codes, if the style has color.
    pub(crate) fn paint(self, paint: Paint, text: &str) -> String {
        if !self.color || text.is_empty() {
            return text.to_owned();
        }
        let style = paint.style();
        format!("{style}{text}{style:#}")
    }

    /// The first value if the terminal supports Unicode, or else the second.
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
    fn detects_the_encoding_of_a_locale() {
        for (locale, expected) in [
            ("C.UTF-8", true),
            ("de_DE.utf8", true),
            ("de_DE.UTF-8@euro", true),
            ("C", false),
            ("de_DE", false),
            ("de_DE.ISO-8859-15@euro", false),
            ("UTF-8", true),
            ("utf8x", false),
        ] {
            assert_eq!(is_utf8(locale), expected, "{locale}");
        }
    }

    #[test]
    fn fills_lines_up_to_the_width() {
        let text = "one two three fourteen";
        assert_eq!(wrapped(text, 80, 2), [text]);
        assert_eq!(wrapped(text, 9, 2), ["one two", "  three", "  fourteen"]);
        assert_eq!(wrapped("fourteen", 3, 2), ["fourteen"]);
    }

    #[test]
    fn does_not_wrap_a_command() {
        let text = "down; `dayshift sync web` stops it; an odd ` and the rest";
        let expected = [
            "down;",
            "  `dayshift sync web`",
            "  stops it; an",
            "  odd ` and the",
            "  rest",
        ];
        assert_eq!(wrapped(text, 15, 2), expected);
        assert_eq!(wrapped("月曜 月曜", 8, 2), ["月曜", "  月曜"]);
    }

    #[test]
    fn paints_only_with_color() {
        let style = Style {
            color: true,
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
