//! What is saved, as metrics: what is held down now, and the time of it until now.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex},
};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder},
    metrics::{MetricType, counter::ConstCounter, gauge::ConstGauge},
    registry::Unit,
};
use tokio::time::Instant;

use crate::controller::telemetry::shapes::lock;
use crate::savings::HeldDown;

/// At most this many namespaces have series of their own: those that come first. All others share one.
const MOST_NAMESPACES: usize = 200;

/// The label of those that share one: no namespace can have such a name.
const OTHER: &str = "(other)";

/// What stands for all namespaces together, which have no label.
const ALL: &str = "";

/// Counts the time of what is held down. No step of the wall clock touches it.
///
/// What is held down changes as the controller publishes an object, and is counted up to then: no
/// scrape need come between two changes. Sums of whole numbers are exact, so that a counter never
/// falls, not by the last digit either, which Prometheus would take for a restart.
#[derive(Clone, Debug)]
pub(in crate::controller) struct Savings(Arc<Mutex<Accounts>>);

#[derive(Debug)]
struct Accounts {
    /// By namespace, or that of all. What has been counted stays.
    each: BTreeMap<Arc<str>, Account>,
    by_namespace: bool,
    /// Which controller counts: the one that has begun last.
    generation: u64,
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
    /// The account of a namespace that may be new.
    fn of(&mut self, namespace: &Arc<str>) -> &mut Account {
        let name = if !self.by_namespace {
            ALL.into()
        } else if self.each.contains_key(namespace) || self.each.len() < MOST_NAMESPACES {
            Arc::clone(namespace)
        } else {
            OTHER.into()
        };
        self.each.entry(name).or_default()
    }
}

impl Default for Savings {
    /// Nothing yet, of all together.
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Accounts {
            each: BTreeMap::from([(ALL.into(), Account::default())]),
            by_namespace: false,
            generation: 0,
        })))
    }
}

impl Savings {
    /// A controller begins to count at `now`, which knows of nothing yet. Returns the number by which
    /// it is told from those before.
    pub(super) fn begin(&self, by_namespace: bool, now: Instant) -> u64 {
        let mut accounts = lock(&self.0);
        accounts.generation += 1;
        accounts.by_namespace = by_namespace;
        if by_namespace {
            accounts.each.remove(ALL);
        }
        for account in accounts.each.values_mut() {
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
        now: Instant,
    ) {
        let mut accounts = lock(&self.0);
        if accounts.generation == generation {
            let account = accounts.of(namespace);
            *account = account.at(now).with(before, held);
        }
    }
}

impl Collector for Savings {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let accounts = lock(&self.0);
        let now = Instant::now();
        let each = accounts.each.iter().map(|(name, it)| (&**name, it.at(now)));
        let each: Vec<_> = each.collect();
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

/// A sample of each account, or one without labels of that of all.
fn samples<M: EncodeMetric>(
    mut metric: MetricEncoder<'_>,
    each: &[(&str, Account)],
    of: impl Fn(&Account) -> M,
) -> fmt::Result {
    if let [(ALL, account)] = each {
        return of(account).encode(metric);
    }
    for (name, account) in each {
        of(account).encode(metric.encode_family(&[("namespace", *name)])?)?;
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
        let mut generation = savings.begin(true, Instant::now());
        let (mut before, mut seed) = (HashMap::new(), 7_u64);
        for step in 0..5_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = usize::try_from(seed >> 40).unwrap() % objects.len();
            let now = Instant::now();
            if step == 2_500 {
                // Another controller begins; what the one before still says does not count.
                let ended = generation;
                generation = savings.begin(true, now);
                savings.change(ended, &namespace(0), held(0), held(1_000), now);
                objects = Default::default();
            }
            let replicas = (seed >> 33) % 9;
            let (was, is) = (held(objects[at]), held(replicas));
            savings.change(generation, &namespace(at), was, is, now);
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
        let generation = savings.begin(true, Instant::now());
        let (nothing, web) = (HeldDown::default(), Arc::from("web"));
        let three = HeldDown {
            replicas: 3,
            ..nothing
        };
        savings.change(generation, &web, nothing, three, Instant::now());
        advance(Duration::from_nanos(100_000_001)).await;
        savings.change(generation, &web, three, nothing, Instant::now());
        let counted = samples(&registry);
        advance(Duration::from_secs(3600)).await;
        assert_eq!(samples(&registry), counted);
    }
}
