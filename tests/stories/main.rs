//! What a user lives through, told with the real controller against the cluster in memory.
//!
//! 2026-11-20 is a Friday.
#![allow(clippy::unwrap_used, clippy::panic)]

mod sandbox;

use sandbox::{Sandbox, deployment};

#[test]
fn a_one_set_by_hand_at_night_is_five_again_in_the_morning() {
    for (by_hand, morning) in [(1, 5), (6, 6)] {
        let night = Sandbox::at("2026-11-20 18:00 Asia/Tokyo");
        night.apply(
            deployment("web")
                .replicas(5)
                .hours("Mon-Fri 09:00-19:00")
                .annotation("timezone", "Asia/Tokyo"),
        );
        night.sleep_until("23:00");
        assert_eq!(night.replicas("web"), 0);
        night.scale("web", by_hand);
        night.sleep_until("2026-11-23 09:01");
        assert_eq!(night.replicas("web"), morning);
    }
}

#[test]
fn every_patch_arrives_at_its_very_instant() {
    let story = Sandbox::at("2026-11-20 08:00 UTC");
    story.apply(deployment("web").replicas(3).hours("09:00-19:00"));
    story.sleep_until("19:30");
    assert_eq!(
        story.events("web"),
        ["Stopped"],
        "the first start found it running"
    );
    story.sleep_until("2026-11-21 10:00");
    let at = ["2026-11-20 09:00", "2026-11-20 19:00", "2026-11-21 09:00"].map(|at| story.utc(at));
    assert_eq!(story.patched("web")[1..], at);
}

#[test]
fn a_year_of_office_hours_across_clock_changes() {
    let story = Sandbox::at("2026-06-30 12:00 America/New_York");
    story.api.remember_requests(usize::MAX);
    story.apply(
        deployment("web")
            .replicas(3)
            .hours("Mon-Fri 09:00-19:00")
            .annotation("timezone", "America/New_York"),
    );
    story.sleep_until("2027-06-30 12:00");
    let patches = story.patched("web");
    let local: Vec<_> = patches[1..]
        .iter()
        .map(|at| {
            at.with_timezone(&chrono_tz::America::New_York)
                .format("%H:%M:%S%.3f")
                .to_string()
        })
        .collect();
    // 261 working days from noon on a Tuesday to noon on a Wednesday a year later.
    assert_eq!(local.len(), 522);
    assert!(
        local.iter().step_by(2).all(|at| at == "19:00:00.000"),
        "{local:?}"
    );
    assert!(
        local
            .iter()
            .skip(1)
            .step_by(2)
            .all(|at| at == "09:00:00.000"),
        "{local:?}"
    );
    assert_eq!(story.replicas("web"), 3);
}
