//! Where on the screen everything stands.

use crate::cli::output::style::Style;

/// What a screen of a certain width has room for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) style: Style,
    /// Into how many pieces a day is drawn, a character each.
    pub(super) pieces: usize,
    /// How many columns the times beside them may take.
    pub(super) times: usize,
}

/// What stands before a day's hours: `Mon 23` and the mark of the day.
pub(super) const LABEL: usize = 7;

/// Blanks before the times.
const GAP: usize = 2;

/// `09:00–19:00`.
const MIN_TIMES: usize = 11;

impl Layout {
    pub(super) fn new(style: Style, width: usize) -> Self {
        let room = width.saturating_sub(LABEL + GAP);
        let pieces = [96, 48, 24].into_iter().find(|it| it + MIN_TIMES <= room);
        let pieces = pieces.unwrap_or(12);
        Self {
            style,
            pieces,
            times: room.saturating_sub(pieces),
        }
    }

    /// `0     3     6     9 …`, over the hours that begin there.
    pub(super) fn ruler(&self) -> String {
        let step = if self.pieces < 24 { 6 } else { 3 };
        let width = self.pieces * step / 24;
        let hours = (0..=24).step_by(step);
        let ruler: String = hours.map(|hour| format!("{hour:<width$}")).collect();
        ruler.trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_screen_has_coarser_days() {
        for (width, pieces, times, ruler) in [
            (20, 12, 0, "0  6  12 18 24"),
            (40, 12, 19, "0  6  12 18 24"),
            (44, 24, 11, "0  3  6  9  12 15 18 21 24"),
            (
                80,
                48,
                23,
                "0     3     6     9     12    15    18    21    24",
            ),
        ] {
            let layout = Layout::new(Style::default(), width);
            assert_eq!((layout.pieces, layout.times), (pieces, times), "{width}");
            assert_eq!(layout.ruler(), ruler, "{width}");
        }
        assert_eq!(Layout::new(Style::default(), 200).pieces, 96);
    }
}
