//! The rules by which an object is started and stopped, one test a rule.
//!
//! 2026-11-20 is a Friday. The zone is UTC unless a test says otherwise.
#![allow(clippy::unwrap_used, clippy::panic)]

mod object;

use dayshift::workload::{Decision, Label, Labels, Phase};
use object::{Object, utc};

/// Mon-Fri 09:00-19:00, seen on Thursday at noon with this many replicas.
fn office(replicas: u32) -> Object {
    let mut object =
        Object::new("2026-11-19 12:00", replicas).annotate("hours", "Mon-Fri 09:00-19:00");
    object.obey();
    object
}

/// The same on Friday evening, stopped.
fn at_night(replicas: u32) -> Object {
    let mut object = office(replicas);
    object.until("2026-11-20 20:00");
    assert_eq!(
        (object.replicas(), object.phase()),
        (0, Some(Phase::Stopped))
    );
    object
}

mod the_last_boundary_wins {
    use super::*;

    #[test]
    fn who_was_away_all_night_catches_up_once() {
        let mut object = office(3);
        object.away_until("2026-11-20 18:00").obey();
        object.away_until("2026-11-23 09:30").restart().obey();
        assert_eq!(
            (object.replicas(), object.phase()),
            (3, Some(Phase::Running))
        );
        assert_eq!(object.state().last, Some(utc("2026-11-23 09:00")));
    }

    #[test]
    fn one_write_a_boundary() {
        let mut object = office(3);
        let before = object.writes;
        object.until("2026-11-20 20:00"); // Thursday's stop, Friday's start and stop
        assert_eq!(object.writes - before, 3);
    }

    #[test]
    fn what_was_missed_for_longer_than_the_catch_up_is_adopted() {
        for (now, expected) in [("2026-11-22 19:00", 0), ("2026-11-22 19:00:01", 3)] {
            let mut object =
                Object::new("2026-11-19 12:00", 3).annotate("stop", "2026-11-19 19:00");
            object.obey();
            object.away_until(now).restart().obey();
            assert_eq!(object.replicas(), expected, "{now}");
        }
    }

    #[test]
    fn another_default_zone_at_a_restart_acts_only_forwards() {
        let mut object = office(3);
        object.until("2026-11-20 18:00"); // running; in Tokyo it is 03:00 on Saturday
        object.restart_in_zone("Asia/Tokyo").obey();
        assert_eq!(
            object.replicas(),
            3,
            "the stop of 19:00 in Tokyo has gone by"
        );
        assert_eq!(object.next().unwrap(), "2026-11-23T00.00.00Z");
        object.until("2026-11-23 09:59");
        assert_eq!(object.phase(), Some(Phase::Running));
        object.until("2026-11-23 10:00");
        assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
    }

    #[test]
    fn a_boundary_before_its_instant_is_not_due() {
        let mut object = office(3);
        object.away_until("2026-11-19 18:59:59");
        assert!(matches!(object.decide(), Decision::Wait { .. }));
        object.away_until("2026-11-19 19:00");
        assert!(matches!(object.decide(), Decision::Write(_)));
    }
}

mod between_boundaries_hands_are_free {
    use super::*;

    #[test]
    fn a_change_by_hand_is_neither_undone_nor_written_down() {
        let mut object = at_night(3);
        let before = object.writes;
        for count in [2, 0, 7] {
            object.scale(count).obey();
            assert_eq!(object.replicas(), count);
        }
        assert_eq!(object.writes, before);
    }
}

mod a_schedule_never_acts_backwards {
    use super::*;

    #[test]
    fn a_first_sight_at_night_scales_nothing() {
        let mut object =
            Object::new("2026-11-20 22:00", 3).annotate("hours", "Mon-Fri 09:00-19:00");
        object.obey();
        assert_eq!(
            (object.replicas(), object.phase()),
            (3, Some(Phase::Adopted))
        );
        assert_eq!(object.told(), [""; 0], "a first adoption makes no Event");
        assert_eq!(object.next().unwrap(), "2026-11-23T09.00.00Z");
    }

    #[test]
    fn what_was_seen_before_a_boundary_and_written_after_it_obeys_it() {
        let mut object =
            Object::new("2026-11-20 18:59:59", 3).annotate("hours", "Mon-Fri 09:00-19:00");
        object.away_until("2026-11-20 19:00:01").obey();
        assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
    }

    #[test]
    fn what_was_seen_before_the_clock_was_set_back_is_as_of_now() {
        let mut object =
            Object::new("2026-11-20 09:30", 3).annotate("hours", "Mon-Fri 09:00-19:00");
        object.away_until("2026-11-20 08:45").obey();
        assert_eq!(object.state().last, Some(utc("2026-11-20 08:45")));
        assert_eq!(object.next().unwrap(), "2026-11-20T09.00.00Z");
    }

    #[test]
    fn an_edit_is_told_and_scales_nothing() {
        let mut object = office(3);
        object.edit("hours", Some("Mon-Fri 20:00-22:00")).obey();
        assert_eq!(
            (object.replicas(), object.phase()),
            (3, Some(Phase::Adopted))
        );
        assert_eq!(object.told(), ["ScheduleChanged"]);
    }

    #[test]
    fn an_edit_says_so_when_it_should_run_now_and_does_not() {
        let mut object = at_night(3);
        object.edit("hours", Some("00:00-24:00")).obey();
        let text = object.notices.pop().unwrap().text;
        assert!(
            text.contains("kubectl scale deployment/web -n dev --replicas=3"),
            "{text}"
        );
    }
}

mod counts {
    use super::*;

    #[test]
    fn what_the_night_saw_and_what_the_morning_makes_of_it() {
        for (day, night, morning) in [
            (5, None, 5),
            (5, Some(1), 5), // a 1 by hand at night is 5 again in the morning
            (5, Some(6), 6), // and a 6 stays 6
            (0, None, 1),    // a manifest's 0
            (0, Some(4), 4),
        ] {
            let mut object = office(day);
            object.until("2026-11-19 20:00");
            if let Some(count) = night {
                object.scale(count);
            }
            object.until("2026-11-20 09:00");
            assert_eq!(
                (object.replicas(), object.saved()),
                (morning, None),
                "{day} {night:?}"
            );
        }
    }

    #[test]
    fn a_0_by_hand_after_a_start_stays_0() {
        let mut object = office(3);
        object
            .until("2026-11-20 09:30")
            .scale(0)
            .until("2026-11-23 20:00");
        assert_eq!((object.replicas(), object.saved()), (0, Some(0)));
        object.scale(2).until("2026-11-25 09:00");
        assert_eq!(object.replicas(), 2, "until somebody wants it again");
    }

    #[test]
    fn exact_counts_are_kept_to() {
        let mut object = office(5);
        object
            .edit("replicas", Some("2"))
            .edit("stop-replicas", Some("1"));
        object.until("2026-11-19 20:00");
        assert_eq!((object.replicas(), object.saved()), (1, Some(5)));
        object.until("2026-11-20 09:00");
        assert_eq!(object.replicas(), 2);
    }

    #[test]
    fn an_adoption_that_sees_it_up_drops_a_leftover_count() {
        let mut object = at_night(3);
        object
            .scale(1)
            .edit("hours", Some("Mon-Fri 08:00-19:00"))
            .obey();
        assert_eq!(object.saved(), None);
        let mut object = at_night(3);
        object.edit("hours", Some("Mon-Fri 08:00-19:00")).obey();
        assert_eq!(object.saved(), Some(3));
    }

    #[test]
    fn lowering_stop_replicas_in_the_same_edit_loses_no_count() {
        let mut object = office(5);
        object
            .edit("stop-replicas", Some("1"))
            .until("2026-11-19 20:00");
        object
            .edit("stop-replicas", None)
            .edit("hours", Some("Mon-Fri 08:00-19:00"))
            .obey();
        assert_eq!((object.replicas(), object.saved()), (1, Some(5)));
    }

    #[test]
    fn nor_does_lowering_it_before_labels_were_lost() {
        let mut object = office(5);
        object
            .edit("stop-replicas", Some("1"))
            .until("2026-11-19 20:00");
        object.edit("stop-replicas", None).replace(1).obey();
        object.edit("hours", Some("Mon-Fri 08:00-19:00")).obey();
        assert_eq!((object.replicas(), object.saved()), (1, Some(5)));
    }
}

#[test]
fn jitter_moves_starts_and_not_stops() {
    let mut object = office(3);
    object.edit("jitter", Some("1h")).obey();
    object.until("2026-11-20 08:59:59");
    assert_eq!(
        object.next().unwrap(),
        "2026-11-20T09.56.53Z",
        "depends on dev/web alone"
    );
    object.until("2026-11-20 18:59:59");
    assert_eq!(object.next().unwrap(), "2026-11-20T19.00.00Z");
}

mod a_bad_schedule_changes_nothing {
    use super::*;

    #[test]
    fn it_is_told_once_and_the_state_stays() {
        let mut object = at_night(3);
        object.told();
        let last = object.state().last;
        object
            .edit("hours", Some("Mon-Fry 09:00-19:00"))
            .until("2026-11-24 12:00");
        assert_eq!(
            (object.replicas(), object.saved(), object.next()),
            (0, Some(3), None)
        );
        assert_eq!(object.state().last, last);
        assert_eq!(object.told(), ["InvalidSchedule"]);
        let error = object.observed.error.as_deref().unwrap();
        assert!(
            error.contains("dayshift/hours") && error.contains("Fry"),
            "{error}"
        );
    }

    #[test]
    fn undoing_the_typo_resumes_and_catches_up() {
        let mut object = at_night(3);
        object
            .edit("hours", Some("Mon-Fry 09:00-19:00"))
            .until("2026-11-23 12:00");
        object.edit("hours", Some("Mon-Fri 09:00-19:00")).obey();
        assert_eq!(
            (object.replicas(), object.observed.error.as_deref()),
            (3, None)
        );
        assert_eq!(object.next().unwrap(), "2026-11-23T19.00.00Z");
    }

    #[test]
    fn undoing_it_before_anything_was_missed_changes_no_count() {
        let mut object = at_night(3);
        object.edit("hours", Some("x")).obey();
        object.edit("hours", Some("Mon-Fri 09:00-19:00")).obey();
        assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
        assert_eq!(object.phase(), Some(Phase::Stopped));
        assert_eq!(object.next().unwrap(), "2026-11-23T09.00.00Z");
    }

    #[test]
    fn correcting_it_to_another_schedule_adopts() {
        let mut object = at_night(3);
        object.edit("hours", Some("x")).until("2026-11-23 12:00");
        object.edit("hours", Some("Mon-Fri 09:00-18:00")).obey();
        assert_eq!((object.replicas(), object.saved()), (0, Some(3)));
        assert_eq!(object.phase(), Some(Phase::Adopted));
    }

    #[test]
    fn a_misspelt_key_beside_a_right_one_is_refused() {
        let mut object = Object::new("2026-11-20 12:00", 3)
            .annotate("strat", "09:00")
            .annotate("stop", "19:00");
        object.until("2026-11-21 12:00");
        assert_eq!(object.replicas(), 3);
        let error = object.observed.error.as_deref().unwrap();
        assert!(
            error.contains("dayshift/strat") && error.contains("`start`"),
            "{error}"
        );
    }

    #[test]
    fn hours_beside_start_or_stop_are_refused() {
        let mut object = office(3);
        object.edit("stop", Some("18:00")).obey();
        assert!(
            object
                .observed
                .error
                .as_deref()
                .unwrap()
                .contains("beside `stop`")
        );
    }

    #[test]
    fn a_misspelt_override_is_refused_rather_than_passed_over() {
        for key in ["pause", "wake-until", "sleep-until", "enforce"] {
            let mut object = office(3);
            object.edit(key, Some("tonight")).until("2026-11-20 20:00");
            assert_eq!(object.replicas(), 3, "{key}");
            assert!(object.observed.error.as_deref().unwrap().contains(key));
        }
    }
}

mod state_is_healed {
    use super::*;

    #[test]
    fn a_replace_at_night_takes_the_labels_and_gets_them_back() {
        let mut object = at_night(5);
        object.replace(1).obey();
        assert_eq!((object.replicas(), object.saved()), (1, Some(5)));
        object.until("2026-11-23 09:00");
        assert_eq!(object.replicas(), 5);
    }

    #[test]
    fn with_an_edit_the_count_is_kept_and_the_schedule_adopted() {
        let mut object = at_night(5);
        object
            .replace(0)
            .edit("hours", Some("Mon-Fri 07:00-19:00"))
            .obey();
        assert_eq!(
            (object.phase(), object.saved()),
            (Some(Phase::Adopted), Some(5))
        );
    }

    #[test]
    fn a_bad_schedule_in_the_same_replace_loses_no_count_either() {
        let mut object = at_night(5);
        object.replace(0).edit("hours", Some("x")).obey();
        assert_eq!(object.saved(), Some(5));
        object
            .edit("hours", Some("Mon-Fri 09:00-19:00"))
            .until("2026-11-23 09:00");
        assert_eq!(object.replicas(), 5);
    }

    #[test]
    fn state_of_the_day_before_is_put_right() {
        let mut object = office(5);
        object.until("2026-11-19 20:00");
        let old = object.observed.labels.clone();
        object.until("2026-11-20 12:00");
        let new = object.state();
        object.observed.labels = old;
        object.scale(5).obey();
        assert_eq!(object.state(), new);
    }

    #[test]
    fn a_dump_of_the_night_put_back_by_day_keeps_its_count() {
        let mut object = office(5);
        object.until("2026-11-19 20:00");
        let night = object.observed.labels.clone();
        object.until("2026-11-20 12:00");
        object.observed.labels = night;
        object.scale(0).until("2026-11-23 09:00");
        assert_eq!(object.replicas(), 5);
    }

    #[test]
    fn what_another_scaler_did_in_the_same_second_is_not_lost_state() {
        let mut object = at_night(3);
        let labels = &mut object.observed.labels;
        labels.set(Label::State, Some("adopted".into()));
        labels.set(Label::SavedReplicas, None);
        object.scale(2).obey();
        assert_eq!(
            (object.phase(), object.saved()),
            (Some(Phase::Adopted), None)
        );
    }

    #[test]
    fn a_saved_count_changed_by_hand_counts() {
        let mut object = at_night(5);
        object
            .label(Label::SavedReplicas, Some("8"))
            .until("2026-11-23 09:00");
        assert_eq!(object.replicas(), 8);
    }
}

mod copies_adopt {
    use super::*;

    #[test]
    fn a_copy_of_what_is_stopped_keeps_its_count_while_it_is_down() {
        for (replicas, saved) in [(0, Some(3)), (2, None)] {
            let mut object = at_night(3);
            object.copy().scale(replicas).obey();
            assert_eq!((object.replicas(), object.saved()), (replicas, saved));
            assert_eq!(object.phase(), Some(Phase::Adopted));
        }
    }

    #[test]
    fn counts_are_no_edit() {
        let mut object = at_night(3);
        object.edit("replicas", Some("2")).restart().obey();
        assert_eq!(object.phase(), Some(Phase::Stopped));
    }

    #[test]
    fn a_fingerprint_of_a_later_version_is_left_alone() {
        let mut object = at_night(3);
        let before = object.writes;
        object
            .label(Label::Fingerprint, Some("v2-x"))
            .restart()
            .until("2026-11-23 12:00");
        assert_eq!((object.replicas(), object.writes), (0, before));
    }

    #[test]
    fn even_with_the_other_labels_gone_and_ours_again_without_it() {
        let mut object = at_night(3);
        let before = object.writes;
        object
            .label(Label::Fingerprint, Some("v2-x"))
            .label(Label::Last, None)
            .obey();
        assert_eq!(object.writes, before);
        object
            .label(Label::Fingerprint, None)
            .until("2026-11-23 09:00");
        assert_eq!(object.replicas(), 3);
    }
}

mod removing_the_schedule_scales_nothing {
    use super::*;

    #[test]
    fn at_night_the_count_stays_and_the_way_back_is_told() {
        let mut object = at_night(3);
        object.told();
        object.edit("hours", None).obey();
        assert_eq!(
            (object.replicas(), object.saved(), object.phase()),
            (0, Some(3), None)
        );
        let text = object.notices[0].text.clone();
        assert!(
            text.contains("kubectl scale deployment/web -n dev --replicas=3"),
            "{text}"
        );
        assert_eq!(object.told(), ["ScheduleRemoved"]);
        let before = object.writes;
        object.restart().until("2026-11-30 12:00");
        assert_eq!(object.writes, before);
    }

    #[test]
    fn by_day_nothing_of_ours_is_left() {
        let mut object = office(3);
        object.edit("hours", None).obey();
        assert!(object.observed.labels.is_empty() && object.told().is_empty());
    }

    #[test]
    fn with_labels_and_all_the_count_still_stays() {
        let mut object = at_night(3);
        object.replace(0).edit("hours", None).obey();
        assert_eq!(object.saved(), Some(3));
    }

    #[test]
    fn what_ran_on_with_fewer_keeps_its_count_too() {
        let mut object = office(5);
        object
            .edit("stop-replicas", Some("1"))
            .until("2026-11-19 20:00");
        object
            .edit("hours", None)
            .edit("stop-replicas", None)
            .obey();
        assert_eq!((object.replicas(), object.saved()), (1, Some(5)));
    }

    #[test]
    fn given_back_it_is_a_new_one_even_if_its_labels_were_gone_first() {
        let mut object = office(3);
        object.until("2026-11-20 12:00").observed.labels = Labels::default();
        object.edit("hours", None).obey();
        object.away_until("2026-11-20 20:00");
        object.edit("hours", Some("Mon-Fri 09:00-19:00")).obey();
        assert_eq!(
            (object.replicas(), object.phase()),
            (3, Some(Phase::Adopted))
        );
    }

    #[test]
    fn a_schedule_given_back_brings_the_count_back() {
        let mut object = at_night(3);
        object.edit("hours", None).obey();
        object
            .edit("hours", Some("Mon-Fri 09:00-19:00"))
            .until("2026-11-23 09:00");
        assert_eq!(object.replicas(), 3);
    }
}

mod no_fights {
    use super::*;

    #[test]
    fn three_times_between_two_boundaries_and_then_hands_off() {
        let mut object = at_night(5);
        object.told();
        let before = object.writes;
        for _ in 0..10 {
            object.replace(0).obey();
        }
        assert_eq!(object.writes - before, 3);
        assert!(object.told().iter().all(|reason| reason == "HandsOff"));
        object.until("2026-11-23 09:00");
        assert_eq!(
            object.replicas(),
            5,
            "the next boundary is obeyed all the same"
        );
    }

    #[test]
    fn an_error_that_somebody_removes_is_not_written_for_ever() {
        let mut object = office(3);
        object.edit("hours", Some("x")).obey();
        let before = object.writes;
        for _ in 0..10 {
            object.observed.error = None;
            object.scale(3).obey();
        }
        assert_eq!(object.writes - before, 3);
    }
}

mod a_wrong_clock {
    use super::*;

    #[test]
    fn a_last_from_more_than_an_hour_ahead_is_adopted_with_a_warning() {
        let mut object = office(3);
        object
            .label(Label::Last, Some("2026-11-19T13.00.01Z"))
            .restart()
            .obey();
        assert_eq!(object.told(), ["StateFromFuture"]);
        assert_eq!(object.state().last, Some(utc("2026-11-19 12:00")));
    }

    #[test]
    fn a_last_from_less_ahead_is_waited_for() {
        let mut object = office(3);
        object
            .label(Label::Last, Some("2026-11-19T12.59.00Z"))
            .restart();
        let before = object.writes;
        object.until("2026-11-19 18:59");
        assert_eq!(object.writes, before);
    }
}

#[test]
fn what_is_being_deleted_is_never_patched() {
    let mut object = office(3);
    object.observed.deleting = true;
    assert_eq!(object.until("2026-11-20 12:00").writes, 1);
}

#[test]
fn what_cannot_be_read_in_the_labels_is_written_anew() {
    let mut object = office(3);
    object.label(Label::State, Some("asleep")).restart().obey();
    assert_eq!(object.phase(), Some(Phase::Adopted));
    object
        .label(Label::Last, Some("yesterday"))
        .restart()
        .obey();
    assert_eq!(object.state().last, Some(utc("2026-11-19 12:00")));
}
