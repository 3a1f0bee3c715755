//! Lists: pages, resourceVersions and selectors.

use serde_json::json;

use super::super::table::{Before, Case, DEPLOYMENTS, WEB, case};
use super::{EXCLUDING, apart, deployment, web, with};

fn at(query: &str) -> String {
    format!("{DEPLOYMENTS}?{query}")
}

/// Four Deployments, two of which have the label `tier=front`.
fn four(name: &'static str) -> Case {
    let labelled =
        |name: &str, tier: &str| with(deployment(name), "/metadata/labels", json!({"tier": tier}));
    case(name)
        .given(labelled("d", "front"))
        .given(labelled("a", "front"))
        .given(labelled("c", "back"))
        .given(deployment("b"))
}

pub fn cases() -> Vec<Case> {
    let mut cases = pages();
    cases.extend(selections());
    cases.extend(EXCLUDING.map(|(description, query)| {
        let query = format!("labelSelector=of%3D{{ns}}&fieldSelector={query}");
        apart(description).get(&format!("/apis/apps/v1/deployments?{query}"))
    }));
    cases
}

fn pages() -> Vec<Case> {
    // {"v":"meta.k8s.io/v1","rv":1,"start":"a\u0000"}
    let ancient = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhXHUwMDAwIn0";
    // {"v":"meta.k8s.io/v1","rv":-1,"start":"a\u0000"}
    let newest = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiYVx1MDAwMCJ9";
    vec![
        case("an empty list").get(DEPLOYMENTS),
        four("a complete list").get(DEPLOYMENTS),
        four("pages")
            .get(&at("limit=2"))
            .get(&at("limit=2&continue={continue}")),
        four("pages of three")
            .get(&at("limit=3"))
            .get(&at("limit=3&continue={continue}")),
        four("a page of all").get(&at("limit=4")),
        four("a limit of zero").get(&at("limit=0")),
        four("a negative limit").get(&at("limit=-1")),
        four("a limit that is a text").get(&at("limit=few")),
        four("the pages show one state")
            .get(&at("limit=2"))
            .delete("/apis/apps/v1/namespaces/{ns}/deployments/d")
            .given(deployment("bb"))
            .merge_patch(
                "/apis/apps/v1/namespaces/{ns}/deployments/c",
                json!({"spec": {"replicas": 9}}),
            )
            .get(&at("limit=1&continue={continue}"))
            .get(&at("limit=5&continue={continue}"))
            .get(DEPLOYMENTS),
        four("the rest without a limit")
            .get(&at("limit=1"))
            .get(&at("continue={continue}")),
        four("an expired token")
            .get(&at("limit=1"))
            .get(&at(&format!("limit=2&continue={ancient}")))
            .after(Before::Compaction),
        four("a limit that is huge").get(&at("limit=9223372036854775807")),
        four("a limit beyond 64 bits").get(&at("limit=9223372036854775808")),
        four("a token for another state")
            .get(&at("limit=1"))
            .get(&at("limit=1&continue={continue}&resourceVersion=0")),
        four("a token of another selection")
            .get(&at("limit=1&labelSelector=tier"))
            .get(&at("limit=1&continue={continue}&labelSelector=!tier")),
        four("the rest of an expired list")
            .get(&at(&format!("limit=2&continue={ancient}")))
            .after(Before::Compaction)
            .get(&at("limit=2&continue={continue}")),
        four("a token for the newest state").get(&at(&format!("limit=2&continue={newest}"))),
        four("an invalid token").get(&at("limit=2&continue=***")),
        four("a token without a version").get(&at("limit=2&continue=e30")),
        four("a token and a resourceVersion")
            .get(&at("limit=1"))
            .get(&at("continue={continue}&resourceVersion={rv}")),
        four("any state")
            .get(DEPLOYMENTS)
            .get(&at("resourceVersion=0")),
        four("any state has no pages")
            .get(DEPLOYMENTS)
            .get(&at("resourceVersion=0&limit=2")),
        four("any state with a match").get(DEPLOYMENTS).get(&at(
            "resourceVersion=0&resourceVersionMatch=NotOlderThan&limit=2",
        )),
        four("not older than").get(&at(
            "resourceVersion={rv}&resourceVersionMatch=NotOlderThan",
        )),
        four("not older than, in pages").get(&at(
            "resourceVersion={rv}&resourceVersionMatch=NotOlderThan&limit=1",
        )),
        four("exactly a resourceVersion")
            .get(&at("resourceVersion={rv0}&resourceVersionMatch=Exact")),
        four("exactly a resourceVersion, with a limit").get(&at("resourceVersion={rv0}&limit=5")),
        four("only a resourceVersion").get(&at("resourceVersion={rv}")),
        four("exactly a compacted resourceVersion")
            .get(&at("resourceVersion=1&resourceVersionMatch=Exact"))
            .after(Before::Compaction),
        four("exactly a future resourceVersion")
            .get(&at("resourceVersion=999999999&resourceVersionMatch=Exact")),
        four("not older than a future resourceVersion").get(&at(
            "resourceVersion=999999999&resourceVersionMatch=NotOlderThan",
        )),
        four("a resourceVersion that is a text").get(&at("resourceVersion=new")),
        four("resourceVersionMatch without a version").get(&at("resourceVersionMatch=Exact")),
        four("an exact match of any state")
            .get(&at("resourceVersion=0&resourceVersionMatch=Exact")),
        four("an unknown resourceVersionMatch")
            .get(&at("resourceVersion=5&resourceVersionMatch=Nearly")),
        four("resourceVersionMatch with a token")
            .get(&at("limit=1"))
            .get(&at(
                "continue={continue}&resourceVersion=5&resourceVersionMatch=Exact",
            )),
        four("initial events of a list").get(&at("sendInitialEvents=true")),
        case("whole items").given(web()).get(DEPLOYMENTS).whole(),
    ]
}

fn selections() -> Vec<Case> {
    let all = |query: &str| format!("/apis/apps/v1/deployments?{query}");
    vec![
        four("a label").get(&at("labelSelector=tier%3Dfront")),
        four("a label twice equal").get(&at("labelSelector=tier%3D%3Dfront")),
        four("not a label").get(&at("labelSelector=tier!%3Dfront")),
        four("in two values").get(&at("labelSelector=tier+in+(front,+back)")),
        four("notin one value").get(&at("labelSelector=tier+notin+(front)")),
        four("a label exists").get(&at("labelSelector=tier")),
        four("a label does not exist").get(&at("labelSelector=!tier")),
        four("two requirements").get(&at("labelSelector=tier,tier!%3Dback")),
        four("in no values").get(&at("labelSelector=tier+in+()")),
        four("notin with an empty value").get(&at("labelSelector=tier+notin+(,front)")),
        four("in one value twice").get(&at("labelSelector=tier+in+(front,front)")),
        four("without blanks").get(&at("labelSelector=tier+in(front)")),
        four("with more blanks").get(&at("labelSelector=++tier++in++(+front+,+back+)++,+tier")),
        four("a set without its end").get(&at("labelSelector=tier+in+(front")),
        four("a set without its beginning").get(&at("labelSelector=tier+in+front)")),
        four("a contradiction").get(&at("labelSelector=tier%3Dfront,tier%3Dback")),
        four("an empty value").get(&at("labelSelector=tier%3D")),
        four("not an empty value").get(&at("labelSelector=tier!%3D")),
        four("no key").get(&at("labelSelector=%3Dfront")),
        four("two values").get(&at("labelSelector=tier%3Dfront%3Dback")),
        four("a comma at the end").get(&at("labelSelector=tier,")),
        four("only a comma").get(&at("labelSelector=,")),
        four("two commas").get(&at("labelSelector=tier,,tier")),
        four("more than").get(&at("labelSelector=tier%3E1")),
        four("less than").get(&at("labelSelector=tier+lt+1")),
        four("more than a text").get(&at("labelSelector=tier%3Ea")),
        four("not a label, with a blank").get(&at("labelSelector=!+tier")),
        four("a comparison after an exclamation mark").get(&at("labelSelector=!tier%3Dfront")),
        four("a key with a prefix").get(&at("labelSelector=dayshift/state")),
        four("a key with two slashes").get(&at("labelSelector=a/b/c")),
        four("a value that is too long")
            .get(&at(&format!("labelSelector=tier%3D{}", "x".repeat(64)))),
        four("a word for an operator as a key").get(&at("labelSelector=in+in+(in)")),
        four("an invalid label selector").get(&at("labelSelector=tier+of+x")),
        four("a selector with a bad value").get(&at("labelSelector=tier%3Da:b")),
        four("pages of selected objects")
            .get(&at("labelSelector=tier%3Dfront&limit=1"))
            .get(&at(
                "labelSelector=tier%3Dfront&limit=1&continue={continue}",
            )),
        four("a last page of selected objects")
            .get(&at("labelSelector=tier%3Dback&limit=1"))
            .get(&at("labelSelector=tier%3Dback&limit=1&continue={continue}")),
        four("a name").get(&at("fieldSelector=metadata.name%3Da")),
        four("not a name").get(&at("fieldSelector=metadata.name!%3Da")),
        four("a name twice equal").get(&at("fieldSelector=metadata.name%3D%3Da")),
        four("a field that cannot be selected").get(&at("fieldSelector=spec.replicas%3D1")),
        four("an invalid field selector").get(&at("fieldSelector=metadata.name")),
        four("two names").get(&at("fieldSelector=metadata.name%3Da,metadata.name%3Db")),
        four("not two names").get(&at("fieldSelector=metadata.name!%3Da,metadata.name!%3Db")),
        four("a name that is empty").get(&at("fieldSelector=metadata.name%3D")),
        four("a name and a label").get(&at("fieldSelector=metadata.name%3Da&labelSelector=tier")),
        four("a name in another namespace").get(&at("fieldSelector=metadata.namespace%3Ddefault")),
        four("a field in a list of values").get(&at("fieldSelector=metadata.name+in+(a)")),
        four("a field with an escape").get(&at("fieldSelector=metadata.name%3Da%5C%2Cb")),
        four("in all namespaces").get(&all("fieldSelector=metadata.namespace%3D{ns}")),
        four("a missing namespace").get("/apis/apps/v1/namespaces/{ns}-gone/deployments"),
        case("a list after a change")
            .given(web())
            .merge_patch(WEB, json!({"spec": {"replicas": 8}}))
            .get(DEPLOYMENTS),
    ]
}
