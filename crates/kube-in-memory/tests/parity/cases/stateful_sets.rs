//! StatefulSets: defaults, mutable fields, and validation common to all kinds.

use serde_json::{Value, json};

use super::super::table::{Case, DB, STATEFUL_SETS, case};
use super::with;

/// A minimal StatefulSet.
fn stateful_set(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": {"app": "db"}},
            "template": {
                "metadata": {"labels": {"app": "db"}},
                "spec": {"containers": [{"name": "redis", "image": "redis:8"}]},
            },
        },
    })
}

/// `db` with labels, annotations, a Service and a volume claim.
fn db() -> Value {
    let mut db = stateful_set("db");
    db["metadata"]["labels"] = json!({"app": "db", "tier": "back"});
    db["metadata"]["annotations"] = json!({"plain": "x"});
    db["spec"]["replicas"] = json!(3);
    db["spec"]["serviceName"] = json!("db");
    db["spec"]["volumeClaimTemplates"] = json!([{
        "metadata": {"name": "files"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }]);
    db
}

/// A case with an existing `db`.
fn given(name: &'static str) -> Case {
    case(name).given_at(STATEFUL_SETS, db())
}

fn create(name: &'static str, path: &str, value: Value) -> Case {
    case(name).post(STATEFUL_SETS, with(db(), path, value))
}

fn patch(name: &'static str, path: &str, value: Value) -> Case {
    given(name).json_patch(DB, json!([{"op": "add", "path": path, "value": value}]))
}

pub fn cases() -> Vec<Case> {
    let mut cases = objects();
    cases.extend(refusals());
    cases.extend(changes());
    cases.extend(reads());
    cases
}

fn objects() -> Vec<Case> {
    vec![
        case("a created object has its defaults")
            .post(STATEFUL_SETS, stateful_set("db"))
            .whole()
            .get(DB)
            .whole(),
        case("a volume claim has its defaults")
            .post(STATEFUL_SETS, db())
            .whole(),
        create(
            "given values stay",
            "/spec",
            json!({
                "replicas": 0, "podManagementPolicy": "Parallel", "revisionHistoryLimit": 2,
                "minReadySeconds": 5, "ordinals": {"start": 3}, "serviceName": "other",
                "updateStrategy": {"type": "OnDelete"},
                "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"},
                "selector": db()["spec"]["selector"], "template": db()["spec"]["template"],
            }),
        )
        .whole(),
        create(
            "a rolling update without a partition",
            "/spec/updateStrategy",
            json!({"type": "RollingUpdate", "rollingUpdate": {}}),
        )
        .whole(),
        create(
            "a rolling update with only its type",
            "/spec/updateStrategy",
            json!({"type": "RollingUpdate"}),
        )
        .whole(),
        create(
            "a rolling update with a partition",
            "/spec/updateStrategy",
            json!({"rollingUpdate": {"partition": 2}}),
        )
        .whole(),
        create("no seconds", "/spec/minReadySeconds", json!(0)).whole(),
        create("an ordinal of zero", "/spec/ordinals", json!({"start": 0})).whole(),
        create(
            "an unknown member is dropped",
            "/spec/strategy",
            json!({"type": "Recreate"}),
        )
        .whole(),
        case("created twice")
            .post(STATEFUL_SETS, db())
            .post(STATEFUL_SETS, db()),
        case("no such object").get(DB).delete(DB).put(DB, db()),
        given("deleted").delete(DB).get(DB),
        case("deleted with a finalizer")
            .post(
                STATEFUL_SETS,
                with(db(), "/metadata/finalizers", json!(["example.com/wait"])),
            )
            .delete(DB)
            .merge_patch(DB, json!({"metadata": {"finalizers": null}}))
            .get(DB),
    ]
}

fn refusals() -> Vec<Case> {
    vec![
        create("a negative count", "/spec/replicas", json!(-1)),
        create("a count that is a text", "/spec/replicas", json!("3")),
        create("a negative ordinal", "/spec/ordinals", json!({"start": -1})),
        create(
            "an ordinal that is a text",
            "/spec/ordinals",
            json!({"start": "1"}),
        ),
        create(
            "a negative history",
            "/spec/revisionHistoryLimit",
            json!(-1),
        ),
        create("negative seconds", "/spec/minReadySeconds", json!(-1)),
        create("a service that is a number", "/spec/serviceName", json!(1)),
        create("no selector", "/spec/selector", json!(null)),
        create("an empty selector", "/spec/selector", json!({})),
        create(
            "a selector of other labels",
            "/spec/selector",
            json!({"matchLabels": {"app": "other"}}),
        ),
        create("no containers", "/spec/template/spec/containers", json!([])),
        create(
            "a container without an image",
            "/spec/template/spec/containers/0",
            json!({"name": "a"}),
        ),
        create("a bad label", "/metadata/labels/x", json!("a b")),
        create("a bad name", "/metadata/name", json!("Db_1")),
        case("no spec").post(
            STATEFUL_SETS,
            json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}}),
        ),
        create("a spec that is a text", "/spec", json!("x")),
        create(
            "a strategy that is a text",
            "/spec/updateStrategy",
            json!("RollingUpdate"),
        ),
        create("ordinals that are a number", "/spec/ordinals", json!(1)),
        create(
            "claims that are a map",
            "/spec/volumeClaimTemplates",
            json!({}),
        ),
    ]
}

fn changes() -> Vec<Case> {
    let frozen = |name, path, value| patch(name, path, value);
    let mut cases = vec![
        frozen("another serviceName", "/spec/serviceName", json!("other")),
        frozen("another selector", "/spec/selector", json!({"matchLabels": {"app": "other"}})),
        frozen("another pod management", "/spec/podManagementPolicy", json!("Parallel")),
        frozen("no volume claims", "/spec/volumeClaimTemplates", json!([])),
        given("two causes at once").merge_patch(
            DB,
            json!({"spec": {"serviceName": "other", "replicas": -1}, "metadata": {"labels": {"x": "a:b"}}}),
        ),
        given("mutable fields")
            .merge_patch(DB, json!({"spec": {"replicas": 5}}))
            .merge_patch(DB, json!({"spec": {"ordinals": {"start": 1}}}))
            .merge_patch(DB, json!({"spec": {"updateStrategy": {"type": "OnDelete", "rollingUpdate": null}}}))
            .merge_patch(DB, json!({"spec": {"persistentVolumeClaimRetentionPolicy": {"whenScaled": "Delete"}}}))
            .merge_patch(DB, json!({"spec": {"revisionHistoryLimit": 1}}))
            .merge_patch(DB, json!({"spec": {"minReadySeconds": 4}}))
            .json_patch(
                DB,
                json!([{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "redis"}]),
            )
            .get(DB)
            .whole(),
        given("the count is removed").json_patch(DB, json!([{"op": "remove", "path": "/spec/replicas"}])),
        given("a transition with tests").json_patch(
            DB,
            json!([
                {"op": "test", "path": "/metadata/uid", "value": "{uid}"},
                {"op": "test", "path": "/spec/replicas", "value": 3},
                {"op": "test", "path": "/metadata/labels/dayshift~1last", "value": null},
                {"op": "replace", "path": "/spec/replicas", "value": 0},
                {"op": "add", "path": "/metadata/labels/dayshift~1state", "value": "stopped"},
            ]),
        ),
        given("a test that fails").json_patch(
            DB,
            json!([
                {"op": "test", "path": "/spec/replicas", "value": 4},
                {"op": "replace", "path": "/spec/replicas", "value": 0},
            ]),
        ),
        given("changes that increment the generation")
            .merge_patch(DB, json!({"metadata": {"labels": {"x": "y"}}}))
            .merge_patch(DB, json!({"metadata": {"annotations": {"x": "y"}}}))
            .merge_patch(DB, json!({"spec": {"replicas": 4}})),
        given("unchanged put").put(DB, with(db(), "/metadata/resourceVersion", json!("{rv}"))),
        given("put removes omitted fields").put(DB, stateful_set("db")),
        given("put does not change the status").put(DB, with(db(), "/status", json!({"replicas": 3}))),
        given("a null in the spec").merge_patch(DB, json!({"spec": null})),
    ];
    cases.push(
        case("field managers")
            .given_at(&format!("{STATEFUL_SETS}?fieldManager=helm"), db())
            .merge_patch(
                &format!("{DB}?fieldManager=dayshift"),
                json!({"spec": {"replicas": 0}, "metadata": {"labels": {"state": "stopped"}}}),
            )
            .owners()
            .merge_patch(
                &format!("{DB}?fieldManager=kubectl"),
                json!({"spec": {"replicas": 2}}),
            )
            .owners(),
    );
    cases
}

fn reads() -> Vec<Case> {
    let at = |query: &str| format!("{STATEFUL_SETS}?watch=true&{query}");
    vec![
        case("a list")
            .given_at(STATEFUL_SETS, stateful_set("b"))
            .given_at(STATEFUL_SETS, stateful_set("a"))
            .get(STATEFUL_SETS)
            .get(&format!("{STATEFUL_SETS}?limit=1"))
            .get(&format!("{STATEFUL_SETS}?limit=1&continue={{continue}}"))
            .get(&format!("{STATEFUL_SETS}?fieldSelector=metadata.name%3Db")),
        case("a list does not have Deployments")
            .given(super::web())
            .get(STATEFUL_SETS),
        given("a watch")
            .merge_patch(DB, json!({"spec": {"replicas": 0}}))
            .delete(DB)
            .watch(&at("resourceVersion={rv0}"), 2)
            .whole(),
        given("a streamed list")
            .get(STATEFUL_SETS)
            .watch(
                &at("resourceVersion=0&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"),
                2,
            )
            .whole(),
    ]
}
