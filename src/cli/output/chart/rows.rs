//! The rows of a chart, written as the days pass.

use std::io::{self, Write};

use chrono::{Datelike, NaiveDate, Weekday};
use dayshift_manifest::plan::{PlannedState, PlannedStep};
use dayshift_schedule::{Action, Schedule};

use super::{
    day::Day,
    layout::{LABEL, Layout},
    legend::clock_change,
    times::{Times, clock},
};
use crate::cli::output::style::Paint;

/// Takes steps in order and writes a row for each day that is over.
pub(super) struct Rows<'r, W> {
    out: &'r mut W,
    layout: Layout,
    schedule: &'r Schedule,
    /// The only kind of boundary there is.
    only: Option<Action>,
    day: Option<(Day, Times)>,
    month: Option<u32>,
    /// What is to be said of clock changes.
    pub(super) notes: Vec<String>,
    /// The dates without a start.
    pub(super) excepted: Vec<NaiveDate>,
    /// The dates that count as another day of the week.
    pub(super) treated: Vec<(NaiveDate, Weekday)>,
}

impl<'r, W: Write> Rows<'r, W> {
    pub(super) fn new(out: &'r mut W, layout: Layout, schedule: &'r Schedule) -> Self {
        Self {
            out,
            layout,
            schedule,
            only: schedule.rule().only_action(),
            day: None,
            month: None,
            notes: Vec::new(),
            excepted: Vec::new(),
            treated: Vec::new(),
        }
    }

    /// Begins the row of a day, under a ruler where it is the first of its month.
    pub(super) fn begin(&mut self, date: NaiveDate) -> io::Result<()> {
        let style = self.layout.style;
        if self.month != Some(date.month()) {
            self.month = Some(date.month());
            let month = format!("{:<LABEL$}", date.format("%b").to_string());
            let ruler = style.paint(Paint::Faint, &self.layout.ruler());
            writeln!(self.out, "{}{ruler}", style.paint(Paint::Bold, &month))?;
        }
        let day = Day::new(date, self.schedule.zone(), self.layout.pieces);
        self.day = Some((day, Times::new(self.only, style)));
        Ok(())
    }

    /// Draws a step, and the boundary that it begins with.
    pub(super) fn step(&mut self, step: &PlannedStep) -> io::Result<()> {
        let Some((action, applied)) = step.boundary else {
            return self.fill(step);
        };
        let Some((day, times)) = &mut self.day else {
            return Ok(());
        };
        let is_midnight = step.from == day.until;
        let ends_day = is_midnight && self.only.is_none() && action == Action::Stop;
        if ends_day {
            times.add(action, "24:00", applied);
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
            times.add(action, &clock(&at), applied);
            if self.only.is_some() && applied {
                day.mark(step.from, action);
            }
        }
        self.fill(step)
    }

    fn fill(&mut self, step: &PlannedStep) -> io::Result<()> {
        let state = match step.state {
            // What runs between starts that nothing stops is up to others.
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

    /// Writes the row of the day that is over.
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
