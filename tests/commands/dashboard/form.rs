//! Forms and the choice of a time zone. An invalid form is shown again with its input.

use std::{collections::BTreeSet, fs};

use chrono::{DateTime, FixedOffset, Utc};

use super::{
    actions::{cluster, confirmed, post, token},
    browser::{Node, Page, Served},
};
use crate::fake_server::{Cluster, Controller};
use crate::program::wait_until;

/// The value of an input field.
fn field(page: &Page, name: &str) -> Option<String> {
    let mut inputs = page.all("input");
    let found = inputs.find(|it| it.attribute("name") == Some(name))?;
    found.attribute("value").map(str::to_owned)
}

fn values<'p>(page: &'p Page, name: &str) -> Vec<&'p str> {
    let inputs = page.all("input");
    let named = inputs.filter(|it| it.attribute("name") == Some(name));
    named.filter_map(|it| it.attribute("value")).collect()
}

#[test]
fn an_invalid_form_keeps_its_input() {
    let cluster = cluster();
    let _controller = Controller::on(&cluster);
    let served = Served::of(&cluster, &[]);
    let token = token(&served);
    let typed = [
        ("token", &*token),
        ("do", "sleep"),
        ("for", "2 fortnights"),
        ("until", ""),
        ("reason", "\"release\" <3"),
        ("object", "dev/deploy/web"),
        ("object", "dev/deploy/api"),
        ("namespace", "dev"),
    ];
    let answer = post(&served, "/confirm", &typed);
    assert_eq!(answer.status, 400, "{}", answer.body);
    let page = Page::read(&answer.body);
    let banner = page.all("p").find(|it| it.has_class("bad")).unwrap();
    assert_starts_with!(banner.text, "For: ");
    assert_eq!(field(&page, "for").as_deref(), Some("2 fortnights"));
    assert_eq!(field(&page, "reason").as_deref(), Some("\"release\" <3"));
    let chosen = page
        .all("option")
        .find(|it| it.attribute("selected").is_some());
    assert_eq!(chosen.unwrap().attribute("value"), Some("sleep"));
    assert_eq!(
        values(&page, "object"),
        ["dev/deploy/api", "dev/deploy/web"]
    );
    assert_eq!(values(&page, "namespace"), ["dev"]);
    assert_eq!(values(&page, "token"), [&*token]);
    // The corrected form works.
    let fields = [
        ("token", &*token),
        ("do", "pause"),
        ("for", "1h"),
        ("reason", "\"release\" <3"),
        ("object", "dev/deploy/web"),
    ];
    confirmed(&served, &post(&served, "/confirm", &fields));
    assert!(cluster.annotation("web", "pause").is_some());
    // Without a selection there is no form to correct.
    let answer = post(&served, "/confirm", &[("token", &token), ("do", "pause")]);
    assert_eq!(answer.status, 400);
    assert_lacks!(answer.body, "method=\"post\"");
}

#[test]
fn the_default_of_two_hours_can_be_replaced() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    for path in [
        "/timeline",
        "/object/dev/deploy/web?refresh=off",
        "/ns/dev?refresh=off",
    ] {
        let page = served.page(path);
        assert_eq!(field(&page, "for").as_deref(), Some("2h"), "{path}");
        assert_eq!(field(&page, "until").as_deref(), Some(""), "{path}");
    }
    let token = token(&served);
    for (action, until, expected) in [
        ("wake", "2099-01-05 09:00", "2099-01-05"),
        ("resume", "", "Nothing would change."),
    ] {
        let fields = [
            ("token", &*token),
            ("do", action),
            ("for", "2h"),
            ("until", until),
            ("object", "dev/deploy/web"),
        ];
        let answer = post(&served, "/confirm", &fields);
        assert_eq!(answer.status, 200, "{action}: {}", answer.body);
        assert!(answer.body.contains(expected), "{action}: {}", answer.body);
    }
}

/// The instants on a page, and their UTC offsets.
fn instants(page: &Page) -> (BTreeSet<DateTime<Utc>>, BTreeSet<i32>) {
    let spans = page.all("span").filter(|it| it.has_class("boundary"));
    let times = spans.flat_map(|it| page.within(it).iter());
    let times = times.filter_map(|it: &Node| it.attribute("datetime"));
    let times: Vec<DateTime<FixedOffset>> = times.map(|it| it.parse().unwrap()).collect();
    let offsets = times.iter().map(|it| it.offset().local_minus_utc() / 3600);
    (
        times.iter().map(DateTime::to_utc).collect(),
        offsets.collect(),
    )
}

#[test]
fn shows_times_in_the_chosen_zone() {
    let cluster = Cluster::new();
    let zone = ("timezone", "Asia/Tokyo");
    cluster.deployment("web", 2, &[("hours", "09:00-17:30"), zone]);
    let served = Served::of(&cluster, &[]);
    let path = "/object/dev/deploy/web?refresh=off";
    let (own, tokyo) = instants(&served.page(path));
    assert_eq!(tokyo, [9].into());
    let page = served.page(&format!("{path}&tz=Pacific/Honolulu"));
    let (shown, honolulu) = instants(&page);
    assert_eq!(honolulu, [-10].into());
    // The two pages begin and end at different midnights, but their common instants are equal.
    let both = own.intersection(&shown).count();
    assert!(both >= 26, "{own:?} {shown:?}");
    assert!(
        page.text().contains("09:00") || page.text().contains("14:00"),
        "{}",
        page.text()
    );
    // The links keep the chosen zone, and the meaning of the annotation does not change.
    let links = page.all("a").filter_map(|it| it.attribute("href"));
    for link in links.filter(|it| it.starts_with("/timeline") || *it == "/") {
        assert_contains!(link, "tz=Pacific%2FHonolulu");
    }
    for path in ["/", "/timeline", "/ns/dev"] {
        let page = served.page(&format!("{path}?tz=Pacific/Honolulu"));
        let head = page.all("div").find(|it| it.has_class("where")).unwrap();
        assert_contains!(head.text, "Pacific/Honolulu");
    }
    let page = served.page("/timeline?tz=Pacific/Honolul");
    let banner = page.all("p").find(|it| it.has_class("banner")).unwrap();
    assert_contains!(banner.text, "Pacific/Honolul");
    assert_contains!(banner.text, "is not a time zone");
}

#[test]
fn reloads_a_changed_calendar_file() {
    let cluster = Cluster::new();
    let hours = ("hours", "Mon-Fri 09:00-17:30");
    cluster.deployment("web", 2, &[hours, ("except", "calendar:de")]);
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("de.ics");
    let write = |date: &str| {
        let text =
            format!("BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:{date}\nEND:VEVENT\nEND:VCALENDAR");
        fs::write(&file, text).unwrap();
    };
    write("20261225");
    let calendar = format!("de={}", file.display());
    let served = Served::of(&cluster, &["--calendar", &calendar]);
    let is_excepted = |week: &str| {
        let page = served.page(&format!("/timeline?from={week}"));
        let weeks = page.all("svg").filter(|it| it.has_class("week"));
        weeks
            .flat_map(|it| page.within(it))
            .any(|it| it.has_class("holiday") && it.attribute("d").is_some_and(|it| !it.is_empty()))
    };
    assert!(is_excepted("2026-12-21"));
    assert!(!is_excepted("2026-12-28"));
    write("20261230");
    wait_until("read again", || is_excepted("2026-12-28"));
    assert!(!is_excepted("2026-12-21"));
}
