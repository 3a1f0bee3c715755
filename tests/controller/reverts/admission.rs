//! An admission webhook or policy that changes the count of dayshift's patch.

use serde_json::json;

use super::{counted, reads, reported, web};
use crate::sandbox::{Sandbox, deployment, logged};

/// At least two replicas for every workload, as a cluster policy might require.
fn never_below_two(scenario: &Sandbox) {
    scenario.api.on_mutation(|write| {
        let below = write.resource == "deployments" && write.new["spec"]["replicas"] == 0;
        below.then(|| json!({"spec": {"replicas": 2}}))
    });
}

#[test]
fn reports_a_stop_that_admission_changed() {
    let scenario = Sandbox::at("2026-11-19 18:00 UTC");
    scenario.apply(web("web"));
    never_below_two(&scenario);
    let (_guard, log) = logged();
    scenario.sleep_until("19:00:05");
    assert_eq!(scenario.replicas("web"), 2);
    let wanted = "an admission webhook or policy changed it to 2 while the stop set 0. To end \
        that, exclude dayshift's \
                  writes of /spec/replicas from it";
    assert_eq!(reported(&scenario, "web"), [wanted]);
    let events = scenario.events("web");
    assert!(!events.contains(&"Stopped".to_owned()), "{events:?}");
    assert_eq!((reads(&scenario), counted(&scenario, "other")), (0, 1));
    let log = std::fs::read_to_string(log.path()).unwrap();
    assert!(log.contains("from=3 to=2"), "{log}");
    // It is reported each time, and the saved count is restored.
    scenario.sleep_until("2026-11-20 09:01");
    assert_eq!(scenario.replicas("web"), 3);
    scenario.sleep_until("2026-11-20 19:01");
    assert_eq!(
        reported(&scenario, "web"),
        [wanted],
        "Events are kept for an hour"
    );
}

#[test]
fn reports_once_that_enforce_is_overruled() {
    let scenario = Sandbox::at("2026-11-19 18:00 UTC");
    let forced = deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00");
    scenario.apply(forced.annotation("dayshift/enforce", "true"));
    never_below_two(&scenario);
    scenario.sleep_until("19:05");
    let events = scenario.events("web");
    let count = |reason: &str| events.iter().filter(|it| *it == reason).count();
    assert_eq!((count("Reverted"), count("Enforced")), (1, 0), "{events:?}");
    assert_eq!(count("CorrectionLimitReached"), 1, "{events:?}");
}
