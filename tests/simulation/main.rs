//! Random scenarios for the real controller, on paused time, against the cluster in memory, with every
//! fault that can occur.
//!
//! A seed generates a scenario: schedules, calendars, users, other writers, one to three controllers that
//! are killed and restarted, clocks that are set, and faults between any two messages. A checker, which is
//! written only from the documentation, checks every write that the API accepts, and checks the objects
//! when nothing has failed for long enough. It is the one model of the rules in the tests, and shares no
//! code with `decide`. A failing scenario is shrunk while it still fails, and printed with the command that
//! repeats it.
//!
//! Each run repeats the scenarios of the first seeds. New seeds are for nightly CI, because they could fail
//! an unrelated change.
//! `SIMULATION_SEEDS=1000000` runs more of them, `SIMULATION_SEEDS=10000..20000` others,
//! `SIMULATION_SHRINK=0` does not shrink,
//! `SIMULATION_FRESH=100000` adds this many new ones, `SIMULATION_SEED=123` repeats one, and
//! `SIMULATION_SCENARIO=FILE` a stored one.
//!
//! - `scenario/`: a scenario as a value and as text
//! - `generators/`: from a seed to a scenario
//! - `checker/`: the rules, and the knowledge of each controller
//! - `harness/`: the controller, the cluster in memory, users and faults
//! - `morning/`: starts with dependencies and slots, with an oracle of their own
//! - `requests/`: connections that wake, with an oracle of their own
//! - `timers/`: `stop-after` and defaults of teams, with an oracle of their own
//! - `seeded/`: seeded defects that the scenarios must find
//! - `regressions/`: scenarios that failed once, by subject
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr
)]

mod checker;
mod generators;
mod harness;
mod morning;
mod requests;
mod scenario;
mod timers;

use std::{
    collections::{BTreeMap, hash_map::RandomState},
    env, fs,
    hash::{BuildHasher as _, DefaultHasher, Hash, Hasher},
    path::Path,
    process::Command,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Instant,
};

use checker::check_settled::CheckResult;
use harness::{
    run::{ScenarioOutcome, run},
    shrink,
};
use scenario::{definition::Scenario, stored};

/// The number of fixed seeds of each run, which takes some 50 s of CPU time.
const SEEDS: u64 = 400;

/// The maximum number of these inconclusive results in a thousand checks.
const MAX_INCONCLUSIVE: [(CheckResult, usize); 6] = [
    (CheckResult::Unknown, 0),
    (CheckResult::Dry, 30),
    (CheckResult::Recovering, 5),
    (CheckResult::OfAnother, 20),
    (CheckResult::Waits, 5),
    (CheckResult::GivenUp, 10),
];

fn number(variable: &str) -> Option<u64> {
    Some(env::var(variable).ok()?.parse().unwrap())
}

/// `SIMULATION_SEEDS` is a number of seeds, or a range of them: `10000..20000`. `SIMULATION_FRESH`
/// adds this many new seeds.
fn seeds() -> Vec<u64> {
    let fresh = number("SIMULATION_FRESH").unwrap_or(0);
    let known = env::var("SIMULATION_SEEDS").unwrap_or_else(|_| SEEDS.to_string());
    let (from, to) = known.split_once("..").unwrap_or(("0", &known));
    let mut seeds: Vec<u64> = (from.parse().unwrap()..to.parse().unwrap()).collect();
    if fresh > 0 {
        let first = RandomState::new().hash_one(Instant::now()) / 1_000_000 * 1_000;
        eprintln!("new seeds: SIMULATION_SEEDS={first}..{}", first + fresh);
        seeds.extend(first..first + fresh);
    }
    seeds
}

#[test]
fn random_scenarios_follow_the_rules() {
    if let Some(scenario) = stored::asked_for() {
        return report_failure(&scenario);
    }
    if let Some(seed) = number("SIMULATION_SEED") {
        return report_failure(&Scenario::of(seed));
    }
    let (seeds, begun) = (seeds(), Instant::now());
    let next = AtomicUsize::new(0);
    let (faults, writes) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let looks = Mutex::new(BTreeMap::new());
    let failed = Mutex::new(None);
    let work = || {
        while failed.lock().unwrap().is_none() {
            let Some(seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) else {
                return;
            };
            let outcome = outcome_of(&Scenario::of(*seed));
            faults.fetch_add(outcome.faults, Ordering::Relaxed);
            writes.fetch_add(outcome.writes, Ordering::Relaxed);
            for (look, count) in outcome.looks {
                *looks.lock().unwrap().entry(look).or_default() += count;
            }
            if outcome.failure.is_some() {
                let mut failed = failed.lock().unwrap();
                *failed = Some(failed.unwrap_or(*seed).min(*seed));
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    eprintln!(
        "{} scenarios with {} writes and {} faults in {:.1} s",
        next.load(Ordering::Relaxed).min(seeds.len()),
        writes.load(Ordering::Relaxed),
        faults.load(Ordering::Relaxed),
        begun.elapsed().as_secs_f64()
    );
    if let Some(seed) = failed.into_inner().unwrap() {
        report_failure(&Scenario::of(seed));
    }
    let looks = looks.into_inner().unwrap();
    eprintln!("{looks:?}");
    if seeds.len() >= usize::try_from(SEEDS).unwrap() {
        assert_few_inconclusive(&looks);
    }
}

/// Fails if too many checks are inconclusive: a checker that accepts everything finds no defects.
fn assert_few_inconclusive(results: &BTreeMap<CheckResult, usize>) {
    let all: usize = results.values().sum();
    for (result, most) in MAX_INCONCLUSIVE {
        let count = results.get(&result).copied().unwrap_or_default();
        let thousandths = 1000 * count / all;
        assert!(thousandths <= most, "{result:?}: {count} of {all} checks");
    }
}

#[test]
fn regressions_stay_fixed() {
    for (name, scenario) in stored::regressions() {
        if outcome_of(&scenario).failure.is_some() {
            eprintln!("{name}");
            report_failure(&scenario);
        }
    }
}

#[test]
fn scenario_round_trips_through_its_file() {
    for seed in 0..200 {
        let scenario = Scenario::of(seed);
        let text = scenario.to_text();
        assert_eq!(Scenario::of_text(&text).to_text(), text);
        assert_eq!(Scenario::of_text(&text).to_string(), scenario.to_string());
    }
}

#[test]
fn same_seed_runs_identically() {
    for seed in 0..50 {
        let hash = || {
            let mut hasher = DefaultHasher::new();
            outcome_of(&Scenario::of(seed)).trace.hash(&mut hasher);
            hasher.finish()
        };
        assert_eq!(hash(), hash(), "seed {seed}");
    }
}

/// This test only applies each patch; `.ci/nightly seeded` checks that the scenarios detect the defects.
#[test]
fn each_seeded_defect_applies() {
    let root = env!("CARGO_MANIFEST_DIR");
    let directory = Path::new(root).join("tests/simulation/seeded");
    let paths = |directory: &Path| {
        fs::read_dir(directory)
            .unwrap()
            .map(|it| it.unwrap().path())
    };
    let directories = paths(&directory).filter(|it| it.is_dir());
    let patches: Vec<_> = directories
        .flat_map(|it| paths(&it).collect::<Vec<_>>())
        .filter(|it| it.extension().is_some_and(|it| it == "patch"))
        .collect();
    assert!(patches.len() >= 36, "{} defects", patches.len());
    for patch in patches {
        let mut git = Command::new("git");
        git.args(["apply", "--check", "-p0"]);
        let checked = git.arg(&patch).current_dir(root).output().unwrap();
        let why = String::from_utf8_lossy(&checked.stderr);
        assert!(
            checked.status.success(),
            "{why}seed it again: tests/simulation/seeded/README.md"
        );
    }
}

/// Runs one scenario, and fails with the shortest scenario that still fails.
fn report_failure(scenario: &Scenario) {
    let first = outcome_of(scenario);
    let Some(why) = &first.failure else {
        eprintln!("{scenario}{}", first.trace.join("\n"));
        return;
    };
    eprintln!("seed {} fails: {why}", scenario.seed);
    assert!(
        number("SIMULATION_SHRINK") != Some(0),
        "it is not made shorter:\n{scenario}{}",
        first.trace.join("\n")
    );
    let short = shrink::shortest(scenario);
    let outcome = outcome_of(&short);
    panic!(
        "{}\nThe first failure: {why}\nThe scenario:\n{short}What happened:\n  {}\n\
         To repeat it: SIMULATION_SEED={} cargo test --test simulation\n\
         To repeat its shortest form: SIMULATION_SCENARIO=FILE, with this in the file; in \
         a directory in tests/simulation/regressions it stays a regression test:\n{}",
        outcome.failure.as_deref().unwrap_or("it does not fail"),
        outcome.trace.join("\n  "),
        scenario.seed,
        short.to_text(),
    );
}

/// The result of a scenario; a panic is a failure.
fn outcome_of(scenario: &Scenario) -> ScenarioOutcome {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    catch_unwind(AssertUnwindSafe(|| run(scenario))).unwrap_or_else(|_| ScenarioOutcome {
        failure: Some("it panicked".to_owned()),
        ..ScenarioOutcome::default()
    })
}
