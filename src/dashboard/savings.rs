//! What was saved today, this week and this month.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use chrono::{DateTime, Datelike, Days, DurationRound as _, NaiveTime, TimeDelta, Utc};

use super::view::{Row, View};
use crate::{
    plan::{Period, saved_steps},
    savings::{HeldDown, Price, Saved},
    schedule::Zone,
    workload::{Inputs, ParseContext, ParsedInputs, Phase, Replicas, read},
};

/// What has been saved, as one knows who has counted it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SavedSoFar {
    /// All of it.
    pub all: Saved,
    /// The replica-hours that would have been used without the schedules.
    pub without: f64,
    /// Since then.
    pub since: DateTime<Utc>,
    /// What of it was saved since each of the instants that were asked for.
    pub since_each: [Saved; 3],
}

/// Says what has been saved until an instant, and since others.
type Exact = Box<dyn Fn(DateTime<Utc>, Starts) -> SavedSoFar + Send + Sync>;

/// Where the page has it from what was saved, and what that costs.
#[derive(Default)]
pub(super) struct SavingsSource {
    pub(super) exact: Option<Exact>,
    pub(super) price: Option<Arc<Price>>,
    estimate: Mutex<Option<Estimate>>,
}

/// What a page says of it.
#[derive(Debug)]
pub(super) struct Savings {
    pub(super) since_each: [Saved; 3],
    pub(super) so_far: Option<SavedSoFar>,
    /// So many workloads are not in it.
    pub(super) left_out: usize,
    pub(super) price: Option<Arc<Price>>,
}

impl SavingsSource {
    /// What was saved until the moment of a view: today, this week and this month in a zone. Who has
    /// counted is asked; else it is estimated, once a minute.
    pub(super) fn of(&self, view: &View, context: &ParseContext, zone: Zone) -> Savings {
        let price = self.price.clone();
        let starts = starts(view.now, zone);
        if let Some(exact) = &self.exact {
            let so_far = exact(view.now, starts);
            return Savings {
                since_each: so_far.since_each,
                so_far: Some(so_far),
                left_out: 0,
                price,
            };
        }
        let mut known = self.estimate.lock().unwrap_or_else(PoisonError::into_inner);
        let is_fresh = |it: &&Estimate| (view.now - it.at).abs() < FRESH && it.starts == starts;
        let estimate = match known.as_ref().filter(is_fresh) {
            Some(known) => *known,
            None => *known.insert(Estimate::of(view, context, starts)),
        };
        Savings {
            since_each: estimate.saved,
            so_far: None,
            left_out: estimate.left_out,
            price,
        }
    }
}

/// When today, this week and this month began.
pub(super) type Starts = [DateTime<Utc>; 3];

/// Of all schedules together so many steps are looked at: a page must not wait for one by the second.
const MOST_STEPS: usize = 20_000;

/// So many steps of one of them, so that it leaves some to the others.
const MOST_OF_ONE: usize = 2_000;

/// So long it is good: nobody watches a month by the second.
const FRESH: TimeDelta = TimeDelta::minutes(1);

/// What was saved since the [`Starts`], as far as schedules and states tell.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    at: DateTime<Utc>,
    starts: Starts,
    saved: [Saved; 3],
    /// So many workloads are not in it: their schedules have too many times.
    left_out: usize,
}

/// When today, this week and this month began on the clocks of a zone.
pub(super) fn starts(now: DateTime<Utc>, zone: Zone) -> Starts {
    let today = now.with_timezone(&zone).date_naive();
    let monday = today - Days::new(today.weekday().num_days_from_monday().into());
    let first = today.with_day(1).unwrap_or(today);
    [today, monday, first].map(|date| zone.instant(date.and_time(NaiveTime::MIN)))
}

impl Estimate {
    /// What the rows of a view have saved. Since its last boundary an object is held down as it is
    /// now; before that its schedule is taken to have been what it is, and to have been followed.
    /// What was adopted since has saved nothing before.
    fn of(view: &View, context: &ParseContext, starts: Starts) -> Self {
        let mut known: HashMap<Alike<'_>, Option<[TimeDelta; 3]>> = HashMap::new();
        let mut steps = MOST_STEPS;
        let mut estimate = Self {
            at: view.now,
            starts,
            saved: Default::default(),
            left_out: 0,
        };
        for row in view.rows.iter() {
            let Some((last, without)) = followed(row, view.now) else {
                continue;
            };
            // To the day, so that few of them differ.
            let created = row
                .status
                .created
                .map(|it| it.duration_trunc(TimeDelta::days(1)));
            let created = created
                .and_then(Result::ok)
                .map(|it| it + TimeDelta::days(1));
            let there_since = starts.map(|start| created.map_or(start, |it| it.max(start)));
            let alike = Alike {
                inputs: &row.observed.inputs,
                last,
                without,
                starts: there_since,
            };
            let before = without.map_or(Some([TimeDelta::zero(); 3]), |without| {
                let time = || replica_time(&alike, without, context, &mut steps);
                *known.entry(alike).or_insert_with(time)
            });
            estimate.left_out += usize::from(before.is_none());
            let one = HeldDown::of(Replicas::ONE, row.observed.requests);
            let each = estimate
                .saved
                .iter_mut()
                .zip(starts)
                .zip(before.unwrap_or_default());
            for ((saved, start), before) in each {
                let now = Saved::of(row.status.held_down, view.now - last.max(start));
                *saved = [*saved, now, Saved::of(one, before)].into_iter().sum();
            }
        }
        estimate
    }
}

/// What the time before the last boundary depends on.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Alike<'v> {
    inputs: &'v Inputs,
    last: DateTime<Utc>,
    without: Option<Replicas>,
    /// Before it was there it saved nothing.
    starts: Starts,
}

/// Since when a row is as it is, and how many would run without its schedule, where that was followed
/// before; `None` where it has saved nothing.
fn followed(row: &Row, now: DateTime<Utc>) -> Option<(DateTime<Utc>, Option<Replicas>)> {
    let observed = &row.observed;
    let state = observed.state();
    if !observed.object.kind.counts().is_replicas() {
        return None;
    }
    let (phase, last) = (state.phase?, state.last?.min(now));
    let was_followed = phase != Phase::Adopted;
    let without = state
        .saved
        .unwrap_or(observed.replicas)
        .max(observed.replicas);
    Some((last, was_followed.then_some(without)))
}

/// The time of replicas that its schedule held down from each start until the last boundary.
fn replica_time(
    alike: &Alike<'_>,
    without: Replicas,
    context: &ParseContext,
    steps: &mut usize,
) -> Option<[TimeDelta; 3]> {
    let mut time = [TimeDelta::zero(); 3];
    let ParsedInputs::Scheduled(spec) = read(alike.inputs, context) else {
        return Some(time);
    };
    let first = alike.starts.into_iter().min().unwrap_or(alike.last);
    let Ok(period) = Period::new(first, alike.last) else {
        return Some(time);
    };
    let without = spec.largest_count().or(spec.replicas).unwrap_or(without);
    // Overrides of today say nothing of the time before.
    let since = alike.last;
    let each = saved_steps(&spec, TimeDelta::zero(), period, since, without);
    for (at, (from, until, held)) in each.enumerate() {
        *steps = steps.checked_sub(1).filter(|_| at < MOST_OF_ONE)?;
        let held = i32::try_from(held.get()).unwrap_or(i32::MAX);
        for (time, start) in time.iter_mut().zip(alike.starts) {
            *time += (until - from.max(start)).max(TimeDelta::zero()) * held;
        }
    }
    Some(time)
}
