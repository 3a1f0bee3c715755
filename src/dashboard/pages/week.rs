//! The states of a workload during a period, as a picture and as a table.

use std::fmt::Write as _;

use chrono::{DateTime, Datelike, Days, NaiveDate, NaiveTime, TimeDelta, Utc, Weekday};
use dayshift_manifest::plan::{Period, PlannedState, Planner, WorkloadPlan, timeline};
use dayshift_operations::status::duration;
use dayshift_schedule::{Action, Zone};
use dayshift_text::counted;
use dayshift_workload::{ParsedInputs, Replicas};
use maud::{Markup, html};

use crate::dashboard::pages::page::Page;
use crate::dashboard::view::{Row, Situation};

/// The maximum number of planned states, because a schedule with seconds has millions in a week.
const MAX_STEPS: usize = 2_000;
/// The maximum number of drawn segments.
const MAX_PIECES: usize = 100;
/// The width of the picture in its own units.
const WIDTH: i64 = 1_000;

/// The state of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Planned(PlannedState),
    /// Too many changes to draw.
    Busy,
}

/// A period with one state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) from: DateTime<Utc>,
    pub(super) until: DateTime<Utc>,
    pub(super) shown: Shown,
    /// The number of replicas while it runs, if it is known and a number of replicas.
    pub(super) count: Option<u32>,
}

/// A period of a workload.
pub(super) struct Week {
    period: Period,
    /// The zone of the shown times.
    zone: Zone,
    /// The zone of the workload, in which dates are excluded.
    own_zone: Zone,
    now: DateTime<Utc>,
    pub(super) pieces: Vec<Piece>,
    /// Excluded dates with their names.
    pub(super) holidays: Vec<(NaiveDate, String)>,
    /// Dates that are treated as another weekday.
    pub(super) treated: Vec<(NaiveDate, Weekday)>,
}

const SHOWN: [Shown; 7] = [
    Shown::Planned(PlannedState::Running),
    Shown::Planned(PlannedState::Stopped),
    Shown::Planned(PlannedState::Woken),
    Shown::Planned(PlannedState::Slept),
    Shown::Planned(PlannedState::Paused),
    Shown::Planned(PlannedState::AsItIs),
    Shown::Busy,
];

impl Shown {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Planned(PlannedState::Running) => Situation::Running.name(),
            Self::Planned(PlannedState::Stopped) => Situation::Stopped.name(),
            Self::Planned(PlannedState::Woken) => Situation::Awake.name(),
            Self::Planned(PlannedState::Slept) => Situation::Asleep.name(),
            Self::Planned(PlannedState::Paused) => Situation::Paused.name(),
            Self::Planned(PlannedState::AsItIs) => "unchanged",
            Self::Busy => "changes often",
        }
    }

    /// The CSS class and the pattern.
    const fn class(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Planned(PlannedState::Running) => ("running", None),
            Self::Planned(PlannedState::Stopped) => ("stopped", None),
            Self::Planned(PlannedState::Woken) => ("woken", Some("url(#p-woken)")),
            Self::Planned(PlannedState::Slept) => ("slept", Some("url(#p-slept)")),
            Self::Planned(PlannedState::Paused) => ("paused", Some("url(#p-paused)")),
            Self::Planned(PlannedState::AsItIs) => ("asis", Some("url(#p-asis)")),
            Self::Busy => ("busy", Some("url(#p-busy)")),
        }
    }

    /// The top and bottom of the bar, out of 24.
    const fn reach(self) -> (u32, u32) {
        match self {
            Self::Planned(PlannedState::Stopped) => (18, 4),
            Self::Planned(PlannedState::Slept) => (14, 8),
            Self::Planned(PlannedState::AsItIs) => (10, 4),
            _ => (4, 18),
        }
    }
}

impl Page<'_> {
    /// The plan of a workload from now on.
    pub(in crate::dashboard) fn plan_of(
        &self,
        row: &Row,
        until: DateTime<Utc>,
    ) -> Option<WorkloadPlan> {
        let planner = self.planner(until)?;
        planner.plan_read(&row.observed, ParsedInputs::clone(&row.parsed))
    }

    /// The planner from now on.
    pub(super) fn planner(&self, until: DateTime<Utc>) -> Option<Planner> {
        let now = self.view.now;
        Some(Planner {
            period: Period::new(now, until.max(now + TimeDelta::seconds(1))).ok()?,
            context: self.view.context.clone(),
            prefix: self.settings.prefix.clone(),
        })
    }

    /// The states of a workload during a period, shown in `zone`.
    pub(super) fn week(&self, plan: &WorkloadPlan, period: Period, zone: Zone) -> Option<Week> {
        let spec = plan.spec()?;
        let only = spec.only_action().is_some();
        let mut pieces: Vec<Piece> = Vec::new();
        let steps = timeline(spec, plan.delay(), period, plan.since());
        for (at, step) in steps.enumerate() {
            if at == MAX_STEPS || pieces.len() == MAX_PIECES {
                pieces.push(Piece {
                    from: step.from,
                    until: period.until(),
                    shown: Shown::Busy,
                    count: None,
                });
                break;
            }
            let state = match step.state {
                // Without stops in the schedule, users decide between starts.
                PlannedState::Running | PlannedState::Stopped if only => PlannedState::AsItIs,
                state => state,
            };
            let shown = Shown::Planned(state);
            let count = match (state, step.required) {
                _ if plan.footprint.replicas == 0 => None,
                (PlannedState::Running, Some(Action::Scale(count))) => Some(count),
                (PlannedState::Running | PlannedState::Woken, _) => plan.runs.map(Replicas::get),
                _ => None,
            };
            match pieces.last_mut() {
                Some(last) if last.shown == shown && last.count == count => {
                    last.until = step.until;
                }
                _ if step.from == step.until => {}
                _ => pieces.push(Piece {
                    from: step.from,
                    until: step.until,
                    shown,
                    count,
                }),
            }
        }
        let except = spec.schedule.except();
        let tz = spec.schedule.zone();
        let first = period.from().with_timezone(&tz).date_naive();
        let last = (period.until() - TimeDelta::seconds(1))
            .with_timezone(&tz)
            .date_naive();
        let dates = || first.iter_days().take_while(|date| *date <= last);
        let treat = |date| Some((date, spec.schedule.treated().day_of_week(date)?));
        let holidays = dates().filter(|date| except.contains(*date)).map(|date| {
            let name = except.holiday(date).map(|(_, name)| name.to_owned());
            (date, name.unwrap_or_default())
        });
        Some(Week {
            period,
            zone,
            own_zone: spec.schedule.zone(),
            now: self.view.now,
            pieces,
            holidays: holidays.collect(),
            treated: dates().filter_map(treat).collect(),
        })
    }
}

impl Week {
    /// The horizontal position of a time.
    fn x(&self, at: DateTime<Utc>) -> i64 {
        let whole = (self.period.until() - self.period.from())
            .num_seconds()
            .max(1);
        let part = (at - self.period.from()).num_seconds().clamp(0, whole);
        part * WIDTH / whole
    }

    /// The largest number of replicas.
    pub(super) fn largest(&self) -> u32 {
        let counts = self.pieces.iter().filter_map(|piece| piece.count);
        counts.max().unwrap_or_default()
    }

    /// The picture, with `label` for screen readers. A bar of `largest` replicas has the full height.
    pub(super) fn picture(&self, label: &str, largest: u32) -> Markup {
        let (from, until) = (self.period.from(), self.period.until());
        let change = self.zone.clock_change(from, until);
        let now = (from <= self.now && self.now < until).then(|| self.x(self.now));
        html! {
            svg.week viewBox="0 0 1000 24" preserveAspectRatio="none" role="img" aria-label=(label) {
                @if !self.holidays.is_empty() {
                    path.holiday fill="url(#p-holiday)" d=(self.holiday_path()) {}
                }
                @let weekend = self.weekend();
                @if !weekend.is_empty() { path.weekend d=(weekend) {} }
                path.ticks d=(self.ticks()) {}
                @for piece in &self.pieces {
                    @let (class, fill) = piece.shown.class();
                    path class=(class) fill=[fill] d=(self.piece_path(piece, largest)) {
                        title { (self.piece_text(piece)) }
                    }
                }
                @let past = self.x(self.now);
                @if past > 0 {
                    path.past d={ "M0 0h" (past) "v24h-" (past) "z" } { title { "the plan for the past" } }
                }
                path.days d=(self.days()) {}
                @if !self.treated.is_empty() {
                    path.treated d=(self.treated_path()) {}
                }
                @if let Some(change) = change { path.change d={ "M" (self.x(change.at)) " 0v24" } {} }
                @if let Some(x) = now { path.now d={ "M" (x) " 0v24" } {} }
            }
        }
    }

    fn piece_path(&self, piece: &Piece, largest: u32) -> String {
        let (top, height) = match piece.count {
            Some(count) => bar(count, largest),
            None => piece.shown.reach(),
        };
        let x = self.x(piece.from);
        let width = (self.x(piece.until) - x).max(1);
        format!("M{x} {top}h{width}v{height}h-{width}z")
    }

    /// `running, 5 replicas: Mon 09:00 to Mon 19:00`
    fn piece_text(&self, piece: &Piece) -> String {
        let at = |at: DateTime<Utc>| at.with_timezone(&self.zone).format("%a %H:%M");
        let count = piece.count.map(|count| {
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            format!(", {}", counted(count, "replica"))
        });
        format!(
            "{}{}: {} to {}",
            piece.shown.name(),
            count.unwrap_or_default(),
            at(piece.from),
            at(piece.until)
        )
    }

    /// A path for each of these dates in a zone, by its position and width.
    fn of_dates(
        &self,
        dates: impl IntoIterator<Item = NaiveDate>,
        zone: Zone,
        path: impl Fn(i64, i64) -> String,
    ) -> String {
        let paths = dates.into_iter().map(|date| {
            let x = self.x(midnight(date, zone));
            let width = self.x(midnight(date + Days::new(1), zone)) - x;
            if width > 0 {
                path(x, width)
            } else {
                String::new()
            }
        });
        paths.collect()
    }

    /// Saturdays and Sundays.
    fn weekend(&self) -> String {
        let mut dates = days(self.period, self.zone);
        dates.retain(|date| matches!(date.weekday(), Weekday::Sat | Weekday::Sun));
        self.of_dates(dates, self.zone, box_path)
    }

    /// Lines at 6:00, 12:00 and 18:00.
    fn ticks(&self) -> String {
        let mut path = String::new();
        for date in days(self.period, self.zone) {
            for hour in [6, 12, 18] {
                if let Some(local) = date.and_hms_opt(hour, 0, 0) {
                    // Writing to a string never fails.
                    let _ = write!(path, "M{} 0v24", self.x(self.zone.instant(local)));
                }
            }
        }
        path
    }

    fn holiday_path(&self) -> String {
        let dates = self.holidays.iter().map(|(date, _)| *date);
        self.of_dates(dates, self.own_zone, box_path)
    }

    /// Lines below the dates that are treated as another weekday.
    fn treated_path(&self) -> String {
        let dates = self.treated.iter().map(|(date, _)| *date);
        self.of_dates(dates, self.own_zone, |x, width| format!("M{x} 23h{width}"))
    }

    /// Lines at midnight.
    fn days(&self) -> String {
        let mut path = String::new();
        for date in days(self.period, self.zone).into_iter().skip(1) {
            let _ = write!(path, "M{} 0v24", self.x(midnight(date, self.zone)));
        }
        path
    }

    /// The total times, for example `running 45 h, stopped 123 h`.
    pub(super) fn sum(&self) -> String {
        let mut parts = Vec::new();
        for shown in SHOWN {
            let pieces = self.pieces.iter().filter(|piece| piece.shown == shown);
            let time: TimeDelta = pieces.map(|piece| piece.until - piece.from).sum();
            if !time.is_zero() {
                parts.push(format!("{} {}", shown.name(), duration(time)));
            }
        }
        parts.join(", ")
    }
}

/// A box with the full height.
fn box_path(x: i64, width: i64) -> String {
    format!("M{x} 0h{width}v24h-{width}z")
}

/// The top and height of a bar, out of 24. Logarithms keep 1 visible beside 100.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the height is between 6 and 18"
)]
fn bar(count: u32, largest: u32) -> (u32, u32) {
    let log = |count: u32| f64::from(count).ln_1p();
    let part = if largest == 0 {
        1.0
    } else {
        (log(count) / log(largest)).min(1.0)
    };
    let height = (12.0f64.mul_add(part, 6.0)).round() as u32;
    (22 - height, height)
}

/// The beginning of a date.
pub(super) fn midnight(date: NaiveDate, zone: Zone) -> DateTime<Utc> {
    zone.instant(date.and_time(NaiveTime::MIN))
}

pub(super) fn days(period: Period, zone: Zone) -> Vec<NaiveDate> {
    let first = period.from().with_timezone(&zone).date_naive();
    let dates = first.iter_days();
    dates
        .take_while(|date| midnight(*date, zone) < period.until())
        .take(31)
        .collect()
}

/// `Fri 23`, with the month on its first day and at position 0 of a list of days.
pub(super) fn day_name(date: NaiveDate, position: usize) -> String {
    let format = if position == 0 || date.day() == 1 {
        "%a %-d %b"
    } else {
        "%a %-d"
    };
    date.format(format).to_string()
}

/// The names of these days above a week: the weekday, and the date below it.
pub(super) fn axis(dates: &[NaiveDate]) -> Markup {
    html! {
        span.axis {
            @for (position, date) in dates.iter().enumerate() {
                @let name = day_name(*date, position);
                @let (weekday, date) = name.split_once(' ').unwrap_or_default();
                span { span.weekday { (weekday) } " " (date) }
            }
        }
    }
}

/// The fill patterns, once for each page.
pub(super) fn patterns() -> Markup {
    html! {
        svg.patterns width="0" height="0" aria-hidden="true" focusable="false" {
            defs {
                pattern id="p-woken" width="8" height="8" patternUnits="userSpaceOnUse" {
                    rect.back width="8" height="8" {}
                    path.line d="M-1 9L9 -1M-1 1L1 -1M7 9L9 7" {}
                }
                pattern id="p-slept" width="6" height="4" patternUnits="userSpaceOnUse" {
                    rect.back width="6" height="4" {}
                    rect.dot width="3" height="2" {}
                }
                pattern id="p-paused" width="8" height="8" patternUnits="userSpaceOnUse" {
                    rect.back width="8" height="8" {}
                    path.line d="M4 0v8" {}
                }
                pattern id="p-asis" width="8" height="4" patternUnits="userSpaceOnUse" {
                    rect.dot width="4" height="4" {}
                }
                pattern id="p-busy" width="8" height="8" patternUnits="userSpaceOnUse" {
                    rect.back width="8" height="8" {}
                    path.line d="M0 0L8 8M8 0L0 8" {}
                }
                pattern id="p-holiday" width="8" height="8" patternUnits="userSpaceOnUse" {
                    path.line d="M0 0L8 8" {}
                }
            }
        }
    }
}

pub(super) fn legend() -> Markup {
    let sample = |name: &str, content: Markup| {
        html! {
            li {
                svg.sample viewBox="0 0 40 24" aria-hidden="true" focusable="false" { (content) }
                " " (name)
            }
        }
    };
    html! {
        ul.legend aria-label="Legend" {
            @for shown in SHOWN {
                @let (top, height) = shown.reach();
                @let (class, fill) = shown.class();
                (sample(shown.name(), html! {
                    path class=(class) fill=[fill] d={ "M0 " (top) "h40v" (height) "h-40z" } {}
                }))
            }
            (sample("no start: an excluded date", html! {
                path.holiday fill="url(#p-holiday)" d="M0 0h40v24h-40z" {}
            }))
            (sample("weekend", html! { path.weekend d="M0 0h40v24h-40z" {} }))
            (sample("past, as planned", html! {
                path.running d="M0 4h40v18h-40z" {}
                path.past d="M0 0h40v24h-40z" {}
            }))
            (sample("now", html! { path.now d="M20 0v24" {} }))
            (sample("clock change", html! { path.change d="M20 0v24" {} }))
        }
    }
}
