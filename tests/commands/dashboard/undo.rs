//! Undo of an action that extended, shortened or replaced an override: the former override begins again.

use chrono::{DateTime, Utc};

use super::{
    actions::{cluster, confirmed, post, posted, token},
    browser::{Page, Served},
};
use crate::fake_server::{Cluster, Controller};
use crate::program::wait_until;

fn ends(cluster: &Cluster, key: &str) -> Option<DateTime<Utc>> {
    let text = cluster.annotation("web", key)?;
    Some(text.parse().unwrap())
}

/// Wakes `dev/web` on the page, and returns the number of the action. `last` is the button to press.
fn woken(served: &Served, length: &str, last: &[(&str, &str)]) -> String {
    let token = token(served);
    let fields = [
        ("token", &*token),
        ("do", "wake"),
        ("for", length),
        ("reason", "my demo"),
        ("object", "dev/deploy/web"),
    ];
    let asked = post(served, "/confirm", &fields);
    acted(served, &Page::read(&asked.body), last)
}

/// Confirms a preview, and returns the number of the action when it is done.
fn acted(served: &Served, preview: &Page, last: &[(&str, &str)]) -> String {
    let mut inputs = preview.all("input");
    let plan = inputs.find(|it| it.attribute("name") == Some("plan"));
    let plan = plan.unwrap_or_else(|| panic!("no plan: {}", preview.text()));
    let plan = plan.attribute("value").unwrap().to_owned();
    let token = token(served);
    let fields = [("token", &*token), ("plan", &*plan)];
    let done = post(served, "/act", &[&fields[..], last].concat());
    assert_eq!(done.status, 303, "{}", done.body);
    let to = done.header("location").unwrap().to_owned();
    wait_until("done", || !served.page(&to).text().contains(": under way"));
    plan
}

#[test]
fn undo_restores_the_former_end_and_reason() {
    let shorten = [("shorten", "yes")];
    // The former override, the action, and whether its undo ends the override earlier.
    for (command, former, action, last, is_earlier) in [
        ("wake", "5h", "9h", &[][..], true),
        ("wake", "9h", "1h", &shorten[..], false),
        ("sleep", "5h", "1h", &[], false),
    ] {
        let key = format!("{command}-until");
        let cluster = cluster();
        let _controller = Controller::on(&cluster);
        let args = [
            command,
            "deploy/web",
            "--for",
            former,
            "--reason",
            "load test",
        ];
        assert_eq!(cluster.dayshift(&args).status, 0);
        let before = ends(&cluster, &key);
        let served = Served::of(&cluster, &[]);
        let seen = || {
            served
                .page("/object/dev/deploy/web")
                .text()
                .contains("load test")
        };
        wait_until("seen", seen);
        let plan = woken(&served, action, last);
        assert_ne!(ends(&cluster, &key), before);
        let result = served.page(&format!("/result/{plan}"));
        assert_contains!(result.text(), "Undo: 1 former override again");
        let seen = || {
            served
                .page("/object/dev/deploy/web")
                .text()
                .contains("my demo")
        };
        wait_until("seen", seen);

        let token = token(&served);
        let fields = [("token", &*token), ("do", "undo"), ("plan", &*plan)];
        let asked = post(&served, "/confirm", &fields);
        let preview = Page::read(&asked.body);
        let earlier = "1 override would end earlier";
        assert_eq!(
            preview.text().contains(earlier),
            is_earlier,
            "{}",
            preview.text()
        );
        let last = if is_earlier { &shorten[..] } else { &[] };
        acted(&served, &preview, last);
        assert_eq!(ends(&cluster, &key), before, "{command} {former} {action}");
        let reason = cluster.annotation("web", "reason");
        assert_eq!(reason.as_deref(), Some("load test"));
    }
}

#[test]
fn undo_needs_a_completed_action_of_the_same_browser() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    let token = token(&served);
    for plan in ["0", "7", "x", ""] {
        let fields = [("token", &*token), ("do", "undo"), ("plan", plan)];
        let answer = post(&served, "/confirm", &fields);
        assert!(
            [400, 409].contains(&answer.status),
            "{plan}: {}",
            answer.body
        );
    }
    // A preview that is not confirmed yet.
    let fields = [
        ("token", &*token),
        ("do", "pause"),
        ("object", "dev/deploy/web"),
    ];
    let asked = post(&served, "/confirm", &fields);
    assert_contains!(asked.body, "name=\"plan\"");
    let fields = [("token", &*token), ("do", "undo"), ("plan", "1")];
    assert_eq!(post(&served, "/confirm", &fields).status, 409);
    confirmed(&served, &asked);
    let (head, body) = posted(&served, "/confirm", &fields);
    let other = format!("{head}\r\ncookie: {}", served.new_browser());
    assert_eq!(served.send_bare(&other, body.as_bytes()).status, 409);
}
