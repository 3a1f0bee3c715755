//! Tables as kubectl prints them: headings in capitals, columns three spaces apart, no lines.

use std::io::{self, Write};

use dayshift_text::printable;
use unicode_width::UnicodeWidthStr;

use crate::cli::output::terminal::{Paint, Style};

/// The text of an empty cell, as in kubectl.
const NONE: &str = "<none>";

/// Spaces between two columns.
const GAP: usize = 3;

/// Rows of `N` cells with headings.
#[derive(Clone, Debug)]
pub(crate) struct Table<const N: usize> {
    headings: [&'static str; N],
    rows: Vec<[Cell; N]>,
}

/// A text without control characters.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    text: String,
    paint: Paint,
}

impl<const N: usize> Table<N> {
    pub(crate) fn new(headings: [&'static str; N]) -> Self {
        Self {
            headings,
            rows: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, row: [Cell; N]) {
        self.rows.push(row);
    }

    /// Whether a column has no values.
    pub(crate) fn is_empty(&self, column: usize) -> bool {
        self.rows.iter().all(|row| row[column].text == NONE)
    }

    /// Whether all rows have the same value in a column.
    pub(crate) fn is_alike(&self, column: usize) -> bool {
        let cells = self.rows.iter().map(|row| &row[column].text);
        cells.clone().zip(cells.skip(1)).all(|(a, b)| a == b)
    }

    /// The width of these columns on the screen.
    pub(crate) fn width(&self, columns: &[usize]) -> usize {
        let widths = columns.iter().map(|column| self.column_width(*column));
        widths.sum::<usize>() + GAP * columns.len().saturating_sub(1)
    }

    /// Writes the headings and rows without trailing spaces.
    pub(crate) fn write(&self, out: &mut impl Write, style: Style) -> io::Result<()> {
        self.write_columns(out, style, &std::array::from_fn::<_, N, _>(|column| column))
    }

    /// Writes only these columns.
    pub(crate) fn write_columns(
        &self,
        out: &mut impl Write,
        style: Style,
        columns: &[usize],
    ) -> io::Result<()> {
        let headings = self.headings.map(Cell::from);
        let widths: Vec<_> = columns
            .iter()
            .map(|column| self.column_width(*column))
            .collect();
        for row in [&headings].into_iter().chain(&self.rows) {
            let mut gap = 0;
            for (width, column) in widths.iter().zip(columns) {
                let cell = &row[*column];
                write!(out, "{:gap$}{}", "", style.paint(cell.paint, &cell.text))?;
                gap = width - cell.width() + GAP;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    fn column_width(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|row| row[column].width());
        cells.fold(self.headings[column].width(), usize::max)
    }
}

impl Cell {
    pub(crate) fn painted(self, paint: Paint) -> Self {
        Self { paint, ..self }
    }

    fn width(&self) -> usize {
        self.text.width()
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        let text = if text.is_empty() { NONE } else { text };
        Self {
            text: printable(text),
            paint: Paint::Plain,
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl<T: ToString> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value
            .map(|value| value.to_string())
            .unwrap_or_default()
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(style: Style) -> String {
        let mut table = Table::new(["NAME", "REPLICAS", "NEXT"]);
        table.push(["web".into(), Some(3).into(), "09:00".into()]);
        table.push([
            Cell::from("月曜").painted(Paint::Red),
            None::<u32>.into(),
            "".into(),
        ]);
        table.push(["a\u{1b}[31m\nb".into(), Some(12).into(), "x".into()]);
        let mut out = Vec::new();
        table.write(&mut out, style).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn aligns_columns_with_wide_characters() {
        assert_eq!(
            written(Style::default()),
            "\
NAME             REPLICAS   NEXT
web              3          09:00
月曜             <none>     <none>
a\\u{1b}[31m\\nb   12         x
"
        );
    }

    #[test]
    fn color_does_not_change_the_layout() {
        let style = Style {
            color: true,
            ..Style::default()
        };
        let colored = written(style);
        assert!(colored.contains("\u{1b}[31m月曜\u{1b}[0m             <none>"));
        let plain = colored.replace("\u{1b}[31m", "").replace("\u{1b}[0m", "");
        assert_eq!(plain, written(Style::default()));
    }
}
