//! The calendar of a namespace.

use super::browser::Served;
use crate::fake_server::Cluster;

#[test]
fn a_namespace_has_a_calendar_of_starts_stops_and_excluded_dates() {
    let cluster = Cluster::new();
    let hours = ("hours", "2099-01-05 09:00-19:00");
    let office = ("hours", "00:00-23:00");
    cluster.deployment("far", 1, &[hours]);
    let tomorrow = chrono::Utc::now().date_naive() + chrono::TimeDelta::days(1);
    let except = tomorrow.to_string();
    cluster.deployment("web", 3, &[office, ("except", &except)]);
    cluster.deployment("api", 2, &[office]);
    let served = Served::of(&cluster, &[]);
    let answer = served.get("/ns/dev.ics");
    assert_eq!(answer.status, 200, "{}", answer.body);
    let media = answer.header("content-type");
    assert_eq!(media, Some("text/calendar; charset=utf-8"));
    let lines: Vec<_> = answer.body.split_terminator("\r\n").collect();
    assert_eq!(lines.first(), Some(&"BEGIN:VCALENDAR"));
    assert_eq!(lines.last(), Some(&"END:VCALENDAR"));
    let stop = format!("DTSTART:{}T230000Z", tomorrow.format("%Y%m%d"));
    assert!(lines.contains(&&*stop), "{stop}: {lines:?}");
    // On the excluded date only one of them starts.
    let at = format!("DTSTART:{}T000000Z", tomorrow.format("%Y%m%d"));
    let at = lines.iter().position(|line| *line == at).unwrap();
    assert_eq!(lines[at + 1], "SUMMARY:Start api to 2 (dev)");
    let day = format!("DTSTART;VALUE=DATE:{}", tomorrow.format("%Y%m%d"));
    let at = lines.iter().position(|line| *line == day).unwrap();
    assert_eq!(lines[at + 2], "SUMMARY:No starts (dev)");
    assert_eq!(lines[at + 3], "DESCRIPTION:web");
    assert_contains!(answer.body, "SUMMARY:Stop 2 workloads (dev)");
    assert_eq!(served.get("/ns/other.ics").status, 404);
    let page = served.page("/ns/dev");
    let mut links = page.all("a").filter_map(|it| it.attribute("href"));
    assert!(links.any(|to| to == "/ns/dev.ics"));
}

/// Each of the workloads starts and stops every second.
#[test]
fn calendar_ends_after_a_hundred_thousand_boundaries_of_single_workloads() {
    let cluster = Cluster::new();
    let tomorrow = chrono::Utc::now().date_naive() + chrono::TimeDelta::days(1);
    let except = tomorrow.to_string();
    for number in 0..210 {
        let every_second = [
            ("start", "0-58/2 * * * * *"),
            ("stop", "1-59/2 * * * * *"),
            ("except", &*except),
        ];
        cluster.deployment(&format!("web-{number:03}"), 1, &every_second);
    }
    let served = Served::of(&cluster, &[]);
    let calendar = served.get("/ns/dev.ics").body.replace("\r\n ", "");
    // At most 500 boundaries of each are included, so the last ten workloads are left out.
    assert_contains!(calendar, "web-019 and 180 more");
}
