//! Prometheus and Alertmanager.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::assets::Assets;
use super::programs::free_ports;
use crate::support::child_guard::ChildGuard;
use crate::support::dayshift::get;

/// A Prometheus that scrapes every second, and its Alertmanager. Both end when this is dropped.
pub(crate) struct Alerting {
    /// Dropped before the directory, because the programs write into it.
    _programs: [ChildGuard; 2],
    directory: TempDir,
    prometheus: SocketAddr,
}

impl Alerting {
    /// Starts both in `directory`, with these scrape targets, rules and Alertmanager configuration.
    pub(crate) fn start(
        directory: TempDir,
        scraped: &[SocketAddr],
        rules: &Path,
        routes: &str,
    ) -> Self {
        let [prometheus, alertmanager] =
            free_ports().map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        let config = json!({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [fs::canonicalize(rules).unwrap()],
            "alerting": {"alertmanagers": [{"static_configs": [{"targets": [alertmanager]}]}]},
            "scrape_configs": [{
                "job_name": "dayshift",
                "honor_labels": true,
                "static_configs": [{"targets": scraped}],
            }],
        });
        fs::write(directory.path().join("prometheus.yaml"), config.to_string()).unwrap();
        fs::write(directory.path().join("alertmanager.yaml"), routes).unwrap();
        let run = |program: &Path, name: &str, arguments: &[&str]| {
            let log = File::create(directory.path().join(format!("{name}.log"))).unwrap();
            let mut command = Command::new(program);
            command
                .args(arguments)
                .arg(format!("--config.file={name}.yaml"))
                .current_dir(directory.path())
                .stdout(log.try_clone().unwrap())
                .stderr(log);
            ChildGuard::spawn(&mut command, Some(directory.path())).unwrap()
        };
        let monitor = Assets::prometheus().unwrap_or_else(|why| panic!("{why:?}"));
        let router = Assets::alertmanager().unwrap_or_else(|why| panic!("{why:?}"));
        let programs = [
            run(
                &router,
                "alertmanager",
                &[
                    "--cluster.listen-address=",
                    "--storage.path=alertmanager",
                    &format!("--web.listen-address={alertmanager}"),
                ],
            ),
            run(
                &monitor.join("prometheus"),
                "prometheus",
                &[
                    "--storage.tsdb.path=prometheus",
                    &format!("--web.listen-address={prometheus}"),
                ],
            ),
        ];
        Self {
            _programs: programs,
            directory,
            prometheus,
        }
    }

    /// The series in the result of a query. Empty until Prometheus responds.
    pub(crate) fn ask(&self, query: &str) -> Vec<Value> {
        let answer = get(self.prometheus, &format!("/api/v1/query?query={query}"));
        let answer = answer.and_then(|(_, body)| serde_json::from_str::<Value>(&body).ok());
        let found = answer.unwrap_or_default()["data"]["result"].take();
        found.as_array().cloned().unwrap_or_default()
    }

    /// The logs of both.
    pub(crate) fn logs(&self) -> String {
        let log = |name: &str| fs::read_to_string(self.directory.path().join(name)).unwrap();
        log("prometheus.log") + &log("alertmanager.log")
    }
}
