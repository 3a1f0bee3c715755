//! Calendars that cannot be read.

use super::*;

const WHY: &str = "/etc/dayshift/de.ics: line 7, event `Heiligabend`: `2026-12-24` is not a date";

/// The calendars of [`calendars`], of which `de` cannot be read.
fn without_de(dates: &[&str], why: &str) -> Calendars {
    let read = calendars(dates);
    let read = read.iter().map(|(name, calendar)| {
        let calendar = match name.as_str() {
            "de" => Err(why.into()),
            _ => Ok(Arc::new(calendar.clone())),
        };
        (name.clone(), calendar)
    });
    Calendars::from_files(read)
}

/// A controller that starts on Thursday evening with an unreadable calendar.
fn evening_without_de(settings: Settings) -> (Sandbox, CalendarPublisher) {
    evening_with(without_de(&[NO_DAY], WHY), settings)
}

#[test]
fn unreadable_calendar_rejects_only_schedules_that_name_it() {
    let (scenario, publisher) = evening_without_de(of_deployments());
    scenario.apply(web("2026-12-24; calendar:de"));
    let other = deployment("other")
        .replicas(0)
        .annotation("dayshift/replicas", "3");
    let other = other.hours("Mon-Fri 09:00-19:00");
    scenario.apply(other.annotation("dayshift/except", "calendar:other"));
    let plain = deployment("plain")
        .replicas(0)
        .annotation("dayshift/replicas", "3");
    scenario.apply(plain.hours("Mon-Fri 09:00-19:00"));
    let refused = |why: &str| {
        format!(
            "dayshift/except: `de` is a calendar that cannot be read: {why}; correct the file, or give another with `--calendar de=FILE.ics`"
        )
    };
    assert_eq!(scenario.error("web").unwrap(), refused(WHY));
    assert_eq!(scenario.events("web"), ["InvalidSchedule"]);
    assert_eq!(
        (scenario.error("other"), scenario.error("plain")),
        (None, None)
    );
    // Now it is unreadable for another reason.
    publisher.publish(without_de(&[NO_DAY], "gone"));
    scenario.settle();
    assert_eq!(scenario.error("web").unwrap(), refused("gone"));
    scenario.sleep_until("2026-11-20 09:01");
    assert_eq!(
        ["web", "other", "plain"].map(|it| scenario.replicas(it)),
        [0, 3, 3]
    );
    // The calendar is readable again. The workload was never adopted before, and is adopted now.
    publisher.publish(calendars(&[NO_DAY]));
    scenario.settle();
    assert_eq!(scenario.error("web"), None);
    assert_eq!(
        scenario.label("web", "next").as_deref(),
        Some("2026-11-20T19.00.00Z")
    );
    assert_eq!(scenario.replicas("web"), 0);
    scenario.sleep_until("2026-11-23 09:01");
    assert_eq!(scenario.replicas("web"), 3);
    assert_eq!(
        scenario.patched("other").len(),
        scenario.patched("plain").len()
    );
}

#[test]
fn namespace_schedule_recovers_once_its_calendar_is_readable() {
    let (scenario, publisher) = evening_without_de(Settings::default());
    for (key, text) in [("hours", "Mon-Fri 09:00-19:00"), ("except", "calendar:de")] {
        let key = format!("dayshift/{key}");
        let annotated = scenario
            .api
            .annotate_of("Namespace", "", "dev", &key, Some(text));
        annotated.unwrap();
    }
    scenario.settle();
    scenario.apply(deployment("web").replicas(0));
    scenario.pass(std::time::Duration::from_secs(2));
    let is_invalid = |count: u8| {
        let line = format!("dayshift_invalid_namespaces {count}\n");
        scenario.metrics().contains(&line)
    };
    assert!(is_invalid(1) && scenario.label("web", "next").is_none());
    publisher.publish(calendars(&[FRIDAY]));
    scenario.pass(std::time::Duration::from_secs(2));
    assert!(is_invalid(0), "{}", scenario.metrics());
    let next = scenario.label("web", "next");
    assert_eq!(next.as_deref(), Some("2026-11-23T09.00.00Z"));
}

/// The schedule equals the one before the rejection, so a boundary that was missed meanwhile is carried
/// out, once.
#[test]
fn catches_up_once_a_calendar_is_readable_after_a_restart() {
    for (dates, runs) in [(NO_DAY, 3), (FRIDAY, 0)] {
        let (mut scenario, _publisher) = evening(&[dates]);
        scenario.apply(web("calendar:de"));
        scenario.sleep_until("2026-11-20 08:00");
        scenario.kill_controllers();
        let (publisher, feed) = CalendarFeed::open(without_de(&[dates], WHY));
        scenario.start_controller(Settings {
            calendars: feed,
            ..of_deployments()
        });
        scenario.sleep_until("2026-11-20 10:00");
        assert!(scenario.error("web").is_some());
        assert_eq!(scenario.replicas("web"), 0);
        publisher.publish(calendars(&[dates]));
        scenario.sleep_until("2026-11-20 10:01");
        assert_eq!(scenario.error("web"), None);
        assert_eq!(scenario.replicas("web"), runs, "{dates}");
        scenario.sleep_until("2026-11-23 09:01");
        assert_eq!(scenario.replicas("web"), 3);
    }
}
