//! The Services in the files that wake a workload on request.

use serde_json::{Value, json};

use super::program::plan_of;

const FILES: &str = r#"
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  annotations:
    dayshift/hours: "Mon-Fri 09:00-19:00"
    dayshift/wake-on-request: "2h"
spec:
  template:
    metadata:
      labels: {app: web, tier: front}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: plain
  annotations:
    dayshift/hours: "Mon-Fri 09:00-19:00"
spec:
  template:
    metadata:
      labels: {app: web}
"#;

const SERVICES: &str = r#"
---
apiVersion: v1
kind: List
items:
  - apiVersion: v1
    kind: Service
    metadata: {name: web}
    spec: {selector: {app: web}, ports: [{port: 80}, {port: 53, protocol: UDP}]}
  - apiVersion: v1
    kind: Service
    metadata: {name: pods}
    spec: {clusterIP: None, selector: {tier: front}, ports: [{port: 80}]}
  - apiVersion: v1
    kind: Service
    metadata: {name: other}
    spec: {selector: {app: other}, ports: [{port: 80}]}
  - apiVersion: v1
    kind: Service
    metadata: {name: web, namespace: elsewhere}
    spec: {selector: {app: web}, ports: [{port: 81}]}
"#;

const PODS: &str = "Service pods wakes nothing: it is headless, so clients take the addresses of its pods from DNS";
const DNS: &str = "port 53 of Service web wakes nothing: it is UDP";

#[test]
fn a_plan_of_files_names_the_services_that_wake_a_workload() {
    let files = format!("{FILES}{SERVICES}");
    let json = plan_of(&["-"], &files).json();
    let expected = json!({"services": ["web"], "whileUsed": false, "notCovered": [PODS, DNS]});
    assert_eq!(json["workloads"][0]["onRequest"], expected);
    assert_eq!(json["workloads"][1]["onRequest"], Value::Null);
    let line =
        format!("\nOn request: default/web: a request to Service web wakes it; {PODS}; {DNS}\n");
    for output in ["table", "chart"] {
        let ran = plan_of(&["-", "-o", output, "--from", "2026-11-23"], &files);
        assert!(ran.out.ends_with(&line), "{output}: {}", ran.out);
        assert_eq!((ran.status, &*ran.err), (0, ""));
    }
}

#[test]
fn shows_which_services_prolong_a_wake() {
    let files = format!("{FILES}{SERVICES}").replace("\"2h\"", "\"30m; while-used\"");
    let files = files.replace(
        "spec: {selector: {app: web}, ports: [{port: 80}",
        "spec: {sessionAffinity: ClientIP, selector: {app: web}, ports: [{port: 80}",
    );
    let json = plan_of(&["-"], &files).json();
    let affinity = "use of Service web does not prolong a wake: it has sessionAffinity";
    let expected =
        json!({"services": ["web"], "whileUsed": true, "notCovered": [PODS, affinity, DNS]});
    assert_eq!(json["workloads"][0]["onRequest"], expected);
    let ran = plan_of(&["-", "-o", "table", "--from", "2026-11-23"], &files);
    let line = "default/web: a request to Service web wakes it, and use prolongs the wake; ";
    ran.assert_out(line);
}

#[test]
fn a_plan_of_files_without_services_omits_requests() {
    let json = plan_of(&["-"], FILES).json();
    assert_eq!(json["workloads"][0]["onRequest"], Value::Null);
}

#[test]
fn reports_a_workload_without_a_service() {
    let files =
        format!("{FILES}{SERVICES}").replace("labels: {app: web, tier", "labels: {app: wbe, teir");
    let json = plan_of(&["-"], &files).json();
    let reported = "no Service selects its pods, so no request wakes it";
    let expected = json!({"services": [], "whileUsed": false, "notCovered": [reported]});
    assert_eq!(json["workloads"][0]["onRequest"], expected);
}
