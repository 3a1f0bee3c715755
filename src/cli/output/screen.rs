//! Output that changes in place on a terminal: the live status, and a progress line.

use std::io::{self, IsTerminal as _, Write as _};

use chrono::{DateTime, Utc};
use dayshift_operations::status::duration;
use dayshift_text::{counted, printable};
use unicode_width::UnicodeWidthStr as _;

use crate::cli::output::{
    messages::{print_beside, print_warning},
    terminal::{Paint, Style, height, moves_cursor, style, width},
};

/// Standard output that is updated in place on a terminal, or appended to if it is not a terminal.
#[derive(Debug)]
pub(crate) struct LiveScreen {
    /// Whether earlier output can be overwritten.
    in_place: bool,
    /// Why the output might be outdated, and since when.
    outage: Option<(String, DateTime<Utc>)>,
    now: DateTime<Utc>,
    /// The last output, if it was appended.
    shown: Vec<u8>,
    said: Vec<String>,
}

impl LiveScreen {
    /// A screen for text. On a terminal, new output overwrites the last.
    pub(crate) fn for_text() -> Self {
        Self {
            in_place: io::stdout().is_terminal() && moves_cursor(),
            ..Self::for_documents()
        }
    }

    /// A screen for documents, which are appended.
    pub(crate) const fn for_documents() -> Self {
        Self {
            in_place: false,
            outage: None,
            now: DateTime::<Utc>::MIN_UTC,
            shown: Vec::new(),
            said: Vec::new(),
        }
    }

    /// Whether relative times should be refreshed.
    pub(crate) const fn ticks(&self) -> bool {
        self.in_place
    }

    pub(crate) fn style(&self) -> Style {
        style(&io::stdout())
    }

    /// Sets or clears the reason why the output might be outdated.
    pub(crate) fn set_outage(&mut self, why: Option<String>, now: DateTime<Utc>) {
        self.now = now;
        match (why, &self.outage) {
            (Some(_), Some(_)) | (None, None) => {}
            (Some(why), None) => {
                if !self.in_place {
                    print_warning(&format!("{why}; the output might be outdated"));
                }
                self.outage = Some((why, now));
            }
            (None, Some(_)) => {
                if !self.in_place {
                    print_warning("the API server responds again");
                }
                self.outage = None;
            }
        }
    }

    /// Shows the output with these lines above it, or on standard error if output is appended. On a
    /// terminal only the lines that fit are shown.
    pub(crate) fn show(&mut self, lines: &[String], text: &[u8]) -> io::Result<()> {
        if !self.in_place {
            for line in lines.iter().filter(|line| !self.said.contains(line)) {
                print_beside(line);
            }
            self.said = lines.to_vec();
            let mut stdout = io::stdout().lock();
            // A new copy is written only if the output has changed, not because time has passed.
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
            let line = printable(&format!("warning: {why}; this is the state of {ago} ago"));
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
        let rows: Vec<_> = text.lines().map(|line| row_count(line, columns)).collect();
        let is_all = rows.iter().sum::<usize>() <= room;
        let mut left = if is_all { room } else { room - 1 };
        let fits = rows.iter().take_while(|rows| {
            let fits = **rows <= left;
            left = left.saturating_sub(**rows);
            fits
        });
        let fits = fits.count();
        // Move the cursor home, erase to the end of each line, erase below (ECMA-48: CUP, EL and
        // ED).
        write!(stdout, "\u{1b}[H")?;
        for line in text.lines().take(fits) {
            // After a full row there is nothing to erase, and xterm would erase its last column.
            let width = line_width(line);
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

/// The rows of the screen that a line needs.
fn row_count(line: &str, columns: usize) -> usize {
    line_width(line).div_ceil(columns).max(1)
}

/// The columns that a line needs, without its color codes.
fn line_width(line: &str) -> usize {
    let mut parts = line.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().width();
    let colored = parts.map(|part| part.split_once('m').map_or(0, |(_, text)| text.width()));
    first + colored.sum::<usize>()
}

/// A line on standard error that is overwritten. It is shown only on a terminal.
#[derive(Debug)]
pub(crate) struct Progress {
    visible: bool,
    shown: bool,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self {
            visible: io::stderr().is_terminal() && moves_cursor(),
            shown: false,
        }
    }

    /// Replaces the line.
    pub(crate) fn say(&mut self, text: &str) {
        if self.visible {
            // Errors are ignored, because there is no reader.
            let _ = write!(io::stderr(), "\r\u{1b}[K{text}");
            self.shown = true;
        }
    }

    /// Removes the line before other output.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(io::stderr(), "\r\u{1b}[K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_rows_of_a_wrapped_line() {
        for (line, rows) in [
            ("", 1),
            ("1234567890", 1),
            ("12345678901", 2),
            ("\u{1b}[31m1234567890\u{1b}[0m", 1),
            ("\u{1b}[31m12345678901\u{1b}[0m", 2),
        ] {
            assert_eq!(row_count(line, 10), rows, "{line:?}");
        }
    }
}
