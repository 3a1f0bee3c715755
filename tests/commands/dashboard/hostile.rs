//! User input never becomes markup.

use serde_json::json;

use super::browser::{Page, Served};
use crate::fake_server::Cluster;

/// Texts that have escaped from text, attributes, comments, styles and double-decoded entities
/// elsewhere.
const TEXTS: [&str; 12] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' autofocus onfocus=alert(1) x='",
    "</title></style></textarea><svg onload=alert(1)>",
    "</pre><iframe src=javascript:alert(1)>",
    "<!--><script>alert(1)</script>-->",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;&amp;lt;",
    "]]><script>alert(1)</script>",
    "javascript:alert(1)//%0a<b>",
    "{{7*7}}${7*7}<%= 7*7 %>",
    "a\u{202e}b\u{0}c\u{1b}[31m<b>\u{2028}</b>",
];

fn cluster() -> Cluster {
    let cluster = Cluster::new();
    for (at, text) in TEXTS.into_iter().enumerate() {
        let name = format!("hours-{at}");
        cluster.deployment(&name, 1, &[("hours", text), ("timezone", text)]);
        let name = format!("good-{at}");
        cluster.deployment(&name, 1, &[("hours", "09:00-17:00")]);
        let uid = cluster.api.get("Deployment", "dev", &name).unwrap()["metadata"]["uid"].clone();
        cluster
            .api
            .create(json!({
                "apiVersion": "events.k8s.io/v1", "kind": "Event",
                "metadata": {"namespace": "dev", "name": format!("event-{at}")},
                "eventTime": "2026-11-20T10:00:00.000000Z",
                "reportingController": "someone", "reportingInstance": "else", "action": "Say",
                "type": "Warning", "reason": "Said", "note": text,
                "regarding": {
                    "apiVersion": "apps/v1", "kind": "Deployment", "namespace": "dev",
                    "name": name, "uid": uid,
                },
            }))
            .unwrap();
    }
    cluster
}

/// The text as a page shows it, with invisible characters escaped.
fn shown(text: &str) -> String {
    dayshift_text::printable(text)
}

#[test]
fn escapes_text_of_annotations_and_events() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    for (at, text) in TEXTS.into_iter().enumerate() {
        let page = served.page(&format!("/object/dev/deploy/hours-{at}"));
        // The annotation is shown on its own line, with the faulty part marked.
        assert_contains!(page.text(), shown(text), "{text}");
        let page = served.page(&format!("/object/dev/deploy/good-{at}"));
        let cells: Vec<_> = page.all("td").map(|it| it.text.clone()).collect();
        assert!(cells.contains(&shown(text)), "{text}: {cells:?}");
    }
    for path in ["/", "/timeline", "/timeline?state=error"] {
        // The reader rejects unknown elements, attributes and links.
        served.page(path);
    }
}

#[test]
fn escapes_urls() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    for text in TEXTS {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for name in [
            "q",
            "namespace",
            "kind",
            "state",
            "theme",
            "from",
            "page",
            "refresh",
        ] {
            query.append_pair(name, text);
        }
        let page = served.page(&format!("/timeline?{}", query.finish()));
        let search = page
            .all("input")
            .find(|it| it.attribute("name") == Some("q"));
        assert_eq!(search.unwrap().attribute("value"), Some(text), "{text}");
        let part: String = form_urlencoded::byte_serialize(text.as_bytes()).collect();
        let part = part.replace('+', "%20");
        for path in [format!("/object/dev/deploy/{part}"), format!("/{part}")] {
            let answer = served.get(&path);
            assert_eq!(answer.status, 404, "{path}");
            Page::read(&answer.body);
        }
    }
}
