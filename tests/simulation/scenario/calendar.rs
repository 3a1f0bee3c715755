//! Schedules as plain values: their annotations for dayshift, and their boundaries. Boundaries are
//! computed minute by minute from the value, without dayshift's code.

use chrono::{
    DateTime, Datelike, Days, LocalResult, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta,
    TimeZone, Utc,
};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use crate::scenario::{
    as_text,
    holidays::{self, Dates, Name},
    times::{At, NAMES, Style, Window, local},
};

/// The action of a boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BoundaryAction {
    // Ordered by precedence: of two boundaries at the same local time, a start applies rather than a stop,
    // and the larger count.
    Off,
    To(u32),
    On,
}

impl BoundaryAction {
    /// Whether the workload is stopped after it.
    pub const fn is_off(self) -> bool {
        matches!(self, Self::Off | Self::To(0))
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    pub rule: Rule,
    /// Ranges of excluded dates: the first and the last date of each.
    #[serde(with = "as_text")]
    pub except: Vec<(NaiveDate, NaiveDate)>,
    /// Dates that count as another day of the week; 0 is Monday. Each date occurs once.
    #[serde(default, with = "as_text")]
    pub treated: Vec<(NaiveDate, u32)>,
    /// Additional windows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extra: Vec<Extra>,
    /// The calendars whose dates are also excluded.
    #[serde(default)]
    pub calendars: Vec<Name>,
    #[serde(with = "as_text")]
    pub zone: Option<Tz>,
    /// The jitter in minutes.
    pub jitter: Option<u32>,
    pub style: Style,
}

/// An additional window on each date of a range, with its beginning and end in minutes of the day. If the end
/// is not after the beginning, the window ends on the next day.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Extra {
    #[serde(with = "as_text")]
    pub first: NaiveDate,
    #[serde(with = "as_text")]
    pub last: NaiveDate,
    pub from: u32,
    pub to: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Rule {
    Hours(Vec<Window>),
    Times { start: Vec<At>, stop: Vec<At> },
    Scale(Vec<(At, u32)>),
}

impl Plan {
    /// The annotations, without prefix.
    pub fn texts(&self) -> Vec<(&'static str, String)> {
        let mut texts = Vec::new();
        let list = |times: &[At]| {
            let items: Vec<_> = times.iter().map(|at| at.text(self.style)).collect();
            items.join(self.separator())
        };
        match &self.rule {
            Rule::Hours(windows) => {
                let items: Vec<_> = windows.iter().map(|it| it.text(self.style)).collect();
                texts.push(("hours", items.join(self.separator())));
            }
            Rule::Scale(steps) => {
                let sign = if self.style == Style::Loud {
                    "="
                } else {
                    " = "
                };
                let step =
                    |(at, count): &(At, u32)| format!("{}{sign}{count}", at.text(self.style));
                let items: Vec<_> = steps.iter().map(step).collect();
                texts.push(("scale", items.join(self.separator())));
            }
            Rule::Times { start, stop } => {
                let both = [("start", start), ("stop", stop)];
                let written = both.into_iter().filter(|(_, times)| !times.is_empty());
                texts.extend(written.map(|(key, times)| (key, list(times))));
            }
        }
        texts.extend(self.zone.map(|zone| ("timezone", zone.name().to_owned())));
        texts.extend(self.jitter.map(|minutes| ("jitter", format!("{minutes}m"))));
        if !self.treated.is_empty() {
            let dates = self.treated.iter();
            let dates = dates.map(|(date, day)| format!("{date} = {}", NAMES[*day as usize]));
            let text = dates.collect::<Vec<_>>().join("; ");
            texts.push(("treat-as", text));
        }
        if self.has_extra() {
            let clock = |minute: u32| format!("{:02}:{:02}", minute / 60, minute % 60);
            let items = self.extra.iter().map(|it| {
                let (from, to) = (clock(it.from), clock(it.to));
                if it.first == it.last {
                    format!("{} {from}-{to}", it.first)
                } else {
                    format!("{}..{} {from}-{to}", it.first, it.last)
                }
            });
            let text = items.collect::<Vec<_>>().join("; ");
            texts.push(("extra", text));
        }
        if self.has_exceptions() {
            let names = self.calendars.iter();
            let names = names.map(|name| format!("calendar:{}", holidays::NAMES[*name]));
            let dates = self.except.iter().map(|(first, last)| {
                if first == last {
                    first.to_string()
                } else {
                    format!("{first}..{last}")
                }
            });
            texts.push(("except", names.chain(dates).collect::<Vec<_>>().join("; ")));
        }
        texts
    }

    /// Whether it has additional windows, which exact counts cannot have.
    const fn has_extra(&self) -> bool {
        !self.extra.is_empty() && !matches!(self.rule, Rule::Scale(_))
    }

    const fn has_exceptions(&self) -> bool {
        !self.except.is_empty() || !self.calendars.is_empty()
    }

    /// The plan with these excluded dates instead of the calendars that it names.
    pub fn with_dates(&self, dates: &Dates) -> Self {
        Self {
            except: [&self.except[..], dates].concat(),
            calendars: Vec::new(),
            ..self.clone()
        }
    }

    /// Only the times, as in a controller's `--default-hours`; `None` if they set counts.
    pub fn bare(&self) -> Option<Self> {
        (!matches!(self.rule, Rule::Scale(_))).then(|| Self {
            except: Vec::new(),
            treated: Vec::new(),
            extra: Vec::new(),
            calendars: Vec::new(),
            zone: None,
            jitter: None,
            ..self.clone()
        })
    }

    /// The effective plan of an object with this plan in a Namespace with the other one.
    pub fn beside(&self, other: &Self) -> Self {
        let excepting = if self.has_exceptions() { self } else { other };
        Self {
            except: excepting.except.clone(),
            treated: if self.treated.is_empty() {
                other.treated.clone()
            } else {
                self.treated.clone()
            },
            extra: if self.has_extra() || matches!(self.rule, Rule::Scale(_)) {
                self.extra.clone()
            } else if other.has_extra() {
                other.extra.clone()
            } else {
                Vec::new()
            },
            calendars: excepting.calendars.clone(),
            zone: self.zone.or(other.zone),
            jitter: self.jitter.or(other.jitter),
            ..self.clone()
        }
    }

    const fn separator(&self) -> &'static str {
        match self.style {
            Style::Loud => " ;  ",
            _ => "; ",
        }
    }

    /// The boundaries on the dates from `first` to `last`, in seconds since 1970. Starts are later by
    /// `delay`.
    pub fn boundaries(
        &self,
        default_zone: Tz,
        (first, last): (NaiveDate, NaiveDate),
        delay: i64,
    ) -> Vec<(i64, BoundaryAction)> {
        let zone = self.zone.unwrap_or(default_zone);
        let dates = first.iter_days().take_while(|date| *date <= last);
        let painted = match &self.rule {
            Rule::Hours(windows) => self.painted(windows, zone, (first, last)),
            Rule::Times { .. } | Rule::Scale(_) => {
                let actions = self.actions();
                let mut all = Vec::new();
                for date in dates {
                    let kept = actions
                        .iter()
                        .filter(|(_, action)| action.is_off() || !self.is_excepted(date));
                    let day = self.weekday(date);
                    all.extend(kept.filter_map(|(at, action)| Some((at.on(date, day)?, *action))));
                }
                all.extend(self.extra_edges((first, last)));
                let mut all: Vec<_> = all
                    .into_iter()
                    .map(|(local, action)| (instant(zone, local), local, action))
                    .collect();
                all.sort();
                // If a clock change moves several boundaries to one time, they keep their order, so that the
                // last one applies.
                all.reverse();
                all.dedup_by_key(|(at, ..)| *at);
                all.reverse();
                all.into_iter()
                    .map(|(at, _, action)| (at, action))
                    .collect()
            }
        };
        moved(&painted, delay)
    }

    /// The times of `start`, `stop` and `scale` with their actions, without those of `hours`.
    fn actions(&self) -> Vec<(At, BoundaryAction)> {
        match &self.rule {
            Rule::Hours(_) => Vec::new(),
            Rule::Times { start, stop } => {
                let starts = start.iter().map(|at| (*at, BoundaryAction::On));
                starts
                    .chain(stop.iter().map(|at| (*at, BoundaryAction::Off)))
                    .collect()
            }
            Rule::Scale(steps) => steps
                .iter()
                .map(|(at, count)| (*at, BoundaryAction::To(*count)))
                .collect(),
        }
    }

    /// Whether any time is on a day within the month.
    pub fn is_monthly(&self) -> bool {
        let is_monthly = |at: &At| matches!(at, At::Monthly { .. });
        match &self.rule {
            Rule::Hours(windows) => windows.iter().any(|it| it.within.is_some()),
            Rule::Times { start, stop } => start.iter().chain(stop).any(is_monthly),
            Rule::Scale(steps) => steps.iter().any(|(at, _)| is_monthly(at)),
        }
    }

    /// The largest exact count, if there is one.
    pub fn largest(&self) -> Option<u32> {
        match &self.rule {
            Rule::Scale(steps) => steps.iter().map(|(_, count)| *count).max(),
            Rule::Hours(_) | Rule::Times { .. } => None,
        }
    }

    /// The state at the beginning of the first date, before any boundary.
    pub fn before(
        &self,
        default_zone: Tz,
        dates: (NaiveDate, NaiveDate),
    ) -> Option<BoundaryAction> {
        let Rule::Hours(windows) = &self.rule else {
            return None;
        };
        let (_, cells) = self.cells(windows, self.zone.unwrap_or(default_zone), dates);
        Some(if cells[0] {
            BoundaryAction::On
        } else {
            BoundaryAction::Off
        })
    }

    /// The boundaries, computed from the minutes: they are where the state changes.
    fn painted(
        &self,
        windows: &[Window],
        zone: Tz,
        dates: (NaiveDate, NaiveDate),
    ) -> Vec<(i64, BoundaryAction)> {
        let (begin, cells) = self.cells(windows, zone, dates);
        let changes = (1..cells.len()).filter(|at| cells[*at] != cells[at - 1]);
        changes
            .map(|at| {
                let second = (begin + i64::try_from(at).unwrap()) * 60;
                (
                    second,
                    if cells[at] {
                        BoundaryAction::On
                    } else {
                        BoundaryAction::Off
                    },
                )
            })
            .collect()
    }

    /// The state in each minute from the first one on.
    fn cells(
        &self,
        windows: &[Window],
        zone: Tz,
        (first, last): (NaiveDate, NaiveDate),
    ) -> (i64, Vec<bool>) {
        let begin = first.and_time(NaiveTime::MIN).and_utc().timestamp() / 60;
        let end = last.and_time(NaiveTime::MIN).and_utc().timestamp() / 60;
        let mut cells = vec![false; usize::try_from(end - begin).unwrap()];
        let dates = (first - Days::new(3)).iter_days();
        for date in dates.take_while(|date| *date <= last) {
            if self.is_excepted(date) {
                continue;
            }
            let day = self.weekday(date);
            for window in windows.iter().filter(|it| it.is_on(date, day)) {
                let overnight = u32::from(window.to <= window.from) * 1440;
                let from = instant(zone, local(date, window.from)) / 60;
                let to = instant(zone, local(date, window.to + overnight)) / 60;
                let cell = |minute: i64| usize::try_from((minute - begin).max(0)).unwrap();
                let (from, to) = (cell(from), cell(to).min(cells.len()));
                if from < to {
                    cells[from..to].fill(true);
                }
            }
        }
        for it in &self.extra {
            for date in it.first.iter_days().take_while(|date| *date <= it.last) {
                let overnight = u32::from(it.to <= it.from) * 1440;
                let from = instant(zone, local(date, it.from)) / 60 - begin;
                let to = instant(zone, local(date, it.to + overnight)) / 60 - begin;
                let cell = |minute: i64| usize::try_from(minute.max(0)).unwrap().min(cells.len());
                let (from, to) = (cell(from), cell(to));
                if from < to {
                    cells[from..to].fill(true);
                }
            }
        }
        (begin, cells)
    }

    /// The beginning and the end of each additional window, in local time. Windows that overlap or touch are
    /// merged.
    fn extra_edges(
        &self,
        (first, last): (NaiveDate, NaiveDate),
    ) -> Vec<(NaiveDateTime, BoundaryAction)> {
        if !self.has_extra() {
            return Vec::new();
        }
        let begin = (first - Days::new(3)).and_time(NaiveTime::MIN);
        let minute = |local: NaiveDateTime| (local - begin).num_minutes();
        let length = minute((last + Days::new(3)).and_time(NaiveTime::MIN));
        let mut covered = vec![false; usize::try_from(length).unwrap()];
        for it in &self.extra {
            for date in it.first.iter_days().take_while(|date| *date <= it.last) {
                let overnight = u32::from(it.to <= it.from) * 1440;
                let from = minute(local(date, it.from)).clamp(0, length);
                let to = minute(local(date, it.to + overnight)).clamp(0, length);
                covered[usize::try_from(from).unwrap()..usize::try_from(to).unwrap()].fill(true);
            }
        }
        let mut edges = Vec::new();
        for at in 1..covered.len() {
            let local = begin + TimeDelta::minutes(i64::try_from(at).unwrap());
            if covered[at] == covered[at - 1] || !(first..=last).contains(&local.date()) {
                continue;
            }
            let action = if covered[at] {
                BoundaryAction::On
            } else {
                BoundaryAction::Off
            };
            edges.push((local, action));
        }
        edges
    }

    /// The day of the week that a date counts as.
    fn weekday(&self, date: NaiveDate) -> u32 {
        let own = date.weekday().num_days_from_monday();
        let treated = self.treated.iter().find(|(known, _)| *known == date);
        treated.map_or(own, |(_, day)| *day)
    }

    fn is_excepted(&self, date: NaiveDate) -> bool {
        let mut ranges = self.except.iter();
        ranges.any(|(first, last)| (*first..=*last).contains(&date))
    }
}

/// The boundaries with jitter: each start is later by `delay`, but before the next stop. If several starts
/// would be just before the same stop, the last one applies.
fn moved(painted: &[(i64, BoundaryAction)], delay: i64) -> Vec<(i64, BoundaryAction)> {
    let place = |(index, &(at, action)): (usize, &(i64, BoundaryAction))| {
        if action.is_off() || delay == 0 {
            return (at, action);
        }
        let stop = painted[index..].iter().find(|(_, action)| action.is_off());
        let latest = stop.map_or(i64::MAX, |(stop, _)| stop - 1);
        ((at + delay).min(latest), action)
    };
    let mut moved: Vec<_> = painted.iter().enumerate().map(place).collect();
    moved.reverse();
    moved.dedup_by_key(|(at, _)| *at);
    moved.reverse();
    moved
}

/// The time of a local time: the first one in a DST overlap, and the end of the gap for a skipped time.
pub fn instant(zone: Tz, mut local: NaiveDateTime) -> i64 {
    loop {
        match zone.from_local_datetime(&local) {
            LocalResult::Single(at) | LocalResult::Ambiguous(at, _) => return at.timestamp(),
            LocalResult::None => local += TimeDelta::minutes(1),
        }
    }
}

/// Seconds as a readable time.
pub fn show(second: i64) -> String {
    DateTime::<Utc>::from_timestamp(second, 0).map_or_else(
        || second.to_string(),
        |at| at.format("%a %Y-%m-%d %H:%M:%SZ").to_string(),
    )
}
