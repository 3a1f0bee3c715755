//! StatefulSets whose volumes a stop would delete, which dayshift rejects.

use super::converted::{convert, rule_ids};

fn statefulset(metadata: &str, when_scaled: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {{name: db, namespace: team{metadata}}}\nspec:\n  persistentVolumeClaimRetentionPolicy: {{whenDeleted: Retain, whenScaled: {when_scaled}}}\n"
    )
}

const TEAM: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team, annotations: {downscaler/uptime: Mon-Fri 08:00-20:00 UTC}}\n---\n";

#[test]
fn reports_volumes_that_a_stop_deletes() {
    let own = ", annotations: {downscaler/uptime: Mon-Fri 08:00-20:00 UTC}";
    let excluded = ", annotations: {downscaler/exclude: 'true'}";
    let allowed = ", annotations: {downscaler/uptime: Mon-Fri 08:00-20:00 UTC, dayshift/allow-volume-deletion: 'true'}";
    for (text, expected) in [
        (statefulset(own, "Delete"), true),
        (statefulset(own, "Retain"), false),
        (statefulset(allowed, "Delete"), false),
        (statefulset("", "Delete"), false),
        (TEAM.to_owned() + &statefulset("", "Delete"), true),
        (TEAM.to_owned() + &statefulset(excluded, "Delete"), false),
    ] {
        let expected = if expected {
            vec!["volumes"]
        } else {
            Vec::new()
        };
        assert_eq!(rule_ids(&convert(&text)), expected, "{text}");
    }
}
