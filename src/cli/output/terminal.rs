//! What the reader's terminal can show.

use std::{
    env,
    ffi::OsString,
    io::{self, IsTerminal},
    sync::OnceLock,
};

use clap::ColorChoice;
use unicode_width::UnicodeWidthStr as _;

use super::style::Style;

/// What a screen that is written to can show.
pub(crate) fn style(stream: &impl IsTerminal) -> Style {
    Style {
        colour: colour(stream),
        unicode: unicode(),
    }
}

/// What `--color` says, once the arguments are read.
static COLOR: OnceLock<ColorChoice> = OnceLock::new();

/// Says when there is colour. The first call counts.
pub(crate) fn set_color(choice: ColorChoice) {
    COLOR.get_or_init(|| choice);
}

/// `--color` decides. Else colour is for terminals, and elsewhere where `CLICOLOR_FORCE` asks for it
/// (<https://bixense.com/clicolors>), but never with `NO_COLOR` (<https://no-color.org>).
pub(crate) fn colour(stream: &impl IsTerminal) -> bool {
    let forced = || variable("CLICOLOR_FORCE").is_some_and(|value| value != "0");
    match COLOR.get() {
        Some(ColorChoice::Always) => true,
        Some(ColorChoice::Never) => false,
        Some(ColorChoice::Auto) | None => {
            variable("NO_COLOR").is_none() && (forced() || stream.is_terminal() && moves_cursor())
        }
    }
}

/// Whether a terminal does what escape sequences say.
pub(crate) fn moves_cursor() -> bool {
    env::var_os("TERM").is_none_or(|terminal| terminal != "dumb")
}

/// How many columns standard output has, where that is known: on a terminal, or from `COLUMNS`.
pub(crate) fn stdout_width() -> Option<usize> {
    (io::stdout().is_terminal() || variable("COLUMNS").is_some()).then(width)
}

/// How many lines the terminal has, where that is known.
pub(crate) fn height() -> Option<usize> {
    terminal_size::terminal_size().map(|(_, height)| height.0.into())
}

/// How many columns there are: what `COLUMNS` says where it is exported, else the terminal, else 80.
pub(crate) fn width() -> usize {
    let said = variable("COLUMNS").and_then(|text| text.to_str()?.parse().ok());
    said.filter(|width| *width > 0)
        .or_else(|| terminal_size::terminal_size().map(|(width, _)| width.0.into()))
        .unwrap_or(80)
}

/// Whether the locale's encoding is UTF-8: the first of these variables decides (POSIX, 8.2).
pub(crate) fn unicode() -> bool {
    ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(variable)
        .is_some_and(|locale| is_utf8(&locale.to_string_lossy()))
}

fn is_utf8(locale: &str) -> bool {
    // macOS has locales that are an encoding alone.
    let (_, encoding) = locale.split_once('.').unwrap_or(("", locale));
    let encoding = encoding.split('@').next().unwrap_or_default();
    encoding.eq_ignore_ascii_case("UTF-8") || encoding.eq_ignore_ascii_case("utf8")
}

fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// Words in lines of at most `width` columns, the later ones after `indent` blanks. A longer word
/// has a line of its own, and a command in backticks is one word: who copies it has all of it.
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

/// What stands between blanks that are not in backticks. One backtick alone is no pair.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locale_names_its_encoding() {
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
    fn lines_are_as_wide_as_they_may_be() {
        let text = "one two three fourteen";
        assert_eq!(wrapped(text, 80, 2), [text]);
        assert_eq!(wrapped(text, 9, 2), ["one two", "  three", "  fourteen"]);
        assert_eq!(wrapped("fourteen", 3, 2), ["fourteen"]);
    }

    #[test]
    fn a_command_is_one_word() {
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
}
