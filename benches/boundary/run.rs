//! The course of a run.

use std::{
    path::Path,
    thread::sleep,
    time::{Duration, Instant},
};

use chrono::{DateTime, TimeDelta, Utc};

use super::{
    Options,
    baseline::{Baseline, Transport},
    burst::Burst,
    listing,
    load::{self, Fleet, Plan},
    process::Process,
    report::{Figures, Idle, Memory, Round},
    support::{Assets, ControlPlane, Dayshift, Parts, Request, Soon, soon},
};

/// The time after which the API server closes an idle connection, plus a margin.
const CONNECTION_LIFE: Duration = Duration::from_secs(95);

/// The time that a slow API server takes for a patch or an Event.
const SLOW_PATCH: Duration = Duration::from_micros(9_000);

/// The timeout of every wait.
const TIMEOUT: Duration = Duration::from_secs(300);

/// A margin for work that takes longer than the first time.
const SLACK: Duration = Duration::from_secs(12);

/// Runs several boundaries of a fleet in a few minutes.
pub(crate) fn run(options: &Options, assets: &Assets, fleet: Fleet) -> Figures {
    let number = fleet.len();
    let in_flight = options.in_flight.into();
    let plane = ControlPlane::start(assets, Parts::Server);
    let kubeconfig = plane.install();
    let mut baseline = Baseline::new(&plane, number);
    if options.no_policy {
        remove_policy(&plane);
    } else {
        baseline.extend_policy();
    }
    eprintln!("making {fleet} without annotations");
    let began = Instant::now();
    let plain = load::namespaces(&plane, "plain", number);
    load::create(&plane, &plain, "plain", fleet, |_| None);
    let once = began.elapsed();

    let idle = Duration::from_secs(options.idle.into());
    let quiet = if idle < Duration::from_secs(60) {
        idle
    } else {
        CONNECTION_LIFE.max(idle)
    };
    let seconds = |time: Duration| i64::try_from(time.as_secs()).unwrap();
    let pass = SLOW_PATCH * u32::try_from(number).unwrap();
    let first = soon(seconds(3 * (once + pass) + quiet + 2 * SLACK));
    let instants: Vec<Soon> = (0..i64::from(options.bursts))
        .map(|number| first.plus(number * seconds(3 * pass + SLACK)))
        .collect();
    eprintln!("making as many for dayshift; {}", instants[0].0);
    let plan = Plan(instants.iter().map(|soon| soon.0).collect());
    let load = load::namespaces(&plane, "load", number);
    load::create(&plane, &load, "load", fleet, |_| Some(&plan));

    let listings = listing::all(kubeconfig);
    let arguments = arguments(options, &baseline);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mark = plane.audit().mark();
    let (mut dayshift, ready_first) = start(&options.program, kubeconfig, &arguments);
    await_adopted(&dayshift, number);
    let adopted = writes(&plane.audit().since(mark));
    dayshift.stop();
    let (mut dayshift, ready) = start(&options.program, kubeconfig, &arguments);
    let process = Process(dayshift.id());
    let peak_ready = process.peak_memory();
    eprintln!("ready after {ready_first:?}, {ready:?}; {adopted} writes to adopt");
    baseline.prepare(fleet, in_flight);

    let idle = measure_idle(&plane, process, idle);
    let steady = process.memory();
    let mut rounds = Vec::new();
    let mut before = baseline.pass(Transport::Http2, in_flight);
    let mut events = 0;
    for instant in instants {
        assert!(
            instant.0 > Utc::now() + TimeDelta::seconds(1),
            "the preparation took too long: the machine is too busy"
        );
        wait_until(instant.0 - TimeDelta::milliseconds(500));
        let (mark, cpu) = (plane.audit().mark(), process.cpu());
        events += number;
        await_events(&dayshift, instant, events);
        let cpu = process.cpu() - cpu;
        let mut requests = plane.audit().since(mark);
        requests.retain(Request::is_dayshift);
        let burst = Burst::measure(&requests, instant.micros());
        let after = baseline.pass(Transport::Http2, in_flight);
        rounds.push(Round::new(burst, [&before, &after], cpu));
        before = after;
    }
    let memory = Memory {
        ready: peak_ready,
        steady,
        peak: process.peak_memory(),
        end: process.memory(),
    };
    dayshift.stop();
    if options.log {
        eprint!("{}", dayshift.log());
    }
    Figures {
        fleet,
        bytes: baseline.size(),
        in_flight,
        listings,
        ready: [ready_first, ready].map(|ready| ready.as_secs_f64() * 1e3),
        adoption_writes: adopted,
        idle,
        memory,
        rounds,
    }
}

/// Removes the admission policies of dayshift's ServiceAccount.
fn remove_policy(plane: &ControlPlane) {
    let names = ["dayshift-scaler", "dayshift-scaler-events"];
    for kind in [
        "validatingadmissionpolicybinding",
        "validatingadmissionpolicy",
    ] {
        plane
            .kubectl(&["delete", kind, names[0], names[1]])
            .success();
    }
}

fn arguments(options: &Options, baseline: &Baseline<'_>) -> Vec<String> {
    let mut arguments = vec![
        "run".to_owned(),
        format!("--max-in-flight={}", options.in_flight),
    ];
    arguments.extend(
        baseline
            .namespaces()
            .map(|name| format!("--exclude-namespace={name}")),
    );
    arguments
}

/// Starts dayshift, and measures the time until it is ready.
fn start(program: &Path, kubeconfig: &Path, arguments: &[&str]) -> (Dayshift, Duration) {
    let began = Instant::now();
    let dayshift = Dayshift::run_program(program, kubeconfig, arguments);
    while dayshift
        .get("/readyz")
        .is_none_or(|(status, _)| status != 200)
    {
        assert!(began.elapsed() < TIMEOUT, "not ready");
        sleep(Duration::from_millis(5));
    }
    (dayshift, began.elapsed())
}

fn await_adopted(dayshift: &Dayshift, number: usize) {
    let line = format!("dayshift_workloads{{state=\"adopted\"}} {number}\n");
    let began = Instant::now();
    while !metrics(dayshift).is_some_and(|text| text.contains(&line)) {
        assert!(began.elapsed() < TIMEOUT, "not all are adopted");
        sleep(Duration::from_millis(500));
    }
}

fn writes(requests: &[Request]) -> usize {
    let ours = |request: &&Request| request.is_dayshift() && request.is_write();
    requests.iter().filter(ours).count()
}

/// Waits until this many Events were sent: the last requests after a boundary.
fn await_events(dayshift: &Dayshift, instant: Soon, events: usize) {
    instant.wait();
    let line = format!("dayshift_events_total{{outcome=\"sent\"}} {events}\n");
    let began = Instant::now();
    // Polled rarely, because the program is measured meanwhile, and each poll reads all objects.
    let interval =
        Duration::from_secs(2) + Duration::from_millis(1) * u32::try_from(events).unwrap();
    loop {
        sleep(interval);
        if metrics(dayshift).is_some_and(|text| text.contains(&line)) {
            return;
        }
        assert!(began.elapsed() < TIMEOUT, "too few Events");
    }
}

fn metrics(dayshift: &Dayshift) -> Option<String> {
    dayshift.get("/metrics").map(|(_, text)| text)
}

fn wait_until(instant: DateTime<Utc>) {
    if let Ok(rest) = (instant - Utc::now()).to_std() {
        sleep(rest);
    }
}

fn measure_idle(plane: &ControlPlane, process: Process, time: Duration) -> Idle {
    // By then all requests that were in flight at the last adoption are complete.
    sleep(Duration::from_secs(2));
    let (mark, cpu) = (plane.audit().mark(), process.cpu());
    sleep(time);
    let cpu = process.cpu() - cpu;
    let mut requests = plane.audit().since(mark);
    requests.retain(Request::is_dayshift);
    Idle {
        seconds: time.as_secs(),
        requests: requests
            .iter()
            .filter(|request| request.verb != "watch")
            .count(),
        watches: requests
            .iter()
            .filter(|request| request.verb == "watch")
            .count(),
        cpu: cpu.as_secs_f64() * 1e3,
    }
}
