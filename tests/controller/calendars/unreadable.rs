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
    let (story, publisher) = evening_without_de(of_deployments());
    story.apply(web("2026-12-24; calendar:de"));
    let other = deployment("other")
        .replicas(0)
        .annotation("dayshift/replicas", "3");
    let other = other.hours("Mon-Fri 09:00-19:00");
    story.apply(other.annotation("dayshift/except", "calendar:other"));
    let plain = deployment("plain")
        .replicas(0)
        .annotation("dayshift/replicas", "3");
    story.apply(plain.hours("Mon-Fri 09:00-19:00"));
    let refused = |why: &str| {
        format!(
            "dayshift/except: `de` is a calendar that cannot be read: {why}; correct the file, or give another with `--calendar de=FILE.ics`"
        )
    };
    assert_eq!(story.error("web").unwrap(), refused(WHY));
    assert_eq!(story.events("web"), ["InvalidSchedule"]);
    assert_eq!((story.error("other"), story.error("plain")), (None, None));
    // Now it is unreadable for another reason.
    publisher.publish(without_de(&[NO_DAY], "gone"));
    story.settle();
    assert_eq!(story.error("web").unwrap(), refused("gone"));
    story.sleep_until("2026-11-20 09:01");
    assert_eq!(
        ["web", "other", "plain"].map(|it| story.replicas(it)),
        [0, 3, 3]
    );
    // The calendar is readable again. The workload was never adopted before, and is adopted now.
    publisher.publish(calendars(&[NO_DAY]));
    story.settle();
    assert_eq!(story.error("web"), None);
    assert_eq!(
        story.label("web", "next").as_deref(),
        Some("2026-11-20T19.00.00Z")
    );
    assert_eq!(story.replicas("web"), 0);
    story.sleep_until("2026-11-23 09:01");
    assert_eq!(story.replicas("web"), 3);
    assert_eq!(story.patched("other").len(), story.patched("plain").len());
}

#[test]
fn namespace_schedule_recovers_once_its_calendar_is_readable() {
    let (story, publisher) = evening_without_de(Settings::default());
    for (key, text) in [("hours", "Mon-Fri 09:00-19:00"), ("except", "calendar:de")] {
        let key = format!("dayshift/{key}");
        let annotated = story
            .api
            .annotate_of("Namespace", "", "dev", &key, Some(text));
        annotated.unwrap();
    }
    story.settle();
    story.apply(deployment("web").replicas(0));
    story.pass(std::time::Duration::from_secs(2));
    let is_invalid = |count: u8| {
        let line = format!("dayshift_invalid_namespaces {count}\n");
        story.metrics().contains(&line)
    };
    assert!(is_invalid(1) && story.label("web", "next").is_none());
    publisher.publish(calendars(&[FRIDAY]));
    story.pass(std::time::Duration::from_secs(2));
    assert!(is_invalid(0), "{}", story.metrics());
    let next = story.label("web", "next");
    assert_eq!(next.as_deref(), Some("2026-11-23T09.00.00Z"));
}

/// The schedule equals the one before the rejection, so the boundary that was missed meanwhile is
/// caught up with once.
#[test]
fn catches_up_once_a_calendar_is_readable_after_a_restart() {
    for (dates, runs) in [(NO_DAY, 3), (FRIDAY, 0)] {
        let (mut story, _publisher) = evening(&[dates]);
        story.apply(web("calendar:de"));
        story.sleep_until("2026-11-20 08:00");
        story.kill_scalers();
        let (publisher, feed) = CalendarFeed::open(without_de(&[dates], WHY));
        story.start_scaler(Settings {
            calendars: feed,
            ..of_deployments()
        });
        story.sleep_until("2026-11-20 10:00");
        assert!(story.error("web").is_some());
        assert_eq!(story.replicas("web"), 0);
        publisher.publish(calendars(&[dates]));
        story.sleep_until("2026-11-20 10:01");
        assert_eq!(story.error("web"), None);
        assert_eq!(story.replicas("web"), runs, "{dates}");
        story.sleep_until("2026-11-23 09:01");
        assert_eq!(story.replicas("web"), 3);
    }
}
