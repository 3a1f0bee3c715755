//! Text that is safe to show: quoted, shortened, and without characters that control a terminal.
//! It also finds the closest name to a misspelled one, and defines enums whose variants have names.
//!
//! This is a crate of its own because all others use it, including `dayshift-schedule`, the lowest of
//! them, which should not export functions about terminals and shells.

use std::{
    borrow::Cow,
    error::Error,
    fmt::{self, Write as _},
    io::{self, Write},
    str::FromStr,
};

/// The maximum length of quoted user text in messages, in characters.
const QUOTED: usize = 60;

/// At most 60 characters of `text`, safe to print. Control characters, and characters that reorder
/// or hide text, are escaped.
pub fn quote(text: &str) -> String {
    let mut quoted = String::new();
    let mut room = QUOTED;
    for character in text.trim().chars() {
        let shown = if is_unprintable(character) {
            character.escape_default().to_string()
        } else {
            character.to_string()
        };
        let width = shown.chars().count();
        // Reserve one character for the ellipsis.
        if width >= room {
            quoted.push('…');
            return quoted;
        }
        room -= width;
        quoted.push_str(&shown);
    }
    quoted
}

/// Parses ASCII digits, without sign or blanks. `None` for other text, or if the number is too
/// large.
pub fn number<N: FromStr>(digits: impl AsRef<[u8]>) -> Option<N> {
    let digits = digits.as_ref();
    let is_plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let digits = str::from_utf8(digits).ok().filter(|_| is_plain)?;
    digits.parse().ok()
}

/// The name that a misspelled word means, ignoring case. At most one letter in three may differ; a
/// missing letter or two swapped letters count as one. If two names are equally close, there is
/// none. In words of up to four letters the first letter must match, so that `Don` is not `Mon`.
pub fn nearest<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    // Longer than any name, and short enough to compare with all names.
    const MAX_WORD: usize = 64;
    if word.len() > MAX_WORD {
        return None;
    }
    let word = word.to_lowercase();
    let most = (word.chars().count() / 3).min(3);
    let mut best: Option<(usize, &str)> = None;
    let mut is_alone = true;
    for name in names {
        let lower = name.to_lowercase();
        if lower.len().abs_diff(word.len()) > most
            || word.len() <= 4 && lower.chars().next() != word.chars().next()
        {
            continue;
        }
        let distance = strsim::osa_distance(&word, &lower);
        match best {
            Some((known, _)) if known < distance => {}
            Some((known, one)) if known == distance => is_alone &= one == name,
            _ => (best, is_alone) = (Some((distance, name)), true),
        }
    }
    let (distance, name) = best?;
    (is_alone && distance <= most).then_some(name)
}

/// The text on one line, with the same escapes as [`quote`].
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_unprintable(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// `text` as one word of a POSIX shell.
pub fn shell_word(text: &str) -> Cow<'_, str> {
    // NUL cannot be quoted, and no program argument can contain it.
    shlex::try_quote(text).unwrap_or(Cow::Borrowed("''"))
}

/// Whether a character is a control character, a line separator, or an invisible format character.
/// Zero-width and direction marks could disguise a message (Unicode Technical Report 36,
/// "bidirectional text spoofing").
pub fn is_unprintable(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{00ad}' | '\u{061c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}')
}

/// The first characters of `text`, in total at most `bytes` long.
pub fn cut_bytes(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len()))
        .rev()
        .find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or_default()]
}

/// The last characters of `text`, in total at most `bytes` long.
pub fn last_bytes(text: &str, bytes: usize) -> &str {
    let begin =
        (text.len().saturating_sub(bytes)..text.len()).find(|begin| text.is_char_boundary(*begin));
    &text[begin.unwrap_or(text.len())..]
}

/// The first `characters` characters of `text`.
pub fn cut_chars(text: &str, characters: usize) -> &str {
    text.char_indices()
        .nth(characters)
        .map_or(text, |(end, _)| &text[..end])
}

/// An error and its causes on one line, as in `a: b: c`. A cause that repeats the text before it
/// is omitted.
pub fn error_chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text += &format!(": {cause_text}");
        }
        source = cause.source();
    }
    text
}

/// A number and its noun, for example `1 file`, `2 files` or `3 patches`.
pub fn counted<N: Copy + fmt::Display + PartialEq + From<u8>>(count: N, what: &str) -> String {
    let plural = match what {
        _ if count == N::from(1) => "",
        _ if what.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{count} {what}{plural}")
}

/// The number of names that [`first_of`] shows if it shortens the list.
const MAX_NAMES: usize = 3;

/// Joins names as `a, b`, or if there are many, as `a, b, c and 9 more`.
pub fn first_of(names: &[String]) -> String {
    match names {
        few if few.len() <= MAX_NAMES + 1 => few.join(", "),
        many => first_names(many.iter(), MAX_NAMES),
    }
}

/// Joins at most `limit` names, as `a, b and 9 more` if there are others.
pub fn first_names<'n>(names: impl ExactSizeIterator<Item = &'n String>, limit: usize) -> String {
    let more = names.len().saturating_sub(limit);
    let shown: Vec<&str> = names.take(limit).map(String::as_str).collect();
    let shown = shown.join(", ");
    match more {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Replaces the characters for which `which` holds with `\u....`. JSON has such characters only in
/// strings.
pub fn escape_json(json: &str, which: fn(char) -> bool) -> Cow<'_, str> {
    if !json.contains(which) {
        return json.into();
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        if which(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(character);
        }
    }
    escaped.into()
}

/// Writes JSON with `\u....` in place of the characters that [`printable`] escapes, except line ends.
/// The output has the same value, and cannot control a terminal.
///
/// ```
/// use dayshift_text::TerminalSafe;
///
/// let mut shown = Vec::new();
/// serde_json::to_writer(TerminalSafe(&mut shown), "a\u{9b}2J")?;
/// assert_eq!(shown, br#""a\u009b2J""#);
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Debug)]
pub struct TerminalSafe<W>(pub W);

impl<W: Write> Write for TerminalSafe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Fast path: JSON is written in small pieces that are mostly ASCII.
        if bytes.iter().all(|byte| matches!(byte, b'\n' | b' '..=b'~')) {
            self.0.write_all(bytes)?;
            return Ok(bytes.len());
        }
        let (whole, length) = match str::from_utf8(bytes) {
            Ok(text) => (text, bytes.len()),
            Err(error) if error.valid_up_to() > 0 => {
                let length = error.valid_up_to();
                (str::from_utf8(&bytes[..length]).unwrap_or_default(), length)
            }
            Err(_) => return Err(io::ErrorKind::InvalidData.into()),
        };
        let acts = |character| character != '\n' && is_unprintable(character);
        self.0.write_all(escape_json(whole, acts).as_bytes())?;
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Defines an enum whose variants have names. A variant without one is named as it is written.
///
/// ```
/// dayshift_text::named_enum! {
///     /// The state of a workload.
///     pub enum State {
///         /// It runs.
///         Running = "running",
///         /// It is stopped.
///         Stopped = "stopped",
///     }
/// }
/// assert_eq!(State::ALL.map(State::name), ["running", "stopped"]);
/// assert_eq!(State::from_name("stopped"), Some(State::Stopped));
/// ```
#[macro_export]
macro_rules! named_enum {
    ($(#[$about:meta])* pub enum $type:ident {
        $($(#[$doc:meta])* $variant:ident $(= $name:literal)?,)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type { $($(#[$doc])* $variant,)* }

        impl $type {
            /// Every variant, in order.
            pub const ALL: [Self; [$(stringify!($variant)),*].len()] = [$(Self::$variant),*];

            /// The name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $crate::named_enum!(@ $variant $($name)?),)* }
            }

            /// The variant with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|variant| variant.name() == name)
            }
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
    (@ $variant:ident $name:literal) => { $name };
    (@ $variant:ident) => { stringify!($variant) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_a_limited_length_and_escapes_control_characters() {
        for (text, expected) in [
            ("Fry", "Fry"),
            ("a\tb\u{1b}[31m", r"a\tb\u{1b}[31m"),
            ("nuf\u{202e}", r"nuf\u{202e}"),
            ("月曜 09:00", "月曜 09:00"),
        ] {
            assert_eq!(quote(text), expected);
            assert_eq!(printable(text), expected);
        }
        for long in ["x".repeat(500), "\u{202e}".repeat(500), "日".repeat(500)] {
            let quoted = quote(&long);
            assert!(quoted.chars().count() <= QUOTED, "{quoted}");
            assert!(quoted.ends_with('…'));
        }
    }

    #[test]
    fn long_lists_of_names_are_cut() {
        let names = ["a", "b", "c", "d", "e"].map(str::to_owned);
        for (count, expected) in [
            (0, ""),
            (1, "a"),
            (4, "a, b, c, d"),
            (5, "a, b, c and 2 more"),
        ] {
            assert_eq!(first_of(&names[..count]), expected);
        }
        for (limit, expected) in [(1, "a and 4 more"), (4, "a, b, c, d and 1 more")] {
            assert_eq!(first_names(names.iter(), limit), expected);
        }
        assert_eq!(first_names(names.iter(), 5), names.join(", "));
    }

    #[test]
    fn cuts_at_character_boundaries() {
        assert_eq!((cut_bytes("aé日", 2), cut_bytes("aé日", 9)), ("a", "aé日"));
        assert_eq!(
            (last_bytes("aé日", 4), last_bytes("aé日", 9)),
            ("日", "aé日")
        );
        assert_eq!((cut_chars("aé日", 2), cut_chars("aé日", 9)), ("aé", "aé日"));
    }

    #[test]
    fn error_chain_omits_repeated_causes() {
        #[derive(Debug, thiserror::Error)]
        #[error("cannot connect")]
        struct Outer(#[source] Middle);

        #[derive(Debug, thiserror::Error)]
        #[error("refused: port closed")]
        struct Middle(#[source] io::Error);

        let error = Outer(Middle(io::Error::other("port closed")));
        assert_eq!(error_chain(&error), "cannot connect: refused: port closed");
    }

    #[test]
    fn counts_use_the_plural() {
        for (count, what, expected) in [
            (0, "file", "0 files"),
            (1, "patch", "1 patch"),
            (2, "patch", "2 patches"),
        ] {
            assert_eq!(counted::<u64>(count, what), expected);
        }
    }

    #[test]
    fn escaped_json_has_the_same_value() {
        let text = "a\u{9b}\u{e0001}\u{202e}日\n\"";
        let mut shown = Vec::new();
        serde_json::to_writer_pretty(TerminalSafe(&mut shown), &[text]).unwrap();
        let shown = String::from_utf8(shown).unwrap();
        assert_eq!(shown, "[\n  \"a\\u009b\\udb40\\udc01\\u202e日\\n\\\"\"\n]");
        assert_eq!(
            serde_json::from_str::<[String; 1]>(&shown).unwrap()[0],
            text
        );
    }
}
