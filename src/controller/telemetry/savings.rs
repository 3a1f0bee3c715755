//! What is saved, as metrics: what is held down now, and the time of it until now.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    sync::{Arc, Mutex},
};

use chrono::{DateTime, TimeDelta, Utc};
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder},
    metrics::{MetricType, counter::ConstCounter, gauge::ConstGauge},
    registry::Unit,
};
use tokio::time::Instant;

use crate::controller::telemetry::shapes::lock;
use crate::savings::{HeldDown, Saved, SavedSoFar};

/// At most this many namespaces have series of their own: those that come first. All others share one.
const MOST_NAMESPACES: usize = 200;

/// The label of those that share one: no namespace can have such a name.
const OTHER: &str = "(other)";

/// A day of every zone begins at one of these, in milliseconds.
const QUARTER: i64 = 15 * 60 * 1000;

/// How many marks are kept: more quarters of an hour than a month has.
const MAX_MARKS: usize = 32 * 96;

/// Counts the time of what is held down. No step of the wall clock touches it.
///
/// What is held down changes as the controller publishes an object, and is counted up to then: no
/// scrape need come between two changes. Sums of whole numbers are exact, so that a counter never
/// falls, not by the last digit either, which Prometheus would take for a restart.
#[derive(Clone, Debug, Default)]
pub(in crate::controller) struct Savings(Arc<Mutex<Accounts>>);

#[derive(Debug, Default)]
struct Accounts {
    /// That of all.
    all: Account,
    /// By namespace, where that is asked for. What has been counted stays.
    each: Option<BTreeMap<Arc<str>, Account>>,
    /// Which controller counts: the one that has begun last.
    generation: u64,
    /// When the first of them began.
    since: Option<DateTime<Utc>>,
    /// When the account of all was last changed, by the controller's clock.
    changed: Option<DateTime<Utc>>,
    /// The account of all at quarters of an hour, each the first after a change.
    marks: VecDeque<(DateTime<Utc>, Account)>,
}

/// What is held down, and the time of that until `until`, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    replicas: u128,
    cpu_nanos: u128,
    memory_bytes: u128,
    replica_time: u128,
    cpu_time: u128,
    memory_time: u128,
    until: Option<Instant>,
}

/// The seconds of an account that one of the counters shows.
type Seconds = fn(&Account) -> f64;

impl Account {
    /// The same at `now`.
    fn at(self, now: Instant) -> Self {
        let time = self.until.map(|until| now.saturating_duration_since(until));
        let nanos = time.unwrap_or_default().as_nanos();
        let add = |sum: u128, held: u128| sum.saturating_add(held.saturating_mul(nanos));
        Self {
            replica_time: add(self.replica_time, self.replicas),
            cpu_time: add(self.cpu_time, self.cpu_nanos),
            memory_time: add(self.memory_time, self.memory_bytes),
            until: Some(self.until.map_or(now, |until| until.max(now))),
            ..self
        }
    }

    /// The same after so much time, or before it.
    fn after(self, time: TimeDelta) -> Self {
        let until = self.until.unwrap_or_else(Instant::now);
        self.at(until + time.to_std().unwrap_or_default())
    }

    /// What it comes to.
    fn saved(&self) -> Saved {
        let hours = |time, one| seconds(time, one) / 3600.0;
        Saved {
            replica_hours: hours(self.replica_time, 1.0),
            cpu_core_hours: hours(self.cpu_time, 1e9),
            memory_gib_hours: hours(self.memory_time, f64::from(1 << 30)),
        }
    }

    /// The same with this held down in place of that.
    fn with(self, before: HeldDown, held: HeldDown) -> Self {
        let replace = |sum: u128, before: u64, held: u64| {
            sum.saturating_sub(before.into()) + u128::from(held)
        };
        Self {
            replicas: replace(self.replicas, before.replicas, held.replicas),
            cpu_nanos: replace(self.cpu_nanos, before.cpu_nanos, held.cpu_nanos),
            memory_bytes: replace(self.memory_bytes, before.memory_bytes, held.memory_bytes),
            ..self
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a greater number never becomes a smaller one"
)]
fn seconds(nanos: u128, one: f64) -> f64 {
    nanos as f64 / 1e9 / one
}

impl Accounts {
    /// The account of all, and that of a namespace that may be new.
    fn of(&mut self, namespace: &Arc<str>) -> impl Iterator<Item = &mut Account> {
        let of_namespace = self.each.as_mut().map(|each| {
            let has_own = each.contains_key(namespace) || each.len() < MOST_NAMESPACES;
            let name = if has_own {
                Arc::clone(namespace)
            } else {
                OTHER.into()
            };
            each.entry(name).or_default()
        });
        [&mut self.all].into_iter().chain(of_namespace)
    }

    /// The account of all is about to change. Keeps what it was at the first quarter of an hour since
    /// it was last changed.
    fn mark(&mut self, wall: DateTime<Utc>) {
        let Some(changed) = self.changed.replace(wall) else {
            return;
        };
        let quarter = (changed.timestamp_millis() + QUARTER - 1).div_euclid(QUARTER) * QUARTER;
        if let Some(quarter) = DateTime::from_timestamp_millis(quarter)
            && quarter <= wall
        {
            let account = self.all.after(quarter - changed);
            self.marks.push_back((quarter, account));
            if self.marks.len() > MAX_MARKS {
                self.marks.pop_front();
            }
        }
    }

    /// What all had saved by an instant at which a day of some zone begins; nothing before the marks.
    fn saved_until(&self, at: DateTime<Utc>) -> Saved {
        let last = self.changed.map(|changed| (changed, self.all));
        let mut known = self.marks.iter().chain(last.as_ref()).rev();
        let before = known.find(|(known, _)| *known <= at);
        before.map_or_else(Saved::default, |(known, account)| {
            account.after(at - *known).saved()
        })
    }
}

impl Savings {
    /// A controller begins to count at `now`, when its clock shows `wall`, and knows of nothing yet.
    /// Returns the number by which it is told from those before.
    pub(super) fn begin(&self, by_namespace: bool, wall: DateTime<Utc>, now: Instant) -> u64 {
        let mut accounts = lock(&self.0);
        let accounts = &mut *accounts;
        accounts.mark(wall);
        accounts.generation += 1;
        accounts.since.get_or_insert(wall);
        accounts.each = by_namespace.then(|| accounts.each.take().unwrap_or_default());
        let each = accounts.each.iter_mut().flat_map(BTreeMap::values_mut);
        for account in each.chain([&mut accounts.all]) {
            *account = Account {
                replicas: 0,
                cpu_nanos: 0,
                memory_bytes: 0,
                ..account.at(now)
            };
        }
        accounts.generation
    }

    /// From `now` on so much is held down of one object in that namespace, in place of that before.
    pub(super) fn change(
        &self,
        generation: u64,
        namespace: &Arc<str>,
        before: HeldDown,
        held: HeldDown,
        (wall, now): (DateTime<Utc>, Instant),
    ) {
        let mut accounts = lock(&self.0);
        if accounts.generation == generation {
            accounts.mark(wall);
            for account in accounts.of(namespace) {
                *account = account.at(now).with(before, held);
            }
        }
    }

    /// What was saved until now, and of it since each of these instants; `None` before a controller
    /// has begun.
    pub(super) fn so_far(&self, since_each: [DateTime<Utc>; 3]) -> Option<SavedSoFar> {
        let accounts = lock(&self.0);
        let all = accounts.all.at(Instant::now()).saved();
        Some(SavedSoFar {
            all,
            since: accounts.since?,
            since_each: since_each.map(|at| all - accounts.saved_until(at)),
        })
    }
}

impl Collector for Savings {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let accounts = lock(&self.0);
        let now = Instant::now();
        let each: Vec<_> = match &accounts.each {
            None => vec![(None, accounts.all.at(now))],
            Some(each) => {
                let each = each.iter();
                each.map(|(name, it)| (Some(&**name), it.at(now))).collect()
            }
        };
        let help = "Replicas that would run now without the schedules, and do not.";
        let name = "dayshift_held_down_replicas";
        let metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        samples(metric, &each, |it| {
            ConstGauge::new(u64::try_from(it.replicas).unwrap_or(u64::MAX))
        })?;

        let counters: [(&str, &str, Seconds); 3] = [
            (
                "dayshift_saved_replica",
                "The time of replicas that would have run without the schedules, and did not.",
                |it| seconds(it.replica_time, 1.0),
            ),
            (
                "dayshift_saved_cpu_core",
                "The time of the CPU cores that those replicas request.",
                |it| seconds(it.cpu_time, 1e9),
            ),
            (
                "dayshift_saved_memory_byte",
                "The time of the bytes of memory that those replicas request.",
                |it| seconds(it.memory_time, 1.0),
            ),
        ];
        for (name, help, of) in counters {
            let unit = Some(&Unit::Seconds);
            let metric = encoder.encode_descriptor(name, help, unit, MetricType::Counter)?;
            samples(metric, &each, |it| ConstCounter::new(of(it)))?;
        }
        Ok(())
    }
}

/// A sample of each account; that of all has no label.
fn samples<M: EncodeMetric>(
    mut metric: MetricEncoder<'_>,
    each: &[(Option<&str>, Account)],
    of: impl Fn(&Account) -> M,
) -> fmt::Result {
    for (name, account) in each {
        match name {
            None => return of(account).encode(metric),
            Some(name) => {
                of(account).encode(metric.encode_family(&[("namespace", *name)])?)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{collections::HashMap, time::Duration};

    use prometheus_client::{encoding::text, registry::Registry};
    use tokio::time::advance;

    use super::*;

    fn samples(registry: &Registry) -> HashMap<String, f64> {
        let mut text = String::new();
        text::encode(&mut text, registry).unwrap();
        let lines = text.lines().filter(|line| line.contains("_total{"));
        let sample = |line: &str| {
            let (name, value) = line.split_once(' ').unwrap();
            (name.to_owned(), value.parse().unwrap())
        };
        lines.map(sample).collect()
    }

    /// By an own sum of each object, at steps of odd lengths: some change between two scrapes.
    #[tokio::test(start_paused = true)]
    async fn counters_never_fall_and_miss_nothing_between_two_scrapes() {
        let savings = Savings::default();
        let mut registry = Registry::default();
        registry.register_collector(Box::new(savings.clone()));
        let held = |replicas: u64| HeldDown {
            replicas,
            cpu_nanos: replicas * 333_333_333,
            memory_bytes: replicas * 7,
        };
        let namespace = |at: usize| Arc::from(format!("team-{}", at % 3));
        let mut objects = [0_u64; 20];
        let mut expected = [0.0; 3];
        let wall = DateTime::UNIX_EPOCH;
        let mut generation = savings.begin(true, wall, Instant::now());
        let (mut before, mut seed) = (HashMap::new(), 7_u64);
        for step in 0..5_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = usize::try_from(seed >> 40).unwrap() % objects.len();
            let now = Instant::now();
            if step == 2_500 {
                // Another controller begins; what the one before still says does not count.
                let ended = generation;
                generation = savings.begin(true, wall, now);
                savings.change(ended, &namespace(0), held(0), held(1_000), (wall, now));
                objects = Default::default();
            }
            let replicas = (seed >> 33) % 9;
            let (was, is) = (held(objects[at]), held(replicas));
            savings.change(generation, &namespace(at), was, is, (wall, now));
            objects[at] = replicas;
            let passed = Duration::from_micros(1_000_003 * (1 + (seed >> 50) % 5));
            advance(passed).await;
            for (at, replicas) in objects.iter().enumerate() {
                expected[at % 3] +=
                    f64::from(u32::try_from(*replicas).unwrap()) * passed.as_secs_f64();
            }
            if step % 3 == 0 {
                let now = samples(&registry);
                let fallen = before.iter().find(|(name, value)| now[*name] < **value);
                assert!(fallen.is_none(), "{step}: {fallen:?}");
                before = now;
            }
        }
        let counted = samples(&registry);
        for (at, expected) in expected.into_iter().enumerate() {
            for (name, one) in [
                ("replica", 1.0),
                ("cpu_core", 0.333_333_333),
                ("memory_byte", 7.0),
            ] {
                let name =
                    format!("dayshift_saved_{name}_seconds_total{{namespace=\"team-{at}\"}}");
                let off = counted[&name] / one - expected;
                assert!(off.abs() < 1e-3, "{name}: {off}");
            }
        }
    }

    /// Whole numbers: whatever order they are added in, the sum is the same.
    #[tokio::test(start_paused = true)]
    async fn a_counter_of_nothing_stands_still() {
        let savings = Savings::default();
        let mut registry = Registry::default();
        registry.register_collector(Box::new(savings.clone()));
        let now = || (DateTime::UNIX_EPOCH, Instant::now());
        let generation = savings.begin(true, now().0, now().1);
        let (nothing, web) = (HeldDown::default(), Arc::from("web"));
        let three = HeldDown {
            replicas: 3,
            ..nothing
        };
        savings.change(generation, &web, nothing, three, now());
        advance(Duration::from_nanos(100_000_001)).await;
        savings.change(generation, &web, three, nothing, now());
        let counted = samples(&registry);
        advance(Duration::from_secs(3600)).await;
        assert_eq!(samples(&registry), counted);
    }
}
