//! What is shown again and again.

use std::io::{self, IsTerminal as _, Write as _};

use chrono::{DateTime, Utc};
use dayshift_operations::status::duration;
use dayshift_text::{counted, printable};
use unicode_width::UnicodeWidthStr as _;

use super::{
    messages::{print_beside, print_warning},
    style::{Paint, Style},
    terminal::{height, moves_cursor, style, width},
};

/// Standard output that shows the same thing as it changes: in place on a terminal, else one after
/// the other.
#[derive(Debug)]
pub(crate) struct LiveScreen {
    /// Whether what was shown can be taken away.
    in_place: bool,
    /// Why what is shown may be old, and since when.
    outage: Option<(String, DateTime<Utc>)>,
    now: DateTime<Utc>,
    /// What was shown last, where it stays, and what was said beside it.
    shown: Vec<u8>,
    said: Vec<String>,
}

impl LiveScreen {
    /// Nothing is shown yet. What is not text for people is never shown in place.
    pub(crate) fn new(is_text: bool) -> Self {
        Self {
            in_place: is_text && io::stdout().is_terminal() && moves_cursor(),
            outage: None,
            now: DateTime::<Utc>::MIN_UTC,
            shown: Vec::new(),
            said: Vec::new(),
        }
    }

    /// Whether it is to be shown again as time passes.
    pub(crate) const fn ticks(&self) -> bool {
        self.in_place
    }

    pub(crate) fn style(&self) -> Style {
        style(&io::stdout())
    }

    /// What is shown from now on may be old, for this reason; or is new.
    pub(crate) fn set_outage(&mut self, why: Option<String>, now: DateTime<Utc>) {
        self.now = now;
        match (why, &self.outage) {
            (Some(_), Some(_)) | (None, None) => {}
            (Some(why), None) => {
                if !self.in_place {
                    print_warning(&format!("{why}; what is shown may be old"));
                }
                self.outage = Some((why, now));
            }
            (None, Some(_)) => {
                if !self.in_place {
                    print_warning("the API server answers again");
                }
                self.outage = None;
            }
        }
    }

    /// Shows it, with these lines above; on standard error, where it does not stay in its place. On a
    /// terminal the first lines stay where there are more than it has.
    ///
    /// # Errors
    /// What standard output says.
    pub(crate) fn show(&mut self, lines: &[String], text: &[u8]) -> io::Result<()> {
        if !self.in_place {
            for line in lines.iter().filter(|it| !self.said.contains(it)) {
                print_beside(line);
            }
            self.said = lines.to_vec();
            let mut stdout = io::stdout().lock();
            // Time alone changes nothing that is worth another copy.
            if self.shown != text {
                stdout.write_all(text)?;
                self.shown = text.to_vec();
            }
            return stdout.flush();
        }
        let style = self.style();
        let mut all = Vec::new();
        if let Some((why, since)) = &self.outage {
            let ago = duration(self.now - *since);
            let line = printable(&format!("warning: {why}; this is how it was {ago} ago"));
            writeln!(all, "{}", style.paint(Paint::Yellow, &line))?;
        }
        for line in lines {
            writeln!(all, "{}", printable(line))?;
        }
        all.extend_from_slice(text);
        let mut stdout = io::stdout().lock();
        let text = String::from_utf8_lossy(&all);
        let room = height().unwrap_or(usize::MAX).saturating_sub(1).max(2);
        let columns = width();
        let rows: Vec<_> = text.lines().map(|line| rows_of(line, columns)).collect();
        let is_all = rows.iter().sum::<usize>() <= room;
        let mut left = if is_all { room } else { room - 1 };
        let fits = rows.iter().take_while(|rows| {
            let fits = **rows <= left;
            left = left.saturating_sub(**rows);
            fits
        });
        let fits = fits.count();
        // Home; each line and nothing behind it; nothing below (ECMA-48, CUP, EL and ED).
        write!(stdout, "\u{1b}[H")?;
        for line in text.lines().take(fits) {
            // Behind a full row there is nothing, and xterm would erase its last column.
            let width = width_of(line);
            let is_full = width > 0 && width.is_multiple_of(columns);
            let erase = if is_full { "" } else { "\u{1b}[K" };
            write!(stdout, "{line}{erase}\r\n")?;
        }
        if !is_all {
            let more = counted(rows.len() - fits, "more line");
            write!(stdout, "({more})\u{1b}[K\r\n")?;
        }
        write!(stdout, "\u{1b}[J")?;
        stdout.flush()
    }
}

/// How many rows of the screen a line takes.
fn rows_of(line: &str, columns: usize) -> usize {
    width_of(line).div_ceil(columns).max(1)
}

/// How many columns a line takes; colours take nothing.
fn width_of(line: &str) -> usize {
    let mut parts = line.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().width();
    let coloured = parts.map(|part| part.split_once('m').map_or(0, |(_, text)| text.width()));
    first + coloured.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_takes_as_many_rows_as_it_wraps_to() {
        for (line, rows) in [
            ("", 1),
            ("1234567890", 1),
            ("12345678901", 2),
            ("\u{1b}[31m1234567890\u{1b}[0m", 1),
            ("\u{1b}[31m12345678901\u{1b}[0m", 2),
        ] {
            assert_eq!(rows_of(line, 10), rows, "{line:?}");
        }
    }
}
