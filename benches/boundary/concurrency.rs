//! Finds the best number of concurrent requests, over HTTP/2 and over HTTP/1.1.

use std::fmt;

use serde::Serialize;

use super::{
    baseline::{Baseline, Transport},
    load::Fleet,
    support::{Assets, ControlPlane, Parts},
};

/// One pass of the baseline client. Times are in milliseconds.
#[derive(Debug, Serialize)]
pub(crate) struct Concurrency {
    pub(crate) transport: Transport,
    pub(crate) in_flight: usize,
    /// Patches a second.
    pub(crate) rate: f64,
    /// Arrival of the first patch, and of the first tenth: the cost of cold connections.
    pub(crate) first: f64,
    pub(crate) p10: f64,
    /// The median time that the server took for a patch.
    pub(crate) served_p50: f64,
    /// Responses with 429.
    pub(crate) too_many: usize,
}

const TRANSPORTS: [Transport; 3] = [Transport::Http2, Transport::Http1Warm, Transport::Http1Cold];

/// Runs passes over `count` Deployments: every transport in turn with each number in flight.
pub(crate) fn run(assets: &Assets, count: usize, numbers: &[usize]) -> Vec<Concurrency> {
    let plane = ControlPlane::start(assets, Parts::Server);
    plane.install();
    let mut baseline = Baseline::new(&plane, count);
    baseline.prepare(Fleet::deployments(count), 16);
    let mut flights = Vec::new();
    for &in_flight in numbers {
        for transport in TRANSPORTS {
            let burst = baseline.pass(transport, in_flight);
            flights.push(Concurrency {
                transport,
                in_flight,
                rate: burst.rate,
                first: burst.first,
                p10: burst.p10,
                served_p50: burst.served_p50,
                too_many: burst.too_many,
            });
        }
    }
    flights
}

impl fmt::Display for Concurrency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:9} {:3} in flight {:6.0}/s; first {:5.1} ms, p10 {:5.0} ms; served in {:5.1} ms; {} with 429",
            format!("{:?}", self.transport),
            self.in_flight,
            self.rate,
            self.first,
            self.p10,
            self.served_p50,
            self.too_many
        )
    }
}
