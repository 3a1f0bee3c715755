//! Two controllers that disagree about time zones: by their flags, or by the age of their zone
//! data.

use std::{collections::BTreeMap, time::Duration};

use chrono::Timelike;
use dayshift_controller::Settings;
use dayshift_schedule::{Tzdata, Zone};

use crate::{
    sandbox::{Sandbox, deployment, of_deployments},
    zone_file::zone_file,
};

/// Vancouver until 2026: standard time in winter.
fn old_vancouver() -> Zone {
    let file = zone_file(-8 * 3600, "PST8PDT,M3.2.0,M11.1.0");
    let files = BTreeMap::from([("America/Vancouver".to_owned(), file)]);
    let (old, broken) = Tzdata::new("2025b".to_owned(), "old".to_owned(), files);
    assert_eq!(broken, []);
    old.zone("America/Vancouver").unwrap()
}

fn by(zone: Zone) -> Settings {
    Settings {
        default_zone: zone,
        ..of_deployments()
    }
}

/// While both controllers run, each carries out its own boundaries, the last one applies, and the writes are
/// bounded. Once one controller has ended, only the other's boundaries are carried out.
#[test]
fn two_controllers_with_different_zone_data_converge() {
    let zone = |name| Zone::parse(name).unwrap();
    for (old, new) in [
        (old_vancouver(), zone("America/Vancouver")),
        (zone("America/Vancouver"), old_vancouver()),
        (zone("Asia/Tokyo"), zone("Europe/Berlin")),
    ] {
        let mut scenario = Sandbox::empty_at("2026-11-16 00:30 UTC");
        scenario.apply(deployment("web").replicas(3).hours("09:00-19:00"));
        scenario.start_controller(by(old));
        scenario.pass(Duration::from_secs(60));
        scenario.start_controller(by(new));
        for _ in 0..4 * 48 {
            scenario.pass(Duration::from_secs(1800));
            let hours = [old, new].map(|zone| scenario.now().with_timezone(&zone).hour());
            // The hours since the last start, and since the last stop, of either controller.
            let since = |of: u32| hours.map(|hour| (hour + 24 - of) % 24).into_iter().min();
            let runs = since(9) <= since(19);
            assert_eq!(
                scenario.replicas("web") > 0,
                runs,
                "{old:?} {new:?} {}",
                scenario.now()
            );
        }
        let writes = scenario.patched("web").len();
        // Four boundaries a day: each is carried out by one controller, and each controller writes
        // its next boundary once.
        assert!(writes <= 2 + 3 * 4 * 4, "{old:?} {new:?}: {writes} writes");
        scenario.stop_oldest_controller();
        scenario.pass(Duration::from_secs(86_400));
        let before = scenario.patched("web").len();
        let mut running = 0;
        for _ in 0..2 * 48 {
            let hour = scenario.now().with_timezone(&new).hour();
            let is_on = (9..19).contains(&hour);
            assert_eq!(
                scenario.replicas("web"),
                if is_on { 3 } else { 0 },
                "{hour}"
            );
            running += usize::from(is_on);
            scenario.pass(Duration::from_secs(1800));
        }
        assert_eq!(
            (running, scenario.patched("web").len() - before),
            (2 * 20, 4)
        );
    }
}

/// After an update to newer zone data: by the old data, a stop is still due in the first hour.
#[test]
fn newer_zone_data_after_a_restart_does_not_act_on_the_past() {
    let mut scenario = Sandbox::empty_at("2026-11-20 12:00 America/New_York");
    scenario.apply(deployment("web").replicas(3).hours("09:00-19:00"));
    scenario.start_controller(by(old_vancouver()));
    // The stop at 19:00 in Vancouver is at 21:00 in New York by the new data, and at 22:00 by the old data.
    scenario.sleep_until("21:30");
    assert_eq!(scenario.replicas("web"), 3);
    scenario.stop_controllers();
    scenario.start_controller(by(Zone::parse("America/Vancouver").unwrap()));
    scenario.sleep_until("2026-11-21 20:59");
    assert_eq!(
        scenario.replicas("web"),
        3,
        "today's stop was before the update"
    );
    scenario.sleep_until("2026-11-21 21:01");
    assert_eq!(scenario.replicas("web"), 0);
}
