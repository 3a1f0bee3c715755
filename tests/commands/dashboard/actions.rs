//! Actions of the dashboard: only confirmed ones, only from our own pages, and with the same
//! results as the commands.

use std::io::{Read as _, Write as _};

use super::browser::{Answer, Page, Served};
use crate::fake_server::{Cluster, Controller};
use crate::program::wait_until;

const FORM: &str = "application/x-www-form-urlencoded";

pub(super) fn cluster() -> Cluster {
    let cluster = Cluster::new();
    for name in ["web", "api"] {
        cluster.deployment(name, 2, &[("hours", "00:00-24:00")]);
    }
    cluster
}

/// The token of a form.
pub(crate) fn token(served: &Served) -> String {
    let page = served.page("/timeline");
    let hidden = |it: &&super::browser::Node| it.attribute("name") == Some("token");
    let token = page.all("input").find(hidden).unwrap();
    token.attribute("value").unwrap().to_owned()
}

fn encoded(fields: &[(&str, &str)]) -> String {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(fields);
    form.finish()
}

/// The response to a form of our own page.
pub(crate) fn post(served: &Served, path: &str, fields: &[(&str, &str)]) -> Answer {
    let (head, body) = posted(served, path, fields);
    served.send(&head, body.as_bytes())
}

/// A request of our own page without the cookie.
pub(super) fn posted(served: &Served, path: &str, fields: &[(&str, &str)]) -> (String, String) {
    let host = served.address;
    let body = encoded(fields);
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {host}\r\norigin: http://{host}\r\nsec-fetch-site: \
         same-origin\r\ncontent-type: {FORM}\r\ncontent-length: {}",
        body.len()
    );
    (head, body)
}

/// Confirms an action, and returns the confirmation page and the result page.
pub(super) fn confirmed(served: &Served, asked: &Answer) -> (Page, String) {
    assert_eq!(asked.status, 200, "{}", asked.body);
    let page = Page::read(&asked.body);
    let value = |name: &str| {
        let mut inputs = page.all("input");
        let found = inputs.find(|it| it.attribute("name") == Some(name));
        let found = found.unwrap_or_else(|| panic!("no {name}: {}", page.text()));
        found.attribute("value").unwrap().to_owned()
    };
    let (token, plan) = (value("token"), value("plan"));
    let fields = [("token", &*token), ("plan", &*plan)];
    let done = post(served, "/act", &fields);
    assert_eq!(done.status, 303, "{}", done.body);
    let to = done.header("location").unwrap().to_owned();
    // A repeated request redirects to the same result and changes nothing.
    assert_eq!(post(served, "/act", &fields).header("location"), Some(&*to));
    let result = || served.page(&to).text().to_owned();
    // Without a controller this takes ten seconds.
    wait_until("done", || !result().contains(": under way"));
    (page, result())
}

#[test]
fn a_confirmed_action_is_done_and_reported_as_by_the_command() {
    let cluster = cluster();
    let _controller = Controller::on(&cluster);
    // The page waits for a shorter time than a command, so the controller must have adopted the
    // workloads before.
    cluster.wait_until_seen(&["web", "api"]);
    let served = Served::of(&cluster, &[]);
    let token = token(&served);
    let asked = post(
        &served,
        "/confirm",
        &[
            ("token", &token),
            ("do", "sleep"),
            ("for", "2h"),
            ("until", ""),
            ("object", "dev/deploy/web"),
        ],
    );
    assert_eq!(
        cluster.annotation("web", "sleep-until"),
        None,
        "nothing is written before the confirmation"
    );
    let (page, result) = confirmed(&served, &asked);
    let text = page.text();
    for part in [
        "dev/web",
        "asleep until ",
        "annotated dayshift/sleep-until=",
    ] {
        assert_contains!(text, part);
    }
    assert_lacks!(text, "dev/api");
    let at = cluster.annotation("web", "sleep-until").unwrap();
    assert!(
        text.contains(&at),
        "the confirmed action was carried out: {at}: {text}"
    );
    assert_contains!(result, "deployment.apps/web asleep until ");
    assert_contains!(result, ", 2 -> 0");
    assert_eq!(cluster.annotation("api", "sleep-until"), None);

    // The page offers actions for the state that it has seen, slightly after the change.
    let is_slept = |it: &super::browser::Node| it.has_class("badge") && it.text == "asleep";
    wait_until("shown", || {
        served.page("/timeline").all("span").any(is_slept)
    });
    let fields = [
        ("token", &*token),
        ("do", "resume"),
        ("object", "dev/deploy/web"),
    ];
    let (page, result) = confirmed(&served, &post(&served, "/confirm", &fields));
    assert_contains!(page.text(), "resumed");
    assert_contains!(result, "deployment.apps/web resumed, ");
    assert_eq!(cluster.annotation("web", "sleep-until"), None);

    let fields = [("token", &*token), ("do", "pause"), ("namespace", "dev")];
    let (page, result) = confirmed(&served, &post(&served, "/confirm", &fields));
    assert_contains!(page.text(), "namespace/dev");
    assert_contains!(result, "namespace/dev paused: 2 of 2 workloads");
}

#[test]
fn rejects_forms_of_other_origins() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    let (host, token) = (served.address, token(&served));
    let port = host.port();
    let ours = [
        ("host", format!("127.0.0.1:{port}")),
        ("origin", format!("http://127.0.0.1:{port}")),
        ("content-type", FORM.to_owned()),
        ("sec-fetch-site", "same-origin".to_owned()),
    ];
    let other = "0".repeat(token.len());
    let evil = format!("http://evil.example:{port}");
    let rebound = format!("evil.example:{port}");
    let all = |token: &str| {
        encoded(&[
            ("token", token),
            ("do", "pause"),
            ("object", "dev/deploy/web"),
            ("plan", "1"),
        ])
    };
    let good = all(&token);
    for path in ["/confirm", "/act"] {
        for (changed, body, expected) in [
            (vec![], all(""), 403),
            (vec![], all(&other), 403),
            (vec![], all(&token[..token.len() - 1]), 403),
            (vec![("origin", Some("null"))], good.clone(), 403),
            (vec![("origin", Some(&*evil))], good.clone(), 403),
            (vec![("origin", None)], good.clone(), 403),
            (
                vec![("sec-fetch-site", Some("cross-site"))],
                good.clone(),
                403,
            ),
            (
                vec![("sec-fetch-site", Some("same-site"))],
                good.clone(),
                403,
            ),
            // A DNS name that resolves to this address.
            (
                vec![("host", Some(&*rebound)), ("origin", Some(&*evil))],
                good.clone(),
                403,
            ),
            (
                vec![("content-type", Some("text/plain"))],
                good.clone(),
                415,
            ),
            (vec![("content-type", None)], good.clone(), 415),
            (vec![], "x".repeat(2_000_000), 413),
        ] {
            let mut head = format!("POST {path} HTTP/1.1\r\ncontent-length: {}", body.len());
            for (name, value) in &ours {
                let changed = changed.iter().find(|it| it.0 == *name);
                if let Some(value) = changed.map_or(Some(&**value), |it| it.1) {
                    head += &format!("\r\n{name}: {value}");
                }
            }
            let answer = served.send(&head, body.as_bytes());
            assert_eq!(answer.status, expected, "{path} {changed:?}");
            Page::read(&answer.body);
        }
        // Reading a page changes nothing.
        for method in ["GET", "HEAD", "PUT", "DELETE"] {
            let answer = served.ask(&format!("{method} {path}?{good} HTTP/1.1\r\nhost: {host}"));
            assert_eq!(answer.status, 405, "{method} {path}");
            assert_eq!(answer.header("allow"), Some("POST"));
        }
    }
    let patches = cluster.api.requests().into_iter();
    assert_eq!(patches.filter(|it| it.verb == "patch").count(), 0);
    // A slow request does not block others.
    let mut slow = served.connect();
    let head = format!("POST /act HTTP/1.1\r\nhost: {host}\r\norigin: http://{host}");
    write!(
        slow,
        "{head}\r\ncookie: {}\r\ncontent-type: {FORM}\r\ncontent-length: 900\r\n\r\nt",
        served.cookie.as_ref().unwrap()
    )
    .unwrap();
    served.page("/timeline");
    let mut end = Vec::new();
    let _ = slow.read_to_end(&mut end);
    let end = String::from_utf8_lossy(&end);
    assert_starts_with!(end, "HTTP/1.1 408 ");
}

#[test]
fn impossible_actions_are_reported_before_and_after() {
    let cluster = cluster();
    cluster.deployment("bad", 1, &[("hours", "Mon-Fry 09:00-17:00")]);
    let served = Served::of(&cluster, &[]);
    let token = token(&served);
    for (fields, expected) in [
        (
            vec![("do", "wake"), ("object", "dev/deploy/web")],
            "Set an end",
        ),
        (
            vec![("do", "wake"), ("for", "2"), ("object", "dev/deploy/web")],
            "such as 30s",
        ),
        (
            vec![
                ("do", "sleep"),
                ("until", "tonight"),
                ("object", "dev/deploy/web"),
            ],
            "write 22:00",
        ),
        (vec![("do", "pause")], "Nothing is selected"),
        (
            vec![("do", "<script>"), ("object", "dev/deploy/web")],
            "Choose an action",
        ),
    ] {
        let fields = [vec![("token", &*token)], fields].concat();
        let answer = post(&served, "/confirm", &fields);
        assert_eq!(answer.status, 400, "{fields:?}");
        let text = Page::read(&answer.body).text().to_owned();
        assert_contains!(text, expected);
    }
    // Missing workloads are reported and skipped, whatever their names are.
    let hostile = "dev/deploy/\"><script>alert(1)</script>";
    let fields = [
        ("token", &*token),
        ("do", "pause"),
        ("object", "dev/deploy/gone"),
        ("object", hostile),
        ("object", "dev/deploy/bad"),
        ("namespace", "<b>/../x"),
    ];
    let asked = post(&served, "/confirm", &fields);
    assert_eq!(asked.status, 200, "{}", asked.body);
    let text = Page::read(&asked.body).text().to_owned();
    assert_contains!(text, "Nothing would change.");
    assert_contains!(text, "dev/deploy/gone: it no longer exists");
    assert_contains!(text, hostile);
    assert_contains!(text, "is not a day");
    assert!(
        !asked.body.contains("\"plan\""),
        "there is nothing to confirm"
    );
    // Another override in the meantime is reported as the command reports it.
    let fields = [
        ("token", &*token),
        ("do", "pause"),
        ("object", "dev/deploy/api"),
    ];
    let asked = post(&served, "/confirm", &fields);
    cluster.api.delete("dev", "api").unwrap();
    let (_, result) = confirmed(&served, &asked);
    assert_contains!(result, "deployment.apps/api: not paused: ");
    // Only actions that a page has offered are done.
    for plan in ["0", "99", "-1", "x", "18446744073709551615"] {
        let answer = post(&served, "/act", &[("token", &token), ("plan", plan)]);
        assert_eq!(answer.status, 409, "{plan}");
    }
    for id in ["0", "99", "x"] {
        assert_eq!(served.get(&format!("/result/{id}")).status, 404);
    }
}

/// A preview uses the annotations as the pages have parsed them.
#[test]
fn a_preview_depends_on_the_present_overrides() {
    let cluster = Cluster::new();
    let late = "2099-01-01T00:00:00Z";
    let hours = ("hours", "00:00-24:00");
    cluster.deployment("plain", 2, &[hours]);
    cluster.deployment("paused", 2, &[hours, ("pause", "true")]);
    cluster.deployment("woken", 2, &[hours, ("wake-until", late)]);
    cluster.deployment("both", 2, &[hours, ("wake-until", late), ("pause", late)]);
    cluster.deployment("mistyped", 2, &[hours, ("wake-until", "tonight")]);
    let served = Served::of(&cluster, &[]);
    let token = token(&served);
    for (action, name, expected) in [
        ("wake", "plain", "awake until"),
        ("sleep", "plain", "asleep until"),
        ("wake", "paused", "not woken: it is paused"),
        ("sleep", "paused", "not put to sleep: it is paused"),
        ("pause", "paused", "would end earlier"),
        ("sleep", "woken", "asleep until"),
        ("wake", "woken", "would end earlier"),
        ("sleep", "both", "not put to sleep: it is paused"),
        ("wake", "mistyped", "awake until"),
        ("pause", "mistyped", "not paused: its schedule is rejected"),
    ] {
        let object = format!("dev/deploy/{name}");
        let fields = [
            ("token", &*token),
            ("do", action),
            ("for", "2h"),
            ("object", &object),
        ];
        let asked = post(&served, "/confirm", &fields);
        assert_eq!(asked.status, 200, "{action} {name}: {}", asked.body);
        let page = Page::read(&asked.body);
        assert!(
            page.text().contains(expected),
            "{action} {name}: {}",
            page.text()
        );
    }
}

/// No controller acts here, so each workload is polled for ten seconds and reported.
#[test]
fn acts_only_on_the_selected_workloads_and_reports_each() {
    let cluster = Cluster::new();
    for number in 0..21 {
        cluster.deployment(&format!("web-{number}"), 2, &[("hours", "00:00-24:00")]);
    }
    let served = Served::of(&cluster, &[]);
    let token = token(&served);
    let objects: Vec<_> = (0..20)
        .map(|number| format!("dev/deploy/web-{number}"))
        .collect();
    let mut fields = vec![("token", &*token), ("do", "pause")];
    fields.extend(objects.iter().map(|it| ("object", &**it)));
    let asked = post(&served, "/confirm", &fields);
    assert_contains!(Page::read(&asked.body).text(), "Pause 20 workloads");
    let (_, result) = confirmed(&served, &asked);
    assert_contains!(result, "20 errors");
    assert!(cluster.annotation("web-19", "pause").is_some());
    assert!(cluster.annotation("web-20", "pause").is_none());
}

#[test]
fn actions_work_in_the_sandbox() {
    let served = Served::sandbox(&["examples/office-hours.yaml", "--for", "1h"]);
    let token = token(&served);
    let fields = [
        ("token", &*token),
        ("do", "sleep"),
        ("for", "30h"),
        ("object", "default/deploy/office-hours"),
    ];
    let (_, result) = confirmed(&served, &post(&served, "/confirm", &fields));
    assert_contains!(result, "office-hours asleep until ");
    let object = served.page("/object/default/deploy/office-hours?refresh=off");
    assert!(
        object.all("span").any(|it| it.text == "asleep"),
        "{}",
        object.text()
    );
    assert!(
        object
            .all("form")
            .any(|it| it.attribute("action") == Some("/confirm?refresh=off"))
    );
    // While a page refreshes itself, it has no form whose input could be lost.
    let live = served.get("/object/default/deploy/office-hours");
    assert!(live.header("refresh").is_some() && !live.body.contains("method=\"post\""));
    assert_eq!(served.get("/timeline").header("refresh"), None);
}
