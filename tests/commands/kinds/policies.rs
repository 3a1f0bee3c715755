//! The entries of the policies in `manifests/policy` for each kind.

use std::{fs, path::Path};

use dayshift_workload::{Kind, KindTable};

fn policy(name: &str) -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("manifests/policy");
    fs::read_to_string(directory.join(name)).unwrap()
}

/// Without an entry, dayshift could not change the kind, or someone with a stolen token could change other
/// fields.
#[test]
fn the_policy_contains_the_field_of_each_kind() {
    let text = policy("scaler.yaml");
    let table = KindTable::default();
    let known = Kind::BUILT_IN
        .into_iter()
        .chain(table.operators().iter().cloned());
    // The Jobs of CronJobs with `stop-jobs`.
    assert_contains!(text, "'jobs.batch': ['spec', 'suspend']");
    let mut lines = 1;
    for kind in known {
        let resource = format!("'{}'", kind.resource());
        let path = kind.path();
        if path == ["spec", "replicas"] {
            assert_lacks!(text, resource);
            continue;
        }
        let path = path.strip_prefix(&["metadata".to_owned()]).unwrap_or(path);
        let line = format!("{resource}: ['{}']", path.join("', '"));
        assert_contains!(text, line);
        lines += 1;
    }
    assert_eq!(text.matches("': ['").count(), lines);
}

#[test]
fn the_annotation_policies_match_every_group() {
    for name in ["texts.yaml", "limits.yaml", "stamp.yaml"] {
        let text = policy(name);
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || ".-".contains(c);
        for kind in KindTable::default().operators() {
            let mut words = text.split(|c| !is_of_name(c));
            assert!(words.any(|it| it == kind.group()), "{name}: {kind:?}");
        }
    }
}
