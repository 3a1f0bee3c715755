//! Responses with a time to retry, and denials.

use std::thread;
use std::time::Duration;

use crate::reliability::beside::CleanedNamespace;
use crate::reliability::harness::cases::{Case, cases, nightly};
use crate::reliability::harness::figures::{Figures, peak_memory};
use crate::reliability::harness::fleet::Fleet;
use crate::reliability::harness::gate::Gate;
use crate::reliability::harness::profile::Profile;
use crate::reliability::harness::scenario::{Place, Scenario, Size};
use crate::support::{Dayshift, Namespace, Request, wait_until};

pub(crate) fn cases() -> Vec<Case> {
    nightly(cases![
        Plane::Shared;
        "429 with `Retry-After: 18446744073709551615`" => retry_after_u64_max,
        "429 with `Retry-After: 9000000000000`" => retry_after_285_000_years,
        "503 with `Retry-After: 3600`, for a second" => retry_after_one_hour,
        "patch permission removed for 50 workloads with a boundary every 10 s" => forbidden,
    ])
}

/// The maximum effect of `Retry-After` in seconds, plus the duration of a boundary.
const BOUND: i64 = 66;

fn retry_after_u64_max(place: &Place<'_>) -> Figures {
    asked_to_retry_later(place, 429, "18446744073709551615")
}

fn retry_after_285_000_years(place: &Place<'_>) -> Figures {
    asked_to_retry_later(place, 429, "9000000000000")
}

fn retry_after_one_hour(place: &Place<'_>) -> Figures {
    asked_to_retry_later(place, 503, "3600")
}

/// A proxy responds this way for a second. The full form waits until the stop is applied; the short one
/// checks that the program still runs. `tests/controller/faults/` tests the bound on simulated time.
fn asked_to_retry_later(place: &Place<'_>, code: u16, retry_after: &'static str) -> Figures {
    let size = Size {
        fault: 1,
        recovery: BOUND + 10,
        ..place.profile.usual()
    };
    let mut scenario = Scenario::set(place, "closed", size);
    let gate = Gate::before(&scenario.namespace);
    scenario.connect_via(&gate.url());
    scenario.run();
    scenario.await_adopted();
    scenario.run_fault(
        |_| gate.close(code, retry_after),
        |_| assert!(gate.open() > 0, "no request was rejected"),
    );
    thread::sleep(Duration::from_secs(1));
    let (alive, log) = (
        scenario.controllers[0].get("/healthz"),
        scenario.controllers[0].log(),
    );
    // A panicking program might respond until it has printed the location.
    let is_alive = alive.is_some_and(|(status, _)| status == 200) && !log.contains("panicked");
    assert!(is_alive, "{log}");
    match place.profile {
        Profile::Short => scenario.breaks_off(),
        Profile::Full => scenario.ends().within(BOUND as f64),
    }
}

/// The maximum number of denials while the permission is missing, of 50 transitions that are due five a
/// second: those in flight when it was revoked, and one probe after 1 s, 2 s, 4 s and so on.
const REFUSED: usize = 16;

fn forbidden(place: &Place<'_>) -> Figures {
    let namespace = CleanedNamespace(place.plane.namespace("no-patch"));
    namespace.apply_file("manifests/namespaced.yaml");
    let kubeconfig = place.plane.kubeconfig_of(namespace.name(), "dayshift");
    let mut controller = Dayshift::run_as(&kubeconfig, &["run", "-n", namespace.name()]);
    controller.wait_ready();
    let fleet = Fleet::of(50);
    // Each stop has its own second, so that few are in flight together.
    fleet.create_each(&namespace, |number| {
        let (stop, start) = (number % 10, number % 10 + 10);
        (
            format!("{stop}-59/20 * * * * *"),
            format!("{start}-59/20 * * * * *"),
        )
    });
    let all_have_moved = |condition: &str| {
        let mark = place.plane.audit().mark();
        wait_until(condition, || {
            let requests = place.plane.audit().by_dayshift(mark, namespace.name());
            let mut names: Vec<&str> = requests
                .iter()
                .filter(|each| each.is_made())
                .map(|each| &*each.name)
                .collect();
            names.sort_unstable();
            names.dedup();
            names.len() == fleet.len()
        });
    };
    all_have_moved("all stop and start");

    let mark = place.plane.audit().mark();
    forbid_patches(&namespace);
    thread::sleep(Duration::from_secs(place.profile.pick(13, 22)));
    let requests = place.plane.audit().by_dayshift(mark, namespace.name());
    let patches = |each: &&Request| each.verb == "patch" && each.code == 403;
    let refused = requests.iter().filter(patches).count();
    assert!(refused <= REFUSED, "{refused} patches without permission");
    assert!(refused > 0, "no patch was rejected");

    namespace.apply_file("manifests/namespaced.yaml");
    all_have_moved("all stop and start again");
    let memory = peak_memory(controller.id());
    assert!(controller.stop().success(), "{}", controller.log());
    let fleet_state = fleet.look(&namespace);
    assert_eq!(
        (fleet_state.lost, fleet_state.wrong),
        (0, 0),
        "lost and wrong counts"
    );
    Figures {
        memory,
        tries: refused as f64 / fleet.len() as f64,
        ..Figures::default()
    }
}

/// The shipped Role without `patch`.
fn forbid_patches(namespace: &Namespace<'_>) {
    namespace.change_role("dayshift", |rules| {
        for rule in rules {
            let verbs = rule["verbs"].as_array_mut().unwrap();
            verbs.retain(|verb| verb != "patch");
        }
    });
}
