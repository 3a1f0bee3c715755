//! Tests of the savings metrics.

use std::{collections::HashMap, sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_workload::savings::StoppedCapacity;
use prometheus_client::{encoding::text, registry::Registry};
use tokio::time::{Instant, advance};

use super::{
    by_namespace::{ByNamespace, Change, SeriesBy},
    states::States,
};

const HOUR: Duration = Duration::from_secs(3600);

fn change(
    savings: &ByNamespace,
    namespace: &Arc<str>,
    (before, after): (StoppedCapacity, StoppedCapacity),
    at: (DateTime<Utc>, Instant),
) {
    let (before, after) = (States::saving(before), States::saving(after));
    let change = Change::State { before, after, at };
    savings.change(Arc::clone(namespace), change);
}

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

/// The expected values are summed for each object independently, at steps of varying lengths. Some
/// objects change between two scrapes.
#[tokio::test(start_paused = true)]
async fn counters_never_decrease_and_include_changes_between_scrapes() {
    let savings = ByNamespace::default();
    let mut registry = Registry::default();
    registry.register_collector(Box::new(savings.clone()));
    let held = |replicas: u64| StoppedCapacity {
        replicas,
        cpu_nanos: replicas * 333_333_333,
        memory_bytes: replicas * 7,
    };
    let namespace = |at: usize| Arc::from(format!("team-{}", at % 3));
    let mut objects = [0_u64; 20];
    let mut expected = [0.0; 3];
    let wall = DateTime::UNIX_EPOCH;
    savings.begin(SeriesBy::Namespace, wall, Instant::now());
    let (mut before, mut seed) = (HashMap::new(), 7_u64);
    for step in 0..5_000 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let at = usize::try_from(seed >> 40).unwrap() % objects.len();
        let now = Instant::now();
        if step == 2_500 {
            // Another controller starts, without objects.
            savings.begin(SeriesBy::Namespace, wall, now);
            objects = Default::default();
        }
        let replicas = (seed >> 33) % 9;
        let (was, is) = (held(objects[at]), held(replicas));
        change(&savings, &namespace(at), (was, is), (wall, now));
        objects[at] = replicas;
        let passed = Duration::from_micros(1_000_003 * (1 + (seed >> 50) % 5));
        advance(passed).await;
        for (at, replicas) in objects.iter().enumerate() {
            expected[at % 3] += f64::from(u32::try_from(*replicas).unwrap()) * passed.as_secs_f64();
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
            let name = format!("dayshift_saved_{name}_seconds_total{{namespace=\"team-{at}\"}}");
            let off = counted[&name] / one - expected;
            assert!(off.abs() < 1e-3, "{name}: {off}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn counters_do_not_change_while_nothing_is_saved() {
    let savings = ByNamespace::default();
    let mut registry = Registry::default();
    registry.register_collector(Box::new(savings.clone()));
    let now = || (DateTime::UNIX_EPOCH, Instant::now());
    savings.begin(SeriesBy::Namespace, now().0, now().1);
    let (nothing, web) = (StoppedCapacity::default(), Arc::from("web"));
    let three = StoppedCapacity {
        replicas: 3,
        ..nothing
    };
    change(&savings, &web, (nothing, three), now());
    advance(Duration::from_nanos(100_000_001)).await;
    change(&savings, &web, (three, nothing), now());
    let counted = samples(&registry);
    advance(Duration::from_secs(3600)).await;
    assert_eq!(samples(&registry), counted);
}

/// One replica is stopped from 23:00 on. At 06:00, 8,000 objects change within two milliseconds, as at
/// a boundary of many workloads, half of them at the same instant.
#[tokio::test(start_paused = true)]
async fn many_changes_at_once_do_not_replace_earlier_marks() {
    let savings = ByNamespace::default();
    let (midnight, begin) = (
        DateTime::UNIX_EPOCH + TimeDelta::days(20_000),
        Instant::now(),
    );
    let at = |after: Duration| (midnight + after, begin + after);
    let held = |replicas| StoppedCapacity {
        replicas,
        ..StoppedCapacity::default()
    };
    let web = Arc::from("web");
    savings.begin(SeriesBy::All, midnight - TimeDelta::hours(1), begin - HOUR);
    let hold = |replicas: (u64, u64), at| {
        let replicas = (held(replicas.0), held(replicas.1));
        change(&savings, &web, replicas, at);
    };
    hold((0, 1), (midnight - TimeDelta::hours(1), begin - HOUR));
    hold((0, 0), at(Duration::from_secs(60)));
    for change in 0..8_000_u64 {
        let passed = Duration::from_nanos(change.saturating_sub(4_000) * 400);
        hold((0, 1), at(6 * HOUR + passed));
    }
    advance(7 * HOUR).await;
    hold((0, 0), at(7 * HOUR));
    let hours = |since: TimeDelta| {
        let so_far = savings.saved(&[midnight + since]).unwrap();
        so_far.since_each[0].replica_hours
    };
    let near =
        |found: f64, expected: f64| assert!((found - expected).abs() < 0.01, "{found} {expected}");
    near(hours(TimeDelta::zero()), 7.0 + 8_000.0);
    near(hours(TimeDelta::hours(3)), 4.0 + 8_000.0);
    near(hours(TimeDelta::minutes(6 * 60 + 30)), 0.5 * 8_001.0);
}

/// There are 250 namespaces. Later, the workloads of every second one are deleted, after ten of them were
/// started. The expected total is summed independently.
#[tokio::test(start_paused = true)]
async fn a_namespace_without_workloads_gives_way_and_no_time_is_lost_or_counted_twice() {
    let savings = ByNamespace::default();
    let mut registry = Registry::default();
    registry.register_collector(Box::new(savings.clone()));
    let wall = DateTime::UNIX_EPOCH;
    savings.begin(SeriesBy::Namespace, wall, Instant::now());
    let name = |at: usize| Arc::<str>::from(format!("team-{at:03}"));
    let mut held = [0_u64; 250];
    let hold = |at: usize, replicas: u64, held: &mut [u64; 250]| {
        let down = |replicas| StoppedCapacity {
            replicas,
            ..StoppedCapacity::default()
        };
        let (before, after) = (down(held[at]), down(replicas));
        change(&savings, &name(at), (before, after), (wall, Instant::now()));
        held[at] = replicas;
    };
    for at in 0..250 {
        hold(at, 1 + at as u64 % 3, &mut held);
    }
    let mut scheduled = Vec::new();
    let mut series = |existing: &[usize]| -> (HashMap<String, f64>, usize) {
        let names: Vec<_> = existing.iter().map(|at| name(*at)).collect();
        savings.replace_workloads(&scheduled, &names);
        scheduled = names;
        savings.begin_scrape();
        let mut text = String::new();
        text::encode(&mut text, &registry).unwrap();
        let value = |line: &str, name: &str| Some(line.strip_prefix(name)?.to_owned());
        let without = "dayshift_namespaces_without_series ";
        let mut without = text.lines().filter_map(|line| value(line, without));
        let sample = |line: &str| {
            let rest = value(line, "dayshift_saved_replica_seconds_total{namespace=\"")?;
            let (name, value) = rest.split_once("\"} ")?;
            Some((name.to_owned(), value.parse().unwrap()))
        };
        let samples = text.lines().filter_map(sample).collect();
        (samples, without.next().unwrap().parse().unwrap())
    };
    // As `increase()` of Prometheus: a new or restarted series counts from 0.
    let (mut before, mut counted, mut expected) = (HashMap::new(), 0.0, 0.0);
    let mut existing: Vec<usize> = (0..250).collect();
    for minute in 0..240 {
        if minute == 120 {
            (0..250)
                .filter(|at| at % 2 == 0)
                .for_each(|at| hold(at, 0, &mut held));
            existing.retain(|at| at % 2 == 1);
        }
        advance(Duration::from_secs(60)).await;
        expected += 60.0 * f64::from(u32::try_from(held.iter().sum::<u64>()).unwrap());
        let (now, without) = series(&existing);
        assert_eq!(without, if minute < 120 { 50 } else { 0 });
        assert!(now.len() <= 201, "200 and (other)");
        for (name, value) in &now {
            let was = before.get(name).copied().unwrap_or_default();
            counted += if *value < was { *value } else { value - was };
        }
        assert!(now["(other)"] >= before.get("(other)").copied().unwrap_or_default());
        before = now;
    }
    assert!(
        (counted - expected).abs() < 1e-6 * expected,
        "{counted} {expected}"
    );
    for at in existing {
        assert!(before.contains_key(&*name(at)), "{at} has workloads");
    }
}

/// The test locks the accounts on the controller's thread, so a change that waited for the lock would
/// deadlock.
#[tokio::test(start_paused = true)]
async fn changes_during_a_scrape_are_queued_and_counted_in_order_after_it() {
    let savings = ByNamespace::default();
    let mut registry = Registry::default();
    registry.register_collector(Box::new(savings.clone()));
    let begin = Instant::now();
    let at = |seconds| (DateTime::UNIX_EPOCH, begin + Duration::from_secs(seconds));
    savings.begin(SeriesBy::Namespace, DateTime::UNIX_EPOCH, begin);
    let (shop, held) = (Arc::from("shop"), |replicas| StoppedCapacity {
        replicas,
        ..StoppedCapacity::default()
    });
    let scrape = savings.accounts();
    for (seconds, before, after) in [(0, 0, 3), (10, 3, 5), (20, 5, 1)] {
        let held = (held(before), held(after));
        change(&savings, &shop, held, at(seconds));
    }
    drop(scrape);
    change(&savings, &shop, (held(1), held(0)), at(30));
    advance(Duration::from_secs(40)).await;
    let name = "dayshift_saved_replica_seconds_total{namespace=\"shop\"}";
    assert_eq!(samples(&registry)[name], 30.0 + 50.0 + 10.0);
}

/// Past savings stay with the earlier team.
#[tokio::test(start_paused = true)]
async fn current_savings_move_with_a_namespace_to_another_team() {
    let savings = ByNamespace::default();
    let mut registry = Registry::default();
    registry.register_collector(Box::new(savings.clone()));
    let wall = DateTime::UNIX_EPOCH;
    savings.begin(SeriesBy::Team, wall, Instant::now());
    let held = |replicas: u64| StoppedCapacity {
        replicas,
        ..StoppedCapacity::default()
    };
    let belongs = |namespace: &str, team: Option<&str>| {
        let change = Change::Team(team.map(Into::into), Instant::now());
        savings.change(namespace.into(), change);
    };
    let holds = |namespace: &str, before: u64, now: u64| {
        let at = (wall, Instant::now());
        let change_of = (held(before), held(now));
        change(&savings, &namespace.into(), change_of, at);
    };
    let hours = || {
        let samples = samples(&registry);
        ["web", "pay", "(none)"].map(|team| {
            let name = format!("dayshift_saved_replica_seconds_total{{team=\"{team}\"}}");
            samples.get(&name).copied().unwrap_or_default() / 3600.0
        })
    };
    holds("free", 0, 1);
    holds("shop", 0, 3);
    belongs("shop", Some("web"));
    belongs("bank", Some("pay"));
    holds("bank", 0, 2);
    advance(HOUR).await;
    assert_eq!(hours(), [3.0, 2.0, 1.0]);
    belongs("shop", Some("pay"));
    belongs("shop", Some("pay"));
    advance(HOUR).await;
    assert_eq!(hours(), [3.0, 2.0 + 5.0, 2.0]);
    holds("shop", 3, 0);
    belongs("shop", Some("web"));
    belongs("bank", None);
    advance(HOUR).await;
    assert_eq!(hours(), [3.0, 7.0, 2.0 + 3.0]);
}
