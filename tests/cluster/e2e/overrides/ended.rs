//! Ended overrides, and `kubectl rollout undo`, which restores their annotations.
//!
//! The Deployment controller copies annotations into the current ReplicaSet, and does not remove them there.
//! So an old revision keeps the annotations of an override after the override has ended.

use serde_json::{Value, json};

use crate::e2e::overrides::rollout::{await_rollout, create, roll_out, undo};
use crate::e2e::test_namespace::TestNamespace;
use crate::support::{
    ControlPlane, DeploymentBuilder, Parts, Scenario, Soon, deployment, eventually, nightly,
    scenarios, soon,
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    [
        scenarios![
            Parts::Pods;
            second_rollout_undo_does_not_revive_an_override,
        ],
        nightly(scenarios![
            Parts::Pods;
            rollout_undo_does_not_revive_a_sleep,
            rollout_undo_does_not_revive_a_wake,
            rollout_undo_does_not_revive_a_pause,
        ]),
    ]
    .concat()
}

fn rollout_undo_does_not_revive_a_sleep(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "ended-sleep");
    let by_day = |now: Soon| {
        let web = deployment("web").start(now.plus(-3600).text());
        web.stop(now.plus(36_000).text())
    };
    let sleep = Override {
        key: "sleep-until",
        begun: ("slept", 0),
        ended: ("running", 3),
    };
    sleep.assert_not_revived(team, by_day);
}

fn rollout_undo_does_not_revive_a_wake(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "ended-wake");
    let by_night = |now: Soon| {
        let web = deployment("web").stop(now.plus(-3600).text());
        web.start(now.plus(36_000).text())
    };
    let wake = Override {
        key: "wake-until",
        begun: ("woken", 3),
        ended: ("stopped", 0),
    };
    wake.assert_not_revived(team, by_night);
}

fn rollout_undo_does_not_revive_a_pause(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "ended-pause");
    let by_day = |now: Soon| deployment("web").stop(now.plus(36_000).text());
    let pause = Override {
        key: "pause",
        begun: ("paused", 3),
        ended: ("adopted", 3),
    };
    pause.assert_not_revived(team, by_day);
}

/// An override, with the state and count while it is active and afterwards.
struct Override {
    key: &'static str,
    begun: (&'static str, i32),
    ended: (&'static str, i32),
}

/// How the override ends, and when the image changes. In each case an older revision keeps the override.
const ENDINGS: [(&str, Ending); 4] = [
    ("time", Ending::Time),
    ("resume", Ending::Resume),
    ("removed", Ending::Annotate),
    ("removed-first", Ending::AnnotateBeforeTheImage),
];

#[derive(Clone, Copy, PartialEq)]
enum Ending {
    Time,
    Resume,
    /// A user removes the annotation after the image has changed.
    Annotate,
    /// A user removes the annotation, and then the image changes.
    AnnotateBeforeTheImage,
}

impl Override {
    fn assert_not_revived(&self, team: TestNamespace<'_>, web: impl Fn(Soon) -> DeploymentBuilder) {
        let (end, later) = (soon(25), soon(3600));
        for (name, _) in ENDINGS {
            create(&team, name, web(end).named(name), end);
        }
        let until = |ending| match ending {
            Ending::Time => end.until(),
            _ => later.until(),
        };
        for (name, ending) in ENDINGS {
            self.annotate_override(&team, name, &until(ending));
        }
        for (name, ending) in ENDINGS {
            team.await_state(name, self.begun.0, end);
            team.await_replicas(name, self.begun.1);
            await_copied(&team, name);
            if ending != Ending::AnnotateBeforeTheImage {
                roll_out(&team, name, &json!({}));
            }
        }
        end.assert_in_future("both revisions are rolled out");
        end.wait();
        for (name, ending) in ENDINGS {
            self.end(&team, name, ending);
            team.await_label(name, "dayshift/state", self.ended.0);
            team.await_replicas(name, self.ended.1);
            if ending == Ending::AnnotateBeforeTheImage {
                roll_out(&team, name, &json!({}));
            }
            undo(&team, name);
            team.await_event(name, "OverrideExpired");
            let left = [self.key, "override-began"]
                .map(|key| team.annotation(name, &format!("dayshift/{key}")));
            assert_eq!(left, [None, None], "{name}");
            assert_eq!(team.replicas(name), self.ended.1, "{name}");
            let state = team.label(name, "dayshift/state");
            assert_eq!(state.as_deref(), Some(self.ended.0), "{name}");
        }
        // A new override applies, even with the same value as the ended one.
        for (name, ending) in &ENDINGS[1..] {
            self.annotate_override(&team, name, &until(*ending));
            team.await_label(name, "dayshift/state", self.begun.0);
            team.await_replicas(name, self.begun.1);
        }
        // The number of writes to each workload.
        team.ends(ENDINGS.map(|(name, ending)| (name, 4 + usize::from(ending != Ending::Time))));
    }

    fn annotate_override(&self, team: &TestNamespace<'_>, name: &str, until: &str) {
        let text = format!("dayshift/{}={until}", self.key);
        team.kubectl(&["annotate", "deployment", name, &text])
            .success();
    }

    fn end(&self, team: &TestNamespace<'_>, name: &str, ending: Ending) {
        match ending {
            Ending::Time => {}
            Ending::Resume => {
                let line = format!("dayshift resume deploy/{name} -n {}", team.name());
                team.plane().shell(&line).success();
            }
            Ending::Annotate | Ending::AnnotateBeforeTheImage => {
                let gone = format!("dayshift/{}-", self.key);
                team.kubectl(&["annotate", "deployment", name, &gone])
                    .success();
            }
        }
    }
}

/// Waits until the current revision contains the values that dayshift wrote when the override
/// began.
fn await_copied(team: &TestNamespace<'_>, name: &str) {
    let of = format!("app={name}");
    let began = team.annotation(name, "dayshift/override-began");
    assert!(began.is_some(), "{name}");
    eventually(
        &format!("a ReplicaSet of {name} has override-began"),
        || {
            let message = team.kubectl(&["get", "replicasets", "-l", &of, "-o", "json"]);
            let all: Value = serde_json::from_str(&message.success()).unwrap();
            let has_it = |each: &Value| {
                let text = &each["metadata"]["annotations"]["dayshift/override-began"];
                text.as_str() == began.as_deref()
            };
            all["items"].as_array()?.iter().any(has_it).then_some(())
        },
    );
}

fn second_rollout_undo_does_not_revive_an_override(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "undo-override");
    let end = soon(40);
    let an_hour_before = end.plus(-3600);
    create(
        &team,
        "web",
        deployment("web").stop(an_hour_before.text()),
        end,
    );
    let wake = json!({"dayshift/wake-until": end.until()});
    roll_out(&team, "web", &wake);
    team.await_state("web", "woken", end);
    await_copied(&team, "web");
    undo(&team, "web");
    team.await_stopped("web", end);
    team.assert_replicas("web", 0, end);

    let again = ["rollout", "undo", "deployment/web"];
    team.kubectl(&again).success();
    team.await_event("web", "OverrideExpired");
    end.assert_in_future("the override would still be active");
    assert_eq!(team.annotation("web", "dayshift/wake-until"), None);
    assert_eq!(team.replicas("web"), 0);
    await_rollout(&team, "web");
    assert_eq!(
        team.label("web", "dayshift/saved-replicas").as_deref(),
        Some("3")
    );
    // The number of writes to the workload.
    team.ends([("web", 4)]);
}
