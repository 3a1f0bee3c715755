//! One day on the clocks of a zone, in pieces.

use chrono::{DateTime, Days, NaiveDate, NaiveTime, Utc};
use dayshift_manifest::plan::PlannedState;
use dayshift_schedule::{Action, ClockChange, Zone};

use super::cell::Cell;

const DAY: i64 = 86_400;

/// A day and what happens on it. Times are in seconds since 1970-01-01T00:00:00Z.
#[derive(Debug)]
pub(super) struct Day {
    pub(super) date: NaiveDate,
    pub(super) until: DateTime<Utc>,
    /// The clock change on it.
    pub(super) change: Option<ClockChange>,
    pub(super) cells: Vec<Cell>,
    /// From and to when clocks run on, and when it was midnight by them.
    passes: Vec<(i64, i64, i64)>,
}

impl Day {
    /// The day of `date` in so many pieces.
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
            cells: vec![Cell::default(); pieces],
            passes: Vec::new(),
        };
        let midnight = midnight.and_utc().timestamp();
        let (from, until) = (from.timestamp(), until.timestamp());
        let shown = |at: i64| {
            let local = DateTime::from_timestamp(at, 0).map(|it| it.with_timezone(&zone));
            local.map_or(at, |it| it.naive_local().and_utc().timestamp())
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

    /// Draws a state from one instant to another, as far as they are of this day.
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

    /// Marks a boundary where nothing else tells it.
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

    /// Marks what clocks never show, because they are put forward.
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
