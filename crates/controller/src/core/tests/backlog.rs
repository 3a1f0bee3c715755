//! Tests of changes that affect many objects at once.

use crate::core::tests::{
    EVENING,
    rig::{Rig, deployment},
};

/// Each workload has a short annotation of its own, so the text is parsed again for each.
#[test]
fn edit_that_thousands_inherit_delays_no_other_namespace() {
    let hours = |edit: usize| {
        let windows = (0..200).map(|minute| format!("{:02}:{:02}-24:00", minute / 60, minute % 60));
        let windows: Vec<_> = windows.collect();
        format!("{}; 23:{edit:02}-24:00", windows.join("; "))
    };
    let evil = (0..2_000).map(|number| {
        let object = deployment(&format!("evil-{number}")).namespace("evil");
        object.annotation("jitter", &format!("{number}s"))
    });
    let mut rig = Rig::at(EVENING);
    rig.annotate_namespace("evil", "hours", &hours(0));
    let mut rig = rig.adopted(evil);
    assert_eq!(rig.state("evil-1999"), Some("adopted"));
    for edit in 1..4 {
        rig.annotate_namespace("evil", "hours", &hours(edit));
        assert_eq!(rig.next_wake(), "18:00:00", "work is left to later steps");
        let name = format!("web-{edit}");
        rig.apply(deployment(&name).stop("19:00"));
        assert!(rig.take_patches().contains(&format!("patch {name}: adopt")));
    }
    rig.respond_to_all();
    let most = rig.max_parsed();
    // Also the objects that were queued for a slot. All together have 8 MB.
    assert!(most < 128 << 10, "{most} bytes were parsed in one step");
    assert!(most > 4 << 10);
}

/// A decision about a dependency takes as long as one about the workload, milliseconds for the longest annotations.
#[test]
fn starts_with_many_dependencies_are_decided_about_in_small_steps() {
    let names: Vec<_> = (0..16).map(|number| format!("need-{number}")).collect();
    let after = names.iter().map(|name| format!("deploy/{name}"));
    let after = after.collect::<Vec<_>>().join("; ");
    let down = |name: &str| {
        let object = deployment(name).namespace("evil").replicas(0);
        object.annotation("start", "19:00")
    };
    let needed = names.iter().map(|name| down(name));
    let evil = (0..200).map(|number| down(&format!("evil-{number}")).annotation("after", &after));
    let web = deployment("web").stop("19:00");
    let mut rig = Rig::at(EVENING).adopted(needed.chain(evil).chain([web]));
    rig.tick("19:00:00");
    while rig.next_wake() == "19:00:00" {
        rig.tick_next();
    }
    rig.respond_to_all();
    assert_eq!(rig.state("web"), Some("stopped"));
    let most = rig.max_decisions();
    assert!(most > 32, "the starts wait for their dependencies: {most}");
    assert!(most <= 2 * (32 + 16) + 40, "{most} decisions in one step");
}
