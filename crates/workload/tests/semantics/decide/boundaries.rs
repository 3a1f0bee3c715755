//! Which boundaries are due, and which are not.

use crate::decide::object::{Object, at_night, office, utc};
use dayshift_workload::{Decision, Phase};

mod only_the_latest_boundary_applies {
    use super::*;

    #[test]
    fn applies_only_the_latest_missed_boundary() {
        let mut object = office(3);
        object.away_until("2026-11-20 18:00").apply();
        object.away_until("2026-11-23 09:30").restart().apply();
        assert_eq!(
            (object.replicas(), object.phase()),
            (3, Some(Phase::Running))
        );
        assert_eq!(object.state().last, Some(utc("2026-11-23 09:00")));
    }

    #[test]
    fn each_boundary_takes_one_write() {
        let mut object = office(3);
        let before = object.writes;
        object.until("2026-11-20 20:00"); // Thursday's stop, Friday's start and stop
        assert_eq!(object.writes - before, 3);
    }

    #[test]
    fn a_boundary_missed_beyond_the_catch_up_limit_is_adopted() {
        for (now, expected) in [("2026-11-22 19:00", 0), ("2026-11-22 19:00:01", 3)] {
            let mut object =
                Object::new("2026-11-19 12:00", 3).annotate("stop", "2026-11-19 19:00");
            object.apply();
            object.away_until(now).restart().apply();
            assert_eq!(object.replicas(), expected, "{now}");
        }
    }

    #[test]
    fn a_changed_default_zone_does_not_act_on_the_past() {
        let mut object = office(3);
        object.until("2026-11-20 18:00"); // running; in Tokyo it is 03:00 on Saturday
        object.restart_in_zone("Asia/Tokyo").apply();
        assert_eq!(
            object.replicas(),
            3,
            "the stop of 19:00 in Tokyo is in the past"
        );
        assert_eq!(object.next().unwrap(), "2026-11-23T00.00.00Z");
        object.until("2026-11-23 09:59");
        assert_eq!(object.phase(), Some(Phase::Running));
        object.until("2026-11-23 10:00");
        assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
    }

    #[test]
    fn a_boundary_is_not_due_before_its_time() {
        let mut object = office(3);
        object.away_until("2026-11-19 18:59:59");
        assert!(matches!(object.decide(), Decision::Wait { .. }));
        object.away_until("2026-11-19 19:00");
        assert!(matches!(object.decide(), Decision::Write(_)));
    }
}

mod manual_changes_between_boundaries_are_allowed {
    use super::*;

    #[test]
    fn a_manual_change_is_kept_without_a_write() {
        let mut object = at_night(3);
        let before = object.writes;
        for count in [2, 0, 7] {
            object.scale(count).apply();
            assert_eq!(object.replicas(), count);
        }
        assert_eq!(object.writes, before);
    }
}

mod an_earlier_boundary_is_not_applied_after_a_later_one {
    use super::*;

    #[test]
    fn the_first_observation_outside_running_hours_scales_nothing() {
        let mut object =
            Object::new("2026-11-20 22:00", 3).annotate("hours", "Mon-Fri 09:00-19:00");
        object.apply();
        assert_eq!(
            (object.replicas(), object.phase()),
            (3, Some(Phase::Adopted))
        );
        assert_eq!(object.reasons(), ["Adopted"]);
        assert_eq!(object.next().unwrap(), "2026-11-23T09.00.00Z");
    }

    #[test]
    fn adoption_after_a_boundary_applies_it_if_the_schedule_was_observed_before() {
        let mut object =
            Object::new("2026-11-20 18:59:59", 3).annotate("hours", "Mon-Fri 09:00-19:00");
        object.away_until("2026-11-20 19:00:01").apply();
        assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
    }

    #[test]
    fn an_observation_before_the_clock_was_set_back_counts_as_now() {
        let mut object =
            Object::new("2026-11-20 09:30", 3).annotate("hours", "Mon-Fri 09:00-19:00");
        object.away_until("2026-11-20 08:45").apply();
        assert_eq!(object.state().last, Some(utc("2026-11-20 08:45")));
        assert_eq!(object.next().unwrap(), "2026-11-20T09.00.00Z");
    }

    #[test]
    fn an_edit_sends_an_event_and_scales_nothing() {
        let mut object = office(3);
        object.edit("hours", Some("Mon-Fri 20:00-22:00")).apply();
        assert_eq!(
            (object.replicas(), object.phase()),
            (3, Some(Phase::Adopted))
        );
        assert_eq!(object.reasons(), ["ScheduleChanged"]);
    }

    /// The note when an object with this schedule is observed for the first time.
    fn first_sight(replicas: u32, (key, text): (&str, &str)) -> Option<String> {
        let mut object = Object::new("2026-11-21 20:00", replicas).annotate(key, text);
        object.apply();
        assert_eq!(object.replicas(), replicas);
        object.notices.pop().map(|it| it.text)
    }

    #[test]
    fn the_first_observation_sends_an_event_only_if_the_object_does_not_match() {
        let office = ("hours", "Mon-Fri 09:00-19:00");
        let always = ("hours", "00:00-24:00");
        let exact = ("scale", "Mon 08:00 = 5; Fri 19:00 = 2");
        let stop_only = ("stop", "19:00");
        for (replicas, schedule) in [(0, office), (3, always), (2, exact), (3, stop_only)] {
            assert_eq!(first_sight(replicas, schedule), None, "{schedule:?}");
        }
        for (replicas, schedule, expected) in [
            (
                3,
                office,
                "the schedule specifies stopped; it runs until Mon 2026-11-23 19:00:00 UTC. To stop it now, run `dayshift sync deploy/web -n dev`",
            ),
            (
                0,
                always,
                "the schedule specifies running; it stays at 0 until a user scales it. To start it now, run `dayshift sync deploy/web -n dev`",
            ),
            (
                3,
                exact,
                "the schedule specifies 2; it stays at 3 until Mon 2026-11-23 08:00:00 UTC. To scale it now, run `dayshift sync deploy/web -n dev`",
            ),
        ] {
            let text = first_sight(replicas, schedule);
            assert_eq!(text.as_deref(), Some(expected), "{schedule:?}");
        }
    }

    #[test]
    fn an_edit_reports_if_the_workload_should_run_now() {
        let mut object = at_night(3);
        object.copy().edit("hours", Some("00:00-24:00")).apply();
        let text = object.notices.pop().unwrap().text;
        assert!(text.contains("dayshift sync deploy/web -n dev"), "{text}");
    }
}

#[test]
fn jitter_delays_starts_and_not_stops() {
    let mut object = office(3);
    object.edit("jitter", Some("1h")).apply();
    object.until("2026-11-20 08:59:59");
    assert_eq!(
        object.next().unwrap(),
        "2026-11-20T09.56.53Z",
        "the delay depends only on dev/web"
    );
    object.until("2026-11-20 18:59:59");
    assert_eq!(object.next().unwrap(), "2026-11-20T19.00.00Z");
}
