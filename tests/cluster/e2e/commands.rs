//! The commands of a user at a terminal, with a running controller.

use serde_json::{Value, json};

use crate::e2e::test_namespace::TestNamespace;
use crate::quoted_text::QUOTED;
use crate::rows::words;
use crate::support::{ControlPlane, Parts, Scenario, deployment, scenarios, soon};

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Server;
        sleep_resume_and_pause_take_effect_and_are_shown,
        kubectl_parses_quoted_lines_as_the_corpus_expects,
        status_names_other_controllers_of_the_count,
    ]
}

/// The output of `dayshift …`, which must exit with 0; its user is the admin.
fn dayshift(team: &TestNamespace<'_>, line: &str) -> String {
    let line = format!("dayshift {line} -n {}", team.name());
    team.plane().shell(&line).success()
}

fn status(team: &TestNamespace<'_>) -> Value {
    let shown: Value = serde_json::from_str(&dayshift(team, "status -o json")).unwrap();
    shown["workloads"][0].clone()
}

fn sleep_resume_and_pause_take_effect_and_are_shown(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "commands");
    let now = soon(0);
    let (start, stop) = (now.plus(-3600).text(), now.plus(7200).text());
    team.create(deployment("web").replicas(3).start(start).stop(stop));
    team.await_label("web", "dayshift/state", "adopted");

    let message = dayshift(&team, "sleep deploy/web --for 1h");
    let subject = "deployment.apps/web";
    assert_starts_with!(message, format!("{subject} asleep until "));
    assert_ends_with!(message, ", 3 -> 0\n");
    let shown = status(&team);
    assert_eq!(
        (&shown["replicas"], &shown["state"]),
        (&0.into(), &"slept".into())
    );

    let message = dayshift(&team, "resume web");
    let next = format!("{subject} resumed, 0 -> 3; next is the stop of ");
    assert_starts_with!(message, next);

    let message = dayshift(&team, "pause web");
    let resume = format!("`dayshift resume deploy/web -n {}`", team.name());
    let paused = format!("{subject} paused, replicas 3; dayshift changes nothing until {resume}\n");
    assert_eq!(message, paused);
    let line = format!("dayshift wake web --for 1h -n {}", team.name());
    let refused = plane.shell(&line);
    assert!(
        !refused.ok && refused.stderr.contains("it is paused"),
        "{refused:?}"
    );
    assert_eq!(status(&team)["state"], "paused");
    dayshift(&team, "resume web");
    team.ends([("web", 5)]);
}

fn status_names_other_controllers_of_the_count(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "owners");
    let web = deployment("web")
        .replicas(3)
        .hours("00:00-24:00")
        .manifest();
    team.kubectl_with(&["apply", "--server-side"], &web)
        .success();
    team.await_label("web", "dayshift/state", "adopted");
    let shown = dayshift(&team, "status -o wide");
    assert_contains!(shown, "server-side apply");
    assert_contains!(shown, "--force-conflicts");
    assert_lacks!(shown, "HPA");

    // No metrics exist here, so the HPA has not scaled.
    let autoscale = ["autoscale", "deploy/web", "--min=4", "--max=9"];
    team.kubectl(&autoscale).success();
    assert_eq!(status(&team)["owners"], json!(["HPA", "server-side apply"]),);
    team.ends([("web", 1)]);
}

/// The corpus with which `tests/semantics` checks the parser of files.
fn kubectl_parses_quoted_lines_as_the_corpus_expects(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "quoted");
    for (text, expected) in QUOTED {
        let create = words("create --dry-run=client --validate=false -o json");
        let ran = team.kubectl_with(&create, text);
        let read = ran.ok.then(|| {
            let object: Value = serde_json::from_str(&ran.stdout).unwrap();
            let note = &object["metadata"]["annotations"]["note"];
            note.as_str().unwrap_or_default().to_owned()
        });
        assert_eq!(read.as_deref(), expected, "{text}\n{ran:?}");
    }
    team.ends([("web", 0)]);
}
