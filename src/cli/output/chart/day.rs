//! One day of a chart: the layout of the screen, and the pieces into which a day is divided.

use chrono::{DateTime, Days, NaiveDate, NaiveTime, Utc};
use dayshift_manifest::plan::PlannedState;
use dayshift_schedule::{Action, ClockChange, Zone};

use crate::cli::output::terminal::{Paint, Style};

/// The columns of a chart on a screen of a certain width.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) style: Style,
    /// The number of pieces of a day, each drawn as one character.
    pub(super) pieces: usize,
    /// The columns for the times beside the pieces.
    pub(super) times: usize,
}

/// The width of the label before the pieces: `Mon 23` and the mark of the day.
pub(super) const LABEL: usize = 7;

/// Spaces before the times.
const GAP: usize = 2;

/// The width of `09:00–19:00`.
const MIN_TIMES: usize = 11;

impl Layout {
    pub(super) fn new(style: Style, width: usize) -> Self {
        let room = width.saturating_sub(LABEL + GAP);
        let pieces = [96, 48, 24]
            .into_iter()
            .find(|pieces| pieces + MIN_TIMES <= room);
        let pieces = pieces.unwrap_or(12);
        Self {
            style,
            pieces,
            times: room.saturating_sub(pieces),
        }
    }

    /// The hours above the pieces: `0     3     6     9 …`.
    pub(super) fn ruler(&self) -> String {
        let step = if self.pieces < 24 { 6 } else { 3 };
        let width = self.pieces * step / 24;
        let hours = (0..=24).step_by(step);
        let ruler: String = hours.map(|hour| format!("{hour:<width$}")).collect();
        ruler.trim_end().to_owned()
    }
}

/// One piece of a day, drawn as one character.
#[derive(Clone, Debug, Default)]
pub(super) struct DayPiece {
    /// Seconds in each state.
    seconds: [i64; PlannedState::COUNT],
    first: Option<PlannedState>,
    last: Option<PlannedState>,
    changes: usize,
    /// The boundary in this piece, for schedules that only start or only stop.
    pub(super) mark: Option<Action>,
    /// Whether this local time is in a DST gap.
    pub(super) is_skipped: bool,
}

impl DayPiece {
    pub(super) fn add(&mut self, seconds: i64, state: PlannedState) {
        self.seconds[state as usize] += seconds;
        self.first = self.first.or(Some(state));
        self.changes += usize::from(self.last.is_some_and(|last| last != state));
        self.last = Some(state);
    }

    /// The character and its color.
    pub(super) fn glyph(&self, style: Style) -> (char, Paint) {
        match self.mark {
            Some(action) if action.is_up() => return (style.either('▲', '^'), Paint::Green),
            Some(_) => return (style.either('▼', 'v'), Paint::Blue),
            None => {}
        }
        let most = |state: &PlannedState| self.seconds[*state as usize];
        let states = [
            PlannedState::Woken,
            PlannedState::Slept,
            PlannedState::Paused,
            PlannedState::AsItIs,
            PlannedState::Running,
            PlannedState::Stopped,
        ];
        match states.iter().rev().max_by_key(|state| most(state)) {
            _ if self.seconds == [0; PlannedState::COUNT] => (
                if self.is_skipped {
                    style.either('×', 'x')
                } else {
                    ' '
                },
                Paint::Faint,
            ),
            Some(PlannedState::Running | PlannedState::Stopped) => self.solid(style),
            Some(state) => state_glyph(*state, style),
            None => (' ', Paint::Plain),
        }
    }

    /// Draws running time as a solid block. A partial block shows which part of the piece runs.
    fn solid(&self, style: Style) -> (char, Paint) {
        let running = self.seconds[PlannedState::Running as usize];
        let whole: i64 = self.seconds.iter().sum();
        if running == 0 {
            return state_glyph(PlannedState::Stopped, style);
        }
        if running == whole {
            return state_glyph(PlannedState::Running, style);
        }
        let begins = self.last == Some(PlannedState::Running);
        let glyph = match (4 * running < whole, 4 * running > 3 * whole) {
            _ if self.changes > 1 => '▒',
            (true, _) if begins => '▕',
            (true, _) => '▏',
            (_, true) => '█',
            _ if begins => '▐',
            _ => '▌',
        };
        (style.either(glyph, '+'), Paint::Green)
    }
}

/// The character of a state.
pub(super) fn state_glyph(state: PlannedState, style: Style) -> (char, Paint) {
    let (unicode, ascii, paint) = match state {
        PlannedState::Running => ('█', '#', Paint::Green),
        PlannedState::Stopped => ('·', '.', Paint::Faint),
        PlannedState::AsItIs => ('─', '-', Paint::Faint),
        PlannedState::Woken => ('▓', 'W', Paint::Yellow),
        PlannedState::Slept => ('░', 'z', Paint::Yellow),
        PlannedState::Paused => ('═', '=', Paint::Yellow),
    };
    (style.either(unicode, ascii), paint)
}

const DAY: i64 = 86_400;

/// A day of a chart. Times are seconds since 1970-01-01T00:00:00Z.
#[derive(Debug)]
pub(super) struct Day {
    pub(super) date: NaiveDate,
    pub(super) until: DateTime<Utc>,
    pub(super) change: Option<ClockChange>,
    pub(super) cells: Vec<DayPiece>,
    /// The parts of the day between clock changes: begin, end, and the midnight in their UTC offset.
    passes: Vec<(i64, i64, i64)>,
}

impl Day {
    pub(super) fn new(date: NaiveDate, zone: Zone, pieces: usize) -> Self {
        let midnight = date.and_time(NaiveTime::MIN);
        let from = zone.instant(midnight);
        let next = midnight.checked_add_days(Days::new(1)).unwrap_or(midnight);
        let until = zone.instant(next);
        let change = zone.clock_change(from, until);
        let mut day = Self {
            date,
            until,
            change,
            cells: vec![DayPiece::default(); pieces],
            passes: Vec::new(),
        };
        let midnight = midnight.and_utc().timestamp();
        let (from, until) = (from.timestamp(), until.timestamp());
        let shown = |at: i64| {
            let local = DateTime::from_timestamp(at, 0).map(|time| time.with_timezone(&zone));
            local.map_or(at, |time| time.naive_local().and_utc().timestamp())
        };
        let change = day.change.map_or(until, |change| change.at.timestamp());
        for (from, until) in [(from, change), (change, until)] {
            if from < until {
                day.passes
                    .push((from, until, midnight - (shown(from) - from)));
            }
        }
        day.skip();
        day
    }

    /// Draws a state between two instants, clipped to this day.
    pub(super) fn fill(&mut self, from: DateTime<Utc>, until: DateTime<Utc>, state: PlannedState) {
        let piece = DAY / i64::try_from(self.cells.len()).unwrap_or(1);
        for &(begin, end, midnight) in &self.passes {
            let mut at = (from.timestamp().max(begin) - midnight).max(0);
            let until = (until.timestamp().min(end) - midnight).min(DAY);
            while at < until {
                let next = until.min((at / piece + 1) * piece);
                let cell = usize::try_from(at / piece).unwrap_or_default();
                if let Some(cell) = self.cells.get_mut(cell) {
                    cell.add(next - at, state);
                }
                at = next;
            }
        }
    }

    /// Marks a boundary.
    pub(super) fn mark(&mut self, at: DateTime<Utc>, action: Action) {
        let piece = DAY / i64::try_from(self.cells.len()).unwrap_or(1);
        let at = at.timestamp();
        let pass = self.passes.iter().find(|pass| pass.0 <= at && at < pass.1);
        let second = pass.map(|pass| at - pass.2).unwrap_or_default();
        let cell = usize::try_from(second / piece).unwrap_or_default();
        if let Some(cell) = self.cells.get_mut(cell) {
            cell.mark = Some(action);
        }
    }

    /// Marks the pieces that are in a DST gap.
    fn skip(&mut self) {
        let pieces = i64::try_from(self.cells.len()).unwrap_or(1);
        for (nth, cell) in (0..).zip(&mut self.cells) {
            let (from, until) = (nth * DAY / pieces, (nth + 1) * DAY / pieces);
            cell.is_skipped = self
                .passes
                .iter()
                .all(|&(begin, end, midnight)| end - midnight <= from || until <= begin - midnight);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_coarser_days_on_a_narrow_screen() {
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
