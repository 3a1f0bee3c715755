//! StatefulSets whose volumes are deleted when they are scaled down.

use super::program::{found, web};

const HOURS: &str = "dayshift/hours: '09:00-19:00'";
const LEAVE: &str = "dayshift/allow-volume-deletion: 'true'";

/// A StatefulSet with these annotations and this policy.
fn set(lines: &[&str], when_scaled: &str) -> String {
    let policy =
        format!("spec:\n  persistentVolumeClaimRetentionPolicy:\n    whenScaled: {when_scaled}\n");
    web(lines).replace("Deployment", "StatefulSet") + &policy
}

#[test]
fn finds_a_deleting_policy_unless_the_object_allows_it() {
    let no = LEAVE.replace("true", "false");
    let yes = LEAVE.replace("true", "yes");
    for (lines, when_scaled, expected) in [
        (&[HOURS][..], "Delete", &["deletes-volumes 9:17"][..]),
        (&[HOURS, &no], "Delete", &["deletes-volumes 10:17"]),
        (
            &[HOURS, &yes],
            "Delete",
            &["bad-override 7:38", "deletes-volumes 10:17"],
        ),
        (&[HOURS, LEAVE], "Delete", &[]),
        (&[HOURS], "Retain", &[]),
        (&[HOURS, LEAVE], "Retain", &["no-effect 7:38"]),
        (&["a: b"], "Delete", &[]),
        (&[HOURS, "dayshift/exclude: 'true'"], "Delete", &[]),
    ] {
        assert_eq!(
            found(&set(lines, when_scaled)),
            expected,
            "{lines:?} {when_scaled}"
        );
    }
}

#[test]
fn permission_to_delete_volumes_is_not_inherited() {
    let namespace = |lines: &[&str]| {
        web(lines)
            .replace("apps/v1", "v1")
            .replace("Deployment", "Namespace")
            .replace("name: web", "name: default")
    };
    assert_eq!(found(&namespace(&[LEAVE])), ["no-effect 6:38"]);
    let both = namespace(&[HOURS, LEAVE]);
    assert_eq!(found(&both), ["no-effect 7:38"]);
    let all = format!("{both}---\n{}", set(&["a: b"], "Delete"));
    assert_eq!(found(&all), ["no-effect 7:38", "deletes-volumes 17:17"]);
}
