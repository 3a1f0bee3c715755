//! A Namespace with its own controllers, and assertions about every request that they sent.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;
use tempfile::NamedTempFile;

use crate::support::{
    ControlPlane, Dayshift, Namespace, Output, Request, Soon, WORKLOADS, eventually, too_late,
    too_slow,
};

/// The maximum delay of the server's log.
pub(crate) const LOG_LAG: Duration = Duration::from_secs(5);

/// The time without a response after which a request might be given up, in microseconds.
const GIVEN_UP_AFTER: i64 = 900_000;

/// The maximum time from then until a probe of the server, in microseconds: on a busy machine the response
/// arrives before the probe.
const AFTER_GIVING_UP: i64 = 2_000_000;

/// A Namespace, and the controllers that are limited to it.
pub(crate) struct TestNamespace<'a> {
    namespace: Namespace<'a>,
    controllers: Vec<Dayshift>,
    runs: usize,
    closed_watches: usize,
}

impl<'a> Deref for TestNamespace<'a> {
    type Target = Namespace<'a>;

    fn deref(&self) -> &Self::Target {
        &self.namespace
    }
}

impl<'a> TestNamespace<'a> {
    /// A Namespace without a controller.
    pub(crate) fn without_controller(plane: &'a ControlPlane, name: &str) -> Self {
        Self {
            namespace: plane.namespace(name),
            controllers: Vec::new(),
            runs: 0,
            closed_watches: plane.closed_watches(),
        }
    }

    /// A Namespace with a ready `dayshift run -n NAMESPACE`.
    pub(crate) fn new(plane: &'a ControlPlane, name: &str) -> Self {
        let mut team = Self::without_controller(plane, name);
        team.run(&[]);
        team
    }

    /// Starts another controller with these additional flags, and waits until it is ready.
    pub(crate) fn run(&mut self, flags: &[&str]) -> &mut Dayshift {
        self.begin(flags).wait_ready()
    }

    /// Starts another controller, which might not be ready yet.
    pub(crate) fn begin(&mut self, flags: &[&str]) -> &mut Dayshift {
        let mut arguments = vec!["run", "-n", self.namespace.name()];
        arguments.extend(flags);
        self.runs += 1;
        self.controllers
            .push(Dayshift::run(self.namespace.plane(), &arguments));
        self.controllers.last_mut().unwrap()
    }

    /// The newest controller.
    pub(crate) fn newest(&self) -> &Dayshift {
        self.controllers.last().unwrap()
    }

    /// Ends every controller like a pod: SIGTERM, exit status 0. Returns their logs.
    pub(crate) fn stop_controllers(&mut self) -> String {
        let mut logs = String::new();
        for mut controller in self.controllers.drain(..) {
            let status = controller.stop();
            logs += &controller.log();
            assert!(status.success(), "{status}\n{logs}");
        }
        logs
    }

    /// Sends each controller a signal.
    pub(crate) fn signal_controllers(&mut self, signal: Signal) {
        for controller in &mut self.controllers {
            controller.signal(signal);
        }
    }

    /// Kills every controller.
    pub(crate) fn kill_controllers(&mut self) {
        self.signal_controllers(Signal::KILL);
        for mut controller in self.controllers.drain(..) {
            controller.wait_exit(Duration::from_secs(5));
        }
    }

    /// The real kubectl with a manifest in this namespace.
    pub(crate) fn kubectl_with(&self, arguments: &[&str], manifest: &str) -> Output {
        let file = NamedTempFile::new().unwrap();
        std::fs::write(file.path(), manifest).unwrap();
        let path = file.path().to_str().unwrap();
        self.kubectl(&[arguments, &["-f", path]].concat())
    }

    /// Creates a HorizontalPodAutoscaler for a Deployment, by its CPU.
    pub(crate) fn autoscale(&self, name: &str, least: u32, most: u32) {
        let autoscaler = json!({
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": name},
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
                "minReplicas": least,
                "maxReplicas": most,
                "metrics": [{"type": "Resource", "resource": {
                    "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80},
                }}],
            },
        });
        self.apply(&autoscaler.to_string());
    }

    /// The writes of dayshift to a workload that the server applied, in order.
    pub(crate) fn made(&self, name: &str) -> Vec<Request> {
        let mut writes = self.writes(name);
        writes.retain(Request::is_made);
        writes
    }

    /// Waits until the schedule is adopted, which must happen `before` a time.
    pub(crate) fn await_adopted(&self, name: &str, before: Soon) {
        self.await_state(name, "adopted", before);
    }

    /// Waits until it is stopped, which must happen `before` a time.
    pub(crate) fn await_stopped(&self, name: &str, before: Soon) {
        self.await_state(name, "stopped", before);
    }

    /// Waits until it is in that state, which must happen `before` a time.
    pub(crate) fn await_state(&self, name: &str, state: &str, before: Soon) {
        before.await_true(&format!("{name} is {state}"), || {
            self.label(name, "dayshift/state").as_deref() == Some(state)
        });
    }

    /// Asserts a count `before` a time.
    pub(crate) fn assert_replicas(&self, name: &str, expected: i32, before: Soon) {
        let seen = self.replicas(name);
        before.assert_in_future(&format!("the count of {name} is checked"));
        assert_eq!(seen, expected, "{name}");
    }

    /// Asserts that the write with this index (from 0) to a workload was on time: not early, and less than a
    /// second late.
    pub(crate) fn assert_punctual(&self, name: &str, index: usize, at: Soon) {
        // The server's log can be a moment behind.
        let write = eventually(&format!("write {index} to {name} is in the log"), || {
            self.made(name).get(index).cloned()
        });
        let late = write.received - at.micros();
        assert!(late >= 0, "{name}: {late} µs late: {write:#?}");
        if late >= 1_000_000 {
            let description = format!("{name}: a write arrived");
            too_late(&description, at.0, late as f64 / 1e6, 1.0);
        }
    }

    /// Ends a scenario, and asserts that the controllers exit with 0, that each workload got exactly this
    /// many writes, and that the server got only the requests that [`assert_frugal`] permits.
    pub(crate) fn ends<N: Into<String>>(mut self, writes: impl IntoIterator<Item = (N, usize)>) {
        self.stop_controllers();
        let expected: BTreeMap<String, usize> = writes
            .into_iter()
            .map(|(name, count)| (name.into(), count))
            .filter(|(_, count)| *count > 0)
            .collect();
        let begin = Instant::now();
        let (requests, made) = loop {
            let requests = self.requests();
            let made = count_made(&requests);
            if made == expected || begin.elapsed() > LOG_LAG {
                break (requests, made);
            }
        };
        let agent = concat!("dayshift/", env!("CARGO_PKG_VERSION"), " (run)");
        let nameless = requests.iter().find(|it| it.user_agent != agent);
        assert!(nameless.is_none(), "{nameless:#?}");
        let closed_watches = self.namespace.plane().closed_watches() - self.closed_watches;
        let changes = self.changes_by_others();
        assert_frugal(&requests, self.runs, closed_watches, &changes);
        let wrong: Vec<&Request> = requests
            .iter()
            .filter(|request| made.get(&request.name) != expected.get(&request.name))
            .collect();
        assert_eq!(made, expected, "writes to each workload: {wrong:#?}");
    }
}

/// The number of applied writes to each workload.
fn count_made(requests: &[Request]) -> BTreeMap<String, usize> {
    let mut made = BTreeMap::new();
    for write in requests.iter().filter(|request| request.is_made()) {
        *made.entry(write.name.clone()).or_default() += 1;
    }
    made
}

/// Asserts that this many runs of dayshift did not poll and were never denied a permission. Permitted
/// requests for each run and kind: one watch, one more watch and one list of a single object for each watch
/// that the server closed, a complete list only if the server does not stream lists, a `get` as
/// [`assert_reads`] permits it, and patches.
pub(crate) fn assert_frugal(
    requests: &[Request],
    runs: usize,
    closed_watches: usize,
    changes: &[Request],
) {
    for resource in WORKLOADS {
        assert_frugal_with(resource, requests, runs, closed_watches);
    }
    assert_reads(requests, runs, changes);
    for request in requests {
        let known = if request.is_of_workload() {
            ["list", "watch", "get", "patch"].contains(&&*request.verb)
        } else {
            let asks = (&*request.resource, &*request.verb);
            matches!(asks, ("events", "create") | ("endpointslices", "watch"))
        };
        assert!(known && request.code != 403, "{request:#?}");
    }
}

/// The assertions of [`assert_frugal`] for one resource.
fn assert_frugal_with(resource: &str, requests: &[Request], runs: usize, closed_watches: usize) {
    let of_it = || requests.iter().filter(|each| each.resource == resource);
    let count = |verb: &str| of_it().filter(|each| each.verb == verb).count();
    // Only the first page of a list is counted.
    let pages = of_it()
        .filter(|each| each.uri.contains("continue="))
        .count();
    let (probes, questions) = probes_and_questions(of_it());
    for probe in &probes {
        assert_probes(probe, requests);
    }
    let small_lists = probes.len() + questions.len();
    let refused_streams = of_it()
        .filter(|each| each.verb == "watch" && each.code == 422)
        .count();
    for (description, seen, allowed) in [
        ("refused streams", refused_streams, runs),
        // Queries of the server's latest version, after a watch was reopened earlier than expected.
        ("lists of one object", questions.len(), closed_watches),
        // Probes of the server: each run sends one probe before its first response.
        ("lists of one object beside a write", probes.len(), runs),
        (
            "whole lists",
            count("list") - pages - small_lists,
            refused_streams,
        ),
        (
            "watches",
            count("watch") - refused_streams,
            runs + closed_watches,
        ),
    ] {
        assert!(
            seen <= allowed,
            "{seen} {description}, not {allowed}: {requests:#?}"
        );
    }
}

/// The lists with a limit of one object, in order of arrival. After a watch that resumes from a version, one
/// of them queries the server's latest version. All others are probes of whether the server responds.
fn probes_and_questions<'a>(
    requests: impl Iterator<Item = &'a Request>,
) -> (Vec<&'a Request>, Vec<&'a Request>) {
    let (mut probes, mut questions, mut watches) = (Vec::new(), Vec::new(), 0_usize);
    for it in requests {
        let goes_on = it.uri.contains("resourceVersion=") && !it.uri.contains("sendInitialEvents");
        if it.verb == "watch" && goes_on {
            watches += 1;
        } else if it.is_small_list() && watches > 0 {
            watches -= 1;
            questions.push(it);
        } else if it.is_small_list() {
            probes.push(it);
        }
    }
    (probes, questions)
}

/// Asserts that a list is a justified probe: a request of the same kind and namespace had no response for a
/// second. On a machine that stalled, the two can arrive together.
fn assert_probes(list: &Request, requests: &[Request]) {
    let late = requests.iter().filter(|it| {
        ["patch", "get"].contains(&&*it.verb)
            && (&it.resource, &it.namespace) == (&list.resource, &list.namespace)
            && it.received <= list.received
            && list.received <= it.answered + AFTER_GIVING_UP
    });
    let longest = late.map(|it| it.answered.min(list.received) - it.received);
    match longest.max() {
        Some(waited) if waited >= GIVEN_UP_AFTER => {}
        Some(waited) => too_slow(&format!(
            "a probe {waited} µs after a write without a response"
        )),
        None => panic!("a probe although all requests have responses: {list:#?}"),
    }
}

/// Asserts that a workload was read at most once after each conflict, and once for each of dayshift's writes
/// that another client reverted, to look up the manager.
fn assert_reads(requests: &[Request], runs: usize, changes: &[Request]) {
    let object = |it: &Request| {
        let resource = it.resource.split('/').next().unwrap_or_default();
        (resource.to_owned(), it.namespace.clone(), it.name.clone())
    };
    let mut of_objects: BTreeMap<_, Vec<&Request>> = BTreeMap::new();
    for it in requests.iter().chain(changes) {
        of_objects.entry(object(it)).or_default().push(it);
    }
    for (object, mut all) in of_objects {
        all.sort_by_key(|it| it.received);
        let (mut reads, mut allowed, mut written) = (0, 0, 0);
        for it in &all {
            match &*it.verb {
                "get" if it.is_dayshift() => reads += 1,
                "patch" if it.is_dayshift() && it.is_made() => written = runs.min(written + 1),
                "patch" if it.is_dayshift() => {
                    allowed += usize::from(matches!(it.code, 409 | 422));
                }
                "patch" | "update" => {
                    allowed += written;
                    written = 0;
                }
                _ => {}
            }
        }
        assert!(
            reads <= allowed,
            "{object:?}: {reads} reads, not {allowed}: {all:#?}"
        );
    }
}
