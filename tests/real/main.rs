//! Stories on a real API server: etcd and kube-apiserver, and where a story asks for pods
//! Kubernetes' own controllers, scheduler and a fake node. See `tests/support`.
#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may stop where it stands"
)]

mod access;
mod boundaries;
mod cluster;
mod commands;
mod counts;
mod ended;
mod faults;
mod hostile;
mod kinds;
mod leaving;
mod neighbours;
mod objects;
mod overrides;
mod permissions;
mod protobuf;
mod rollout;
mod split;
#[path = "../support/mod.rs"]
mod support;
mod team;
mod together;
mod zones;

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::Arguments;

use support::{Stage, print_tries};

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Stories wait for instants most of their time: more of them than there are cores.
    arguments.test_threads.get_or_insert(16);

    let stage = Arc::new(Stage::default());
    // The longest ones first.
    let stories = [
        together::stories(),
        rollout::stories(),
        ended::stories(),
        overrides::stories(),
        faults::stories(),
        hostile::stories(),
        kinds::stories(),
        leaving::stories(),
        neighbours::stories(),
        access::stories(),
        boundaries::stories(),
        cluster::stories(),
        commands::stories(),
        counts::stories(),
        objects::stories(),
        permissions::stories(),
        split::stories(),
        protobuf::stories(),
        zones::stories(),
    ]
    .concat();
    let trials = stories
        .into_iter()
        .map(|story| stage.trial(story))
        .collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    print_tries();
    conclusion.exit_code()
}
