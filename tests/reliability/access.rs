//! What the API server no longer lets dayshift do.

use std::fs;
use std::path::Path;

use chrono::{TimeDelta, Utc};
use serde_json::json;
use tempfile::NamedTempFile;

use crate::figures::Figures;
use crate::rows::{Row, rows};
use crate::scene::{Place, Scene, Size};

pub(crate) fn rows() -> Vec<Row> {
    rows![
        Plane::Shared;
        "token expired, a new one after 20 s" => expired_token,
        "token rotated before it expires" => rotated_token,
        "RBAC withdrawn, given back after 20 s" => withdrawn,
        "429 (Priority and Fairness, one request at a time)" => too_many_requests,
    ]
}

/// How long before the stop a fault begins that kubectl brings about, in seconds.
const KUBECTL: i64 = 4;

/// A Namespace whose scaler reads its token from a file, and the file.
fn with_token_file<'a>(
    place: &Place<'a>,
    name: &str,
    size: Size,
    left: i64,
) -> (Scene<'a>, std::path::PathBuf) {
    let mut scene = Scene::set(place, name, size);
    let url = scene.proxy.url();
    let (kubeconfig, file) = place.plane.kubeconfig_with_token_file(&url);
    let expires = scene.stop.0 + TimeDelta::seconds(left);
    let token = place
        .plane
        .token_until(scene.namespace.name(), "dayshift", expires);
    fs::write(&file, token).unwrap();
    scene.connect_with(kubeconfig);
    scene.run();
    scene.await_adopted();
    (scene, file)
}

fn renew(place: &Place<'_>, scene: &Scene<'_>, file: &Path) {
    let token = place.plane.token_of(scene.namespace.name(), "dayshift");
    fs::write(file, token).unwrap();
}

fn expired_token(place: &Place<'_>) -> Figures {
    // The server remembers a good token for 10 s after it was last used: the adoptions.
    let size = Size {
        lead: place.scale.pick(18, 35),
        ..place.scale.usual()
    };
    let (mut scene, file) = with_token_file(place, "expired", size, -2);
    scene.suffer(|_| (), |scene| renew(place, scene, &file));
    scene.ends().was_not_ready().within(10.0)
}

/// As a kubelet does it: the new one is there some time before the old one ends.
fn rotated_token(place: &Place<'_>) -> Figures {
    let size = Size {
        lead: place.scale.pick(18, 75),
        fault: 0,
        ..place.scale.usual()
    };
    let (mut scene, file) = with_token_file(place, "rotated", size, -1);
    renew(place, &scene, &file);
    scene.was_from_to(Utc::now(), scene.stop.0);
    scene.stop.wait();
    scene.ends().within(5.0)
}

fn withdrawn(place: &Place<'_>) -> Figures {
    let mut scene = Scene::begin(place, "withdrawn", place.scale.usual());
    scene.suffer_from(
        KUBECTL,
        |scene| {
            let delete = ["delete", "rolebinding", "dayshift"];
            scene.namespace.kubectl(&delete).success();
        },
        |scene| {
            let apply = ["apply", "-f", "manifests/namespaced.yaml"];
            scene.namespace.kubectl(&apply).success();
        },
    );
    scene.ends().was_not_ready()
}

/// A priority level of its own for the ServiceAccount, with room for one request and no queue.
fn too_many_requests(place: &Place<'_>) -> Figures {
    let mut scene = Scene::begin(place, "fairness", place.scale.usual());
    let name = scene.namespace.name().to_owned();
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
    scene.suffer_from(
        KUBECTL,
        |scene| drop(scene.namespace.kubectl(&["apply", "-f", file]).success()),
        |scene| drop(scene.namespace.kubectl(&["delete", "-f", file]).success()),
    );
    assert!(scene.metric(r#"dayshift_api_requests_total{verb="patch",code="429"}"#) > 0);
    scene.ends()
}
