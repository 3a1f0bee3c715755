//! The table on a real server: are its responses still the recorded ones?

use std::env;

use kube::config::{KubeConfigOptions, Kubeconfig};

use crate::api_parity::backend::Backend;
use crate::api_parity::cases;
use crate::api_parity::recorded::{Recorded, compare};
use crate::api_parity::run::run;
use crate::support::{ControlPlane, Parts, Scenario, block_on};

/// A scenario for each file of the table.
pub fn scenarios() -> Vec<Scenario> {
    crate::support::scenarios![Parts::Server; objects, patches, refusals, lists, watches, stateful_sets, cron_jobs, jobs, autoscalers, namespaces, metadata, custom]
}

fn objects(plane: &ControlPlane) {
    oracle("objects", plane);
}

fn patches(plane: &ControlPlane) {
    oracle("patches", plane);
}

fn refusals(plane: &ControlPlane) {
    oracle("refusals", plane);
}

fn lists(plane: &ControlPlane) {
    oracle("lists", plane);
}

fn watches(plane: &ControlPlane) {
    oracle("watches", plane);
}

fn stateful_sets(plane: &ControlPlane) {
    oracle("statefulsets", plane);
}

fn cron_jobs(plane: &ControlPlane) {
    oracle("cronjobs", plane);
}

fn jobs(plane: &ControlPlane) {
    oracle("jobs", plane);
}

fn autoscalers(plane: &ControlPlane) {
    oracle("autoscalers", plane);
}

fn namespaces(plane: &ControlPlane) {
    oracle("namespaces", plane);
}

fn metadata(plane: &ControlPlane) {
    oracle("metadata", plane);
}

fn custom(plane: &ControlPlane) {
    oracle("custom", plane);
}

fn oracle(file: &str, plane: &ControlPlane) {
    let client = client(plane);
    let (recorded, mut fresh, mut report) =
        (Recorded::read(file), Recorded::default(), String::new());
    let group = cases::all()
        .into_iter()
        .find(|(name, _)| *name == file)
        .unwrap()
        .1;
    for (number, case) in group.iter().enumerate() {
        let namespace = format!("parity-{file}-{number}");
        let answers = block_on(run(
            case,
            &client,
            &namespace,
            &Backend::Real(&|| plane.compact()),
        ));
        if let Err(differences) = compare(case, recorded.answers(case), &answers) {
            report += &differences;
        }
        fresh.insert(case, answers);
    }
    if env::var_os("DAYSHIFT_RECORD").is_some() {
        fresh.write(file);
    } else {
        assert!(
            report.is_empty(),
            "the recorded responses differ from those of this server:\n{report}"
        );
    }
}

/// A client without retries, because a 504 is a valid response here.
pub fn client(plane: &ControlPlane) -> kube::Client {
    let kubeconfig = Kubeconfig::read_from(plane.kubeconfig()).unwrap();
    block_on(async {
        let options = KubeConfigOptions::default();
        let mut config = kube::Config::from_custom_kubeconfig(kubeconfig, &options)
            .await
            .unwrap();
        config.default_retry = false;
        kube::Client::try_from(config).unwrap()
    })
}
