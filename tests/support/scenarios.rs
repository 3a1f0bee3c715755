//! Scenarios that share control planes, and the result without one.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::{env, thread};

use libtest_mimic::{Completion, Failed, Trial};

use super::kubernetes::assets::{Assets, Missing};
use super::kubernetes::control_plane::ControlPlane;
use super::kubernetes::programs::Parts;
use super::timing::retry::retry_when_stalled;

/// A test on a shared control plane that uses its own Namespaces.
#[derive(Clone, Copy)]
pub(crate) struct Scenario {
    /// The path of the function, which is the name of the test.
    pub(crate) name: &'static str,
    pub(crate) parts: Parts,
    pub(crate) run: fn(&ControlPlane),
    /// See [`nightly`].
    pub(crate) is_nightly: bool,
}

/// Marks scenarios that a test without a real server covers too, as listed in `docs/contributing/nightly.md`.
/// They run in nightly CI, or if they are selected by name.
pub(crate) fn nightly(mut scenarios: Vec<Scenario>) -> Vec<Scenario> {
    for scenario in &mut scenarios {
        scenario.is_nightly = true;
    }
    scenarios
}

/// Whether all scenarios should run: `SCENARIOS=full` or `SCENARIOS=slow`.
pub(crate) fn is_full() -> bool {
    env::var_os("SCENARIOS").is_some_and(|value| !value.is_empty())
}

/// `scenarios![Parts::Server; one_function, another]` is a `Vec<Scenario>`.
macro_rules! scenarios {
    ($parts:expr; $($function:ident),+ $(,)?) => {
        vec![$($crate::support::Scenario {
            name: concat!(module_path!(), "::", stringify!($function)),
            parts: $parts,
            run: $function,
            is_nightly: false,
        }),+]
    };
}
pub(crate) use scenarios;

/// The control planes of a test binary, at most one of each kind, started on first use.
#[derive(Default)]
pub(crate) struct Stage {
    server: OnceLock<ControlPlane>,
    older_server: OnceLock<ControlPlane>,
    pods: OnceLock<ControlPlane>,
    /// Tests hold this lock shared; tests that need an idle machine hold it exclusively.
    silence: Arc<RwLock<()>>,
    /// Serializes scenarios that could disturb each other.
    turn: Option<Mutex<()>>,
}

impl Stage {
    /// Separate control planes for scenarios that disturb each other and run one after another.
    pub(crate) fn apart(&self) -> Self {
        Self {
            silence: Arc::clone(&self.silence),
            turn: Some(Mutex::default()),
            ..Self::default()
        }
    }

    /// Delays tests that need an idle machine.
    pub(crate) fn among_others(&self) -> RwLockReadGuard<'_, ()> {
        self.silence.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no other test runs, and delays new ones.
    pub(crate) fn alone(&self) -> RwLockWriteGuard<'_, ()> {
        self.silence.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The scenario as a test.
    pub(crate) fn trial(self: &Arc<Self>, scenario: Scenario) -> Trial {
        let stage = Arc::clone(self);
        let name = scenario
            .name
            .split_once("::")
            .map_or(scenario.name, |(_, name)| name);
        Trial::ignorable_test(name, move || completion(stage.run(name, scenario)))
    }

    fn run(&self, name: &str, scenario: Scenario) -> Result<Result<(), String>, Missing> {
        let turn = self.turn.as_ref();
        let _turn = turn.map(|turn| turn.lock().unwrap_or_else(PoisonError::into_inner));
        let _others = self.among_others();
        let plane = self.plane(scenario.parts)?;
        let _if_it_fails = PrintsPods(plane, scenario.parts);
        let reported = retry_when_stalled(name, || (scenario.run)(plane));
        plane.assert_alive();
        Ok(reported.map(|_| ()))
    }

    /// The shared control plane with these parts.
    pub(crate) fn plane(&self, parts: Parts) -> Result<&ControlPlane, Missing> {
        let assets = assets()?;
        let place = match parts {
            Parts::Server => &self.server,
            Parts::OlderServer => &self.older_server,
            Parts::Pods => {
                assets.make_pods()?;
                &self.pods
            }
        };
        Ok(place.get_or_init(|| ControlPlane::start(assets, parts)))
    }
}

/// The completion of a test. Without its programs it is ignored; if `CI` is set, it fails, because a pipeline
/// should not pass without testing.
pub(crate) fn completion(
    reported: Result<Result<(), String>, Missing>,
) -> Result<Completion, Failed> {
    match reported {
        Ok(reported) => reported
            .map(|()| Completion::Completed)
            .map_err(Failed::from),
        Err(Missing::NoMeans(reason)) if env::var_os("CI").is_none() => {
            Ok(Completion::ignored_with(reason))
        }
        Err(Missing::NoMeans(reason) | Missing::Failed(reason)) => Err(Failed::from(reason)),
    }
}

/// Prints the state of the pods if a scenario fails.
struct PrintsPods<'p>(&'p ControlPlane, Parts);

impl Drop for PrintsPods<'_> {
    fn drop(&mut self) {
        if thread::panicking() && self.1 == Parts::Pods {
            eprintln!("{}", pods_and_their_makers(self.0));
        }
    }
}

/// Unready pods, the newest Events, and the end of each program's log.
fn pods_and_their_makers(plane: &ControlPlane) -> String {
    let show = |arguments: &[&str], is_shown: fn(&str) -> bool| {
        let lines = plane.kubectl(arguments).stdout;
        let shown: Vec<_> = lines.lines().filter(|line| is_shown(line)).collect();
        shown[shown.len().saturating_sub(30)..].join("\n")
    };
    let pods = show(&["get", "pods", "-A"], |line| !line.contains(" 1/1 "));
    let by_time = "--sort-by=.metadata.creationTimestamp";
    let events = show(&["get", "events.v1.", "-A", by_time], |line| {
        line.contains("Warning") || line.contains("/pod")
    });
    let logs = plane.last_lines(12);
    format!("--- pods\n{pods}\n--- events\n{events}\n{logs}---")
}

/// The programs of all control planes, located or built once.
pub(crate) fn assets() -> Result<&'static Assets, Missing> {
    static ASSETS: OnceLock<Result<Assets, Missing>> = OnceLock::new();
    let assets = ASSETS.get_or_init(Assets::find);
    assets.as_ref().map_err(Missing::clone)
}
