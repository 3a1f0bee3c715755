//! What is saved, as metrics: what is held down now, and the time of it until now.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder},
    metrics::{MetricType, counter::ConstCounter, gauge::ConstGauge},
    registry::Unit,
};
use tokio::time::Instant;

use crate::savings::HeldDown;

/// So many namespaces have series of their own: those that come first. All others share one.
const MOST_NAMESPACES: usize = 200;

/// The label of those that share one: no namespace can have such a name.
const OTHER: &str = "(other)";

/// What stands for all namespaces together, which have no label.
const ALL: &str = "";

/// Counts the time of what is held down. No step of the wall clock touches it.
#[derive(Clone, Debug)]
pub(in crate::controller) struct Savings(Arc<Mutex<Accounts>>);

#[derive(Debug)]
struct Accounts {
    /// By namespace, or that of all. What has been counted stays.
    each: BTreeMap<Arc<str>, Account>,
    /// Up to when they are counted; `None` before the first word.
    since: Option<Instant>,
    without_requests: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Account {
    held: HeldDown,
    replica_seconds: f64,
    cpu_core_seconds: f64,
    memory_byte_seconds: f64,
}

/// The seconds of an account that one of the counters shows.
type Seconds = fn(&Account) -> f64;

impl Account {
    /// The same, so many seconds later.
    #[expect(
        clippy::cast_precision_loss,
        reason = "exact for more than any cluster has"
    )]
    fn after(self, seconds: f64) -> Self {
        let HeldDown {
            replicas,
            cpu_nanos,
            memory_bytes,
        } = self.held;
        Self {
            held: self.held,
            replica_seconds: self.replica_seconds + replicas as f64 * seconds,
            cpu_core_seconds: self.cpu_core_seconds + cpu_nanos as f64 / 1e9 * seconds,
            memory_byte_seconds: self.memory_byte_seconds + memory_bytes as f64 * seconds,
        }
    }
}

impl Accounts {
    fn seconds_until(&self, now: Instant) -> f64 {
        let time = self.since.map(|since| now.duration_since(since));
        time.unwrap_or_default().as_secs_f64()
    }

    /// The account of a namespace that may be new.
    fn of(&mut self, namespace: &Arc<str>, by_namespace: bool) -> &mut Account {
        let name = if !by_namespace {
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
            since: None,
            without_requests: 0,
        })))
    }
}

impl Savings {
    /// From `now` on so much is held down of each object, which is in that namespace.
    pub(in crate::controller) fn tell<'n>(
        &self,
        objects: impl Iterator<Item = (&'n Arc<str>, HeldDown)>,
        without_requests: usize,
        by_namespace: bool,
        now: Instant,
    ) {
        let mut accounts = self.lock();
        let seconds = accounts.seconds_until(now);
        accounts.since = Some(now);
        accounts.without_requests = without_requests;
        if by_namespace {
            accounts.each.remove(ALL);
        }
        for account in accounts.each.values_mut() {
            *account = Account {
                held: HeldDown::default(),
                ..account.after(seconds)
            };
        }
        for (namespace, held) in objects {
            let account = accounts.of(namespace, by_namespace);
            account.held = [account.held, held].into_iter().sum();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Accounts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Collector for Savings {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let accounts = self.lock();
        let seconds = accounts.seconds_until(Instant::now());
        let each = accounts
            .each
            .iter()
            .map(|(name, it)| (&**name, it.after(seconds)));
        let each: Vec<_> = each.collect();
        let help = "Replicas that would run now without the schedules, and do not.";
        let name = "dayshift_held_down_replicas";
        let metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        samples(metric, &each, |it| ConstGauge::new(it.held.replicas))?;

        let counters: [(&str, &str, Seconds); 3] = [
            (
                "dayshift_saved_replica",
                "The time of replicas that would have run without the schedules, and did not.",
                |it| it.replica_seconds,
            ),
            (
                "dayshift_saved_cpu_core",
                "The time of the CPU cores that those replicas request.",
                |it| it.cpu_core_seconds,
            ),
            (
                "dayshift_saved_memory_byte",
                "The time of the bytes of memory that those replicas request.",
                |it| it.memory_byte_seconds,
            ),
        ];
        for (name, help, of) in counters {
            let unit = Some(&Unit::Seconds);
            let metric = encoder.encode_descriptor(name, help, unit, MetricType::Counter)?;
            samples(metric, &each, |it| ConstCounter::new(of(it)))?;
        }

        let help = "Workloads with scheduled replicas that do not request both CPU and memory.";
        let name = "dayshift_workloads_without_requests";
        let metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        ConstGauge::new(accounts.without_requests as u64).encode(metric)
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
