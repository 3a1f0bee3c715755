//! The Services that wake a workload on request, and those that do not.

use serde_json::{Value, json};

use super::{OFFICE, STOPPED, evening, state};
use crate::dashboard::browser::Served;
use crate::fake_server::{Cluster, refusal};
use crate::program::wait_until;

/// Two workloads with `wake-on-request`, one without, and Services.
fn cluster() -> Cluster {
    let cluster = evening();
    let asking = [OFFICE, &[("wake-on-request", "2h")]].concat();
    for name in ["web", "lonely"] {
        cluster.deployment(name, 0, &asking);
    }
    cluster.deployment("plain", 0, OFFICE);
    for name in ["web", "lonely", "plain"] {
        state(&cluster, name, STOPPED);
    }
    cluster.api.serve_custom("", "v1", "services", "Service");
    for (name, spec) in [
        (
            "web",
            json!({"ports": [{"port": 80}, {"name": "dns", "port": 53, "protocol": "UDP"}]}),
        ),
        (
            "web-pods",
            json!({"clusterIP": "None", "ports": [{"port": 80}]}),
        ),
        (
            "web-name",
            json!({"type": "ExternalName", "ports": [{"port": 80}]}),
        ),
    ] {
        let mut spec = spec;
        spec["selector"] = json!({"app": "web"});
        let metadata = json!({"namespace": "dev", "name": name});
        let service =
            json!({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec});
        cluster.api.create(service).unwrap();
    }
    cluster
}

const WEB: &str = "dayshift/wake-on-request: port dns of Service web wakes nothing: it is UDP; Service \
                   web-name wakes nothing: it is an ExternalName Service; Service web-pods wakes nothing: it \
                   is headless, so clients take the addresses of its pods from DNS";

const LONELY: &str =
    "dayshift/wake-on-request: no Service selects its pods, so no request wakes it";

fn workload(json: &Value, name: &str) -> Value {
    let mut all = json["workloads"].as_array().unwrap().iter();
    all.find(|it| it["name"] == name).unwrap().clone()
}

#[test]
fn shows_the_services_that_wake_a_workload() {
    let cluster = cluster();
    let ran = cluster.dayshift(&["status"]);
    for note in [
        format!("note: dev/web: {WEB}\n"),
        format!("note: dev/lonely: {LONELY}\n"),
    ] {
        ran.assert_out(&note);
    }
    ran.assert_out_lacks("dev/plain:");
    assert_eq!((ran.status, &*ran.err), (0, ""));
    let json = cluster.dayshift(&["status", "-o", "json"]).json();
    let web = workload(&json, "web");
    assert_eq!(web["onRequest"]["services"], json!(["web"]));
    assert_eq!(web["notes"], json!([WEB]));
    assert_eq!(
        workload(&json, "lonely")["onRequest"]["services"],
        json!([])
    );
    assert_eq!(workload(&json, "plain")["onRequest"], Value::Null);

    // The dashboard reads Services when a workload needs them.
    let served = Served::of(&cluster, &[]);
    wait_until("shown on the page", || {
        let page = served.page("/object/dev/deploy/web");
        let text = page.text();
        text.contains("Woken by requests toService web") && text.contains(WEB)
    });
}

#[test]
fn reports_unreadable_services_and_shows_the_rest() {
    let cluster = cluster();
    cluster.refuse(&["list"], "services");
    let ran = cluster.dayshift(&["status"]);
    let note = format!(
        "note: Services cannot be listed, so it is not known which of them wake a workload on request: {}; \
         allow list of services\n",
        refusal("list", "services")
    );
    assert_eq!((ran.status, &*ran.err), (0, &*note));
    ran.assert_out_lacks("wake-on-request");
    let json = cluster.dayshift(&["status", "-o", "json"]).json();
    assert_eq!(workload(&json, "web")["onRequest"], Value::Null);
    assert_eq!(json["unread"][0]["resource"], "services");
}

#[test]
fn does_not_read_services_without_wake_on_request() {
    let cluster = evening();
    cluster.deployment("plain", 1, OFFICE);
    cluster.refuse(&["list"], "services");
    let ran = cluster.dayshift(&["status"]);
    assert_eq!((ran.status, &*ran.err), (0, ""));
}
