//! The commands of README.md and of the pages of docs/, run unchanged except for the names that
//! other scenarios on this control plane use.

use std::thread;
use std::time::Duration;

use chrono::{Timelike as _, Utc};

use crate::rows::words;
use crate::support::{
    ControlPlane, Dayshift, Namespace, Parts, Scenario, deployment, eventually, scenarios,
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Server;
        readme_example_starts_at_the_next_minute,
        documented_shell_lines_have_the_documented_effect,
    ]
}

const README: &str = include_str!("../../../README.md");

/// Pages whose blocks are for a shell with a cluster.
const PAGES: [&str; 11] = [
    README,
    include_str!("../../../docs/tutorial.md"),
    include_str!("../../../docs/reference/events.md"),
    include_str!("../../../docs/guides/install.md"),
    include_str!("../../../docs/guides/namespaces.md"),
    include_str!("../../../docs/guides/troubleshooting.md"),
    // The last line of this page pauses.
    include_str!("../../../docs/guides/overrides.md"),
    include_str!("../../../docs/reference/status.md"),
    include_str!("../../../docs/guides/override-limits.md"),
    include_str!("../../../docs/guides/savings.md"),
    include_str!("../../../docs/guides/uninstall.md"),
];

/// Lines that are not run here, by their beginning.
const ELSEWHERE: [&str; 8] = [
    // An audit log is on the machine of its API server.
    "jq -r ",
    // There is no container engine.
    "kind create cluster",
    // Another scenario here covers this, with the tested program.
    "cargo run -- run",
    // This takes very long; `.ci/run` builds the installed program.
    "cargo install --path .",
    // There is no node autoscaler.
    "kubectl get nodepools",
    "kubectl get configmap cluster-autoscaler-status",
    // `leaving` runs this block.
    "kubectl delete -f manifests/dayshift.yaml",
    "kubectl label deploy,sts,cj -A --all",
];

/// The lines of the blocks for a shell.
fn lines(page: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut is_shell = false;
    for line in page.lines().map(str::trim_start) {
        if let Some(language) = line.strip_prefix("```") {
            is_shell = language == "sh";
        } else if is_shell {
            lines.push(line);
        }
    }
    lines
}

fn readme_example_starts_at_the_next_minute(plane: &ControlPlane) {
    let team = plane.namespace("first-page");
    let (_, block) = README.split_once("kind create cluster\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    let [apply, run] = block.lines().collect::<Vec<_>>()[..] else {
        panic!("{block}");
    };
    assert_eq!(run, "cargo run -- run");
    plane
        .shell(&format!("{apply} -n {}", team.name()))
        .success();
    assert_eq!(team.replicas("one-start"), 1);
    let mut dayshift = Dayshift::run(plane, &["run", "-n", team.name()]);
    dayshift.wait_ready();
    // A workload adopted after a minute began starts at the next one.
    eventually("it is adopted", || {
        team.label("one-start", "dayshift/state")
    });
    // The test waits at most half a minute for later boundaries.
    let early = 45_u32.saturating_sub(Utc::now().second());
    thread::sleep(Duration::from_secs(u64::from(early)));
    team.await_label("one-start", "dayshift/state", "running");
    assert_eq!(team.replicas("one-start"), 2);
}

/// The line in the namespace of this scenario, without cluster-wide objects.
fn in_one(line: &str, team: &Namespace<'_>) -> String {
    let name = team.name();
    let mut line = line.split("    #").next().unwrap().to_owned();
    for (from, to) in [
        // Another scenario applies it for real.
        (
            "apply -f manifests/dayshift.yaml",
            "apply --dry-run=server -f manifests/dayshift.yaml",
        ),
        (
            "apply -f examples/",
            &format!("apply -n {name} -f examples/"),
        ),
        ("-n team-a", &format!("-n {name}")),
        ("-n dev", &format!("-n {name}")),
        ("-n dayshift --create-namespace", &format!("-n {name}")),
        (" install dayshift ", &format!(" install {name} ")),
        (
            " uninstall dayshift -n dayshift",
            &format!(" uninstall {name} -n {name}"),
        ),
        ("ns/team", &format!("ns/{name}")),
        ("restore -A", &format!("restore --all -n {name}")),
        (" -A", &format!(" -n {name}")),
    ] {
        line = line.replace(from, to);
    }
    let names_one = line.contains("deploy") || line == "dayshift status";
    let is_ours = line.starts_with("kubectl ") || line.starts_with("dayshift ");
    if names_one && is_ours && !line.contains(" -n ") {
        line = format!("{line} -n {name}");
    }
    line
}

fn documented_shell_lines_have_the_documented_effect(plane: &ControlPlane) {
    let team = &plane.namespace("pages");
    team.create(deployment("web").replicas(3).hours("00:00-24:00"));
    let mut dayshift = Dayshift::run(plane, &["run", "-n", team.name()]);
    dayshift.wait_ready();
    team.await_label("web", "dayshift/state", "adopted");
    plane.shell("mkdir -p ~/bin").success();
    let mut tried = Vec::new();
    for line in PAGES.iter().flat_map(|page| lines(page)) {
        if ELSEWHERE.iter().any(|it| line.starts_with(it)) || tried.contains(&line) {
            continue;
        }
        tried.push(line);
        let here = in_one(line, team);
        if let Some(helm) = here.strip_prefix("helm ") {
            let arguments = words(helm);
            plane.helm(4, &arguments).success();
        } else {
            // `source` and `<(…)` need bash.
            let quoted = here.replace('\'', r"'\''");
            plane.shell(&format!("bash -ec '{quoted}'")).success();
        }
    }
    assert!(tried.len() > 20, "{tried:?}");
    let plugin = "PATH=~/bin:$PATH kubectl dayshift --version";
    assert_starts_with!(plane.shell(plugin).success(), "dayshift ");
    let complete = plane
        .shell("PATH=~/bin:$PATH kubectl_complete-dayshift wak")
        .success();
    assert_starts_with!(complete, "wake");
}
