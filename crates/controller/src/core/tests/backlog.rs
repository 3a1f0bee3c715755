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
