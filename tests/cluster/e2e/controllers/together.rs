//! Several controllers at once, and controllers that end in the middle of their work.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use futures::{StreamExt as _, stream};
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Api, ListParams, PostParams};
use rustix::process::Signal;

use crate::e2e::test_namespace::TestNamespace;
use crate::rows::words;
use crate::support::{
    ControlPlane, Namespace, Parts, Request, Scenario, Soon, block_on, deployment, scenarios, soon,
    too_slow, wait_until,
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Server;
        ended_watch_is_resumed_with_one_small_list,
        sigterm_during_a_boundary_completes_requests_in_flight,
    ]
}

fn deployments(team: &Namespace<'_>) -> Api<Deployment> {
    Api::namespaced(team.plane().client().clone(), team.name())
}

/// Creates `count` Deployments with one to five replicas; returns the count of each by name.
fn create_fleet(
    team: &Namespace<'_>,
    count: i32,
    stop: &str,
    start: &str,
) -> BTreeMap<String, i32> {
    let fleet: BTreeMap<String, i32> = (0..count)
        .map(|index| (format!("web-{index:03}"), 1 + index % 5))
        .collect();
    let api = deployments(team);
    let params = PostParams::default();
    let create = |(name, replicas): (&String, &i32)| {
        let web = deployment(name).replicas(*replicas);
        let (api, params, web) = (&api, &params, web.stop(stop).start(start).into());
        async move { api.create(params, &web).await.unwrap() }
    };
    let creations = stream::iter(fleet.iter().map(create)).buffer_unordered(16);
    block_on(creations.for_each(|_| std::future::ready(())));
    fleet
}

/// Waits until all workloads of a fleet are in a state, which must happen `before` a time.
fn await_state(team: &Namespace<'_>, state: &str, count: usize, before: Soon) {
    before.await_true(&format!("all {count} are {state}"), || {
        count_in_state(team, state) == count
    });
}

/// Requests only names and labels, because it is called often.
fn count_in_state(team: &Namespace<'_>, state: &str) -> usize {
    let params = ListParams::default().labels(&format!("dayshift/state={state}"));
    block_on(deployments(team).list_metadata(&params))
        .unwrap()
        .items
        .len()
}

/// Asserts that no original count is lost: each Deployment runs at its count, or is stopped with
/// its count saved. Returns how many are stopped.
fn assert_no_count_lost(team: &Namespace<'_>, fleet: &BTreeMap<String, i32>) -> usize {
    let mut stopped = 0;
    let all = team.list();
    assert_eq!(all.len(), fleet.len());
    for deployment in all {
        let name = deployment.metadata.name.unwrap();
        let labels = deployment.metadata.labels.unwrap();
        let seen = (
            labels["dayshift/state"].as_str(),
            deployment.spec.unwrap().replicas.unwrap(),
            labels
                .get("dayshift/saved-replicas")
                .map(|saved| saved.parse().unwrap()),
        );
        let original = fleet[&name];
        if seen.0 == "stopped" {
            assert_eq!(seen, ("stopped", 0, Some(original)), "{name}");
            stopped += 1;
        } else {
            assert_eq!(seen, ("adopted", original, None), "{name}");
        }
    }
    stopped
}

/// Waits until some workloads are stopped, with the controllers suspended. A check takes longer than the
/// boundary on a busy machine, so the controllers are suspended during each check.
fn await_progress(team: &mut TestNamespace<'_>, stop: Soon, some: usize) {
    stop.wait();
    loop {
        team.signal_controllers(Signal::STOP);
        let stopped = count_in_state(team, "stopped");
        team.signal_controllers(Signal::CONT);
        if stopped >= some {
            break;
        }
        stop.plus(20)
            .assert_in_future("the boundary is half applied");
        thread::sleep(Duration::from_millis(10));
    }
}

/// The patches without a response in the log, which might have been applied: those in flight when a
/// controller was killed, and those that a stalled server answers late.
fn unanswered_patches(requests: &[Request]) -> Vec<Request> {
    let mut unanswered_patches = requests.to_vec();
    unanswered_patches.retain(|each| each.verb == "patch" && !matches!(each.code, 200 | 409 | 422));
    unanswered_patches
}

/// The expected number of writes in the log if the server applied this many. Patches without a response are
/// not in the log.
fn writes_shown(
    team: &TestNamespace<'_>,
    fleet: &BTreeMap<String, i32>,
    expected: usize,
) -> Vec<(String, usize)> {
    let unanswered_patches = unanswered_patches(&team.requests());
    let shown = |name: &String| {
        let unanswered_patches = unanswered_patches
            .iter()
            .filter(|each| each.name == *name)
            .count();
        let made = team.made(name).len();
        let may_be = (made..=made + unanswered_patches).contains(&expected);
        (name.clone(), if may_be { made } else { expected })
    };
    fleet.keys().map(shown).collect()
}

/// A fleet that one controller adopted before others with these flags continue. Two controllers with one
/// request in flight each would take long for the adoptions on a busy machine.
fn adopted_fleet(
    team: &mut TestNamespace<'_>,
    count: i32,
    [stop, start]: [Soon; 2],
    controllers: &[&[&str]],
) -> BTreeMap<String, i32> {
    team.run(&[]);
    let fleet = create_fleet(team, count, &stop.text(), &start.text());
    await_state(team, "adopted", fleet.len(), stop);
    team.stop_controllers();
    for flags in controllers {
        team.run(flags);
    }
    stop.assert_in_future("both controllers are ready");
    fleet
}

/// The server ends the watch of a client that does not read.
fn ended_watch_is_resumed_with_one_small_list(plane: &ControlPlane) {
    let mut team = TestNamespace::new(plane, "unread");
    let nights = |name: &str| deployment(name).replicas(3).stop("22:00").start("06:00");
    let tomorrow = soon(3600);
    team.create(nights("web"));
    team.await_adopted("web", tomorrow);
    // If its patch were still in flight, it would be late after the pause, and the controller would probe the
    // server with a list.
    tomorrow.await_true("the controller has the response", || {
        team.newest().log().contains("INFO adopt kind=Deployment")
    });

    team.signal_controllers(Signal::STOP);
    let closed = plane.closed_watches();
    // More data than the sockets can buffer.
    let much = "x".repeat(200_000);
    for change in 0.. {
        team.annotate("web", "example.com/much", &*format!("{change} {much}"));
        if change >= 80 && plane.closed_watches() > closed {
            break;
        }
        assert!(
            change < 400,
            "the server keeps the watch of a stopped client open"
        );
    }
    team.create(nights("late"));
    team.signal_controllers(Signal::CONT);
    team.await_adopted("late", tomorrow);

    let requests = |verb: &str| {
        let mut requests = team.requests();
        requests.retain(|request| request.resource == "deployments" && request.verb == verb);
        requests
    };
    assert_eq!(
        requests("watch").len(),
        2,
        "the ended watch is resumed once"
    );
    // A slow server does not respond to each attempt. Those without a response are repeated.
    wait_until("the current resourceVersion has been received", || {
        requests("list").iter().any(|list| list.code == 200)
    });
    let lists = requests("list");
    let received = lists.iter().filter(|list| list.code == 200).count();
    assert_eq!(received, 1, "the controller needs one list: {lists:#?}");
    for list in &lists {
        assert!(list.uri.contains("limit=1"), "a large list: {list:#?}");
    }
    team.ends([("web", 1), ("late", 1)]);
}

fn sigterm_during_a_boundary_completes_requests_in_flight(plane: &ControlPlane) {
    let mut team = TestNamespace::without_controller(plane, "term");
    let stop = soon(10);
    let start = stop.plus(3600);
    let slow: &[&str] = &["--max-in-flight", "2"];
    let fleet = adopted_fleet(&mut team, 80, [stop, start], &[slow]);

    await_progress(&mut team, stop, 5);
    let log = team.stop_controllers();
    let stopped = assert_no_count_lost(&team, &fleet);
    assert!(stopped > 0);
    // Requests in flight have a log line like all others, and an Event.
    assert_eq!(log.matches(" stop kind=").count(), stopped, "{log}");
    let reported = team.kubectl(&words("get events --field-selector=reason=Stopped -o name"));
    assert_eq!(reported.success().lines().count(), stopped, "{log}");
    if stopped == 80 {
        too_slow("ending a controller in the middle of the boundary");
    }

    team.run(&[]);
    await_state(&team, "stopped", 80, start);
    assert_eq!(assert_no_count_lost(&team, &fleet), 80);
    let writes = writes_shown(&team, &fleet, 2);
    team.ends(writes);
}
