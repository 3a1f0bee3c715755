//! State labels that are removed, copied, changed repeatedly, or written with a wrong clock.

use crate::decide::object::{at_night, office, utc};
use dayshift_workload::{Decision, Label, Labels, Phase};

mod invalid_state_is_repaired {
    use super::*;

    #[test]
    fn labels_removed_by_a_replace_are_restored() {
        let mut object = at_night(5);
        object.replace(1).apply();
        assert_eq!((object.replicas(), object.saved()), (1, Some(5)));
        object.until("2026-11-23 09:00");
        assert_eq!(object.replicas(), 5);
    }

    #[test]
    fn a_replace_with_an_edit_keeps_the_count_and_adopts() {
        let mut object = at_night(5);
        object
            .replace(0)
            .edit("hours", Some("Mon-Fri 07:00-19:00"))
            .apply();
        assert_eq!(
            (object.phase(), object.saved()),
            (Some(Phase::Adopted), Some(5))
        );
    }

    #[test]
    fn a_replace_with_an_invalid_schedule_keeps_the_count() {
        let mut object = at_night(5);
        object.replace(0).edit("hours", Some("x")).apply();
        assert_eq!(object.saved(), Some(5));
        object
            .edit("hours", Some("Mon-Fri 09:00-19:00"))
            .until("2026-11-23 09:00");
        assert_eq!(object.replicas(), 5);
    }

    #[test]
    fn an_older_state_is_corrected() {
        let mut object = office(5);
        object.until("2026-11-19 20:00");
        let old = object.observed.labels.clone();
        object.until("2026-11-20 12:00");
        let new = object.state();
        object.observed.labels = old;
        object.scale(5).apply();
        assert_eq!(object.state(), new);
    }

    #[test]
    fn a_backup_of_a_stopped_workload_keeps_its_saved_count() {
        let mut object = office(5);
        object.until("2026-11-19 20:00");
        let night = object.observed.labels.clone();
        object.until("2026-11-20 12:00");
        object.observed.labels = night;
        object.scale(0).until("2026-11-23 09:00");
        assert_eq!(object.replicas(), 5);
    }

    #[test]
    fn a_backup_of_a_stopped_workload_keeps_its_saved_count_after_an_edit() {
        let mut object = office(5);
        object.until("2026-11-19 20:00");
        let night = object.observed.labels.clone();
        object.until("2026-11-20 12:00");
        object.edit("hours", Some("Mon-Fri 08:00-19:00")).apply();
        assert_eq!(object.saved(), Some(0));
        object.observed.labels = night;
        object.scale(0).until("2026-11-23 09:00");
        assert_eq!(object.replicas(), 5);
    }

    #[test]
    fn changes_of_another_controller_in_the_same_second_are_kept() {
        let mut object = at_night(3);
        let labels = &mut object.observed.labels;
        labels.set(Label::State, Some("adopted".into()));
        labels.set(Label::SavedReplicas, None);
        object.scale(2).apply();
        assert_eq!(
            (object.phase(), object.saved()),
            (Some(Phase::Adopted), None)
        );
    }

    #[test]
    fn a_manually_changed_saved_count_is_used() {
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
    fn a_stopped_copy_keeps_the_saved_count() {
        for (replicas, saved) in [(0, Some(3)), (2, None)] {
            let mut object = at_night(3);
            object.copy().scale(replicas).apply();
            assert_eq!((object.replicas(), object.saved()), (replicas, saved));
            assert_eq!(object.phase(), Some(Phase::Adopted));
        }
    }

    /// Its `last` is older than that of the original, which was copied.
    #[test]
    fn a_copy_adopted_by_a_controller_with_a_slow_clock_stays_adopted() {
        let mut object = at_night(3);
        object.edit("hours", Some("09:00-19:00")).apply();
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
    fn a_changed_count_annotation_is_not_an_edit() {
        let mut object = at_night(3);
        object.edit("replicas", Some("2")).restart().apply();
        assert_eq!(object.phase(), Some(Phase::Stopped));
    }

    #[test]
    fn an_object_of_a_later_version_is_ignored_until_its_fingerprint_is_removed() {
        let mut object = at_night(3);
        let before = object.writes;
        object
            .label(Label::Fingerprint, Some("v3-x"))
            .label(Label::Last, None)
            .apply();
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
    fn removing_the_schedule_of_a_stopped_workload_keeps_the_count_and_sends_the_command() {
        let mut object = at_night(3);
        object.reasons();
        object.edit("hours", None).apply();
        assert_eq!(
            (object.replicas(), object.saved(), object.phase()),
            (0, Some(3), None)
        );
        let text = object.notices[0].text.clone();
        assert!(
            text.contains("To restore it to 3, run `dayshift restore deploy/web -n dev`"),
            "{text}"
        );
        assert_eq!(object.reasons(), ["ScheduleRemoved"]);
        let before = object.writes;
        object.restart().until("2026-11-30 12:00");
        assert_eq!(object.writes, before);
    }

    #[test]
    fn removing_the_schedule_of_a_running_workload_removes_all_labels() {
        let mut object = office(3);
        object.edit("hours", None).apply();
        assert!(object.observed.labels.is_empty() && object.reasons().is_empty());
    }

    #[test]
    fn removing_the_schedule_and_the_labels_keeps_the_saved_count() {
        let mut object = at_night(3);
        object.replace(0).edit("hours", None).apply();
        assert_eq!(object.saved(), Some(3));
    }

    #[test]
    fn removing_the_schedule_keeps_a_larger_saved_count() {
        let mut object = office(5);
        object
            .edit("stop-replicas", Some("1"))
            .until("2026-11-19 20:00");
        object
            .edit("hours", None)
            .edit("stop-replicas", None)
            .apply();
        assert_eq!((object.replicas(), object.saved()), (1, Some(5)));
    }

    #[test]
    fn a_schedule_added_again_is_new_even_if_labels_were_removed_first() {
        let mut object = office(3);
        object.until("2026-11-20 12:00").observed.labels = Labels::default();
        object.edit("hours", None).apply();
        object.away_until("2026-11-20 20:00");
        object.edit("hours", Some("Mon-Fri 09:00-19:00")).apply();
        assert_eq!(
            (object.replicas(), object.phase()),
            (3, Some(Phase::Adopted))
        );
    }

    #[test]
    fn a_schedule_added_again_restores_the_saved_count() {
        let mut object = at_night(3);
        object.edit("hours", None).apply();
        object
            .edit("hours", Some("Mon-Fri 09:00-19:00"))
            .until("2026-11-23 09:00");
        assert_eq!(object.replicas(), 3);
    }
}

mod a_wrong_clock {
    use super::*;

    #[test]
    fn a_last_label_more_than_an_hour_ahead_is_adopted_with_a_warning() {
        let mut object = office(3);
        object
            .label(Label::Last, Some("2026-11-19T13.00.01Z"))
            .restart()
            .apply();
        assert_eq!(object.reasons(), ["StateFromFuture"]);
        assert_eq!(object.state().last, Some(utc("2026-11-19 12:00")));
    }

    #[test]
    fn a_correction_by_another_controller_is_not_repeated() {
        let mut object = office(3);
        object
            .until("2026-11-19 12:01")
            .label(Label::Last, Some("2026-11-21T12.00.00Z")) // written with a clock two days ahead
            .scale(3);
        let other = "2026-11-19T12.00.59Z"; // the other controller wrote first
        object.label(Label::Last, Some(other));
        let before = object.writes;
        object.apply();
        assert_eq!(object.writes, before);
    }

    /// The same with a clock that is less than an hour ahead.
    #[test]
    fn an_edit_adopted_by_another_controller_is_not_adopted_again() {
        let mut object = office(3);
        object.label(Label::Last, Some("2026-11-19T12.30.00Z"));
        let mut other = object.clone();
        for scaler in [&mut other, &mut object] {
            scaler.edit("hours", Some("Mon-Fri 08:00-18:00"));
        }
        other.apply(); // the other controller writes first
        object.observed.labels = other.observed.labels;
        let before = object.writes;
        object.scale(3).until("2026-11-19 12:45");
        assert_eq!(object.writes, before);
    }

    #[test]
    fn a_last_label_less_than_an_hour_ahead_is_respected() {
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
fn an_object_that_is_being_deleted_is_never_patched() {
    let mut object = office(3);
    object.observed.deleting = true;
    assert_eq!(object.until("2026-11-20 12:00").writes, 1);
}

#[test]
fn invalid_labels_are_written_again() {
    let mut object = office(3);
    object.label(Label::State, Some("asleep")).restart().apply();
    assert_eq!(object.phase(), Some(Phase::Adopted));
    object
        .label(Label::Last, Some("yesterday"))
        .restart()
        .apply();
    assert_eq!(object.state().last, Some(utc("2026-11-19 12:00")));
}
