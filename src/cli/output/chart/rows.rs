//! The rows of a chart, written day by day, with the times of the boundaries beside them.

use std::io::{self, Write};

use chrono::{DateTime, Datelike, NaiveDate, Weekday};
use dayshift_manifest::plan::{PlannedState, PlannedStep};
use dayshift_operations::status::time_of_day;
use dayshift_schedule::{Action, Schedule, Zone};
use dayshift_workload::ScheduleSpec;

use crate::cli::output::{
    chart::{
        day::{Day, LABEL, Layout},
        legend::clock_change,
    },
    terminal::{Paint, Style},
};

/// Receives steps in order and writes a row for each finished day.
pub(super) struct ChartRows<'r, W> {
    out: &'r mut W,
    layout: Layout,
    schedule: &'r Schedule,
    /// The only kind of boundary that the schedule has, if it has one kind.
    only: Option<Action>,
    day: Option<(Day, BoundaryTimes)>,
    month: Option<u32>,
    /// Notes about clock changes.
    pub(super) notes: Vec<String>,
    /// The excluded dates.
    pub(super) excepted: Vec<NaiveDate>,
    /// The dates that are treated as another weekday.
    pub(super) treated: Vec<(NaiveDate, Weekday)>,
}

impl<'r, W: Write> ChartRows<'r, W> {
    pub(super) fn new(out: &'r mut W, layout: Layout, spec: &'r ScheduleSpec) -> Self {
        Self {
            out,
            layout,
            schedule: &spec.schedule,
            only: spec.only_action(),
            day: None,
            month: None,
            notes: Vec::new(),
            excepted: Vec::new(),
            treated: Vec::new(),
        }
    }

    /// Begins the row of a day, below a ruler if it is the first of its month.
    pub(super) fn begin(&mut self, date: NaiveDate) -> io::Result<()> {
        let style = self.layout.style;
        if self.month != Some(date.month()) {
            self.month = Some(date.month());
            let month = format!("{:<LABEL$}", date.format("%b").to_string());
            let ruler = style.paint(Paint::Faint, &self.layout.ruler());
            writeln!(self.out, "{}{ruler}", style.paint(Paint::Bold, &month))?;
        }
        let day = Day::new(date, self.schedule.zone(), self.layout.pieces);
        self.day = Some((day, BoundaryTimes::new(self.only, style)));
        Ok(())
    }

    /// Draws a step and the boundary at its beginning.
    pub(super) fn step(&mut self, step: &PlannedStep) -> io::Result<()> {
        let Some((action, applied)) = step.boundary else {
            return self.fill(step);
        };
        let outcome = match applied {
            true => BoundaryOutcome::Applied,
            false => BoundaryOutcome::Skipped,
        };
        let Some((day, times)) = &mut self.day else {
            return Ok(());
        };
        let is_midnight = step.from == day.until;
        let ends_day = is_midnight && self.only.is_none() && action == Action::Stop;
        if ends_day {
            times.add(action, "24:00", outcome);
        }
        if step.from == step.until {
            return Ok(());
        }
        if is_midnight {
            self.next()?;
        }
        if let Some((day, times)) = &mut self.day
            && !ends_day
        {
            let at = step.from.with_timezone(&self.schedule.zone());
            times.add(action, &clock(&at), outcome);
            if self.only.is_some() && applied {
                day.mark(step.from, action);
            }
        }
        self.fill(step)
    }

    fn fill(&mut self, step: &PlannedStep) -> io::Result<()> {
        let state = match step.state {
            // If the schedule never stops, it does not determine when the workload runs.
            PlannedState::Running | PlannedState::Stopped if self.only.is_some() => {
                PlannedState::AsItIs
            }
            state => state,
        };
        while let Some((day, _)) = &mut self.day {
            day.fill(step.from, step.until, state);
            if step.until <= day.until {
                break;
            }
            self.next()?;
        }
        Ok(())
    }

    fn next(&mut self) -> io::Result<()> {
        let next = self.day.as_ref().and_then(|(day, _)| day.date.succ_opt());
        self.end()?;
        next.map_or(Ok(()), |date| self.begin(date))
    }

    /// Writes the row of the finished day.
    pub(super) fn end(&mut self) -> io::Result<()> {
        let Some((day, mut times)) = self.day.take() else {
            return Ok(());
        };
        times.close();
        let mut mark = " ";
        if let Some(weekday) = self.schedule.treated().day_of_week(day.date) {
            mark = "=";
            self.treated.push((day.date, weekday));
        }
        if self.schedule.except().contains(day.date) {
            mark = "x";
            self.excepted.push(day.date);
        }
        if let Some(change) = &day.change {
            mark = "*";
            self.notes.push(clock_change(day.date, change));
        }
        let style = self.layout.style;
        let mut row = format!("{} {:>2}", day.date.format("%a"), day.date.day());
        row += &style.paint(Paint::Yellow, mark);
        let glyphs: Vec<_> = day.cells.iter().map(|cell| cell.glyph(style)).collect();
        for alike in glyphs.chunk_by(|one, other| one.1 == other.1) {
            let text: String = alike.iter().map(|(glyph, _)| glyph).collect();
            let paint = alike.first().map_or(Paint::Plain, |(_, paint)| *paint);
            row += &style.paint(paint, &text);
        }
        let times = times.within(self.layout.times);
        if !times.is_empty() {
            row += &format!("  {times}");
        }
        writeln!(self.out, "{}", row.trim_end())
    }
}

/// More than fit on any screen.
const KEPT: usize = 24;

/// The boundaries of a day: `09:00–12:00 13:00–17:00`, or `start 09:00 10:00` if the schedule has
/// one kind only. A boundary without a counterpart on the same day is `22:00–` or `–06:00`. A
/// boundary that an override skips is in brackets.
#[derive(Debug)]
pub(super) struct BoundaryTimes {
    dash: &'static str,
    /// The only kind of boundary that the schedule has, if it has one kind.
    only: Option<Action>,
    items: Vec<ShownTime>,
    /// The number of boundaries, including those that are not kept.
    count: usize,
    /// The number of skipped boundaries.
    skipped: usize,
    /// A start whose stop might still follow on this day.
    open: Option<String>,
}

#[derive(Debug)]
struct ShownTime {
    action: Action,
    text: String,
    outcome: BoundaryOutcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BoundaryOutcome {
    Applied,
    /// An override skips it.
    Skipped,
}

impl BoundaryTimes {
    pub(super) fn new(only: Option<Action>, style: Style) -> Self {
        Self {
            dash: style.either("–", "-"),
            only,
            items: Vec::new(),
            count: 0,
            skipped: 0,
            open: None,
        }
    }

    pub(super) fn add(&mut self, action: Action, time: &str, outcome: BoundaryOutcome) {
        use BoundaryOutcome::{Applied, Skipped};

        let dash = self.dash;
        match action {
            _ if self.only.is_some() => {
                let text = match outcome {
                    Applied => time.to_owned(),
                    Skipped => format!("({time})"),
                };
                self.push(action, text, outcome);
            }
            Action::Scale(count) => {
                let text = match outcome {
                    Applied => format!("{time}={count}"),
                    Skipped => format!("({time}={count})"),
                };
                self.push(action, text, outcome);
            }
            Action::Start => {
                self.close();
                match outcome {
                    Applied => self.open = Some(time.to_owned()),
                    Skipped => self.push(action, format!("({time}{dash})"), Skipped),
                }
            }
            Action::Stop => match outcome {
                Applied => {
                    let start = self.open.take().unwrap_or_default();
                    self.push(action, format!("{start}{dash}{time}"), Applied);
                }
                Skipped => {
                    self.close();
                    self.push(action, format!("({dash}{time})"), Skipped);
                }
            },
        }
    }

    /// Closes a start without a stop on this day.
    pub(super) fn close(&mut self) {
        if let Some(start) = self.open.take() {
            let text = format!("{start}{}", self.dash);
            self.push(Action::Start, text, BoundaryOutcome::Applied);
        }
    }

    /// The text that fits into this many columns. Skipped boundaries are left out first; the rest
    /// is counted.
    pub(super) fn within(&self, room: usize) -> String {
        // An override can end with a kind of boundary that the schedule does not have.
        let is_only = |shown: &ShownTime| self.only.is_none_or(|only| only == shown.action);
        let only = self.only.filter(|_| self.items.iter().all(is_only));
        let kind = only.map(|only| format!("{only} ")).unwrap_or_default();
        let fits = |text: &String| text.chars().count() <= room;
        let is_mixed = self.only.is_some() && only.is_none();
        let text = |shown: &ShownTime| {
            if is_mixed {
                format!("{} {}", shown.action, shown.text)
            } else {
                shown.text.clone()
            }
        };
        let all: Vec<_> = self.items.iter().map(text).collect();
        let is_applied = |shown: &&ShownTime| shown.outcome == BoundaryOutcome::Applied;
        let applied = self.items.iter().filter(is_applied);
        let applied: Vec<_> = applied.map(text).collect();
        if self.count == 0 {
            return String::new();
        }
        let whole = format!("{kind}{}", all.join(" "));
        if self.count == all.len() && fits(&whole) {
            return whole;
        }
        let without_skipped = format!("{kind}{} ({} skipped)", applied.join(" "), self.skipped);
        let is_complete = applied.len() + self.skipped == self.count;
        if self.skipped > 0 && !applied.is_empty() && is_complete && fits(&without_skipped) {
            return without_skipped;
        }
        for shown in (0..=all.len()).rev() {
            let times = all.get(..shown).unwrap_or_default().join(" ");
            let more = self.count - shown;
            let text = match shown {
                0 if only.is_some() => format!("{kind}{more}"),
                0 => format!("{more} times"),
                _ => format!("{kind}{times} +{more}"),
            };
            if fits(&text) {
                return text;
            }
        }
        String::new()
    }

    fn push(&mut self, action: Action, text: String, outcome: BoundaryOutcome) {
        self.count += 1;
        self.skipped += usize::from(outcome == BoundaryOutcome::Skipped);
        if self.items.len() < KEPT {
            self.items.push(ShownTime {
                action,
                text,
                outcome,
            });
        }
    }
}

/// `09:00`, or `09:00:30` if there are seconds.
pub(super) fn clock(at: &DateTime<Zone>) -> String {
    at.format(time_of_day(at)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_out_skipped_boundaries_first() {
        let mut day = BoundaryTimes::new(None, Style::default());
        day.add(Action::Start, "09:00", BoundaryOutcome::Skipped);
        day.add(Action::Stop, "19:00", BoundaryOutcome::Skipped);
        day.add(Action::Stop, "22:00", BoundaryOutcome::Applied);
        for (room, expected) in [
            (40, "(09:00-) (-19:00) -22:00"),
            (23, "-22:00 (2 skipped)"),
            (12, "(09:00-) +2"),
            (8, "3 times"),
        ] {
            assert_eq!(day.within(room), expected, "{room}");
        }
    }

    #[test]
    fn shows_the_end_of_an_override_of_another_kind_of_boundary() {
        let mut day = BoundaryTimes::new(Some(Action::Stop), Style::default());
        day.add(Action::Stop, "19:00", BoundaryOutcome::Applied);
        assert_eq!(day.within(40), "stop 19:00");
        day.add(Action::Start, "22:00", BoundaryOutcome::Applied);
        assert_eq!(day.within(40), "stop 19:00 start 22:00");
    }
}
