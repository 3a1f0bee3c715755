//! A plan as a picture: a row for each day, running hours drawn solid.

use std::io::{self, Write};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_manifest::plan::{Period, Plan, timeline};
use dayshift_schedule::Zone;
use dayshift_text::{first_names, printable};

use crate::cli::output::{
    chart::{
        day::Layout,
        legend::{
            ScheduleGroup, Totals, active_override, after, coming, counted_as, counts, dates,
            holidays, jitter, next_after, origin, ranges, running,
        },
        rows::ChartRows,
    },
    terminal::{Paint, Style, wrapped},
};

mod day;
mod legend;
mod rows;

/// Draws one chart for each schedule, with one row per day in its zone.
#[derive(Clone, Copy, Debug)]
pub struct Chart {
    style: Style,
    /// The columns of the screen.
    width: usize,
}

const MAX_NAME_LINES: usize = 3;

impl Chart {
    pub fn new(style: Style, width: usize) -> Self {
        Self { style, width }
    }

    /// Writes a chart for each schedule with the names of its workloads, then the names of
    /// workloads with an invalid schedule. `shown` returns the period for a zone, and the time from
    /// which overrides apply.
    pub fn write(
        &self,
        out: &mut impl Write,
        plan: &Plan,
        shown: impl Fn(Zone) -> (Period, DateTime<Utc>),
    ) -> io::Result<()> {
        let mut is_first = true;
        for group in ScheduleGroup::all(plan) {
            if !is_first {
                writeln!(out)?;
            }
            is_first = false;
            let (period, since) = shown(group.spec.schedule.zone());
            self.group(out, &group, period, since)?;
        }
        let refused = plan
            .workloads
            .iter()
            .filter(|workload| !workload.problems().is_empty());
        let names: Vec<_> = refused
            .map(|workload| printable(&workload.to_string()))
            .collect();
        if !names.is_empty() {
            if !is_first {
                writeln!(out)?;
            }
            let refusal = "Invalid schedule; left unchanged:";
            writeln!(out, "{}", self.style.paint(Paint::Red, refusal))?;
            self.names(out, &names)?;
        }
        Ok(())
    }

    fn group(
        &self,
        out: &mut impl Write,
        group: &ScheduleGroup<'_>,
        period: Period,
        since: DateTime<Utc>,
    ) -> io::Result<()> {
        let members = group.members.iter();
        let names: Vec<_> = members
            .map(|workload| printable(&workload.to_string()))
            .collect();
        self.names(out, &names)?;
        let zone = group.spec.schedule.zone();
        let first = period.from().with_timezone(&zone).date_naive();
        let end = period.until() - TimeDelta::seconds(1);
        let last = end.with_timezone(&zone).date_naive();
        let span = format!("{zone}, {}", dates(first, last));
        for line in wrapped(&span, self.width, 2) {
            writeln!(out, "{}", self.style.paint(Paint::Faint, &line))?;
        }
        writeln!(out)?;
        let (least, most) = group.delays();
        let delay = if least == most {
            least
        } else {
            TimeDelta::zero()
        };
        let layout = Layout::new(self.style, self.width);
        let mut rows = ChartRows::new(out, layout, group.spec);
        rows.begin(first)?;
        let mut totals = Totals::default();
        let mut boundaries = 0_usize;
        for step in timeline(group.spec, delay, period, since) {
            boundaries += usize::from(step.boundary.is_some() && step.from < period.until());
            totals.add(&step);
            rows.step(&step)?;
        }
        rows.end()?;
        let ChartRows {
            notes,
            excepted,
            treated,
            ..
        } = rows;
        writeln!(out)?;
        let mut words = active_override(group, since, self.style);
        words.extend(notes);
        if !treated.is_empty() {
            words.push(format!("= counts as another day: {}", counted_as(&treated)));
        }
        if !excepted.is_empty() {
            words.push(format!("x excluded, no start: {}", ranges(&excepted)));
            words.extend(holidays(group.spec.schedule.except(), &excepted));
        }
        words.extend(origin(group));
        words.extend(running(group, &totals, period, since));
        let next = next_after(group, period);
        if boundaries > 0 || next.is_some() || group.spec.stop_after.is_some() {
            words.push(counts(group));
            words.extend(jitter(group));
            words.extend(after(group));
        }
        if boundaries == 0 {
            words.push(coming(next, zone));
        }
        for line in words.iter().flat_map(|text| wrapped(text, self.width, 2)) {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    fn names(&self, out: &mut impl Write, names: &[String]) -> io::Result<()> {
        let mut shown = names.len();
        let lines = loop {
            let lines = wrapped(&first_names(names.iter(), shown), self.width, 0);
            if lines.len() <= MAX_NAME_LINES || shown <= 1 {
                break lines;
            }
            // Names have similar lengths, so this is close to the number that fits.
            shown = (shown * MAX_NAME_LINES / lines.len()).clamp(1, shown - 1);
        };
        for line in lines {
            writeln!(out, "{}", self.style.paint(Paint::Bold, &line))?;
        }
        Ok(())
    }
}
