//! Permissions that the API server revokes.

use std::fs;
use std::path::Path;

use chrono::{TimeDelta, Utc};
use serde_json::json;
use tempfile::NamedTempFile;

use crate::reliability::harness::cases::{Case, cases, nightly};
use crate::reliability::harness::figures::Figures;
use crate::reliability::harness::scenario::{Place, Scenario, Size};

pub(crate) fn cases() -> Vec<Case> {
    [
        cases![
            Plane::Shared;
            "token expired, a new one after 20 s" => expired_token,
            "token rotated before it expires" => rotated_token,
        ],
        nightly(cases![
            Plane::Shared;
            "RBAC permissions removed, restored after 20 s" => withdrawn,
            "429 (Priority and Fairness, one request at a time)" => too_many_requests,
        ]),
    ]
    .concat()
}

/// How long before the stop a fault begins if it is caused with kubectl, in seconds.
const KUBECTL: i64 = 4;

/// A Namespace whose controller reads its token from a file, and the file.
fn with_token_file<'a>(
    place: &Place<'a>,
    name: &str,
    size: Size,
    left: i64,
) -> (Scenario<'a>, std::path::PathBuf) {
    let mut scenario = Scenario::set(place, name, size);
    let url = scenario.proxy.url();
    let (kubeconfig, file) = place.plane.kubeconfig_with_token_file(&url);
    let expires = scenario.stop.0 + TimeDelta::seconds(left);
    let token = place
        .plane
        .token_until(scenario.namespace.name(), "dayshift", expires);
    fs::write(&file, token).unwrap();
    scenario.connect_with(kubeconfig);
    scenario.run();
    scenario.await_adopted();
    (scenario, file)
}

fn renew(place: &Place<'_>, scenario: &Scenario<'_>, file: &Path) {
    let token = place.plane.token_of(scenario.namespace.name(), "dayshift");
    fs::write(file, token).unwrap();
}

fn expired_token(place: &Place<'_>) -> Figures {
    // The token ends long enough before the stop: the server caches a valid token for 10 s, and dayshift
    // might have sent a request just before the end.
    let size = Size {
        lead: place.profile.pick(32, 50),
        ..place.profile.usual()
    };
    let (mut scenario, file) = with_token_file(place, "expired", size, -14);
    scenario.run_fault(|_| (), |scenario| renew(place, scenario, &file));
    scenario.ends().was_not_ready().within(10.0)
}

/// As in the kubelet, the new token exists some time before the old one ends.
fn rotated_token(place: &Place<'_>) -> Figures {
    let size = Size {
        lead: place.profile.pick(18, 75),
        fault: 0,
        ..place.profile.usual()
    };
    let (mut scenario, file) = with_token_file(place, "rotated", size, -1);
    renew(place, &scenario, &file);
    scenario.record_fault(Utc::now(), scenario.stop.0);
    scenario.stop.wait();
    scenario.ends().within(5.0)
}

fn withdrawn(place: &Place<'_>) -> Figures {
    let mut scenario = Scenario::begin(place, "withdrawn", place.profile.usual());
    scenario.run_fault_from(
        KUBECTL,
        |scenario| {
            let delete = ["delete", "rolebinding", "dayshift"];
            scenario.namespace.kubectl(&delete).success();
        },
        |scenario| {
            scenario.namespace.apply_file("manifests/namespaced.yaml");
        },
    );
    scenario.ends().was_not_ready()
}

/// A separate priority level for the ServiceAccount, with a concurrency of one request and no
/// queue.
fn too_many_requests(place: &Place<'_>) -> Figures {
    let mut scenario = Scenario::begin(place, "fairness", place.profile.usual());
    let name = scenario.namespace.name().to_owned();
    let level = json!({"apiVersion": "v1", "kind": "List", "items": [
        {
            "apiVersion": "flowcontrol.apiserver.k8s.io/v1",
            "kind": "PriorityLevelConfiguration",
            "metadata": {"name": name},
            "spec": {"type": "Limited", "limited": {
                "nominalConcurrencyShares": 1,
                "lendablePercent": 0,
                "borrowingLimitPercent": 0,
                "limitResponse": {"type": "Reject"},
            }},
        },
        {
            "apiVersion": "flowcontrol.apiserver.k8s.io/v1",
            "kind": "FlowSchema",
            "metadata": {"name": name},
            "spec": {
                "priorityLevelConfiguration": {"name": name},
                "matchingPrecedence": 2,
                "rules": [{
                    "subjects": [{
                        "kind": "ServiceAccount",
                        "serviceAccount": {"namespace": name, "name": "dayshift"},
                    }],
                    "resourceRules": [{
                        "apiGroups": ["*"], "resources": ["*"], "verbs": ["*"],
                        "namespaces": ["*"], "clusterScope": true,
                    }],
                }],
            },
        },
    ]});
    let file = NamedTempFile::new().unwrap();
    fs::write(file.path(), level.to_string()).unwrap();
    let file = file.path().to_str().unwrap();
    scenario.run_fault_from(
        KUBECTL,
        |scenario| drop(scenario.namespace.kubectl(&["apply", "-f", file]).success()),
        |scenario| {
            let delete = scenario.namespace.kubectl(&["delete", "-f", file]);
            drop(delete.success());
        },
    );
    assert!(scenario.metric(r#"dayshift_api_requests_total{verb="patch",code="429"}"#) > 0);
    scenario.ends()
}
