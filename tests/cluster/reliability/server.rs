//! Faults of the API server and of its etcd. These cases stop shared programs.

use std::fs;

use rustix::process::Signal;

use crate::reliability::harness::cases::{Case, cases, nightly};
use crate::reliability::harness::figures::Figures;
use crate::reliability::harness::gate::Gate;
use crate::reliability::harness::scenario::{Place, Scenario, Size};
use crate::support::Request;

pub(crate) fn cases() -> Vec<Case> {
    [
        cases![
            Plane::Own;
            "API server killed, back after 20 s" => api_server_down,
            "API server restarted, etcd compacted (410)" => history_gone,
            "etcd stopped for 20 s (SIGSTOP)" => etcd_stopped,
        ],
        nightly(cases![
            Plane::Own;
            "API server restarted" => api_server_restarted,
            "etcd killed, back after 20 s" => etcd_killed,
            "API server restarted with another certificate authority" => authority_replaced,
            "no response to the first streamed list; then etcd compacted (410)" => silent_at_first,
        ]),
    ]
    .concat()
}

fn api_server_down(place: &Place<'_>) -> Figures {
    let mut scenario = Scenario::begin(place, "server-down", place.profile.usual());
    scenario.run_fault(
        |_| place.plane.end("kube-apiserver", Signal::KILL),
        |scenario| {
            let log = scenario.controllers[0].log();
            let reported = log.matches("nothing is sent for now").count();
            assert!((1..20).contains(&reported), "{reported} times:\n{log}");
            place.plane.start_api_server();
            place.plane.await_ready();
        },
    );
    let fault = place.profile.usual().fault;
    scenario
        .ends()
        .was_held_up(fault)
        .was_not_ready()
        .within(10.0)
}

/// The server takes time to shut down and to start: the stop is in between.
fn api_server_restarted(place: &Place<'_>) -> Figures {
    let size = Size {
        fault: 0,
        ..place.profile.usual()
    };
    let mut scenario = Scenario::begin(place, "server-restarted", size);
    scenario.run_fault(
        |_| place.plane.signal("kube-apiserver", Signal::TERM),
        |_| {
            place.plane.end("kube-apiserver", Signal::TERM);
            place.plane.start_api_server();
            place.plane.await_ready();
        },
    );
    scenario.ends().was_not_ready().within(10.0)
}

/// The certificate and the file that clients trust are replaced while it is down.
fn authority_replaced(place: &Place<'_>) -> Figures {
    let directory = tempfile::tempdir().unwrap();
    let trusted = directory.path().join("ca.crt");
    let restart = || {
        place.plane.end("kube-apiserver", Signal::TERM);
        let authority = place.plane.start_api_server_with_alias();
        place.plane.await_ready();
        authority
    };
    fs::write(&trusted, restart()).unwrap();
    let mut scenario = Scenario::set(place, "authority", place.profile.usual());
    let namespace = scenario.namespace.name();
    let kubeconfig = place
        .plane
        .kubeconfig_by_alias(namespace, "dayshift", &trusted);
    scenario.connect_with(kubeconfig);
    scenario.run();
    scenario.await_adopted();
    scenario.run_fault(
        |_| place.plane.signal("kube-apiserver", Signal::TERM),
        |_| fs::write(&trusted, restart()).unwrap(),
    );
    scenario.ends().was_not_ready().within(10.0)
}

/// The changes during the outage have expired on the server, so dayshift must list again.
fn history_gone(place: &Place<'_>) -> Figures {
    // The controller must open the watch, get the error, and list, with a pause of up to 5 s before each.
    let size = Size {
        recovery: 20,
        ..place.profile.usual()
    };
    assert_lists_again(place, Scenario::begin(place, "history", size))
}

/// If the server does not stream a list, the controller requests pages, and the next list as a stream again.
fn silent_at_first(place: &Place<'_>) -> Figures {
    let usual = place.profile.usual();
    let size = Size {
        lead: usual.lead + 14,
        recovery: 20,
        ..usual
    };
    let mut scenario = Scenario::set(place, "silent", size);
    let namespace = scenario.namespace.name().to_owned();
    let gate = Gate::before(&scenario.namespace);
    scenario.proxy = place.toxiproxy.to(&gate.url());
    scenario.connect_via(&scenario.proxy.url());
    gate.swallow("sendInitialEvents=true");
    let mark = place.plane.audit().mark();
    scenario.run();
    scenario.await_adopted();
    assert!(gate.open() > 0, "no streamed list was requested");
    let asked = place.plane.audit().by_dayshift(mark, &namespace);
    let is_page = |each: &Request| each.verb == "list" && each.uri.contains("limit=");
    assert!(asked.iter().any(is_page), "{asked:#?}");
    assert_lists_again(place, scenario)
}

/// Closes the watches, and lets the changes during the outage expire on the server.
fn assert_lists_again(place: &Place<'_>, mut scenario: Scenario<'_>) -> Figures {
    let namespace = scenario.namespace.name().to_owned();
    let mark = place.plane.audit().mark();
    scenario.run_fault(
        |scenario| {
            scenario.proxy.open(false);
            // Change an object without a schedule: the controller's own Deployment.
            for number in ["1", "2", "3"] {
                scenario.namespace.annotate("dayshift", "touched", number);
            }
            place.plane.end("kube-apiserver", Signal::KILL);
        },
        |scenario| {
            place.plane.compact();
            place.plane.start_api_server();
            place.plane.await_ready();
            scenario.proxy.open(true);
        },
    );
    let figures = scenario.ends().was_not_ready().within(10.0);
    let asked = place.plane.audit().by_dayshift(mark, &namespace);
    let anew = |each: &Request| each.uri.contains("sendInitialEvents=true");
    assert!(asked.iter().any(anew), "{asked:#?}");
    figures
}

fn etcd_stopped(place: &Place<'_>) -> Figures {
    let mut scenario = Scenario::begin(place, "etcd-stopped", place.profile.usual());
    scenario.run_fault(
        |_| place.plane.signal("etcd", Signal::STOP),
        |_| place.plane.signal("etcd", Signal::CONT),
    );
    let fault = place.profile.usual().fault;
    scenario.ends().was_held_up(fault).within(10.0)
}

fn etcd_killed(place: &Place<'_>) -> Figures {
    let mut scenario = Scenario::begin(place, "etcd-killed", place.profile.usual());
    scenario.run_fault(
        |_| place.plane.end("etcd", Signal::KILL),
        |_| {
            place.plane.start_etcd();
            place.plane.await_ready();
        },
    );
    let fault = place.profile.usual().fault;
    scenario.ends().was_held_up(fault).within(10.0)
}
