//! A Namespace with scalers of its own, and what may be said of every request they made.

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

/// How far the server's log may be behind what it has done.
pub(crate) const LOG_LAG: Duration = Duration::from_secs(5);

/// A request that has had no answer for so long may be given up, in microseconds.
pub(crate) const GIVEN_UP_AFTER: i64 = 900_000;

/// How long after that the server may be asked whether it answers: on a busy machine the answer comes before
/// the question does.
const AFTER_GIVING_UP: i64 = 2_000_000;

/// A Namespace, and the scalers that look after it and nothing else.
pub(crate) struct TestNamespace<'a> {
    namespace: Namespace<'a>,
    scalers: Vec<Dayshift>,
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
    /// With no scaler yet.
    pub(crate) fn without_scaler(plane: &'a ControlPlane, name: &str) -> Self {
        Self {
            namespace: plane.namespace(name),
            scalers: Vec::new(),
            runs: 0,
            closed_watches: plane.closed_watches(),
        }
    }

    /// With `dayshift run -n NAMESPACE`, which is ready.
    pub(crate) fn new(plane: &'a ControlPlane, name: &str) -> Self {
        let mut team = Self::without_scaler(plane, name);
        team.run(&[]);
        team
    }

    /// One scaler more, with these flags besides; it is ready.
    pub(crate) fn run(&mut self, flags: &[&str]) -> &mut Dayshift {
        self.begin(flags).wait_ready()
    }

    /// One scaler more, which may not be ready yet.
    pub(crate) fn begin(&mut self, flags: &[&str]) -> &mut Dayshift {
        let mut arguments = vec!["run", "-n", self.namespace.name()];
        arguments.extend(flags);
        self.runs += 1;
        self.scalers
            .push(Dayshift::run(self.namespace.plane(), &arguments));
        self.scalers.last_mut().unwrap()
    }

    /// The scaler that was begun last.
    pub(crate) fn newest(&self) -> &Dayshift {
        self.scalers.last().unwrap()
    }

    /// Ends every scaler as a pod's end does: SIGTERM, which is exit status 0. Returns what they have logged.
    pub(crate) fn stop_scalers(&mut self) -> String {
        let mut logs = String::new();
        for mut scaler in self.scalers.drain(..) {
            let status = scaler.stop();
            logs += &scaler.log();
            assert!(status.success(), "{status}\n{logs}");
        }
        logs
    }

    /// Sends each scaler a signal.
    pub(crate) fn signal_scalers(&mut self, signal: Signal) {
        for scaler in &mut self.scalers {
            scaler.signal(signal);
        }
    }

    /// Ends every scaler without a chance to do anything more.
    pub(crate) fn kill_scalers(&mut self) {
        self.signal_scalers(Signal::KILL);
        for mut scaler in self.scalers.drain(..) {
            scaler.wait_exit(Duration::from_secs(5));
        }
    }

    /// The real kubectl with a manifest, here.
    pub(crate) fn kubectl_with(&self, arguments: &[&str], manifest: &str) -> Output {
        let file = NamedTempFile::new().unwrap();
        std::fs::write(file.path(), manifest).unwrap();
        let path = file.path().to_str().unwrap();
        self.kubectl(&[arguments, &["-f", path]].concat())
    }

    /// Has a HorizontalPodAutoscaler look after a Deployment, by its CPU.
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
        self.kubectl_with(&["apply"], &autoscaler.to_string())
            .success();
    }

    /// dayshift's writes to a workload that the server has made, in order.
    pub(crate) fn made(&self, name: &str) -> Vec<Request> {
        let mut writes = self.writes(name);
        writes.retain(Request::is_made);
        writes
    }

    /// Waits until the schedule is taken up, which the story needs `before` an instant.
    pub(crate) fn await_adopted(&self, name: &str, before: Soon) {
        self.await_state(name, "adopted", before);
    }

    /// Waits until it is stopped, which the story needs `before` an instant.
    pub(crate) fn await_stopped(&self, name: &str, before: Soon) {
        self.await_state(name, "stopped", before);
    }

    /// Waits until it is in that state, which the story needs `before` an instant.
    pub(crate) fn await_state(&self, name: &str, state: &str, before: Soon) {
        before.before(&format!("{name} is {state}"), || {
            (self.label(name, "dayshift/state").as_deref() == Some(state)).then_some(())
        });
    }

    /// Asserts a count that the story looks at `before` an instant.
    pub(crate) fn assert_replicas(&self, name: &str, expected: i32, before: Soon) {
        let seen = self.replicas(name);
        before.is_to_come(&format!("a look at {name}"));
        assert_eq!(seen, expected, "{name}");
    }

    /// Asserts that of the writes to a workload the one with this index (0 is the first) came
    /// at its instant: not before it, and less than a second after.
    pub(crate) fn assert_punctual(&self, name: &str, index: usize, at: Soon) {
        // The server's log may be a moment behind what it has done.
        let write = eventually(&format!("write {index} to {name} is in the log"), || {
            self.made(name).get(index).cloned()
        });
        let late = write.received - at.micros();
        assert!(late >= 0, "{name}: {late} µs late: {write:#?}");
        if late >= 1_000_000 {
            let what = format!("{name}: a write came");
            too_late(&what, at.0, late as f64 / 1e6, 1.0);
        }
    }

    /// The end of a story: the scalers end with status 0, each workload has been written to
    /// exactly so often, and nothing was asked of the server but what [`assert_frugal`] allows.
    pub(crate) fn ends<N: Into<String>>(mut self, writes: impl IntoIterator<Item = (N, usize)>) {
        self.stop_scalers();
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

/// How many writes to each workload the server has made.
fn count_made(requests: &[Request]) -> BTreeMap<String, usize> {
    let mut made = BTreeMap::new();
    for write in requests.iter().filter(|request| request.is_made()) {
        *made.entry(write.name.clone()).or_default() += 1;
    }
    made
}

/// Asserts that so many runs of dayshift did not poll and were never forbidden anything: a watch
/// for each, one more for each that the server has closed and a list of one object with it, a
/// whole list only where the server tells nothing as a stream, a `get` as [`assert_reads`] allows
/// it, and no verb but those and `patch`.
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

/// The same of one resource.
fn assert_frugal_with(resource: &str, requests: &[Request], runs: usize, closed_watches: usize) {
    let of_it = || requests.iter().filter(|each| each.resource == resource);
    let count = |verb: &str| of_it().filter(|each| each.verb == verb).count();
    // The further pages of a list belong to it.
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
    for (what, seen, allowed) in [
        ("refused streams", refused_streams, runs),
        // How far is the server, where a watch goes on sooner than it should?
        ("lists of one object", questions.len(), closed_watches),
        // Does it answer at all? Each run asks once before its first answer.
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
            "{seen} {what}, not {allowed}: {requests:#?}"
        );
    }
}

/// The lists of one object, in the order of their arrival. One that comes after a watch that goes on from a
/// version asks how far the server is, once for each such watch; any other whether it answers at all.
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

/// Asserts that a list asks whether the server answers at all: a write or a read of the same kind and
/// namespace has had no answer for a second. On a machine that stood still the two may arrive together.
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
            "a list of one object {waited} µs after a write that is said to have no answer"
        )),
        None => panic!("a list of one object, and nothing waits: {list:#?}"),
    }
}

/// Asserts that a workload was read at most once after each conflict about it, and once for each
/// write to it that somebody else's change came after: each run looks once after who that was, and
/// only where what it has written last is set back.
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
