//! The scenarios, run against both servers.

use std::collections::BTreeSet;
use std::env;
use std::fmt::Write as _;
use std::time::Instant;

use fastrand::Rng;
use futures::stream::{self, StreamExt as _};
use kube::Client;

use super::answer::essence;
use super::scenario::RandomScenario;
use super::shrink::shrink;
use crate::api_parity::backend::Backend;
use crate::api_parity::real;
use crate::api_parity::recorded::compare;
use crate::api_parity::run::{new_namespace, run_in};
use crate::support::{ControlPlane, Parts, Scenario as RealScenario, block_on, is_full};
use kube_in_memory::Api;

/// The number of patches in `cargo test`. Nightly CI sends [`PATCHES_AT_NIGHT`]; `PARITY_PATCHES` sets
/// another number.
const PATCHES: usize = 1_000;
const PATCHES_AT_NIGHT: usize = 20_000;
/// The seed, unless `PARITY_SEED` specifies another one.
const SEED: u64 = 20_261_121;
/// The number of concurrent scenarios on the real server.
const AT_ONCE: usize = 8;
/// The number of differing scenarios that are shrunk.
const SHRUNK: usize = 24;
/// The number of distinct differences that are shown.
const SHOWN: usize = 12;

pub fn scenarios() -> Vec<RealScenario> {
    crate::support::scenarios![Parts::Server; random_patches]
}

fn random_patches(plane: &ControlPlane) {
    let asked = number("PARITY_PATCHES").map(|count| count.try_into().unwrap());
    let usual = if is_full() { PATCHES_AT_NIGHT } else { PATCHES };
    let wanted = asked.unwrap_or(usual);
    let seed = number("PARITY_SEED").unwrap_or(SEED);
    let mut rng = Rng::with_seed(seed);
    let mut scenarios = Vec::new();
    let mut left = wanted;
    while left > 0 {
        let scenario = RandomScenario::random(&mut rng, left);
        left -= scenario.patches.len();
        scenarios.push(scenario);
    }
    let (begin, client) = (Instant::now(), real::client(plane));
    let different = block_on(async {
        let places: Vec<_> = (0..AT_ONCE).collect();
        let reported = stream::iter(places).map(|place| {
            let (client, scenarios) = (client.clone(), &scenarios);
            async move {
                let namespace = format!("parity-random-{place}");
                new_namespace(&client, &namespace).await;
                let mut different = Vec::new();
                for scenario in scenarios.iter().skip(place).step_by(AT_ONCE) {
                    if difference(scenario, &client, plane, &namespace)
                        .await
                        .is_some()
                    {
                        different.push(scenario.clone());
                    }
                }
                different
            }
        });
        reported.buffer_unordered(AT_ONCE).concat().await
    });
    let seconds = begin.elapsed().as_secs_f32();
    eprintln!("{wanted} random patches in {seconds:.1} s (PARITY_SEED={seed})");
    if different.is_empty() {
        return;
    }
    let mut report = format!(
        "{} of {} scenarios differ (PARITY_PATCHES={wanted} PARITY_SEED={seed})\n",
        different.len(),
        scenarios.len()
    );
    let namespace = "parity-random-0";
    let differ =
        |scenario: &RandomScenario| block_on(difference(scenario, &client, plane, namespace));
    let mut shown = BTreeSet::new();
    for scenario in different.into_iter().take(SHRUNK) {
        let least = shrink(scenario, |scenario| differ(scenario).is_some());
        let difference = differ(&least).unwrap_or_default();
        if shown.len() < SHOWN && shown.insert(difference.clone()) {
            let _ = writeln!(report, "\n{least}{difference}");
        }
    }
    panic!("{report}");
}

/// The difference between the in-memory response (`found`) and that of the real server
/// (`recorded`).
async fn difference(
    scenario: &RandomScenario,
    client: &Client,
    plane: &ControlPlane,
    namespace: &str,
) -> Option<String> {
    let case = scenario.case();
    let api = Api::new(chrono::Utc::now);
    let memory = api.client();
    new_namespace(&memory, namespace).await;
    let found = run_in(&case, &memory, namespace, &Backend::Memory(&api)).await;
    let right = run_in(
        &case,
        client,
        namespace,
        &Backend::Real(&|| plane.compact()),
    )
    .await;
    let [right, found] = [right, found].map(|answers| {
        let answers = answers.into_iter().map(essence);
        answers.collect::<Vec<_>>()
    });
    compare(&case, &right, &found).err()
}

fn number(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(text.parse().unwrap())
}
