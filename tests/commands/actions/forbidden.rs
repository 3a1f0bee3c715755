//! A user without access to one kind can still act on the others, and gets a list of the kinds that
//! were not changed.

use kube_in_memory::{Fault, Status};

use crate::fake_server::{Cluster, Controller, refusal};

const OFFICE: &[(&str, &str)] = &[("hours", "09:00-19:00")];

/// A stopped Deployment and a CronJob that the user may not read.
fn cluster(verbs: &'static [&str]) -> Cluster {
    let cluster = Cluster::new();
    cluster.deployment("web", 0, OFFICE);
    cluster
        .api
        .label("dev", "web", "dayshift/saved-replicas", Some("3"))
        .unwrap();
    cluster.cron_job("report", OFFICE);
    cluster.refuse(verbs, "cronjobs");
    cluster
}

/// The message that CronJobs may not be listed.
fn no_cron_jobs(subject: &str, left: &str) -> String {
    format!(
        "error: {subject}CronJobs are {left}: not allowed to list CronJobs in namespace dev: {}; allow \
         list and watch of cronjobs.batch, or leave them out with --kinds deployments,statefulsets\n",
        refusal("list", "cronjobs")
    )
}

#[test]
fn skips_an_unreadable_kind_and_changes_the_others() {
    for arguments in [
        &["wake", "--all", "--for", "1h", "--no-wait"][..],
        &["sleep", "-l", "app=web", "--for", "1h", "--no-wait"],
        &["pause", "--all", "--no-wait"],
        &["restore", "--all"],
        &["restore", "-l", "app=web"],
    ] {
        let cluster = cluster(&["list", "watch"]);
        let ran = cluster.dayshift(arguments);
        let expected = no_cron_jobs("", "left unchanged");
        assert!(ran.err.starts_with(&expected), "{arguments:?}: {ran:?}");
        assert_starts_with!(ran.out, "deployment.apps/web ");
        assert_eq!(ran.status, 3, "{arguments:?}");
        let written = cluster.api.requests();
        let patches = written.iter().filter(|it| it.verb == "patch").count();
        assert_eq!(patches, 1, "{arguments:?}");
    }
    // The fix that the error recommends works.
    let cluster = cluster(&["list", "watch"]);
    let kinds = ["--kinds", "deployments,statefulsets"];
    let ran = cluster.dayshift(&[&["restore", "--all"], &kinds[..]].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(cluster.api.replicas("dev", "web"), Some(3));
}

/// The controller may not read CronJobs either. The command waits only for the readable kinds.
#[test]
fn waits_for_readable_kinds_beside_an_unreadable_one() {
    let cluster = cluster(&["list", "watch"]);
    let _controller = Controller::on(&cluster);
    let until = ["--until", "2099-12-24T18:00Z"];
    let ran = cluster.dayshift(&[&["wake", "--all"], &until[..]].concat());
    let woken = "deployment.apps/web awake until Thu 2099-12-24 18:00 UTC, 0 -> 3\n";
    let expected = no_cron_jobs("", "left unchanged");
    assert_eq!((ran.status, &*ran.out, ran.err), (3, woken, expected));
    assert_eq!(cluster.label("web", "state").as_deref(), Some("woken"));
}

/// Watching the unreadable kind would end the wait for all others.
#[test]
fn reports_a_missing_controller_beside_an_unreadable_kind() {
    for target in [&["--all"][..], &["ns/dev"]] {
        let cluster = cluster(&["list", "watch"]);
        let wake = ["wake", "--for", "1h", "--timeout", "1s"];
        let ran = cluster.dayshift(&[&wake, target].concat());
        let waited = ran.err.contains("no controller has acted");
        assert!(waited && !ran.err.contains("acts is not seen"), "{ran:?}");
        assert_eq!(ran.status, 3, "{ran:?}");
    }
}

#[test]
fn waits_for_the_other_kinds_if_one_cannot_be_watched() {
    for (target, woken) in [
        (
            "--all",
            "deployment.apps/web awake until Thu 2099-12-24 18:00 UTC, 0 -> 3\n",
        ),
        (
            "ns/dev",
            "namespace/dev awake until Thu 2099-12-24 18:00 UTC: 1 of 2 workloads\n",
        ),
    ] {
        let cluster = cluster(&["watch"]);
        // If the controller acted on the CronJob, a list could show that before the watch is
        // rejected.
        let _controller = Controller::with(&cluster, &["--kinds=deployments"]);
        let ran = cluster.dayshift(&["wake", target, "--until", "2099-12-24T18:00Z"]);
        let unseen = format!(
            "error: annotated, but the command cannot see whether a controller acts: not \
                allowed to \
             watch CronJobs in namespace dev: {}",
            refusal("watch", "cronjobs")
        );
        assert_eq!((ran.status, &*ran.out), (3, woken), "{ran:?}");
        assert_eq!(ran.err.trim_end(), unseen);
        assert_eq!(cluster.api.replicas("dev", "web"), Some(3));
    }
}

/// A Role can be limited to named objects.
#[test]
fn waits_for_the_other_objects_if_one_cannot_be_watched() {
    let cluster = Cluster::new();
    cluster.deployment("api", 1, OFFICE);
    cluster.deployment("web", 1, OFFICE);
    let _controller = Controller::on(&cluster);
    cluster.api.on_request(|request| {
        // The list is rejected too, because it could show the change of the controller before the
        // watch is rejected.
        let is_it = request.query.contains("metadata.name%3Dapi");
        let message = refusal(request.verb, "deployments");
        is_it.then(|| Fault::Answer(Status::new(403, "Forbidden", message)))
    });
    let until = ["--until", "2099-12-24T18:00Z"];
    let ran = cluster.dayshift(&[&["sleep", "deploy/api", "deploy/web"], &until[..]].concat());
    let slept = "deployment.apps/web asleep until Thu 2099-12-24 18:00 UTC, 1 -> 0\n";
    assert_eq!((ran.status, &*ran.out), (3, slept), "{ran:?}");
    let unseen = "annotated, but the command cannot see whether a controller acts: not allowed to";
    assert_eq!(ran.err.matches(unseen).count(), 1, "{ran:?}");
}

#[test]
fn wakes_a_namespace_and_reports_unreadable_kinds() {
    let cluster = cluster(&["list", "watch"]);
    let _controller = Controller::on(&cluster);
    for (command, output) in [
        (
            &["wake", "ns/dev", "--dry-run"][..],
            "namespace/dev annotated dayshift/wake-until=2099-12-24T18:00:00Z (dry run)\n",
        ),
        (
            &["wake", "ns/dev"],
            "namespace/dev awake until Thu 2099-12-24 18:00 UTC: 1 of 1 workload\n",
        ),
    ] {
        let until = ["--until", "2099-12-24T18:00Z"];
        let ran = cluster.dayshift(&[command, &until].concat());
        let expected = no_cron_jobs("namespace/dev: ", "not seen");
        assert_eq!((ran.status, ran.err), (3, expected), "{command:?}");
        assert_eq!(ran.out, output, "{command:?}");
    }
    // Whether other workloads have a schedule is unknown, so nothing is written for the Namespace.
    let other = cluster_without_schedules();
    let ran = other.dayshift(&["wake", "ns/dev", "--for", "1h", "--no-wait"]);
    assert_starts_with!(ran.err, "error: not allowed to list CronJobs");
    assert_eq!((ran.status, &*ran.out), (3, ""));
}

fn cluster_without_schedules() -> Cluster {
    let cluster = Cluster::new();
    cluster.deployment("web", 1, &[]);
    cluster.refuse(&["list", "watch"], "cronjobs");
    cluster
}

#[test]
fn limits_nothing_found_to_readable_kinds() {
    let cluster = cluster_without_schedules();
    let forbidden = no_cron_jobs("", "left unchanged");
    let ran = cluster.dayshift(&["wake", "--all", "--for", "1h"]);
    let nothing = "error: no workload has a schedule in namespace dev, as far as you may read it\n";
    assert_eq!((ran.status, ran.err), (3, forbidden.clone() + nothing));
    let ran = cluster.dayshift(&["restore", "--all"]);
    assert_eq!((ran.status, ran.err), (3, forbidden));
    assert_eq!(
        ran.out,
        "nothing to restore in namespace dev, as far as you may read it\n"
    );
}

#[test]
fn changes_the_others_beside_an_unreadable_named_object() {
    let cluster = cluster(&["get"]);
    let ran = cluster.dayshift(&["restore", "cj/report", "deploy/web", "deploy/gone"]);
    let expected = format!(
        "error: cronjob.batch/report is left unchanged: not allowed to get CronJobs in namespace dev: {}; \
         allow get of cronjobs.batch\nerror: deployment.apps/gone is not in namespace dev\n",
        refusal("get", "cronjobs")
    );
    assert_starts_with!(ran.err, expected);
    assert_eq!(
        (ran.status, &*ran.out),
        (3, "deployment.apps/web restored, 0 -> 3\n")
    );
}

#[test]
fn skips_a_kind_that_the_server_does_not_serve() {
    let cluster = cluster(&[]);
    let kinds = ["--kinds", "deployments,rollouts.argoproj.io"];
    let ran = cluster.dayshift(&[&["restore", "--all"], &kinds[..]].concat());
    let expected =
        "error: Rollouts are left unchanged: the API server does not have rollouts.argoproj.io";
    assert_starts_with!(ran.err, expected);
    ran.assert_err("leave them out with --kinds deployments");
    assert_eq!(
        (ran.status, &*ran.out),
        (3, "deployment.apps/web restored, 0 -> 3\n")
    );
}

/// An outage affects all kinds, so the command does not change only some of them.
#[test]
fn an_outage_prevents_all_changes() {
    let cluster = cluster(&[]);
    cluster.api.on_request(|request| {
        let fails = request.verb == "list" && request.resource == "cronjobs";
        fails.then(|| Fault::Answer(Status::new(500, "InternalError", "no etcd")))
    });
    let ran = cluster.dayshift(&["restore", "--all"]);
    assert_eq!((ran.status, &*ran.out), (3, ""), "{ran:?}");
    assert_eq!(cluster.api.replicas("dev", "web"), Some(0));
}
