//! The failures of one object have no effect on others.

use crate::reliability::beside::Beside;
use crate::reliability::harness::cases::{Case, cases, nightly};
use crate::reliability::harness::figures::Figures;
use crate::reliability::harness::scenario::Place;
use crate::reliability::harness::webhook::{Asked, Verdict, Webhook};

pub(crate) fn cases() -> Vec<Case> {
    nightly(cases![
        Plane::Measured;
        "admission webhook that hangs for 60 workloads" => admission_hangs,
        "admission webhook that fails for 200 workloads" => admission_fails,
        "admission webhook that denies 200 workloads with 401, 404, 409, 429 and 503" => admission_denies,
        "webhook on Events that hangs, 40 stops" => events_hang,
        "webhook on Events that responds with 429 and fails, 40 stops" => events_fail,
    ])
}

/// Codes that an admission webhook can choose and that the API server uses too.
const CODES: [u16; 5] = [401, 404, 409, 429, 503];

/// An hour, which an admission webhook can request too.
const HOUR: u32 = 3600;

/// The timeout of a request is 10 s. Healthy objects are due while the first requests are in flight, and
/// after that.
fn admission_hangs(place: &Place<'_>) -> Figures {
    let scenario = Beside::begin(place, "hangs", 60, &[3, 12], |namespace| {
        Webhook::on(namespace, Asked::Stops, |_| Verdict::Silence)
    });
    let late = scenario.others_within(1.2);
    scenario.ends(late)
}

fn admission_fails(place: &Place<'_>) -> Figures {
    let scenario = Beside::begin(place, "fails", 200, &[3], |namespace| {
        Webhook::on(namespace, Asked::Stops, |_| Verdict::Broken)
    });
    let late = scenario.others_within(0.1);
    scenario.ends(late)
}

/// The server's own 429 delays all requests, and its 404 means that an object is gone. Here the webhook of
/// one object returns these codes.
fn admission_denies(place: &Place<'_>) -> Figures {
    let scenario = Beside::begin(place, "denies", 200, &[3], |namespace| {
        Webhook::on(namespace, Asked::Stops, |name| Verdict::Denied {
            code: CODES[number(name) % CODES.len()],
            retry_after: HOUR,
        })
    });
    let late = scenario.others_within(0.1);
    scenario.ends(late)
}

fn events_hang(place: &Place<'_>) -> Figures {
    let scenario = Beside::begin(place, "events-hang", 40, &[5], |namespace| {
        Webhook::on(namespace, Asked::Events, |_| Verdict::Silence)
    });
    let late = scenario.others_within(0.05);
    scenario.ends(late)
}

fn events_fail(place: &Place<'_>) -> Figures {
    let scenario = Beside::begin(place, "events-fail", 40, &[5], |namespace| {
        Webhook::on(namespace, Asked::Events, |name| match number(name) % 2 {
            0 => Verdict::Broken,
            _ => Verdict::Denied {
                code: 429,
                retry_after: HOUR,
            },
        })
    });
    let late = scenario.others_within(0.05);
    scenario.ends(late)
}

/// The last number of a name.
fn number(name: &str) -> usize {
    let (_, number) = name.rsplit_once('-').unwrap();
    number.parse().unwrap()
}
