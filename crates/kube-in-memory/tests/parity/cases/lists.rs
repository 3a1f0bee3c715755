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
    cases.extend(EXCLUDING.map(|(what, query)| {
        let query = format!("labelSelector=of%3D{{ns}}&fieldSelector={query}");
        apart(what).get(&format!("/apis/apps/v1/deployments?{query}"))
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
        four("all at once").get(DEPLOYMENTS),
        four("pages")
            .get(&at("limit=2"))
            .get(&at("limit=2&continue={continue}")),
        four("pages of three")
            .get(&at("limit=3"))
            .get(&at("limit=3&continue={continue}")),
        four("a page of all").get(&at("limit=4")),
        four("a limit of nothing").get(&at("limit=0")),
        four("a limit below nothing").get(&at("limit=-1")),
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
        four("a limit that is more than huge").get(&at("limit=9223372036854775808")),
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
        four("a token that is none").get(&at("limit=2&continue=***")),
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
        four("exactly").get(&at("resourceVersion={rv0}&resourceVersionMatch=Exact")),
        four("exactly, by a limit").get(&at("resourceVersion={rv0}&limit=5")),
        four("by a resourceVersion alone").get(&at("resourceVersion={rv}")),
        four("exactly what is long gone")
            .get(&at("resourceVersion=1&resourceVersionMatch=Exact"))
            .after(Before::Compaction),
        four("what is not there yet")
            .get(&at("resourceVersion=999999999&resourceVersionMatch=Exact")),
        four("newer than there is").get(&at(
            "resourceVersion=999999999&resourceVersionMatch=NotOlderThan",
        )),
        four("a resourceVersion that is a text").get(&at("resourceVersion=new")),
        four("a match without a version").get(&at("resourceVersionMatch=Exact")),
        four("an exact match of any").get(&at("resourceVersion=0&resourceVersionMatch=Exact")),
        four("a match that is none").get(&at("resourceVersion=5&resourceVersionMatch=Nearly")),
        four("a match with a token").get(&at("limit=1")).get(&at(
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
        four("among labels").get(&at("labelSelector=tier+in+(front,+back)")),
        four("not among labels").get(&at("labelSelector=tier+notin+(front)")),
        four("a label at all").get(&at("labelSelector=tier")),
        four("no label").get(&at("labelSelector=!tier")),
        four("two requirements").get(&at("labelSelector=tier,tier!%3Dback")),
        four("among nothing").get(&at("labelSelector=tier+in+()")),
        four("among the empty text").get(&at("labelSelector=tier+notin+(,front)")),
        four("among one twice").get(&at("labelSelector=tier+in+(front,front)")),
        four("without blanks").get(&at("labelSelector=tier+in(front)")),
        four("with more blanks").get(&at("labelSelector=++tier++in++(+front+,+back+)++,+tier")),
        four("a list that does not end").get(&at("labelSelector=tier+in+(front")),
        four("a list that does not begin").get(&at("labelSelector=tier+in+front)")),
        four("a contradiction").get(&at("labelSelector=tier%3Dfront,tier%3Dback")),
        four("no value").get(&at("labelSelector=tier%3D")),
        four("not no value").get(&at("labelSelector=tier!%3D")),
        four("no key").get(&at("labelSelector=%3Dfront")),
        four("two values").get(&at("labelSelector=tier%3Dfront%3Dback")),
        four("a comma at the end").get(&at("labelSelector=tier,")),
        four("a comma alone").get(&at("labelSelector=,")),
        four("two commas").get(&at("labelSelector=tier,,tier")),
        four("more than").get(&at("labelSelector=tier%3E1")),
        four("less than").get(&at("labelSelector=tier+lt+1")),
        four("more than a text").get(&at("labelSelector=tier%3Ea")),
        four("not a label, with a blank").get(&at("labelSelector=!+tier")),
        four("not a value of nothing").get(&at("labelSelector=!tier%3Dfront")),
        four("a key with a prefix").get(&at("labelSelector=dayshift/state")),
        four("a key with two slashes").get(&at("labelSelector=a/b/c")),
        four("a value that is too long")
            .get(&at(&format!("labelSelector=tier%3D{}", "x".repeat(64)))),
        four("a word for an operator as a key").get(&at("labelSelector=in+in+(in)")),
        four("a selector that is none").get(&at("labelSelector=tier+of+x")),
        four("a selector with a bad value").get(&at("labelSelector=tier%3Da:b")),
        four("pages of what is selected")
            .get(&at("labelSelector=tier%3Dfront&limit=1"))
            .get(&at(
                "labelSelector=tier%3Dfront&limit=1&continue={continue}",
            )),
        four("pages with nothing more to select")
            .get(&at("labelSelector=tier%3Dback&limit=1"))
            .get(&at("labelSelector=tier%3Dback&limit=1&continue={continue}")),
        four("a name").get(&at("fieldSelector=metadata.name%3Da")),
        four("not a name").get(&at("fieldSelector=metadata.name!%3Da")),
        four("a name twice equal").get(&at("fieldSelector=metadata.name%3D%3Da")),
        four("a field that cannot be selected").get(&at("fieldSelector=spec.replicas%3D1")),
        four("a field selector that is none").get(&at("fieldSelector=metadata.name")),
        four("two names").get(&at("fieldSelector=metadata.name%3Da,metadata.name%3Db")),
        four("not two names").get(&at("fieldSelector=metadata.name!%3Da,metadata.name!%3Db")),
        four("a name that is empty").get(&at("fieldSelector=metadata.name%3D")),
        four("a name and a label").get(&at("fieldSelector=metadata.name%3Da&labelSelector=tier")),
        four("a name in another namespace").get(&at("fieldSelector=metadata.namespace%3Ddefault")),
        four("a field in a list of values").get(&at("fieldSelector=metadata.name+in+(a)")),
        four("a field with an escape").get(&at("fieldSelector=metadata.name%3Da%5C%2Cb")),
        four("everywhere").get(&all("fieldSelector=metadata.namespace%3D{ns}")),
        four("a namespace that is not there").get("/apis/apps/v1/namespaces/{ns}-gone/deployments"),
        case("one after a change")
            .given(web())
            .merge_patch(WEB, json!({"spec": {"replicas": 8}}))
            .get(DEPLOYMENTS),
    ]
}
