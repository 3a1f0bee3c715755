//! Objects of one namespace whose decoding could fail or need much memory: times of the year 10000, deep
//! nesting, bytes that are not text, tens of thousands of environment variables, more than 4 MiB of JSON, and the largest
//! object that etcd stores. The API server accepts all of them. They do not affect another namespace.

use http::{Method, Request, header};
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};

use crate::e2e::activator::stand_ins::{await_stand_in, install, service};
use crate::e2e::kinds::create;
use crate::e2e::test_namespace::TestNamespace;
use crate::reliability::Gate;
use crate::support::{
    ControlPlane, Dayshift, Parts, Scenario, block_on, deployment, is_full, nightly, scenarios,
    soon, wait_until,
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    [
        scenarios![
            Parts::Server;
            odd_objects_do_not_hide_others_from_commands,
            undecodable_responses_about_one_object_delay_no_other,
        ],
        scenarios![Parts::Pods; odd_objects_do_not_affect_the_activator_of_others],
        nightly(scenarios![
            Parts::Server;
            odd_objects_do_not_affect_the_controller_of_others,
            hundred_thousand_variables_do_not_exhaust_the_memory,
        ]),
        nightly(scenarios![Parts::OlderServer; large_pages_do_not_exhaust_the_memory]),
    ]
    .concat()
}

/// More environment variables than dayshift decodes. An API server on a busy machine needs more than 10 s for
/// a patch of 20,000.
const MANY: usize = 11_000;

/// The environment variables of a Deployment of about 1.4 MB in etcd.
const MOST: usize = 100_000;

/// A user who may do everything in one namespace, and patch the Namespace.
struct Tenant<'a> {
    team: TestNamespace<'a>,
    client: Client,
}

const JSON: &str = "application/json";
const MERGE: &str = "application/merge-patch+json";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

const DEPLOYMENTS: &str = "apis/apps/v1";
const SLICES: &str = "apis/discovery.k8s.io/v1";

impl<'a> Tenant<'a> {
    fn new(team: TestNamespace<'a>) -> Self {
        let (plane, name) = (team.plane(), team.name());
        team.create_account("tenant");
        let resources = "deployments.apps,deployments.apps/status,services,\
                         endpointslices.discovery.k8s.io";
        team.grant("tenant", "tenant", &[("*", resources, "")]);
        let cluster_role = format!("tenant-{name}");
        team.grant_everywhere(
            &cluster_role,
            "tenant",
            &[("get,patch", "namespaces", name)],
        );
        let client = plane.client_of(&plane.kubeconfig_of(name, "tenant"));
        let tenant = Self { team, client };
        wait_until("the API server knows the Role", || {
            let list = tenant.send(
                Method::GET,
                &tenant.path(DEPLOYMENTS, "deployments"),
                "",
                [],
            );
            list == 200
        });
        tenant
    }

    fn path(&self, api: &str, rest: &str) -> String {
        format!("/{api}/namespaces/{}/{rest}", self.team.name())
    }

    /// Sends a request and returns the status code.
    fn send(&self, method: Method, path: &str, media: &str, body: impl Into<Vec<u8>>) -> u16 {
        let request = Request::builder().method(method).uri(path);
        let request = request.header(header::CONTENT_TYPE, media);
        let request = request.body(Body::from(body.into())).unwrap();
        let response = block_on(self.client.send(request)).unwrap();
        response.status().as_u16()
    }

    fn create(&self, api: &str, resource: &str, object: &Value) {
        let path = self.path(api, resource);
        let code = self.send(Method::POST, &path, JSON, object.to_string());
        assert_eq!(code, 201, "{path}");
    }

    fn merge(&self, path: &str, patch: &str) {
        let code = self.send(Method::PATCH, path, MERGE, patch);
        assert_eq!(code, 200, "{path}");
    }

    /// Writes these entries of the managed fields.
    fn manage(&self, path: &str, entries: &[&str]) {
        let entries = entries.join(",");
        self.merge(
            path,
            &format!(r#"{{"metadata": {{"managedFields": [{entries}]}}}}"#),
        );
    }

    /// Resets the managed fields, because other tests read all Namespaces.
    fn reset(&self) {
        let path = format!("/api/v1/namespaces/{}", self.team.name());
        self.manage(&path, &["{}"]);
    }
}

/// Entries of the managed fields that a parser of times, of nested JSON or of short lines rejects, by a name.
fn odd_fields() -> [(&'static str, String); 4] {
    let entry = |name: &str, time: &str, fields: &str| {
        format!(
            r#"{{"manager": "{name}", "operation": "Update", "apiVersion": "v1", "time": "{time}",
                "fieldsType": "FieldsV1", "fieldsV1": {fields}}}"#
        )
    };
    let plain = r#"{"f:metadata": {"f:labels": {"f:a": {}}}}"#;
    let deep = format!("{}{{}}{}", r#"{"f:a": "#.repeat(200), "}".repeat(200));
    // Go writes `<` as six characters.
    let wide = format!(r#"{{"f:{}": {{}}}}"#, "<".repeat(900_000));
    let now = "2026-11-20T09:00:00Z";
    [
        // In UTC, these are a year before 0 and the year 10000.
        ("early", entry("early", "0000-01-01T00:00:00+01:00", plain)),
        ("late", entry("late", "9999-12-31T23:59:59-01:00", plain)),
        ("deep", entry("deep", now, &deep)),
        ("wide-fields", entry("wide-fields", now, &wide)),
    ]
}

/// A Deployment with this many environment variables.
fn wide(name: &str, schedule: &Value, variables: usize) -> Value {
    let mut object = Value::from(deployment(name).replicas(2));
    object["metadata"]["annotations"] = schedule.clone();
    let variables = (0..variables).map(|number| json!({"name": format!("v{number}")}));
    let containers = &mut object["spec"]["template"]["spec"]["containers"];
    containers[0]["env"] = variables.collect();
    object
}

/// A Deployment with one environment variable of this value.
fn long(name: &str, schedule: &Value, value: String) -> Value {
    let mut object = wide(name, schedule, 1);
    object["spec"]["template"]["spec"]["containers"][0]["env"][0]["value"] = value.into();
    object
}

/// A field of a protobuf message.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![number << 3 | 2];
    let mut length = content.len();
    while length > 0x7f {
        bytes.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
        length >>= 7;
    }
    bytes.push(u8::try_from(length).unwrap());
    bytes.extend_from_slice(content);
    bytes
}

/// A Deployment in protobuf with these annotations. The field numbers are those of `generated.proto` in
/// k8s.io/apimachinery and k8s.io/api.
fn in_protobuf(name: &str, annotations: &[(&str, &[u8])]) -> Vec<u8> {
    let entry = |key: &str, value: &[u8]| [field(1, key.as_bytes()), field(2, value)].concat();
    let annotations = annotations.iter();
    let annotations = annotations.flat_map(|(key, value)| field(12, &entry(key, value)));
    let metadata: Vec<_> = field(1, name.as_bytes())
        .into_iter()
        .chain(annotations)
        .collect();
    let app = entry("app", name.as_bytes());
    let container = [field(1, b"web"), field(2, b"web")].concat();
    let template = [field(1, &field(11, &app)), field(2, &field(2, &container))].concat();
    let spec = [
        vec![1 << 3, 2],
        field(2, &field(1, &app)),
        field(3, &template),
    ]
    .concat();
    let types = [field(1, b"apps/v1"), field(2, b"Deployment")].concat();
    let object = [field(1, &metadata), field(2, &spec)].concat();
    [b"k8s\0".to_vec(), field(1, &types), field(2, &object)].concat()
}

/// The largest amount of memory that a running program has had, in bytes, without the files that it maps now
/// (proc(5), `VmHWM` and `RssFile`).
fn peak_memory(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let kibibytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.unwrap().trim().trim_end_matches(" kB");
        number.parse::<u64>().unwrap()
    };
    (kibibytes("VmHWM:") - kibibytes("RssFile:")) * 1024
}

/// The memory limit of the controller in `manifests/dayshift.yaml`.
const CONTROLLER_LIMIT: u64 = 64 << 20;

fn odd_objects_do_not_affect_the_controller_of_others(plane: &ControlPlane) {
    create_odd_objects(plane, MANY);
}

fn hundred_thousand_variables_do_not_exhaust_the_memory(plane: &ControlPlane) {
    create_odd_objects(plane, MOST);
}

/// One controller with the shipped permissions for both namespaces, whose Namespaces are in one watch.
fn create_odd_objects(plane: &ControlPlane, variables: usize) {
    let evil = Tenant::new(TestNamespace::without_controller(plane, "odd"));
    let good = TestNamespace::without_controller(plane, "beside-odd");
    let label = format!("odd-objects={}", evil.team.name());
    for team in [&evil.team, &good] {
        let labels = json!({"metadata": {"labels": {"odd-objects": evil.team.name()}}});
        plane.patch(&format!("/api/v1/namespaces/{}", team.name()), &labels);
    }
    let stop = soon(40);
    let start = stop.plus(10);
    let schedule = json!({"dayshift/stop": stop.text(), "dayshift/start": start.text()});
    let namespace = format!("/api/v1/namespaces/{}", evil.team.name());
    let fields = odd_fields();
    evil.manage(&namespace, &fields.each_ref().map(|(_, entry)| &**entry));
    evil.create(
        DEPLOYMENTS,
        "deployments",
        &wide("wide", &schedule, variables),
    );
    let large = long("large", &schedule, "<".repeat(1_000_000));
    evil.create(DEPLOYMENTS, "deployments", &large);
    let path = evil.path(DEPLOYMENTS, "deployments");
    let note: (&str, &[u8]) = ("example.com/note", b"a\xff\xfe");
    let text = stop.text();
    for (name, stop) in [("bytes", text.as_bytes()), ("wrong", &b"19:00\xff"[..])] {
        let object = in_protobuf(name, &[note, ("dayshift/stop", stop)]);
        assert_eq!(evil.send(Method::POST, &path, PROTOBUF, object), 201);
    }
    // The largest object that etcd stores has no room for dayshift's labels.
    let is_stored = |size: usize| {
        let full = long("full", &schedule, "x".repeat(size));
        evil.send(Method::POST, &path, JSON, full.to_string()) == 201
    };
    let sizes = (0..40).map(|number| (3 << 19) - 64 * number);
    assert!(sizes.into_iter().any(is_stored), "nothing is stored");

    good.create(deployment("web").replicas(3));
    let good_namespace = format!("/api/v1/namespaces/{}", good.name());
    plane.patch(
        &good_namespace,
        &json!({"metadata": {"annotations": schedule}}),
    );
    // The policy of dayshift's account is in force a moment after it is created. Until then, the first patch of
    // `bytes` would replace bytes that are not text.
    let account = plane.install();
    let foreign = r#"{"metadata": {"annotations": {"example.com/note": "x"}}}"#;
    let foreign = [
        "patch",
        "deployment/web",
        "-n",
        good.name(),
        "--type=merge",
        "-p",
        foreign,
        "--dry-run=server",
    ];
    wait_until("the policy of the account is in force", || {
        let output = plane.kubectl_as(account, &foreign);
        output.stderr.contains("denied request")
    });
    let arguments = ["run", "--namespace-selector", &label];
    let mut program = Dayshift::run(plane, &arguments);
    program.wait_ready();
    good.await_adopted("web", stop);
    // A JSON patch replaces bytes that are not text, which the policy of dayshift's account denies, and no
    // JSON patch can test them. So only these two objects cannot be changed.
    evil.team.await_event("wrong", "ScaleFailed");
    let event = evil.team.await_event("full", "ScaleFailed");
    assert_contains!(event, "request is too large");
    good.await_stopped("web", start);
    // The controller looks for the manager that has set the count back.
    evil.team.await_replicas("wide", 0);
    evil.merge(
        &evil.path(DEPLOYMENTS, "deployments/wide"),
        r#"{"spec": {"replicas": 2}}"#,
    );
    wait_until("the controller has read who scaled it", || {
        let requests = evil.team.requests();
        let mut reads = requests.iter().filter(|request| request.verb == "get");
        reads.any(|read| read.name == "wide")
    });
    good.await_replicas("web", 3);
    good.assert_punctual("web", 1, stop);
    good.assert_punctual("web", 2, start);
    assert_eq!(evil.team.replicas("bytes"), 2);
    assert_eq!(program.get("/readyz").map(|(status, _)| status), Some(200));
    let log = program.log();
    assert_lacks!(log, "nothing is sent for now");
    let memory = peak_memory(program.id());
    println!("odd objects: the controller needed {memory} bytes");
    assert!(memory < CONTROLLER_LIMIT, "{memory} bytes");
    program.kill();
    evil.reset();
}

/// The server sends lists in pages: 50 objects with 9,000 labels each, which need ten times their bytes when
/// they are decoded, and 50 with 240 kB of characters that have six bytes each in JSON.
fn large_pages_do_not_exhaust_the_memory(plane: &ControlPlane) {
    let evil = Tenant::new(TestNamespace::without_controller(plane, "pages"));
    let good = TestNamespace::without_controller(plane, "beside-pages");
    let mut labels = wide("labels", &json!({}), 0);
    let many = (0..9_000).map(|number| (format!("l{number:x}"), json!("")));
    labels["metadata"]["labels"] = many.collect();
    let texts = (0..60).map(|number| {
        (
            format!("example.com/a{number}"),
            json!("\u{1}".repeat(4_000)),
        )
    });
    let texts = wide("texts", &texts.collect(), 0);
    for mut object in [labels, texts] {
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        for number in 0..50 {
            object["metadata"]["name"] = format!("{name}-{number}").into();
            evil.create(DEPLOYMENTS, "deployments", &object);
        }
    }
    let stop = soon(12);
    good.create(deployment("web").replicas(3).stop(stop.text()));
    let arguments = ["run", "-n", evil.team.name(), "-n", good.name()];
    let mut program = Dayshift::run(plane, &arguments);
    program.wait_ready();
    good.await_adopted("web", stop);
    good.await_replicas("web", 0);
    good.assert_punctual("web", 1, stop);
    let memory = peak_memory(program.id());
    println!("large pages: the controller needed {memory} bytes");
    // Less than for the pages as a whole.
    assert!(memory < 28 << 20, "{memory} bytes");
    program.kill();
    let delete = ["delete", "deployments", "--all", "--wait=false"];
    evil.team.kubectl(&delete).success();
}

fn odd_objects_do_not_hide_others_from_commands(plane: &ControlPlane) {
    let evil = Tenant::new(TestNamespace::without_controller(plane, "odd-status"));
    let good = TestNamespace::without_controller(plane, "beside-odd-status");
    let schedule = json!({"dayshift/hours": "09:00-19:00"});
    let fields = odd_fields();
    for (name, entry) in &fields {
        evil.create(DEPLOYMENTS, "deployments", &wide(name, &schedule, 1));
        let path = evil.path(DEPLOYMENTS, &format!("deployments/{name}"));
        evil.manage(&path, &[entry]);
    }
    evil.create(DEPLOYMENTS, "deployments", &wide("wide", &schedule, MANY));
    let namespace = format!("/api/v1/namespaces/{}", evil.team.name());
    evil.manage(&namespace, &fields.each_ref().map(|(_, entry)| &**entry));
    good.create(deployment("web").replicas(3).hours("09:00-19:00"));
    let namespaces = format!("-n {} -n {}", evil.team.name(), good.name());
    let status = plane.shell(&format!("dayshift status {namespaces} -o json"));
    let status: Value = serde_json::from_str(&status.stdout).unwrap();
    let workloads = status["workloads"].as_array().unwrap();
    let mut names: Vec<_> = workloads
        .iter()
        .map(|workload| workload["name"].as_str().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(
        names,
        ["deep", "early", "late", "web", "wide", "wide-fields"]
    );
    evil.reset();
}

/// A proxy makes the responses to all patches of one object undecodable. A schedule changes it every second.
fn undecodable_responses_about_one_object_delay_no_other(plane: &ControlPlane) {
    let gate = Gate::with(plane, plane.install());
    let evil = TestNamespace::without_controller(plane, "undecodable");
    let good = TestNamespace::without_controller(plane, "beside-undecodable");
    let stop = soon(12);
    good.create(deployment("web").replicas(3).stop(stop.text()));
    let often = deployment("garbled").replicas(1);
    evil.create(often.annotation(
        "dayshift/scale",
        "0-58/2 * * * * * = 1; 1-59/2 * * * * * = 2",
    ));
    gate.garble("garbled");
    let kubeconfig = plane.kubeconfig_via(&gate.url(), "dayshift", "dayshift");
    let arguments = [
        "run",
        "-n",
        evil.name(),
        "-n",
        good.name(),
        "--kinds=deployments",
    ];
    let mut program = Dayshift::run_as(&kubeconfig, &arguments);
    program.wait_ready();
    good.await_adopted("web", stop);
    good.await_replicas("web", 0);
    good.assert_punctual("web", 1, stop);
    let garbled = gate.open();
    assert!(garbled > 3, "{garbled} responses");
    let log = program.log();
    assert_lacks!(log, "nothing is sent for now");
    assert_eq!(program.get("/readyz").map(|(status, _)| status), Some(200));
    program.kill();
}

/// The memory limit of the activator in `manifests/activator.yaml`.
const ACTIVATOR_LIMIT: u64 = 256 << 20;

fn odd_objects_do_not_affect_the_activator_of_others(plane: &ControlPlane) {
    let activator = install(plane);
    let evil = Tenant::new(TestNamespace::without_controller(plane, "odd-services"));
    let good = TestNamespace::without_controller(plane, "beside-odd-services");
    let asking = json!({"dayshift/hours": "00:00-24:00", "dayshift/wake-on-request": "2h"});
    let stopped = |mut object: Value| {
        object["spec"]["replicas"] = 0.into();
        object["metadata"]["labels"]["dayshift/state"] = "stopped".into();
        object
    };
    // The server and Kubernetes' controllers need seconds for each.
    let count = if is_full() { 3 } else { 1 };
    for number in 0..count {
        let wide = wide(&format!("wide-{number}"), &asking, MANY);
        evil.create(DEPLOYMENTS, "deployments", &stopped(wide));
    }
    let large = long("large", &asking, "<".repeat(1_000_000));
    evil.create(DEPLOYMENTS, "deployments", &stopped(large));
    for (name, entry) in &odd_fields() {
        let object: Value = serde_json::from_str(&service(name)).unwrap();
        evil.create("api/v1", "services", &object);
        let slice = json!({
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
            "metadata": {"name": name, "labels": {"kubernetes.io/service-name": name}},
            "addressType": "IPv4", "ports": [{"name": "http", "port": 80}],
            "endpoints": [{"addresses": ["10.0.0.1"]}],
        });
        evil.create(SLICES, "endpointslices", &slice);
        for (api, resource) in [("api/v1", "services"), (SLICES, "endpointslices")] {
            evil.manage(&evil.path(api, &format!("{resource}/{name}")), &[entry]);
        }
    }

    create(&good, stopped(wide("web", &asking, 1)));
    good.apply(&service("web"));
    let namespaces = format!("--namespace={},{}", evil.team.name(), good.name());
    let arguments = [
        "activator",
        "--listen=127.0.0.1:0",
        "--bind=127.0.0.1",
        "--ports=23400-23499",
        &namespaces,
    ];
    let mut program = Dayshift::run_as(&activator, &arguments);
    program.wait_ready();
    await_stand_in(&good, "web", true);
    // Changes of these objects do not delay those of others.
    for round in 0..5 {
        let patch = format!(r#"{{"metadata": {{"labels": {{"round": "r{round}"}}}}}}"#);
        evil.merge(&evil.path(DEPLOYMENTS, "deployments/large"), &patch);
    }
    create(&good, stopped(wide("later", &asking, 1)));
    good.apply(&service("later"));
    await_stand_in(&good, "later", true);
    let memory = peak_memory(program.id());
    println!("odd objects: the activator needed {memory} bytes");
    assert!(memory < ACTIVATOR_LIMIT, "{memory} bytes");
    program.kill();
}
