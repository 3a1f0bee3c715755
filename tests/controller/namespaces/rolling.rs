//! A rolling update to other flags: the old and the new process overlap for some seconds.

use std::time::Duration;

use dayshift_controller::Settings;
use dayshift_workload::{DefaultSchedule, Key};

use crate::sandbox::{Sandbox, default_with, deployment};

fn by(hours: Option<&str>) -> Settings {
    let hours = hours.map(|hours| (Key::Hours, hours.to_owned()));
    default_with(|settings| {
        settings.default_schedule = DefaultSchedule::from_texts(hours);
        settings.scope.namespaces = vec!["dev".to_owned()];
    })
}

#[test]
fn changed_default_schedule_in_a_rolling_update_causes_no_fight() {
    let (office, late) = (Some("Mon-Fri 09:00-19:00"), Some("Mon-Fri 09:00-20:00"));
    for (old, new, state, next) in [
        (None, office, Some("adopted"), Some("2026-11-20T19.00.00Z")),
        (office, late, Some("adopted"), Some("2026-11-20T20.00.00Z")),
        (office, None, None, None),
    ] {
        let mut scenario = Sandbox::empty_at("2026-11-20 12:00 UTC");
        for name in ["web", "api"] {
            scenario.apply(deployment(name).replicas(3));
        }
        scenario.start_controller(by(old));
        scenario.pass(Duration::from_secs(600));
        scenario.start_controller(by(new));
        scenario.pass(Duration::from_secs(10));
        scenario.stop_oldest_controller();
        scenario.pass(Duration::from_secs(60));
        for name in ["web", "api"] {
            let label = |label| scenario.label(name, label);
            let is = (label("state"), label("next"));
            let wanted = (state.map(str::to_owned), next.map(str::to_owned));
            assert_eq!(is, wanted, "{name}, from {old:?} to {new:?}");
            let events = scenario.events(name);
            assert!(
                !events.contains(&"CorrectionLimitReached".to_owned()),
                "{events:?}"
            );
        }
    }
}
