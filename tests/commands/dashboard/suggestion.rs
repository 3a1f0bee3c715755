//! Suggestions from the wakes that the controller of a sandbox has recorded.

use tempfile::NamedTempFile;

use super::{
    actions::{post, token},
    browser::{Page, Served},
};

const WEB: &str = "
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  annotations: {dayshift/hours: \"09:00-19:00\", dayshift/wake-on-request: 1h}
spec: {replicas: 2}
";

/// The sandbox after the stops of 16 to 21 November, with a request at 19:05 on these days.
fn served(days: &[u32]) -> Served {
    let file = NamedTempFile::with_suffix(".yaml").unwrap();
    std::fs::write(file.path(), WEB).unwrap();
    let requests = days.iter();
    let requests: Vec<_> = requests
        .map(|day| format!("--request=deploy/web@2026-11-{day} 19:05"))
        .collect();
    let mut args = vec![file.path().to_str().unwrap()];
    args.extend(["--from", "2026-11-16 08:00", "--for", "6d"]);
    args.extend(requests.iter().map(String::as_str));
    Served::sandbox(&args)
}

#[test]
fn suggests_a_later_stop_after_repeated_wakes() {
    let served = served(&[17, 18, 19, 21]);
    let expected =
        "default/web was woken after 4 of its last 5 stops at 19:00, usually until about 20:15.";
    for path in ["/object/default/deploy/web", "/ns/default"] {
        let page = served.page(path);
        let text = page.text();
        assert!(text.contains(expected), "{path}: {text}");
    }
    let page = served.page("/object/default/deploy/web");
    let hidden = |name: &str| {
        let mut inputs = page.all("input");
        let found = inputs.find(|it| it.attribute("name") == Some(name));
        found.unwrap().attribute("value").unwrap().to_owned()
    };
    assert_eq!(hidden("hours"), "09:00-20:15");
    let token = token(&served);
    let fields = ["do", "object", "hours"].map(|name| (name, hidden(name)));
    let mut fields: Vec<_> = fields
        .iter()
        .map(|(name, value)| (*name, &**value))
        .collect();
    fields.push(("token", &*token));
    let preview = Page::read(&post(&served, "/confirm", &fields).body);
    let preview = preview.text();
    assert_contains!(preview, "New schedule for");
    assert_contains!(preview, "dayshift/hours=09:00-20:15");
    assert_lacks!(preview, "dayshift/wake-on-request");
}

#[test]
fn suggests_nothing_after_few_wakes() {
    let served = served(&[16, 17, 21]);
    for path in ["/object/default/deploy/web", "/ns/default"] {
        let page = served.page(path);
        let text = page.text();
        assert!(!text.contains("Suggestions"), "{path}: {text}");
    }
}
