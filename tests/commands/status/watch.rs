//! `dayshift status --watch`.

use std::io::{BufRead as _, BufReader, Lines, PipeReader, pipe};

use kube_in_memory::{Fault, Status};

use super::{OFFICE, STOPPED, evening, state};
use crate::{fake_server::Cluster, program::Running};

/// `status --watch` without a terminal: its output line by line, and its standard error.
pub(super) struct Watching {
    _program: Running,
    pub(super) lines: Lines<BufReader<PipeReader>>,
}

impl Watching {
    pub(super) fn on(cluster: &Cluster, arguments: &[&str]) -> Self {
        let (reader, writer) = pipe().unwrap();
        let program = cluster
            .command()
            .args(["status", "--watch"])
            .args(arguments)
            .stdout(writer.try_clone().unwrap())
            .stderr(writer)
            .spawn()
            .unwrap();
        let lines = BufReader::new(reader).lines();
        Self {
            _program: Running(program),
            lines,
        }
    }

    pub(super) fn wait_for(&mut self, text: &str) {
        assert!(
            self.lines.any(|line| line.unwrap().contains(text)),
            "{text}"
        );
    }
}

#[test]
fn a_watch_shows_each_change() {
    let cluster = evening();
    cluster.deployment("web", 3, OFFICE);
    let mut watching = Watching::on(&cluster, &[]);
    watching.wait_for("web    3          unseen");
    state(&cluster, "web", STOPPED);
    cluster.api.scale("dev", "web", 0).unwrap();
    watching.wait_for("web    0 of 3     stopped");
    cluster.api.delete("dev", "web").unwrap();
    watching.wait_for("No workload has a schedule in namespace dev.");
}

#[test]
fn a_watch_detects_deletions_during_an_outage() {
    let cluster = evening();
    for name in ["api", "web"] {
        cluster.deployment(name, 3, OFFICE);
    }
    let mut watching = Watching::on(&cluster, &[]);
    watching.wait_for("web ");
    let no = || Fault::Answer(Status::new(500, "InternalError", "out of order"));
    cluster.api.on_request(move |_| Some(no()));
    cluster.api.close_watches();
    cluster.api.delete("dev", "web").unwrap();
    cluster.api.compact();
    cluster.api.clear_fault();
    cluster.deployment("zoo", 3, OFFICE);
    let mut names = Vec::new();
    // Until a table contains the new workload.
    while names.last().is_none_or(|name| name != "zoo") {
        let line = watching.lines.next().unwrap().unwrap();
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["NAMESPACE", ..] => names.clear(),
            ["dev", name, ..] => names.push(name.to_owned()),
            _ => {}
        }
    }
    assert_eq!(names, ["api", "zoo"]);
}

#[test]
fn a_watch_reports_missing_names() {
    let cluster = evening();
    cluster.deployment("plain", 3, &[]);
    let mut watching = Watching::on(&cluster, &["plain", "gone"]);
    watching.wait_for("error: deployment.apps/plain has no schedule");
    watching.wait_for("error: deployment.apps/gone is not in namespace dev");
    cluster.deployment("gone", 3, OFFICE);
    watching.wait_for("gone ");
}

#[test]
fn a_watch_shows_changed_namespace_defaults() {
    let cluster = evening();
    cluster.deployment("own", 3, OFFICE);
    cluster.deployment("web", 3, &[]);
    let mut watching = Watching::on(&cluster, &[]);
    watching.wait_for("own ");
    let key = "dayshift/hours";
    let done = cluster
        .api
        .annotate_of("Namespace", "", "dev", key, Some("09:00-19:00"));
    done.unwrap();
    watching.wait_for("web ");
}
