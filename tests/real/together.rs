//! Several scalers at once, and scalers that are ended in the middle of their work.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use crate::support::{
    ControlPlane, Namespace, Parts, Soon, Story, deployment, eventually, soon, stories,
};
use crate::team::Team;

pub(crate) fn stories() -> Vec<Story> {
    stories![
        Parts::Server;
        scalers_killed_in_the_middle_of_a_boundary_of_200_lose_nothing,
        two_scalers_make_each_change_once,
        a_scaler_told_to_end_in_the_middle_of_a_boundary_leaves_nothing_half_done,
    ]
}

/// `count` Deployments with one to five replicas, and how many each has by its name.
fn create_fleet(
    team: &Namespace<'_>,
    count: i32,
    stop: &str,
    start: &str,
) -> BTreeMap<String, i32> {
    let fleet: BTreeMap<String, i32> = (0..count)
        .map(|index| (format!("web-{index:03}"), 1 + index % 5))
        .collect();
    for (name, replicas) in &fleet {
        let web = deployment(name).replicas(*replicas);
        team.create(web.stop(stop).start(start));
    }
    fleet
}

fn await_state(team: &Namespace<'_>, state: &str, count: usize) {
    eventually(&format!("{count} are {state}"), || {
        (count_in_state(team, state) == count).then_some(())
    });
}

fn count_in_state(team: &Namespace<'_>, state: &str) -> usize {
    let is_in_it = |labels: BTreeMap<String, String>| {
        labels.get("dayshift/state").map(String::as_str) == Some(state)
    };
    let all = team.list().into_iter();
    all.filter(|each| each.metadata.labels.clone().is_some_and(is_in_it))
        .count()
}

/// Asserts that no original count is lost: each Deployment is as it was, or is stopped and says
/// what it was. Returns how many are stopped.
fn assert_whole(team: &Namespace<'_>, fleet: &BTreeMap<String, i32>) -> usize {
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

/// Waits until some are stopped, looking without a pause.
fn await_progress(team: &Namespace<'_>, stop: Soon, some: usize) {
    stop.wait();
    while count_in_state(team, "stopped") < some {
        assert!(soon(0) < stop.plus(30), "nothing is stopped");
        thread::sleep(Duration::from_millis(2));
    }
}

fn two_scalers_make_each_change_once(plane: &ControlPlane) {
    let mut team = Team::new(plane, "two");
    team.run(&[]);
    let stop = soon(6);
    let start = stop.plus(5);
    let fleet = create_fleet(&team, 60, &stop.text(), &start.text());
    await_state(&team, "adopted", 60);
    assert!(soon(0) < stop, "all were adopted in time");

    await_state(&team, "stopped", 60);
    assert_eq!(assert_whole(&team, &fleet), 60);
    assert!(soon(0) < start, "all were stopped in time");
    await_state(&team, "running", 60);
    assert_eq!(team.all_replicas(), fleet);

    let conflicts = team
        .requests()
        .iter()
        .filter(|each| each.verb == "patch" && matches!(each.code, 409 | 422))
        .count();
    assert!(conflicts > 0, "they never met: nothing is shown");
    for name in fleet.keys() {
        let made = team.made(name);
        assert!(made[1].received >= stop.micros(), "{:?}", made[1]);
        assert!(made[2].received >= start.micros(), "{:?}", made[2]);
    }
    team.ends(fleet.into_keys().map(|name| (name, 3)));
}

/// How often the story of the killed scalers is tried: on a busy machine they may be done before
/// they are killed.
const TRIES: u32 = 4;

fn scalers_killed_in_the_middle_of_a_boundary_of_200_lose_nothing(plane: &ControlPlane) {
    for _ in 0..TRIES {
        if kill_in_the_middle(plane) {
            return;
        }
    }
    panic!("in {TRIES} tries the scalers were never killed in the middle of the boundary");
}

/// False where all or none were stopped before the scalers were killed.
fn kill_in_the_middle(plane: &ControlPlane) -> bool {
    let mut team = Team::without_scaler(plane, "killed");
    for _ in 0..2 {
        team.run(&["--max-in-flight", "1"]);
    }
    let stop = soon(14);
    let start = stop.plus(12);
    let fleet = create_fleet(&team, 200, &stop.text(), &start.text());
    await_state(&team, "adopted", 200);
    assert!(soon(0) < stop, "all were adopted in time");

    await_progress(&team, stop, 20);
    team.kill_scalers();
    let stopped = assert_whole(&team, &fleet);
    if !(1..200).contains(&stopped) {
        return false;
    }
    thread::sleep(Duration::from_millis(500));
    assert_eq!(assert_whole(&team, &fleet), stopped, "nobody is there");

    for _ in 0..2 {
        team.run(&[]);
    }
    await_state(&team, "stopped", 200);
    assert_eq!(assert_whole(&team, &fleet), 200);
    assert!(soon(0) < start, "all were stopped in time");
    await_state(&team, "running", 200);
    assert_eq!(team.all_replicas(), fleet);
    team.ends(fleet.into_keys().map(|name| (name, 3)));
    true
}

fn a_scaler_told_to_end_in_the_middle_of_a_boundary_leaves_nothing_half_done(plane: &ControlPlane) {
    let mut team = Team::without_scaler(plane, "term");
    team.run(&["--max-in-flight", "2"]);
    let stop = soon(6);
    let start = stop.plus(3600);
    let fleet = create_fleet(&team, 80, &stop.text(), &start.text());
    await_state(&team, "adopted", 80);
    assert!(soon(0) < stop, "all were adopted in time");

    await_progress(&team, stop, 5);
    team.stop_scalers();
    let stopped = assert_whole(&team, &fleet);
    assert!(stopped >= 5, "{stopped}");
    assert!(stopped < 80, "it was done before it was told");

    team.run(&[]);
    await_state(&team, "stopped", 80);
    assert_eq!(assert_whole(&team, &fleet), 80);
    team.ends(fleet.into_keys().map(|name| (name, 2)));
}
