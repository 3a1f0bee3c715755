//! Namespaces: labels, lists, deletion, and writes while terminating.

use serde_json::{Value, json};

use super::super::table::{Case, case};
use super::{deployment, web};

const NAMESPACES: &str = "/api/v1/namespaces";
/// The second Namespace of a case.
const TEAM: &str = "/api/v1/namespaces/{ns}-team";
const IN_TEAM: &str = "/apis/apps/v1/namespaces/{ns}-team/deployments";

fn team() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {
            "name": "{ns}-team", "labels": {"of": "{ns}"},
            "annotations": {"dayshift/hours": "Mon-Fri 09:00-19:00"},
        },
    })
}

/// A case with an existing `team`.
fn given(name: &'static str) -> Case {
    case(name).given_at(NAMESPACES, team())
}

fn annotate(value: Value) -> Value {
    json!({"metadata": {"annotations": {"dayshift/hours": value}}})
}

pub fn cases() -> Vec<Case> {
    let mut cases = changes();
    cases.extend(deletions());
    cases.extend(reads());
    cases
}

fn changes() -> Vec<Case> {
    vec![
        case("a created namespace has its defaults")
            .post(NAMESPACES, team())
            .whole()
            .get(TEAM)
            .whole(),
        case("fields that the server sets are ignored")
            .post(
                NAMESPACES,
                json!({
                    "metadata": {"name": "{ns}-team", "labels": {"kubernetes.io/metadata.name": "x"}},
                    "spec": {"finalizers": ["example.com/wait"]}, "status": {"phase": "Terminating"},
                }),
            )
            .whole(),
        given("annotated, labelled and both removed")
            .merge_patch(TEAM, annotate(json!("Sat 10:00-12:00")))
            .merge_patch(TEAM, json!({"metadata": {"labels": {"tier": "back"}}}))
            .json_patch(
                TEAM,
                json!([{"op": "remove", "path": "/metadata/annotations/dayshift~1hours"}]),
            )
            .merge_patch(TEAM, json!({"metadata": {"labels": {"tier": null, "of": null}}}))
            .ask(
                "PATCH",
                TEAM,
                "application/strategic-merge-patch+json",
                r#"{"metadata":{"annotations":{"a":"b"}}}"#,
            )
            .get(TEAM)
            .whole(),
        given("a bad label").merge_patch(TEAM, json!({"metadata": {"labels": {"x": "a b"}}})),
        case("created with a bad label and a bad annotation").post(
            NAMESPACES,
            json!({"metadata": {
                "name": "{ns}-team", "labels": {"x": "a b"}, "annotations": {"a b": "x"},
            }}),
        ),
        given("its own label stays")
            .merge_patch(TEAM, json!({"metadata": {"labels": {"kubernetes.io/metadata.name": null}}}))
            .merge_patch(TEAM, json!({"metadata": {"labels": {"kubernetes.io/metadata.name": "x"}}})),
        given("a spec and a status do not change")
            .merge_patch(TEAM, json!({"spec": {"finalizers": null}, "status": {"phase": "Terminating"}}))
            .whole(),
        given("put removes omitted fields")
            .put(TEAM, json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "{ns}-team"}}))
            .whole(),
        case("field managers")
            .given_at(&format!("{NAMESPACES}?fieldManager=kubectl"), team())
            .merge_patch(&format!("{TEAM}?fieldManager=dayshift"), annotate(json!("x")))
            .owners(),
    ]
}

fn deletions() -> Vec<Case> {
    vec![
        given("deleted")
            .delete(TEAM)
            .whole()
            .get(TEAM)
            .whole()
            .delete(TEAM)
            .whole(),
        given("a dry run").delete(&format!("{TEAM}?dryRun=All")).whole().get(TEAM).whole(),
        case("no such namespace").delete(TEAM).get(TEAM).merge_patch(TEAM, annotate(json!("x"))),
        case("a terminating namespace stays").delete("/api/v1/namespaces/default"),
        case("another terminating namespace").delete("/api/v1/namespaces/kube-system"),
        given("with a wrong uid").ask(
            "DELETE",
            TEAM,
            "application/json",
            r#"{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"0e5f41c8-0000-4000-8000-000000000000"}}"#,
        ),
        given("objects in a terminating namespace can change, and none is created")
            .given_at(IN_TEAM, web())
            .delete(TEAM)
            .post(IN_TEAM, deployment("other"))
            .post(&format!("{IN_TEAM}?dryRun=All"), deployment("other"))
            .post(IN_TEAM, deployment("Bad_Name"))
            .merge_patch(&format!("{IN_TEAM}/web"), json!({"spec": {"replicas": 0}}))
            .delete(&format!("{IN_TEAM}/web"))
            .get(IN_TEAM),
        given("a terminating namespace can be annotated")
            .delete(TEAM)
            .merge_patch(TEAM, annotate(json!("x")))
            .whole()
            .post(NAMESPACES, team()),
        given("deletion of all namespaces").delete(NAMESPACES),
    ]
}

fn reads() -> Vec<Case> {
    let own = "fieldSelector=metadata.name%3D{ns}-team";
    vec![
        given("a list")
            .get(&format!("{NAMESPACES}?{own}"))
            .whole()
            .get(&format!("{NAMESPACES}?labelSelector=of%3D{{ns}}"))
            .get(&format!(
                "{NAMESPACES}?labelSelector=kubernetes.io/metadata.name+in+({{ns}},{{ns}}-team)"
            ))
            .get(&format!("{NAMESPACES}?labelSelector=of%3D{{ns}},tier"))
            .get(&format!(
                "{NAMESPACES}?fieldSelector=metadata.name%3D{{ns}}-gone"
            )),
        given("a field selector that only namespaces have")
            .get(&format!("{NAMESPACES}?{own},status.phase%3DActive"))
            .get(&format!("{NAMESPACES}?{own},status.phase%3DTerminating"))
            .get(&format!("{NAMESPACES}?{own},status.phase!%3DActive"))
            .get(&format!("{NAMESPACES}?{own},spec.phase%3DActive"))
            .get("/apis/apps/v1/deployments?fieldSelector=status.phase%3DActive"),
        given("a watch")
            .merge_patch(TEAM, annotate(json!("x")))
            .merge_patch(TEAM, json!({"metadata": {"labels": {"of": null}}}))
            .delete(TEAM)
            .watch(
                &format!("{NAMESPACES}?watch=true&resourceVersion={{rv0}}&{own}"),
                3,
            )
            .whole()
            .watch(
                &format!(
                    "{NAMESPACES}?watch=true&resourceVersion={{rv0}}&labelSelector=of%3D{{ns}}"
                ),
                2,
            ),
        given("a watch of the phase").delete(TEAM).watch(
            &format!("{NAMESPACES}?watch=true&resourceVersion={{rv0}}&{own},status.phase%3DActive"),
            1,
        ),
    ]
}
