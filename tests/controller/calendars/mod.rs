//! Calendars that change while the controller runs.

mod unreadable;

use std::sync::Arc;

use dayshift_controller::{CalendarFeed, CalendarPublisher, Settings};
use dayshift_schedule::{Calendar, CalendarName, Calendars};

use crate::sandbox::{Sandbox, deployment, of_deployments};

/// A calendar `de` with these dates, and one with the same dates under another name.
pub(crate) fn calendars(dates: &[&str]) -> Calendars {
    let event = |date: &&str| {
        let date = date.replace('-', "");
        format!("BEGIN:VEVENT\nDTSTART:{date}\nEND:VEVENT\n")
    };
    let events: String = dates.iter().map(event).collect();
    let file = format!("BEGIN:VCALENDAR\n{events}END:VCALENDAR");
    let calendar = Arc::new(Calendar::parse(file.as_bytes()).unwrap());
    let named = |name| (CalendarName::parse(name).unwrap(), calendar.clone());
    Calendars::new(["de", "other"].map(named))
}

/// A cluster on Thursday evening, and a controller with a calendar.
fn evening(dates: &[&str]) -> (Sandbox, CalendarPublisher) {
    evening_with(calendars(dates), of_deployments())
}

fn evening_with(calendars: Calendars, settings: Settings) -> (Sandbox, CalendarPublisher) {
    let mut scenario = Sandbox::empty_at("2026-11-19 20:00 UTC");
    let (publisher, calendars) = CalendarFeed::open(calendars);
    scenario.start_controller(Settings {
        calendars,
        ..settings
    });
    (scenario, publisher)
}

fn web(except: &str) -> crate::sandbox::DeploymentBuilder {
    let web = deployment("web").replicas(0).hours("Mon-Fri 09:00-19:00");
    web.annotation("dayshift/except", except)
        .annotation("dayshift/replicas", "3")
}

const FRIDAY: &str = "2026-11-20";
const NO_DAY: &str = "2030-01-01";

#[test]
fn replaced_calendar_applies_at_once_and_never_to_the_past() {
    let (scenario, publisher) = evening(&[NO_DAY]);
    scenario.apply(web("calendar:de"));
    let next = || scenario.label("web", "next");
    assert_eq!(next().as_deref(), Some("2026-11-20T09.00.00Z"));
    publisher.publish(calendars(&[FRIDAY]));
    scenario.settle();
    assert_eq!(next().as_deref(), Some("2026-11-23T09.00.00Z"));
    scenario.sleep_until("2026-11-20 10:00");
    assert_eq!(scenario.replicas("web"), 0);
    // The start at 09:00 today is in the schedule again. Its time has passed, so it is not carried out.
    publisher.publish(calendars(&[NO_DAY]));
    scenario.settle();
    assert_eq!(scenario.replicas("web"), 0);
    assert_eq!(next().as_deref(), Some("2026-11-20T19.00.00Z"));
    scenario.sleep_until("2026-11-23 09:01");
    assert_eq!(scenario.replicas("web"), 3);
    // This is no edit, so no Event reports it.
    assert_eq!(scenario.events("web"), ["Started"]);
}

#[test]
fn calendar_changed_during_a_restart_does_not_act_on_the_past() {
    for dates in [[FRIDAY, NO_DAY], [NO_DAY, FRIDAY]] {
        let (mut scenario, _publisher) = evening(&dates[..1]);
        scenario.apply(web("calendar:de"));
        scenario.sleep_until("2026-11-20 08:00");
        scenario.kill_controllers();
        scenario.sleep_until("2026-11-20 10:00");
        scenario.start_controller(Settings {
            calendars: CalendarFeed::fixed(calendars(&dates[1..])),
            ..of_deployments()
        });
        assert_eq!(scenario.replicas("web"), 0, "{dates:?}");
    }
    // A missed start is carried out late if it was due by both the old and the new dates.
    let (mut scenario, _publisher) = evening(&[NO_DAY]);
    scenario.apply(web("calendar:de"));
    scenario.kill_controllers();
    scenario.sleep_until("2026-11-20 10:00");
    scenario.start_controller(Settings {
        calendars: CalendarFeed::fixed(calendars(&["2027-05-01"])),
        ..of_deployments()
    });
    assert_eq!(scenario.replicas("web"), 3);
}

#[test]
fn calendar_change_evaluates_its_users_and_writes_only_changed_workloads() {
    let (scenario, publisher) = evening(&[NO_DAY]);
    scenario.apply(deployment("plain").hours("Mon-Fri 09:00-19:00"));
    scenario.apply(
        deployment("dates")
            .hours("Mon-Fri 09:00-19:00")
            .annotation("dayshift/except", FRIDAY),
    );
    for name in ["one", "two"] {
        let object = deployment(name).hours("Mon-Fri 09:00-19:00");
        scenario.apply(object.annotation("dayshift/except", "calendar:de"));
    }
    let of_sunday = deployment("sunday").hours("Sun 09:00-19:00");
    scenario.apply(of_sunday.annotation("dayshift/except", "calendar:other"));
    let patched =
        || ["plain", "dates", "one", "two", "sunday"].map(|it| scenario.patched(it).len());
    assert_eq!(patched(), [1; 5]);
    publisher.publish(calendars(&[FRIDAY]));
    scenario.settle();
    assert_eq!(patched(), [1, 1, 2, 2, 1]);
}

#[test]
fn namespace_schedule_can_name_a_calendar() {
    let (scenario, publisher) = evening_with(calendars(&[FRIDAY]), Settings::default());
    for (key, text) in [("hours", "Mon-Fri 09:00-19:00"), ("except", "calendar:de")] {
        let key = format!("dayshift/{key}");
        scenario
            .api
            .annotate_of("Namespace", "", "dev", &key, Some(text))
            .unwrap();
    }
    scenario.settle();
    scenario.apply(deployment("web").replicas(0));
    assert_eq!(
        scenario.label("web", "next").as_deref(),
        Some("2026-11-23T09.00.00Z")
    );
    publisher.publish(calendars(&[NO_DAY]));
    scenario.settle();
    assert_eq!(
        scenario.label("web", "next").as_deref(),
        Some("2026-11-20T09.00.00Z")
    );

    let refused = scenario.api.annotate_of(
        "Namespace",
        "",
        "dev",
        "dayshift/except",
        Some("calendar:xx"),
    );
    refused.unwrap();
    scenario.pass(std::time::Duration::from_secs(2));
    let metrics = scenario.metrics();
    assert!(
        metrics.contains("dayshift_invalid_namespaces 1\n"),
        "{metrics}"
    );
    scenario.sleep_until("2026-11-20 09:01");
    assert_eq!(
        scenario.replicas("web"),
        0,
        "an invalid Namespace schedule changes no count"
    );
}

#[test]
fn rejects_an_unknown_calendar_and_lists_the_known_ones() {
    let (scenario, publisher) = evening(&[NO_DAY]);
    scenario.apply(web("2026-12-24; calendar:fr"));
    assert_eq!(
        scenario.error("web").unwrap(),
        "dayshift/except: `fr` is not a known calendar; give its file with `--calendar \
            fr=FILE.ics`, or name a known one: de, other"
    );
    assert_eq!(scenario.events("web"), ["InvalidSchedule"]);
    publisher.publish(calendars(&[FRIDAY]));
    scenario.sleep_until("2026-11-20 09:01");
    assert_eq!(scenario.replicas("web"), 0);
    scenario.annotate("web", "except", Some("calendar:de"));
    assert_eq!(scenario.error("web"), None);
    scenario.sleep_until("2026-11-23 09:01");
    assert_eq!(scenario.replicas("web"), 3);
}

#[test]
fn calendar_changes_in_quick_succession_are_not_corrections() {
    let (scenario, publisher) = evening(&[NO_DAY]);
    scenario.apply(web("calendar:de"));
    for _ in 0..9 {
        publisher.publish(calendars(&[FRIDAY]));
        scenario.settle();
        publisher.publish(calendars(&[NO_DAY]));
        scenario.settle();
    }
    assert_eq!(
        scenario.label("web", "next").as_deref(),
        Some("2026-11-20T09.00.00Z")
    );
    assert!(
        scenario.events("web").is_empty(),
        "{:?}",
        scenario.events("web")
    );
    scenario.sleep_until("2026-11-20 09:01");
    assert_eq!(scenario.replicas("web"), 3);
}

/// A single start on Friday. If the calendar excludes Friday, no boundary is left.
fn only_on_friday() -> crate::sandbox::DeploymentBuilder {
    let web = deployment("web")
        .replicas(0)
        .annotation("dayshift/replicas", "3");
    web.annotation("dayshift/start", "2026-11-20 09:00")
        .annotation("dayshift/except", "calendar:de")
}

#[test]
fn does_not_catch_up_on_a_start_that_the_old_calendar_excluded() {
    let (scenario, publisher) = evening(&[FRIDAY]);
    scenario.apply(only_on_friday());
    assert_eq!(scenario.label("web", "next").as_deref(), Some("never"));
    scenario.sleep_until("2026-11-20 10:00");
    publisher.publish(calendars(&[NO_DAY]));
    scenario.sleep_until("2026-11-20 12:00");
    assert_eq!(scenario.replicas("web"), 0);

    // A future start is carried out.
    let (scenario, publisher) = evening(&[FRIDAY]);
    scenario.apply(only_on_friday());
    scenario.sleep_until("2026-11-20 08:00");
    publisher.publish(calendars(&[NO_DAY]));
    scenario.sleep_until("2026-11-20 09:01");
    assert_eq!(scenario.replicas("web"), 3);
}

/// Two controllers, each with its own copy of the calendar; the first one reads a change first.
fn two_controllers(dates: &[&str]) -> (Sandbox, [CalendarPublisher; 2]) {
    let (mut scenario, first) = evening(dates);
    let (second, feed) = CalendarFeed::open(calendars(dates));
    scenario.start_controller(Settings {
        calendars: feed,
        ..of_deployments()
    });
    (scenario, [first, second])
}

#[test]
fn two_controllers_that_read_a_calendar_at_different_times_converge() {
    for (before, after, next) in [
        (NO_DAY, FRIDAY, "2026-11-23T09.00.00Z"),
        (FRIDAY, NO_DAY, "2026-11-20T09.00.00Z"),
    ] {
        for order in [[0, 1], [1, 0]] {
            let (scenario, publishers) = two_controllers(&[before]);
            scenario.apply(web("calendar:de"));
            scenario.settle();
            let adopted = scenario.patched("web").len();
            publishers[order[0]].publish(calendars(&[after]));
            scenario.settle();
            // Each of them writes the next boundary once.
            let written = scenario.patched("web").len() - adopted;
            assert!(written <= 4, "{written}");
            publishers[order[1]].publish(calendars(&[after]));
            scenario.settle();
            assert_eq!(scenario.label("web", "next").as_deref(), Some(next));
            assert!(
                scenario.events("web").is_empty(),
                "{:?}",
                scenario.events("web")
            );
            scenario.sleep_until("2026-11-20 09:01");
            let runs = if after == NO_DAY { 3 } else { 0 };
            assert_eq!(scenario.replicas("web"), runs);
            scenario.sleep_until("2026-11-23 09:01");
            assert_eq!(scenario.replicas("web"), 3);
        }
    }
}

#[test]
fn corrects_a_next_label_that_a_user_changed() {
    let (scenario, _publisher) = evening(&[NO_DAY]);
    scenario.apply(web("calendar:de"));
    let later = Some("2026-12-24T09.00.00Z");
    let labelled = scenario.api.label("dev", "web", "dayshift/next", later);
    labelled.unwrap();
    scenario.settle();
    let next = scenario.label("web", "next");
    assert_eq!(next.as_deref(), Some("2026-11-20T09.00.00Z"));
}

#[test]
fn calendar_changed_while_the_schedule_is_rejected_does_not_act_on_the_past() {
    for (before, after, runs) in [(FRIDAY, NO_DAY, 0), (NO_DAY, "2027-05-01", 3)] {
        let (scenario, publisher) = evening(&[before]);
        scenario.apply(web("calendar:de"));
        scenario.annotate("web", "timezone", Some("Mars/Base"));
        scenario.settle();
        // The next boundary follows the dates of that time.
        let day = if before == FRIDAY { 23 } else { 20 };
        let next = format!("2026-11-{day}T09.00.00Z");
        assert_eq!(scenario.label("web", "next"), Some(next));
        scenario.sleep_until("2026-11-20 10:00");
        publisher.publish(calendars(&[after]));
        scenario.sleep_until("2026-11-20 11:00");
        scenario.annotate("web", "timezone", None);
        scenario.settle();
        assert_eq!(scenario.error("web"), None);
        // A missed start is carried out late only if it was due by the dates of that time.
        assert_eq!(scenario.replicas("web"), runs, "{before} to {after}");
        scenario.sleep_until("2026-11-23 09:01");
        assert_eq!(scenario.replicas("web"), 3);
    }
}
