//! The chart rejects the values that the program rejects at startup.

use std::process::Command;

use serde_json::{Value, from_value, json};

use super::rendered::{CHART, rendered};
use crate::support::{ControlPlane, Parts, Scenario, scenarios};

pub(super) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Server;
        chart_rejects_exactly_the_values_that_the_cli_rejects,
    ]
}

/// Whether `dayshift run` accepts these arguments. It exits at once in both cases, because it has no
/// kubeconfig.
fn takes(args: &[&str]) -> bool {
    let output = Command::new(env!("CARGO_BIN_EXE_dayshift"))
        .args(args)
        .args(["--kubeconfig", "/nonexistent"])
        .output()
        .unwrap();
    match output.status.code() {
        Some(2) => false,
        Some(3) => true,
        other => panic!("{args:?}: {other:?}: {output:?}"),
    }
}

fn chart_rejects_exactly_the_values_that_the_cli_rejects(plane: &ControlPlane) {
    let login = |proxy: &str| json!({"enabled": true, "login": {"enabled": true, "trustedProxies": [proxy]}});
    let proxy = |address: &str| {
        [
            "--dashboard-listen=:8081",
            "--user-header=X",
            "--trusted-proxy",
        ]
        .map(str::to_owned)
        .into_iter()
        .chain([address.to_owned()])
        .collect::<Vec<_>>()
    };
    let args = |args: &[&str]| args.iter().map(|&it| it.to_owned()).collect::<Vec<_>>();
    for (values, refused) in [
        (
            json!({"perNamespaceMetrics": true, "extraArgs": ["--metrics-by=team"]}),
            args(&["--per-namespace-metrics", "--metrics-by=team"]),
        ),
        (
            json!({"namespaceDefaults": false, "extraArgs": ["--metrics-by=team"]}),
            args(&["--namespace-defaults=false", "--metrics-by=team"]),
        ),
        (json!({"notice": "15"}), args(&["--notice=15"])),
        (json!({"notice": "48h"}), args(&["--notice=48h"])),
        (json!({"readyWithin": "2d"}), args(&["--ready-within=2d"])),
        (json!({"revertWindow": "1w"}), args(&["--revert-window=1w"])),
        (json!({"catchUp": "30s"}), args(&["--catch-up=30s"])),
        (
            json!({"maxClockSkew": "1s"}),
            args(&["--max-clock-skew=1s"]),
        ),
        (json!({"timezone": "+02:00"}), args(&["--timezone=+02:00"])),
        (
            json!({"annotationPrefix": "My_Own"}),
            args(&["--annotation-prefix=My_Own"]),
        ),
        (
            json!({"scope": {"selector": "team: web"}}),
            args(&["--selector=team: web"]),
        ),
        (
            json!({"kinds": ["widgets.example"]}),
            args(&["--kinds=widgets.example"]),
        ),
        (
            json!({"log": {"level": "verbose"}}),
            args(&["--log-level=verbose"]),
        ),
        (
            json!({"calendars": {"De": "x"}}),
            args(&["--calendar=De=x.ics"]),
        ),
        (json!({"dashboard": login("proxy")}), proxy("proxy")),
        (json!({"dashboard": login("0.0.0.0/0")}), proxy("0.0.0.0/0")),
        (
            json!({"dashboard": login("127.0.0.0/8")}),
            proxy("127.0.0.0/8"),
        ),
        (json!({"dashboard": login("10.0.0.7")}), proxy("10.0.0.7")),
        (json!({"dashboard": login("::/120")}), proxy("::/120")),
    ] {
        let given: Vec<_> = refused.iter().map(String::as_str).collect();
        assert!(!takes(&[&["run"], &given[..]].concat()), "{given:?}");
        for version in [3, 4] {
            let render = ["template", "x", CHART, "--kube-version=1.36.0"];
            let values = set(&values);
            let values: Vec<_> = values.iter().map(String::as_str).collect();
            let answer = plane.helm(version, &[&render[..], &values].concat());
            assert!(!answer.ok, "{values:?}");
        }
    }
    for values in [
        json!({"extraArgs": ["--metrics-by", "team", "--max-in-flight=8"], "perWorkloadMetrics": true}),
        json!({"namespaceDefaults": false, "scope": {"namespaceSelector": "env in (dev,test)"},
               "extraArgs": ["--metrics-by=team"]}),
        json!({"scope": {"namespaces": ["a"]}, "extraArgs": ["--namespace=b"]}),
        json!({"timezone": "Asia/Tokyo", "services": true, "extraArgs": ["--timezone=UTC", "--services"]}),
        json!({"notice": "24h", "readyWithin": "1d", "revertWindow": "0", "catchUp": "90s", "maxClockSkew": "2s"}),
        json!({"notice": "1h 30m", "readyWithin": "90min", "catchUp": "2 days", "maxClockSkew": "0"}),
        json!({"timezone": "America/Argentina/Buenos_Aires"}),
        json!({"timezone": "Etc/GMT-14", "annotationPrefix": "ours.example.com"}),
        json!({"scope": {"selector": "app.kubernetes.io/name=web,!tier,size>3"}}),
        json!({"kinds": ["deployments.apps", "cronjobs.batch", "clusters.postgresql.cnpg.io"]}),
        json!({"log": {"level": "info,kube=debug"}}),
        json!({"log": {"level": "DEBUG"}}),
        json!({"dashboard": login("127.0.0.1")}),
        json!({"dashboard": login("::1")}),
    ] {
        let set = set(&values);
        let set: Vec<_> = set.iter().map(String::as_str).collect();
        let objects = rendered(plane, &set);
        let deployment = &objects[&("Deployment".to_owned(), "dayshift".to_owned())];
        let args = &deployment["spec"]["template"]["spec"]["containers"][0]["args"];
        let args: Vec<String> = from_value(args.clone()).unwrap();
        let args: Vec<_> = args.iter().map(String::as_str).collect();
        assert!(takes(&args), "{args:?}");
    }
}

/// These values as flags of Helm.
fn set(values: &Value) -> Vec<String> {
    let each = values.as_object().unwrap().iter();
    let flags = each.flat_map(|(name, value)| ["--set-json".to_owned(), format!("{name}={value}")]);
    flags.collect()
}
