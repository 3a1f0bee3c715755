//! Editing the schedule of a workload on its page: the preview of the new week, the change as a command and as
//! YAML, and the confirmed write.

use kube_in_memory::{Fault, Writer};
use serde_json::json;

use super::{
    actions::{cluster, confirmed, post, token},
    browser::{Answer, Page, Served},
};
use crate::{fake_server::Cluster, program::wait_until};

const WEB: &str = "dev/deploy/web";
const OFFICE: &str = "Mon-Fri 09:00-17:00";

fn field(page: &Page, name: &str) -> Option<String> {
    let mut inputs = page.all("input");
    let found = inputs.find(|it| it.attribute("name") == Some(name))?;
    found.attribute("value").map(str::to_owned)
}

/// The response to the form that edits the schedule of `dev/web`.
fn edited(served: &Served, values: &[(&str, &str)]) -> Answer {
    let token = token(served);
    let fields = [("token", &*token), ("do", "schedule"), ("object", WEB)];
    post(served, "/confirm", &[&fields[..], values].concat())
}

fn patches(cluster: &Cluster) -> usize {
    let requests = cluster.api.requests().into_iter();
    requests.filter(|it| it.verb == "patch").count()
}

#[test]
fn previews_the_new_week_beside_the_old_one_and_writes_it_when_confirmed() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    let editor = served.page("/object/dev/deploy/web/schedule");
    assert_eq!(field(&editor, "hours").as_deref(), Some("00:00-24:00"));
    let links = served.page("/object/dev/deploy/web");
    let address = "/object/dev/deploy/web/schedule";
    assert!(
        links
            .all("a")
            .any(|it| it.attribute("href") == Some(address))
    );

    let values = [
        ("hours", OFFICE),
        ("timezone", "Europe/Berlin"),
        ("except", ""),
    ];
    let asked = edited(&served, &values);
    let page = Page::read(&asked.body);
    let text = page.text();
    for part in [
        "It would run 40 h a week instead of 168 h. That saves 256 replica-hours a week.",
        "kubectl annotate deploy/web -n dev --overwrite dayshift/hours='Mon-Fri 09:00-17:00' \
         dayshift/timezone=Europe/Berlin",
        "metadata:\n  annotations:\n    dayshift/hours: \"Mon-Fri 09:00-17:00\"\n    \
         dayshift/timezone: \"Europe/Berlin\"",
    ] {
        assert_contains!(text, part);
    }
    assert_eq!(page.cells("Running"), ["168 h", "40 h", "−128 h"]);
    let used = [
        "336 replica-hours",
        "80 replica-hours",
        "−256 replica-hours",
    ];
    assert_eq!(page.cells("Used"), used);
    assert_eq!(page.cells("Starts"), ["0", "5", "+5"]);
    assert_eq!(page.cells("dayshift/hours"), ["00:00-24:00", OFFICE]);
    let weeks = page.all("svg").filter(|it| it.has_class("week")).count();
    assert_eq!(weeks, 2, "the old and the new week");
    assert_eq!(
        cluster.annotation("web", "hours").as_deref(),
        Some("00:00-24:00")
    );
    assert_eq!(
        patches(&cluster),
        0,
        "nothing is written before the confirmation"
    );

    let (_, result) = confirmed(&served, &asked);
    let written = "deployment.apps/web annotated dayshift/hours=Mon-Fri 09:00-17:00 \
                   dayshift/timezone=Europe/Berlin";
    assert_contains!(result, written);
    assert_contains!(result, "Undo: the former schedule");
    assert_eq!(cluster.annotation("web", "hours").as_deref(), Some(OFFICE));
    assert_eq!(
        cluster.annotation("api", "hours").as_deref(),
        Some("00:00-24:00")
    );

    wait_until("the new hours are shown", || {
        let editor = served.page("/object/dev/deploy/web/schedule");
        field(&editor, "hours").as_deref() == Some(OFFICE)
    });
    // Undo is the same form with the former values.
    let values = [("hours", "00:00-24:00"), ("timezone", "")];
    confirmed(&served, &edited(&served, &values));
    assert_eq!(
        cluster.annotation("web", "hours").as_deref(),
        Some("00:00-24:00")
    );
    assert_eq!(cluster.annotation("web", "timezone"), None);
}

/// Between a write and its watch event, the pages still show the former schedule.
#[test]
fn a_preview_right_after_an_edit_begins_with_the_edited_schedule() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    let asked = edited(&served, &[("hours", OFFICE)]);
    cluster.api.on_request(|request| {
        let is_watch = request.verb == "watch";
        is_watch.then_some(Fault::Hang)
    });
    cluster.api.close_watches();
    confirmed(&served, &asked);
    let editor = served.page("/object/dev/deploy/web/schedule");
    assert_eq!(field(&editor, "hours").as_deref(), Some("00:00-24:00"));
    let page = Page::read(&edited(&served, &[("hours", "00:00-24:00")]).body);
    assert_eq!(page.cells("dayshift/hours"), [OFFICE, "00:00-24:00"]);
    assert_eq!(page.cells("Running"), ["40 h", "168 h", "+128 h"]);
}

#[test]
fn shows_money_with_a_price() {
    let cluster = Cluster::new();
    cluster.deployment("web", 2, &[("hours", "00:00-24:00")]);
    let requests = json!({"spec": {"template": {"spec": {"containers": [
        {"name": "main", "image": "web", "resources": {"requests": {"cpu": "500m"}}}
    ]}}}});
    let helper = Writer::new("kubectl");
    let api = &cluster.api;
    api.merge_by(helper, "Deployment", "dev", "web", &requests)
        .unwrap();
    let served = Served::of(&cluster, &["--price", "cpu=0.5,currency=EUR"]);
    let page = Page::read(&edited(&served, &[("hours", OFFICE)]).body);
    // 2 replicas with half a core each: 0.50 EUR an hour.
    assert_eq!(page.cells("Cost"), ["84.00 EUR", "20.00 EUR", "−64.00 EUR"]);
    assert_contains!(page.text(), "(64.00 EUR) a week");
}

#[test]
fn rejects_a_schedule_in_the_words_of_the_command_and_keeps_the_values() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    for hours in ["Mon-Fry 09:00-19:00", "9-5", "\"><script>alert(1)</script>"] {
        let ran = cluster.dayshift(&["schedule", "deploy/web", hours]);
        let expected = ran
            .err
            .trim()
            .strip_prefix("error: ")
            .unwrap()
            .replace('`', "");
        let answer = edited(&served, &[("hours", hours), ("except", "2026-12-24")]);
        assert_eq!(answer.status, 400, "{}", answer.body);
        let page = Page::read(&answer.body);
        assert_contains!(page.text(), expected);
        assert_eq!(field(&page, "hours").as_deref(), Some(hours));
        assert_eq!(field(&page, "except").as_deref(), Some("2026-12-24"));
        assert_eq!(field(&page, "plan"), None);
    }
    let answer = edited(&served, &[("hours", "")]);
    assert_eq!(answer.status, 400, "{}", answer.body);
    assert_contains!(answer.body, "it would have no schedule");
    assert_eq!(patches(&cluster), 0);
}

/// A form can have any fields and values.
#[test]
fn forged_and_oversized_forms_change_nothing() {
    let cluster = cluster();
    cluster.api.namespace("other");
    let served = Served::of(&cluster, &[]);
    let token = token(&served);
    let long = "Mon-Fri 09:00-17:00; ".repeat(400);
    let half = &long[..4_000];
    let schedule = [("token", &*token), ("do", "schedule")];
    for (fields, status, output) in [
        (vec![("object", WEB), ("hours", &*long)], 400, "bytes"),
        (
            vec![
                ("object", WEB),
                ("start", half),
                ("stop", half),
                ("except", half),
            ],
            400,
            "at most 8192 are read",
        ),
        (
            vec![
                ("object", WEB),
                ("object", "dev/deploy/api"),
                ("hours", OFFICE),
            ],
            400,
            "Choose one workload",
        ),
        (
            vec![("namespace", "dev"), ("hours", OFFICE)],
            400,
            "Choose one workload",
        ),
        (
            vec![("match", "q="), ("hours", OFFICE)],
            400,
            "Choose one workload",
        ),
        (
            vec![("object", "other/deploy/web"), ("hours", OFFICE)],
            200,
            "it no longer exists",
        ),
        (
            vec![("object", "<b>/../x"), ("hours", OFFICE)],
            200,
            "it no longer exists",
        ),
        // Keys that the form does not have are ignored.
        (
            vec![
                ("object", WEB),
                ("pause", "true"),
                ("replicas", "0"),
                ("allow-volume-deletion", "true"),
            ],
            200,
            "Nothing would change",
        ),
    ] {
        let answer = post(&served, "/confirm", &[&schedule[..], &fields].concat());
        assert_eq!(answer.status, status, "{fields:?}: {}", answer.body);
        let page = Page::read(&answer.body);
        assert_contains!(page.text(), output);
        assert_eq!(field(&page, "plan"), None, "{output}");
        assert!(answer.body.len() < 100_000, "{}", answer.body.len());
    }
    let fields = [
        ("token", "0"),
        ("do", "schedule"),
        ("object", WEB),
        ("hours", OFFICE),
    ];
    assert_eq!(post(&served, "/confirm", &fields).status, 403);
    for id in 0..20 {
        let answer = post(
            &served,
            "/act",
            &[("token", &token), ("plan", &id.to_string())],
        );
        assert!([400, 409].contains(&answer.status), "{id}: {}", answer.body);
    }
    assert_eq!(patches(&cluster), 0);
}

/// The script needs the places of the times; without it, the form has the same field.
#[test]
fn the_edges_of_the_week_are_those_of_the_times_in_the_form() {
    let cluster = cluster();
    cluster.deployment("office", 1, &[("hours", OFFICE), ("timezone", "UTC")]);
    let served = Served::of(&cluster, &[]);
    let edges = |page: &Page| {
        let mut weeks = page.all("div").filter_map(|it| it.attribute("data-edges"));
        let edges = weeks.next().map(str::to_owned);
        assert_eq!(weeks.next(), None, "one week can be edited");
        edges
    };
    let editor = served.page("/object/dev/deploy/office/schedule");
    let found = edges(&editor).unwrap();
    // Five days of the seven that are drawn.
    assert_eq!(found.split(' ').count(), 10, "{found}");
    assert_starts_with!(found, "hours,0,");
    let script = editor.all("script").count();
    assert_eq!(script, 1);
    assert_eq!(edges(&served.page("/object/dev/deploy/web/schedule")), None);
    // The week of the preview has the edges of the new values, not of the present ones.
    let preview = edited(&served, &[("hours", "Mon-Sun 09:00-12:00,13:00-17:00")]);
    let found = edges(&Page::read(&preview.body)).unwrap();
    assert_eq!(found.split(' ').count(), 28, "{found}");
}

#[test]
fn stop_after_is_checked_by_the_parser_and_written() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    for (after, output) in [
        ("8", "8 is not a duration"),
        ("31d", "31d is too long"),
        ("8h since lunch", "since lunch is not known here"),
    ] {
        let answer = edited(&served, &[("stop-after", after)]);
        assert_eq!(answer.status, 400, "{}", answer.body);
        let page = Page::read(&answer.body);
        assert_contains!(page.text(), output);
        assert_eq!(field(&page, "stop-after").as_deref(), Some(after));
    }
    assert_eq!(patches(&cluster), 0);
    let asked = edited(&served, &[("hours", OFFICE), ("stop-after", "2h")]);
    let page = Page::read(&asked.body);
    assert_eq!(page.cells("dayshift/stop-after"), ["none", "2h"]);
    // Each of the five starts is stopped after 2 hours.
    assert_eq!(page.cells("Running")[1], "10 h");
    confirmed(&served, &asked);
    let written = cluster.annotation("web", "stop-after");
    assert_eq!(written.as_deref(), Some("2h"));
}

/// The next sync of GitOps would remove the annotations.
#[test]
fn shows_the_yaml_to_commit_for_a_managed_workload() {
    let cluster = cluster();
    let count = json!({"spec": {"replicas": 3}});
    let argo = Writer::new("argocd-controller");
    let api = &cluster.api;
    api.merge_by(argo, "Deployment", "dev", "web", &count)
        .unwrap();
    let served = Served::of(&cluster, &[]);
    let asked = edited(&served, &[("hours", OFFICE)]);
    let page = Page::read(&asked.body);
    let text = page.text();
    for part in [
        "Argo CD manages this workload",
        "    dayshift/hours: \"Mon-Fri 09:00-17:00\"",
    ] {
        assert_contains!(text, part);
    }
    assert_eq!(field(&page, "plan"), None, "there is no button");
    let token = token(&served);
    let forced = post(&served, "/act", &[("token", &token), ("plan", "1")]);
    assert_eq!(forced.status, 400, "{}", forced.body);
    assert_eq!(patches(&cluster), 0);
}

#[test]
fn a_schedule_that_was_edited_since_the_preview_is_not_replaced() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    let asked = edited(&served, &[("hours", OFFICE)]);
    let theirs = Some("Tue 10:00-11:00");
    cluster
        .api
        .annotate("dev", "web", "dayshift/hours", theirs)
        .unwrap();
    let (_, result) = confirmed(&served, &asked);
    assert_contains!(result, "New schedule: failed");
    assert_eq!(cluster.annotation("web", "hours").as_deref(), theirs);
}

/// Only the controller has the file of schedules, but a workload that follows one has recorded it.
#[test]
fn a_named_schedule_is_accepted_although_its_times_are_unknown() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    let asked = edited(&served, &[("hours", ""), ("schedule", "office-tokyo")]);
    let page = Page::read(&asked.body);
    let text = page.text();
    assert_contains!(text, "are not known here");
    assert_contains!(text, "Its hours cannot be compared.");
    confirmed(&served, &asked);
    assert_eq!(
        cluster.annotation("web", "schedule").as_deref(),
        Some("office-tokyo")
    );
    assert_eq!(cluster.annotation("web", "hours"), None);
}
