//! `override-by` and `reason` have no effect on decisions, and are removed with the last override.

use dayshift_workload::Key;

use crate::decide::object::at_night;

const JANE: (&str, Option<&str>) = ("override-by", Some("jane"));
const WHY: (&str, Option<&str>) = ("reason", Some("migration"));

#[test]
fn author_and_reason_are_removed_with_the_last_override_in_its_patch() {
    let mut object = at_night(3);
    object
        .edit("sleep-until", Some("2026-11-20 23:00"))
        .edit("wake-until", Some("2026-11-20 22:00"))
        .edit(JANE.0, JANE.1)
        .edit(WHY.0, WHY.1)
        .until("2026-11-20 20:00");
    let before = object.writes;
    object.until("2026-11-20 22:00");
    assert_eq!(object.annotation(Key::WakeUntil), None);
    assert_eq!(object.annotation(Key::Reason), Some("migration"), "asleep");
    object.until("2026-11-20 23:00");
    for key in [Key::SleepUntil, Key::Reason, Key::OverrideBy] {
        assert_eq!(object.annotation(key), None, "{key}");
    }
    assert_eq!(object.writes - before, 2);
}

#[test]
fn author_and_reason_appear_in_the_event_and_change_nothing_else() {
    let mut object = at_night(3);
    object.reasons();
    object
        .edit("wake-until", Some("2026-11-20 22:00"))
        .edit(JANE.0, JANE.1)
        .edit(WHY.0, Some("\u{202e}a\nb"))
        .apply();
    let text = object.notices.last().unwrap().text.clone();
    assert!(text.ends_with(r", by jane: \u{202e}a\nb"), "{text}");
    let before = object.writes;
    object.edit(WHY.0, WHY.1).apply();
    object.edit(JANE.0, Some("kim")).apply();
    assert_eq!(object.writes, before);
}

#[test]
fn an_author_annotation_without_an_override_is_kept() {
    let mut object = at_night(3);
    object.edit(WHY.0, WHY.1).until("2026-11-24 00:00");
    assert_eq!(object.annotation(Key::Reason), Some("migration"));
}
