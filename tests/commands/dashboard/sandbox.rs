//! What a newcomer sees who has no cluster.

use super::browser::Served;

#[test]
fn a_newcomer_sees_a_week_and_what_comes_next_and_what_was_saved() {
    let served = Served::sandbox(&[]);
    let printed = served.before.join("\n");
    assert!(
        printed.contains("7 d from Fri 2026-10-23 08:00:00"),
        "{printed}"
    );
    let overview = served.page("/");
    let text = overview.text();
    assert!(text.contains("Fri 2026-10-30 08:0"), "{text}");
    assert!(
        text.contains(" saved since the controller began to count, Fri 2026-10-23 08:00 UTC"),
        "{text}"
    );
    assert!(
        overview.all("td").any(|it| it.has_class("countdown")),
        "{text}"
    );
    let timeline = served.page("/timeline");
    let pictures: Vec<_> = timeline
        .all("svg")
        .filter_map(|it| it.attribute("aria-label"))
        .collect();
    let printed_names = printed
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    let names = printed_names.filter(|it| it.starts_with("default/") || it.starts_with("team/"));
    // What has no schedule any more has no picture.
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
fn time_goes_on_as_real_time_does() {
    let args = [
        "examples/office-hours.yaml",
        "--from",
        "2026-11-20 18:00",
        "--for",
        "59m59s",
    ];
    let served = Served::sandbox(&[&args[..], &["--timezone", "Europe/Berlin"]].concat());
    let printed = served.before.join("\n");
    assert!(!printed.contains("stop    "), "{printed}");
    // The stop of 19:00 comes a second after the page.
    let begun = std::time::Instant::now();
    loop {
        let page = served.page("/object/default/deploy/office-hours");
        if page
            .all("span")
            .any(|it| it.has_class("badge") && it.text == "stopped")
        {
            assert!(
                page.text().contains("by the stop of Fri 2026-11-20 19:00"),
                "{}",
                page.text()
            );
            return;
        }
        assert!(
            begun.elapsed().as_secs() < 30,
            "nothing has stopped it: {}",
            page.text()
        );
    }
}
