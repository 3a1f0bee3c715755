//! Lateness of single transitions at a steady rate.

use std::{fmt, path::Path};

use chrono::{TimeDelta, Utc};
use serde::Serialize;

use super::{
    burst::{count, milliseconds, percentile},
    load::{self, Fleet, Plan},
    support::{Assets, ControlPlane, Dayshift, Parts, Request, soon},
};

/// Boundaries at a steady rate. Times are in milliseconds after each boundary.
#[derive(Debug, Serialize)]
pub(crate) struct Steady {
    /// Boundaries in each second; each is at the beginning of a second, the finest unit of a
    /// schedule.
    pub(crate) each_second: usize,
    pub(crate) transitions: usize,
    /// Arrival of the first patch; the other fields are percentiles and the last one.
    pub(crate) first: f64,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
    /// Patches sent for each transition.
    pub(crate) writes_each: f64,
    pub(crate) reads: usize,
}

/// Runs this many boundaries in each second, each of its own Deployment.
pub(crate) fn run(assets: &Assets, program: &Path, each_second: usize, seconds: usize) -> Steady {
    let plane = ControlPlane::start(assets, Parts::Server);
    let kubeconfig = plane.install();
    let number = each_second * seconds;
    let teams = load::namespaces(&plane, "steady", number);
    // The time to create and adopt them: 100 a second on a busy machine.
    let begin = soon(20 + i64::try_from(number / 50).unwrap());
    let plans: Vec<Plan> = (0..seconds)
        .map(|second| Plan(vec![begin.plus(i64::try_from(second).unwrap()).0]))
        .collect();
    load::create(
        &plane,
        &teams,
        "steady",
        Fleet::deployments(number),
        |place| Some(&plans[place / each_second]),
    );
    let mut dayshift = Dayshift::run_program(program, kubeconfig, &["run"]);
    dayshift.wait_ready();
    assert!(
        begin.0 > Utc::now() + TimeDelta::seconds(5),
        "the preparation took too long: the machine is too busy"
    );
    let mark = plane.audit().mark();
    begin.plus(i64::try_from(seconds).unwrap() + 3).wait();
    let mut requests = plane.audit().since(mark);
    requests.retain(Request::is_dayshift);
    dayshift.stop();

    let is_late = |request: &&Request| request.is_made() && request.received >= begin.micros();
    let lateness: Vec<i64> = requests
        .iter()
        .filter(is_late)
        .map(|request| {
            let place: usize = request.name.rsplit('-').next().unwrap().parse().unwrap();
            request.received - plans[place / each_second].0[0].timestamp_micros()
        })
        .collect();
    assert_eq!(lateness.len(), number, "a transition is missing or early");
    let arrival = |part| milliseconds(percentile(&lateness, part));
    let patches = requests
        .iter()
        .filter(|request| request.verb == "patch" && request.received >= begin.micros());
    Steady {
        each_second,
        transitions: number,
        first: arrival(0.0),
        p50: arrival(0.5),
        p99: arrival(0.99),
        max: arrival(1.0),
        writes_each: count(patches.count()) / count(number),
        reads: requests
            .iter()
            .filter(|request| request.verb == "get" || request.verb == "list")
            .count(),
    }
}

impl fmt::Display for Steady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} each second, {} in all",
            self.each_second, self.transitions
        )?;
        writeln!(
            f,
            "  lateness             first {:.1} ms, p50 {:.1} ms, p99 {:.1} ms, last {:.1} ms",
            self.first, self.p50, self.p99, self.max
        )?;
        writeln!(
            f,
            "  per transition       {:8.2} writes; {} reads in all",
            self.writes_each, self.reads
        )
    }
}
