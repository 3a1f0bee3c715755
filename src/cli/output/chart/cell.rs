//! A piece of a day, and the one character that stands for it.

use dayshift_manifest::plan::PlannedState;
use dayshift_schedule::Action;

use crate::cli::output::style::{Paint, Style};

/// What was the case in a piece of a day.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    /// For how many seconds, by state.
    seconds: [i64; PlannedState::COUNT],
    first: Option<PlannedState>,
    last: Option<PlannedState>,
    changes: usize,
    /// The boundary that stands here, where only those are drawn.
    pub(super) mark: Option<Action>,
    /// Whether clocks never show this time.
    pub(super) is_skipped: bool,
}

impl Cell {
    pub(super) fn add(&mut self, seconds: i64, state: PlannedState) {
        self.seconds[state as usize] += seconds;
        self.first = self.first.or(Some(state));
        self.changes += usize::from(self.last.is_some_and(|last| last != state));
        self.last = Some(state);
    }

    /// Its character and how that is painted.
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
            Some(state) => drawn(*state, style),
            None => (' ', Paint::Plain),
        }
    }

    /// Running time is solid; a character that is partly so shows which part.
    fn solid(&self, style: Style) -> (char, Paint) {
        let running = self.seconds[PlannedState::Running as usize];
        let whole: i64 = self.seconds.iter().sum();
        if running == 0 {
            return drawn(PlannedState::Stopped, style);
        }
        if running == whole {
            return drawn(PlannedState::Running, style);
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

/// How a state is drawn that holds all the time.
pub(super) fn drawn(state: PlannedState, style: Style) -> (char, Paint) {
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
