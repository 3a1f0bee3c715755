//! A Namespace that requests more than the API server can handle.

use chrono::{DateTime, TimeDelta, Utc};

use crate::reliability::beside::{CleanedNamespace, made};
use crate::reliability::harness::cases::{Case, cases, nightly};
use crate::reliability::harness::figures::{Figures, Others, peak_memory};
use crate::reliability::harness::fleet::Fleet;
use crate::reliability::harness::profile::Profile;
use crate::reliability::harness::scenario::Place;
use crate::reliability::harness::turns::Turns;
use crate::support::{Dayshift, Request, Soon, deployment, soon, too_late, wait_until};

pub(crate) fn cases(profile: Profile) -> Vec<Case> {
    let mut cases = nightly(cases![
        Plane::Quiet;
        "1,500 workloads of another namespace that stop and start every second" => fifteen_hundred,
    ]);
    if profile == Profile::Full {
        cases.extend(cases![
            Plane::Quiet;
            "5,000 workloads of another namespace that stop and start every second" => five_thousand,
        ]);
    }
    cases
}

/// The maximum lateness of a stop in another Namespace, in seconds: the API server is saturated, and each
/// request waits there for earlier ones.
const LATE: f64 = 0.25;

/// The maximum time until a new object in another Namespace is adopted, in seconds. A user who applies a
/// manifest and then reads the object should find the labels.
const UNSEEN: f64 = 1.0;

/// The number of objects in other Namespaces.
const OTHERS: i64 = 6;

fn fifteen_hundred(place: &Place<'_>) -> Figures {
    busy(place, 1_500)
}

fn five_thousand(place: &Place<'_>) -> Figures {
    busy(place, 5_000)
}

fn busy(place: &Place<'_>, size: i32) -> Figures {
    let mut controller = Dayshift::run(place.plane, &["run"]);
    controller.wait_ready();
    let [busy, elsewhere] =
        ["busy", "elsewhere"].map(|it| CleanedNamespace(place.plane.namespace(it)));
    let fleet = Fleet::of(size);
    fleet.create_with(&busy, "*/2 * * * * *", "1-59/2 * * * * *");

    // The busy objects are adopted meanwhile, and are due in every second from then on.
    let first = soon(8);
    let names: Vec<_> = (0..OTHERS).map(|number| format!("web-{number}")).collect();
    let mut created = Vec::new();
    for (number, name) in (0..).zip(&names) {
        let due = Soon(first.0 + TimeDelta::seconds(number));
        created.push((Utc::now().timestamp_micros(), due));
        elsewhere.create(deployment(name).replicas(2).stop(due.text()));
    }
    let last = created.last().unwrap().1;
    last.wait();
    let patience = TimeDelta::seconds(30);
    let (requests, log) = loop {
        let requests = elsewhere.requests();
        if names.iter().all(|name| made(&requests, name).count() >= 2) {
            break (requests, controller.log());
        }
        let waited = Utc::now() - last.0;
        assert!(
            waited < patience,
            "workloads elsewhere are not stopped after {waited}"
        );
        std::thread::sleep(std::time::Duration::from_millis(500));
    };
    let memory = peak_memory(controller.id());
    let (mut late, mut unseen) = ((0, first), (0, 0));
    let mut stops = Vec::new();
    for (name, (created, due)) in names.iter().zip(created) {
        let made: Vec<&Request> = made(&requests, name).collect();
        let [adoption, stop] = made[..2] else {
            unreachable!("both were waited for");
        };
        unseen = unseen.max((adoption.answered - created, created));
        late = late.max((stop.answered - due.micros(), due));
        assert!(
            stop.answered >= due.micros(),
            "{name} was stopped too early:\n{log}"
        );
        stops.push((due, stop));
    }
    let all_made = requests.iter().filter(|each| each.is_made()).count();
    assert!(controller.stop().success(), "{}", controller.log());

    let mut tries = busy.requests();
    tries.retain(|each| each.verb == "patch");
    let done = tries.iter().filter(|each| each.is_made()).count();
    wait_until("the requests in flight are completed", || {
        let fleet_state = fleet.look(&busy);
        fleet_state.lost == 0 && fleet_state.wrong == 0
    });
    let mut turns = Turns::of(&tries);
    for (due, stop) in stops {
        turns.note_elsewhere(due.0, stop);
    }
    let others = Others {
        late: late.0 as f64 / 1e6,
        unseen: Some(unseen.0 as f64 / 1e6),
        before: turns.most_before(),
    };
    println!("{others:?}");
    let [most_late, most_unseen] = [LATE, UNSEEN].map(|it| place.profile.allows(it));
    if others.late > most_late {
        too_late(
            "a workload elsewhere was stopped",
            late.1.0,
            others.late,
            most_late,
        );
    }
    let created = DateTime::from_timestamp_micros(unseen.1).unwrap();
    let unseen = unseen.0 as f64 / 1e6;
    if unseen > most_unseen {
        let measured = "the first sight of a new object came";
        too_late(measured, created, unseen, most_unseen);
    }
    Figures {
        others: Some(others),
        memory,
        writes: all_made as f64 / (2 * OTHERS) as f64,
        tries: tries.len() as f64 / done as f64,
        ..Figures::default()
    }
}
