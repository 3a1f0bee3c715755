//! State that is healed, copied, removed, fought over or from a wrong clock.

use crate::decide::object::{at_night, office, utc};
use dayshift_workload::{Decision, Label, Labels, Phase};

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
    fn a_dump_of_the_night_keeps_its_count_after_an_edit_by_day() {
        let mut object = office(5);
        object.until("2026-11-19 20:00");
        let night = object.observed.labels.clone();
        object.until("2026-11-20 12:00");
        object.edit("hours", Some("Mon-Fri 08:00-19:00")).obey();
        assert_eq!(object.saved(), Some(0));
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

    /// Its `last` is older than that of the original, which the copy has brought along.
    #[test]
    fn a_copy_that_another_scaler_adopts_by_a_clock_that_is_behind_is_adopted() {
        let mut object = at_night(3);
        object.edit("hours", Some("09:00-19:00")).obey();
        object.copy();
        let Decision::Write(adoption) = object.decide() else {
            panic!("a copy is adopted");
        };
        object.observed.labels = adoption.state.to_labels();
        object.label(Label::Last, Some("2026-11-20T19.59.40Z"));
        let decision = object.decide();
        assert!(matches!(decision, Decision::Wait { .. }), "{decision:?}");
        assert_eq!(object.saved(), Some(3));
    }

    #[test]
    fn counts_are_no_edit() {
        let mut object = at_night(3);
        object.edit("replicas", Some("2")).restart().obey();
        assert_eq!(object.phase(), Some(Phase::Stopped));
    }

    #[test]
    fn a_later_version_is_left_alone_until_its_fingerprint_is_gone() {
        let mut object = at_night(3);
        let before = object.writes;
        object
            .label(Label::Fingerprint, Some("v3-x"))
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
    fn what_another_scaler_has_put_right_is_not_put_right_again() {
        let mut object = office(3);
        object
            .until("2026-11-19 12:01")
            .label(Label::Last, Some("2026-11-21T12.00.00Z")) // by a clock two days ahead
            .scale(3);
        let other = "2026-11-19T12.00.59Z"; // the other one was quicker
        object.label(Label::Last, Some(other));
        let before = object.writes;
        object.obey();
        assert_eq!(object.writes, before);
    }

    /// Nor one that is less than an hour ahead.
    #[test]
    fn an_edit_that_another_scaler_has_adopted_is_not_adopted_again() {
        let mut object = office(3);
        object.label(Label::Last, Some("2026-11-19T12.30.00Z"));
        let mut other = object.clone();
        for scaler in [&mut other, &mut object] {
            scaler.edit("hours", Some("Mon-Fri 08:00-18:00"));
        }
        other.obey(); // it was quicker
        object.observed.labels = other.observed.labels;
        let before = object.writes;
        object.scale(3).until("2026-11-19 12:45");
        assert_eq!(object.writes, before);
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
