//! The dashboard of the sandbox, as a new user without a cluster sees it.

use super::browser::Served;

#[test]
fn the_sandbox_shows_a_week_the_next_changes_and_savings() {
    let served = Served::sandbox(&[]);
    let printed = served.before.join("\n");
    assert_contains!(printed, "7 d from Fri 2026-10-23 08:00:00");
    let overview = served.page("/");
    let text = overview.text();
    assert_contains!(text, "Fri 2026-10-30 08:0");
    assert_contains!(
        text,
        " saved since the controller started to count, Fri 2026-10-23 08:00 UTC"
    );
    assert!(overview.all("td").any(|it| it.has_class("when")), "{text}");
    let timeline = served.page("/timeline");
    let pictures: Vec<_> = timeline
        .all("svg")
        .filter_map(|it| it.attribute("aria-label"))
        .collect();
    let printed_names = printed
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    let names = printed_names.filter(|it| it.starts_with("default/") || it.starts_with("team/"));
    // Workloads without a schedule have no week.
    for name in names.filter(|it| *it != "default/one-start") {
        let named = pictures
            .iter()
            .find(|it| it.starts_with(&format!("{name}: ")));
        assert!(
            named.is_some_and(|it| it.contains("running ")),
            "{name}: {pictures:?}"
        );
    }
}

#[test]
fn simulated_time_passes_in_real_time() {
    let args = [
        "examples/office-hours.yaml",
        "--from",
        "2026-11-20 18:00",
        "--for",
        "59m59s",
    ];
    let served = Served::sandbox(&[&args[..], &["--timezone", "Europe/Berlin"]].concat());
    let printed = served.before.join("\n");
    assert_lacks!(printed, "stop    ");
    // The stop at 19:00 comes one second after the page.
    let begun = std::time::Instant::now();
    loop {
        let page = served.page("/object/default/deploy/office-hours");
        if page
            .all("span")
            .any(|it| it.has_class("badge") && it.text == "stopped")
        {
            assert_contains!(page.text(), "by the stop of Fri 2026-11-20 19:00");
            return;
        }
        assert!(
            begun.elapsed().as_secs() < 30,
            "nothing has stopped it: {}",
            page.text()
        );
    }
}
