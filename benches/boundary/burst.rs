//! Measurements of one boundary, from the audit log.

use serde::Serialize;

use crate::support::Request;

/// The requests to the API server because of one boundary. Times are in milliseconds after it.
#[derive(Debug, Serialize)]
pub(crate) struct Burst {
    /// Patches that took effect.
    pub(crate) transitions: usize,
    /// Arrival of the first patch; the other fields are percentiles and the last one.
    pub(crate) first: f64,
    pub(crate) p10: f64,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) last: f64,
    /// The last response.
    pub(crate) answered: f64,
    /// Transitions a second until the last response.
    pub(crate) rate: f64,
    /// The median time that the server took for a patch.
    pub(crate) served_p50: f64,
    /// Patches sent, whatever their result.
    pub(crate) patches: usize,
    /// Patches that were rejected with a conflict.
    pub(crate) conflicts: usize,
    /// Requests rejected with 429.
    pub(crate) too_many: usize,
    /// Other unsuccessful responses.
    pub(crate) failures: usize,
    /// Reads: get and list.
    pub(crate) reads: usize,
    /// Events sent.
    pub(crate) events: usize,
    /// The response to the last Event.
    pub(crate) events_answered: f64,
}

impl Burst {
    /// Measures the `requests` of one client after `instant`, in microseconds since 1970.
    pub(crate) fn measure(requests: &[Request], instant: i64) -> Self {
        let after = |at: i64| milliseconds(at - instant);
        let is_patch = |request: &&Request| request.verb == "patch";
        let patches: Vec<_> = requests.iter().filter(is_patch).collect();
        let coded = |code| patches.iter().filter(|patch| patch.code == code).count();
        let made: Vec<_> = patches.iter().filter(|patch| patch.code == 200).collect();
        let (conflicts, too_many) = (coded(409) + coded(422), coded(429));

        let received: Vec<i64> = patches.iter().map(|patch| patch.received).collect();
        let arrival = |part| after(percentile(&received, part));
        let took = |patch: &&&Request| patch.answered - patch.received;
        let answered = after(patches.iter().map(|patch| patch.answered).max().unwrap());
        let events = requests.iter().filter(|request| request.verb == "create");
        Self {
            transitions: made.len(),
            first: arrival(0.0),
            p10: arrival(0.1),
            p50: arrival(0.5),
            p99: arrival(0.99),
            last: arrival(1.0),
            answered,
            rate: count(made.len()) / answered * 1e3,
            served_p50: milliseconds(percentile(&made.iter().map(took).collect::<Vec<_>>(), 0.5)),
            patches: patches.len(),
            conflicts,
            too_many,
            failures: patches.len() - made.len() - conflicts - too_many,
            reads: requests
                .iter()
                .filter(|request| matches!(request.verb.as_str(), "get" | "list"))
                .count(),
            events: events.clone().count(),
            events_answered: events.map(|event| event.answered).max().map_or(0.0, after),
        }
    }
}

/// The quantile `part` of the sorted values.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an index into a list"
)]
pub(crate) fn percentile(values: &[i64], part: f64) -> i64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let place = (count(sorted.len() - 1) * part).round() as usize;
    sorted[place]
}

pub(crate) fn milliseconds(microseconds: i64) -> f64 {
    f64::from(i32::try_from(microseconds).unwrap()) / 1e3
}

pub(crate) fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap())
}
