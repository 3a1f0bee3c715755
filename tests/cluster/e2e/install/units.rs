//! The chart's own tests, `charts/dayshift/tests`, by helm-unittest.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::kustomize::copy;
use super::rendered::CHART;
use crate::support::{Assets, ControlPlane, Parts, Scenario, nightly, scenarios};

pub(super) fn scenarios() -> Vec<Scenario> {
    [
        scenarios![
            Parts::Server;
            chart_passes_its_unit_tests,
            packaged_chart_contains_no_tests,
        ],
        nightly(scenarios![Parts::Server; chart_tests_detect_a_defect_in_each_template]),
    ]
    .concat()
}

/// A copy of the chart, because helm-unittest creates a directory in the tested chart.
fn copied() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let chart = directory.path().join("dayshift");
    copy(Path::new(CHART), &chart);
    (directory, chart)
}

/// Whether the suites of a chart pass, and the output of helm-unittest.
fn unittest(chart: &Path, suites: &str) -> (bool, String) {
    let program = Assets::helm_unittest().unwrap_or_else(|why| panic!("{why:?}"));
    let output = Command::new(program)
        .args(["--strict", "--file", suites])
        .arg(chart)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    (output.status.success(), format!("{message}{errors}"))
}

fn names(directory: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
    let names = entries.map(|it| it.file_name().to_string_lossy().into_owned());
    names.collect()
}

fn chart_passes_its_unit_tests(_: &ControlPlane) {
    let (_directory, chart) = copied();
    let suites = names(&chart.join("tests")).len();
    let (passed, message) = unittest(&chart, "tests/*_test.yaml");
    let all = format!("Test Suites: {suites} passed, {suites} total\n");
    assert!(passed && message.contains(&all), "{message}");
}

/// Seeded defects: the suite that must fail, a file of the chart, and a replacement.
const DEFECTS: &str = r#"
rbac       templates/rbac.yaml                 "list", "watch" => "list", "patch"
rbac       templates/rbac.yaml                 namespace: {{ $.Release.Namespace }} => namespace: {{ . }}
users      templates/users.yaml                aggregate-to-view => aggregate-to-edit
users      templates/users.yaml                replace `, "patch"` "" => trim
kinds      templates/_helpers.tpl              "watch", "patch"] => "watch", "patch", "delete"]
kinds      templates/_helpers.tpl              "cronjobs" "batch" => "cronjobs" "apps"
kinds      templates/_helpers.tpl              .Values.stopJobs => .Values.kinds
kinds      templates/_helpers.tpl              "endpointslices" => "endpoints"
rbac       templates/_helpers.tpl              ["list", "watch"] => ["get", "list", "watch"]
pod        templates/_helpers.tpl              if .Values.perUserMetrics => if .Values.perWorkloadMetrics
rbac       templates/_helpers.tpl              resourceNames: ["dayshift"] => resourceNames: []
pod        templates/_helpers.tpl              append $args "--team-defaults" => append $args "--dry-run"
policy     templates/policy.yaml               if $.Values.teamDefaults => if true
pod        templates/_helpers.tpl              append $args "--services" => append $args "--dry-run"
refused    templates/_helpers.tpl              if not $scope.namespaces => if false
refused    values.schema.json                  "minItems": 1, =>
refused    values.schema.json                  h|hrs?|hours?|d|days?|w|weeks?) ?)+ => h|hrs?|hours?|d|days?|w|weeks?)? ?)+
refused    values.schema.json                  [a-z0-9])?){2,} => [a-z0-9])?){1,}
refused    values.schema.json                  "pattern": "^[A-Za-z][A-Za-z0-9_+/-]*$" => "minLength": 1
refused    values.schema.json                  _./,=!()<> - => _./,=!()<>: -
refused    values.schema.json                  |.*[=,].* => |.*
refused    templates/_helpers.tpl              if .Values.perNamespaceMetrics => if false
refused    templates/_helpers.tpl              if not (or $scope.namespaceSelector ( => if not (or true (
refused    templates/_helpers.tpl              3-9][0-9]|[1-9] => 6-9][0-9]|[1-9]
refused    templates/_helpers.tpl              "revertWindow" "notice" => "notice"
refused    templates/_helpers.tpl              [1-5]?[0-9] ?s => [0-9] ?s
refused    templates/_helpers.tpl              1 ?s[a-z]*)$" .Values.max => 0 ?s[a-z]*)$" .Values.max
refused    templates/_helpers.tpl              ([0-9]|1[0-9]|2[0-3])$" => (1[0-9]|2[0-3])$"
refused    templates/_helpers.tpl              if not (or $login.secretName => if not (or true
refused    templates/_helpers.tpl              if not (hasKey $ports "login") => if false
login      templates/users.yaml               "login" "dashboard" => "dashboard" "login"
activator  templates/activator.yaml            splitList "." . | first) (list "cronjobs" => print .) (list "cronjobs"
refused    values.schema.json                  "additionalProperties": false, =>
names      templates/_helpers.tpl              fullnameOverride | trunc 63 => fullnameOverride | trunc 70
calendars  templates/calendars.yaml            .ics: => .ical:
calendars  templates/deployment.yaml           readOnly: true => subPath: de.ics
schedules  templates/schedules.yaml            toYaml .Values.schedules => toJson .Values.schedules
schedules  templates/_helpers.tpl              "--schedules=/etc/dayshift/schedules/ => "--schedules=/etc/dayshift/
schedules  templates/_helpers.tpl              .Values.defaultSchedule.name "" => .Values.defaultSchedule.hours ""
kind_rows  templates/kinds.yaml                toYaml | nindent => toJson | nindent
pod        templates/_helpers.tpl              (toString .Values.maxStarting) "0" => (toString .Values.maxStarting) "20"
pod        templates/_helpers.tpl              .Values.notice "0" => .Values.notice "15m"
pod        templates/_helpers.tpl              .Values.readyWithin => .Values.revertWindow
pod        values.yaml                         readOnlyRootFilesystem: true => readOnlyRootFilesystem: false
policy     templates/policy.yaml               "Warn", "Audit" => "Audit"
policy     templates/policy.yaml               replace "ROWS" $rows => replace "ROWS" ""
login      templates/users.yaml               "impersonate:user-info" "impersonate" => "impersonate" "impersonate"
login      templates/users.yaml               with $login.groups => with $login.users
login      templates/users.yaml               sessionAffinity: ClientIP => sessionAffinity: None
activator  templates/activator.yaml           if .Values.activator.labeledNamespacesOnly => if true
activator  templates/activator.yaml           parameterNotFoundAction: Deny => parameterNotFoundAction: Allow
activator  templates/activator.yaml           endPort: 29999 => endPort: 30999
activator  templates/activator.yaml           values: {{ toJson .Values.scope.namespaces }} => values: []
activator  templates/_helpers.tpl              "create", "patch", "delete"] => "create", "patch", "update", "delete"]
monitoring templates/podmonitor.yaml           honorLabels: true => honorLabels: false
monitoring templates/prometheusrule.yaml       .prometheusRule.enabled => .podMonitor.enabled
monitoring templates/dashboard.yaml            .grafana.labels => .podLabels
network    templates/networkpolicy.yaml        [Ingress, Egress] => [Ingress]
others     templates/poddisruptionbudget.yaml  maxUnavailable: => minAvailable:
others     templates/serviceaccount.yaml       Token: false => Token: true
others     templates/extraobjects.yaml         tpl . $ => .
notes      templates/NOTES.txt                 deployment/{{ include => pod/{{ include
notes      templates/NOTES.txt                 first .Values.kinds => last .Values.kinds
notes      templates/NOTES.txt                 with .Values.scope.namespaceSelector => if false
notes      templates/NOTES.txt                 if .Values.replicas => if true
"#;

/// The fields of a line.
fn defect(line: &str) -> [&str; 4] {
    let (suite, rest) = line.split_once(' ').unwrap();
    let (file, change) = rest.trim_start().split_once(' ').unwrap();
    let (from, to) = change.split_once("=>").unwrap();
    [suite, file, from.trim(), to.trim()]
}

fn chart_tests_detect_a_defect_in_each_template(_: &ControlPlane) {
    let (_directory, chart) = copied();
    let mut untried = names(&chart.join("templates"));
    for [suite, file, from, to] in DEFECTS.trim().lines().map(defect) {
        let path = chart.join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file}: {from}");
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let (passed, message) = unittest(&chart, &format!("tests/{suite}_test.yaml"));
        let is_noticed = !passed && message.contains(" failed, ");
        assert!(is_noticed, "{file}: {to}: {message}");
        fs::write(&path, text).unwrap();
        untried.remove(file.trim_start_matches("templates/"));
    }
    assert_eq!(untried, BTreeSet::new());
    let (passed, message) = unittest(&chart, "tests/*_test.yaml");
    assert!(passed, "{message}");
}

/// Both Helms package everything except the tests.
fn packaged_chart_contains_no_tests(plane: &ControlPlane) {
    let mut expected = BTreeSet::new();
    list(Path::new(CHART), "dayshift", &mut expected);
    expected.retain(|it| !it.starts_with("dayshift/tests/"));
    for version in [3, 4] {
        let directory = tempfile::tempdir().unwrap();
        let to = directory.path().to_str().unwrap();
        plane.helm(version, &["package", CHART, "-d", to]).success();
        let [package] = &names(directory.path()).into_iter().collect::<Vec<_>>()[..] else {
            panic!("not one package in {to}");
        };
        let list = Command::new("tar")
            .arg("-tzf")
            .arg(directory.path().join(package))
            .output()
            .unwrap();
        let list = String::from_utf8(list.stdout).unwrap();
        let packed: BTreeSet<_> = list.lines().map(str::to_owned).collect();
        assert_eq!(packed, expected, "helm{version}");
    }
}

/// Collects the files of a directory, with their paths below `prefix`.
fn list(directory: &Path, prefix: &str, into: &mut BTreeSet<String>) {
    for name in names(directory) {
        let (path, name) = (directory.join(&name), format!("{prefix}/{name}"));
        if path.is_dir() {
            list(&path, &name, into);
        } else {
            into.insert(name);
        }
    }
}
