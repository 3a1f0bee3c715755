//! `dayshift sync`.

use crate::fake_server::{Cluster, Controller};

/// A schedule that is running until 2098, and one that is stopped until then.
const RUNNING: &[(&str, &str)] = &[("start", "2020-01-01 00:00"), ("stop", "2098-01-01 00:00")];
const STOPPED: &[(&str, &str)] = &[("stop", "2020-01-01 00:00"), ("start", "2098-01-01 00:00")];

#[test]
fn sync_applies_the_schedule_now() {
    let cluster = Cluster::new();
    for (name, replicas, schedule) in [
        ("down", 0, RUNNING),
        ("good", 2, RUNNING),
        ("up", 3, STOPPED),
        ("wrong", 3, &[("hours", "9-5")]),
        (
            "paused",
            3,
            &[("stop", "2020-01-01 00:00"), ("pause", "true")],
        ),
        (
            "scaled",
            3,
            &[("scale", "2020-01-01 00:00 = 4; 2098-01-01 00:00 = 5")],
        ),
        ("new", 3, &[("start", "2098-01-01 00:00")]),
    ] {
        cluster.deployment(name, replicas, schedule);
    }
    let woken = [STOPPED, &[("wake-until", "2097-01-01 00:00")]].concat();
    cluster.deployment("woken", 3, &woken);

    let planned = cluster.dayshift(&["sync", "--all", "--dry-run"]);
    assert_eq!(
        planned.out,
        "deployment.apps/good unchanged\n\
         deployment.apps/scaled scaled until Wed 2098-01-01 00:00 UTC, 3 -> 4 (dry run)\n\
         deployment.apps/down annotated dayshift/wake-until=2098-01-01T00:00:00Z \
         dayshift/reason=dayshift sync (dry run)\n\
         deployment.apps/up annotated dayshift/sleep-until=2098-01-01T00:00:00Z \
         dayshift/reason=dayshift sync (dry run)\n\
         deployment.apps/woken annotated dayshift/wake-until- (dry run)\n"
    );
    assert_eq!(planned.status, 1);
    for part in [
        "deployment.apps/new: not synced: its schedule specifies nothing yet",
        "deployment.apps/paused: not synced: it is paused, and a pause comes before everything else; \
         run dayshift resume first",
        "deployment.apps/wrong: not synced: its schedule is rejected",
    ] {
        planned.assert_err(part);
    }

    let _controller = Controller::on(&cluster);
    // The workloads can be reported in any order.
    let ran = cluster.dayshift(&["sync", "down", "up"]);
    assert_eq!((ran.status, &*ran.err), (0, ""));
    for line in [
        "deployment.apps/down awake until Wed 2098-01-01 00:00 UTC, 0 -> 1",
        "deployment.apps/up asleep until Wed 2098-01-01 00:00 UTC, 3 -> 0",
    ] {
        assert!(ran.out.lines().any(|it| it == line), "{line}: {}", ran.out);
    }
    assert_eq!(cluster.label("up", "saved-replicas").as_deref(), Some("3"));
    let ran = cluster.dayshift(&["sync", "woken"]);
    assert_eq!(
        ran.out,
        "deployment.apps/woken resumed, 3 -> 0; next is the start of Wed 2098-01-01 00:00 UTC\n"
    );
    // There is no further boundary, so the workload stays as it is when the override ends.
    cluster.deployment("over", 3, &[("stop", "2020-01-01 00:00")]);
    let ran = cluster.dayshift(&["sync", "over"]);
    assert_ends_with!(ran.out, " UTC, 3 -> 0\n");
    let again = cluster.dayshift(&["sync", "good"]);
    assert_eq!(again.out, "deployment.apps/good unchanged\n");
    cluster.deployment("off", 0, STOPPED);
    let off = cluster.dayshift(&["sync", "off", "--dry-run"]);
    assert_eq!(off.out, "deployment.apps/off unchanged\n");
}

#[test]
fn sync_sets_the_count_of_scale_without_a_controller() {
    let cluster = Cluster::new();
    let steps = "2020-01-01 00:00 = 4; 2098-01-01 00:00 = 5";
    for (name, replicas) in [("low", 1), ("high", 9), ("off", 0)] {
        cluster.deployment(name, replicas, &[("scale", steps)]);
        let ran = cluster.dayshift(&["sync", name]);
        let expected = format!(
            "deployment.apps/{name} scaled until Wed 2098-01-01 00:00 UTC, {replicas} -> 4\n"
        );
        assert_eq!((ran.status, &*ran.out, &*ran.err), (0, &*expected, ""));
        let again = cluster.dayshift(&["sync", name]);
        assert_eq!(again.out, format!("deployment.apps/{name} unchanged\n"));
    }
}

#[test]
fn resume_names_the_command_that_applies_the_schedule() {
    let cluster = Cluster::new();
    cluster.deployment("web", 0, &[RUNNING, &[("pause", "true")]].concat());
    let prefix = ["--annotation-prefix", "dayshift"];
    let _controller = Controller::on(&cluster);
    let ran = cluster.dayshift(&[&["resume", "web"], &prefix[..]].concat());
    assert_eq!(
        ran.out,
        "deployment.apps/web resumed, replicas 0; the schedule specifies running. To start it now, run \
         `dayshift sync deploy/web -n dev`\n"
    );
}

/// The override of a Namespace also applies to workloads that `sync` has stopped or started.
#[test]
fn a_namespace_override_ends_the_overrides_of_sync() {
    let cluster = Cluster::new();
    for name in ["one", "two"] {
        cluster.deployment(name, 3, STOPPED);
    }
    let woken = [STOPPED, &[("wake-until", "2097-01-01 00:00")]].concat();
    cluster.deployment("own", 3, &woken);
    let _controller = Controller::on(&cluster);
    let ran = cluster.dayshift(&["sync", "one", "two"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(cluster.label("one", "state").as_deref(), Some("slept"));
    let ran = cluster.dayshift(&["wake", "ns/dev", "--for=1h"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let counts = "2 of 3 workloads; 1 has an override of its own: `dayshift wake --all -n dev`";
    ran.assert_out(counts);
    for name in ["one", "two"] {
        assert_eq!(cluster.label(name, "state").as_deref(), Some("woken"));
    }
}

#[test]
fn a_namespace_override_without_effect_is_a_failure() {
    let cluster = Cluster::new();
    let woken = [STOPPED, &[("wake-until", "2097-01-01 00:00")]].concat();
    cluster.deployment("own", 3, &woken);
    let _controller = Controller::on(&cluster);
    let ran = cluster.dayshift(&["sleep", "ns/dev", "--for=1h"]);
    let counts = "0 of 1 workload; 1 has an override of its own: `dayshift sleep --all -n dev`";
    ran.assert_err(counts);
    assert_eq!(ran.status, 1);
}
