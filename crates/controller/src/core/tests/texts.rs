//! Tests of the memory limit of annotations.

use crate::core::tests::rig::{Deployment, Rig, deployment};

/// A Deployment with unique annotations of 8 kB. Its creation time increases with `number`.
fn long(number: u32) -> Deployment {
    let padded = |text: String| text + &" ".repeat(4_000);
    deployment(&format!("long-{number:03}"))
        .created(number)
        .annotation("start", &padded("09:00".to_owned()))
        .stop(&padded(format!(
            "19:00; {}:{:02}",
            20 + number / 60,
            number % 60
        )))
}

/// How many such Deployments fit into the text budget of a namespace.
const FIT: u32 = 65;

#[test]
fn the_newest_long_texts_of_a_namespace_are_rejected_until_older_ones_are_deleted() {
    let short = deployment("short").stop("19:00").created(1_000);
    let elsewhere = deployment("elsewhere").namespace("team").created(1_001);
    let elsewhere = elsewhere.stop(&("19:00".to_owned() + &" ".repeat(4_000)));
    // The newest are observed first.
    let all = (0..FIT + 15).rev().map(long);
    let mut rig = Rig::at("2026-11-20T08:00:00Z").adopted(all.chain([short, elsewhere]));
    for number in 0..FIT + 15 {
        let name = format!("long-{number:03}");
        let is_accepted = rig.error(&name).is_none() && rig.state(&name).is_some();
        assert_eq!(is_accepted, number < FIT, "{name}: {:?}", rig.error(&name));
    }
    let error = rig.error("long-079").unwrap();
    let expected = "dayshift/start: the annotations of dayshift have 8017 bytes";
    assert!(error.starts_with(expected), "{error}");
    assert!(rig.state("short").is_some() && rig.state("elsewhere").is_some());

    rig.take_effects();
    rig.delete("long-007");
    assert_eq!(rig.take_effects(), ["read long-065"]);
    rig.respond_to("long-065");
    assert_eq!(rig.take_effects(), ["patch long-065: adopt"]);
    rig.respond_to_all();
    assert_eq!(rig.error("long-065"), None);
    assert!(rig.error("long-066").is_some());
    rig.take_effects();
    rig.apply(deployment("long-066").stop("19:00"));
    assert_eq!(
        rig.take_effects(),
        ["patch long-066: adopt"],
        "an object with a short annotation is adopted"
    );
}

#[test]
fn a_stopped_object_whose_text_has_no_room_keeps_its_saved_count() {
    let mut rig = Rig::at("2026-11-20T18:00:00Z").adopted([long(79)]);
    rig.tick("19:00:00");
    rig.respond_to_all();
    assert_eq!(rig.saved("long-079"), Some("3"));
    for number in 0..FIT {
        rig.apply(long(number));
    }
    rig.respond_to_all();
    assert!(rig.error("long-079").is_some());
    rig.tick_tomorrow("09:00:00");
    rig.respond_to_all();
    assert_eq!(rig.saved("long-079"), Some("3"));
    assert_eq!(rig.state("long-079"), Some("stopped"));

    rig.take_effects();
    rig.delete("long-000");
    assert_eq!(rig.take_effects(), ["read long-079"]);
    rig.respond_to("long-079");
    // The start has become due meanwhile.
    assert_eq!(rig.take_effects(), ["patch long-079: start 0 -> 3"]);
}

/// Less than 128 bytes of annotations are not counted, unless they contain hundreds of windows.
#[test]
fn short_texts_with_hundreds_of_windows_are_rejected_beyond_the_budget() {
    let windows = |number: u32| {
        let minute = format!("{:02}:{:02}", number / 60, number % 60);
        let extra = format!("2026-01-01..2027-05-01 {minute}-24:00");
        let name = format!("windows-{number:03}");
        let object = deployment(&name).created(number).hours("09:00-19:00");
        object.annotation("extra", &extra)
    };
    let rig = Rig::at("2026-11-20T08:00:00Z").adopted((1..=100).map(windows));
    let is_rejected = |number: &u32| rig.error(&format!("windows-{number:03}")).is_some();
    let rejected: Vec<_> = (1..=100).filter(is_rejected).collect();
    assert_eq!(rejected, (68..=100).collect::<Vec<_>>());
}
