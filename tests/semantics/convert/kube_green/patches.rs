//! Patches of a SleepInfo, compared by their effect on objects: `jsonpatch.go` of kube-green 0.7.1
//! applies them to all objects of their target at a sleep, the last one of each target, instead of
//! kube-green's own change.

use std::collections::BTreeSet;

use dayshift_manifest::convert::{ChangeTarget, Conversion};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::sleep_info;
use crate::convert::converted::{convert, rule_ids};

/// A kind by its operator's documentation: its group, the field that stops it, and the stopped
/// value.
struct Row {
    group: &'static str,
    kind: &'static str,
    resource: &'static str,
    pointer: &'static str,
    stopped: fn() -> Value,
}

const ROWS: [Row; 7] = [
    Row {
        group: "apps",
        kind: "Deployment",
        resource: "deployments",
        pointer: "/spec/replicas",
        stopped: || json!(0),
    },
    Row {
        group: "batch",
        kind: "CronJob",
        resource: "cronjobs",
        pointer: "/spec/suspend",
        stopped: || json!(true),
    },
    Row {
        group: "postgresql.cnpg.io",
        kind: "Cluster",
        resource: "clusters.postgresql.cnpg.io",
        pointer: "/metadata/annotations/cnpg.io~1hibernation",
        stopped: || json!("on"),
    },
    Row {
        group: "rabbitmq.com",
        kind: "RabbitmqCluster",
        resource: "rabbitmqclusters.rabbitmq.com",
        pointer: "/spec/replicas",
        stopped: || json!(0),
    },
    Row {
        group: "psmdb.percona.com",
        kind: "PerconaServerMongoDB",
        resource: "perconaservermongodbs.psmdb.percona.com",
        pointer: "/spec/pause",
        stopped: || json!(true),
    },
    Row {
        group: "kubevirt.io",
        kind: "VirtualMachine",
        resource: "virtualmachines.kubevirt.io",
        pointer: "/spec/runStrategy",
        stopped: || json!("Halted"),
    },
    Row {
        group: "acid.zalan.do",
        kind: "postgresql",
        resource: "postgresqls.acid.zalan.do",
        pointer: "/spec/numberOfInstances",
        stopped: || json!(0),
    },
];

/// The patch of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Stop,
    OtherValue,
    OtherPath,
    Two,
}

#[derive(Clone, Debug)]
struct Patch {
    row: usize,
    form: Form,
    is_json: bool,
}

impl Patch {
    fn operations(&self) -> Value {
        let row = &ROWS[self.row];
        let stop = json!({"op": "add", "path": row.pointer, "value": (row.stopped)()});
        match self.form {
            Form::Stop => json!([stop]),
            Form::OtherValue => json!([{"op": "add", "path": row.pointer, "value": 7}]),
            Form::OtherPath => {
                json!([{"op": "add", "path": "/spec/other", "value": (row.stopped)()}])
            }
            Form::Two => json!([stop, {"op": "add", "path": "/spec/other", "value": 1}]),
        }
    }

    fn yaml(&self) -> String {
        let row = &ROWS[self.row];
        let text = if self.is_json {
            self.operations().to_string()
        } else {
            let operations = self.operations();
            let lines = operations.as_array().unwrap().iter().map(|it| {
                format!(
                    "- op: {}\n        path: {}\n        value: {}\n",
                    it["op"].as_str().unwrap(),
                    it["path"].as_str().unwrap(),
                    it["value"]
                )
            });
            lines.collect::<Vec<_>>().join("      ")
        };
        format!(
            "    - target: {{group: {}, kind: {}}}\n      patch: |\n      {}\n",
            row.group,
            row.kind,
            if self.is_json {
                format!("  {text}")
            } else {
                text.replace("- op", "  - op")
                    .replace("\n        ", "\n          ")
            }
        )
    }
}

fn patch() -> impl Strategy<Value = Patch> {
    let form = prop_oneof![
        3 => Just(Form::Stop), 1 => Just(Form::OtherValue), 1 => Just(Form::OtherPath), 1 => Just(Form::Two),
    ];
    (0..ROWS.len(), form, any::<bool>()).prop_map(|(row, form, is_json)| Patch {
        row,
        form,
        is_json,
    })
}

/// An object of a row after its patch. kube-green's restore reverts any change.
fn slept(row: &Row, operations: &Value) -> Value {
    let mut object = json!({"metadata": {"annotations": {}}, "spec": {}});
    for it in operations.as_array().unwrap() {
        let path = it["path"].as_str().unwrap();
        let (parent, key) = path.rsplit_once('/').unwrap();
        let key = key.replace("~1", "/");
        object.pointer_mut(parent).unwrap()[key] = it["value"].clone();
    }
    object["kind"] = row.kind.into();
    object
}

/// Whether the conversion schedules an object of a row: directly, or by its Namespace if `--kinds`
/// names its kind.
fn is_scheduled(conversion: &Conversion, row: &Row) -> bool {
    let with = |wanted: &str, key: &str| {
        conversion.changes.iter().any(|change| {
            let name = match &change.target {
                ChangeTarget::Object(object) => object.to_string(),
                ChangeTarget::All { kinds, .. } => kinds.clone(),
            };
            let is_it = name.split(',').any(|it| it == wanted);
            is_it && change.set.iter().any(|it| it.0 == key)
        })
    };
    let is_turned_on = !row.resource.contains('.')
        || conversion
            .findings
            .iter()
            .any(|it| it.rule.id() == "opt-in" && it.help.ends_with(&format!(",{}", row.resource)));
    let inherits =
        with("Namespace team", "dayshift/stop") && !with(row.resource, "dayshift/exclude");
    is_turned_on && (inherits || with(row.resource, "dayshift/stop"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn schedules_exactly_the_kinds_that_patches_stop(
        patches in prop::collection::vec(patch(), 0..5),
        suspends in prop::collection::vec(any::<bool>(), 3),
    ) {
        let list: String = patches.iter().map(Patch::yaml).collect();
        let list = if list.is_empty() { list } else { format!("  patches:\n{list}") };
        let text = sleep_info("1-5", "20:00", Some("08:00"), "UTC", &list)
            .replace("suspendCronJobs: true", &format!(
                "suspendDeployments: {}\n  suspendStatefulSets: {}\n  suspendCronJobs: {}",
                suspends[0], suspends[1], suspends[2],
            ));
        let conversion = convert(&text);
        for (at, row) in ROWS.iter().enumerate() {
            let own = match row.kind {
                "Deployment" => suspends[0],
                "CronJob" => suspends[2],
                _ => false,
            };
            let last = patches.iter().rfind(|it| it.row == at);
            let theirs = last.map_or(own, |patch| {
                let mut expected = slept(row, &json!([]));
                *expected.pointer_mut(row.pointer.rsplit_once('/').unwrap().0).unwrap() =
                    json!({row.pointer.rsplit_once('/').unwrap().1.replace("~1", "/"): (row.stopped)()});
                slept(row, &patch.operations()) == expected
            });
            prop_assert_eq!(is_scheduled(&conversion, row), theirs, "{}\n{}\n{:#?}", row.kind, text, conversion);
        }
        let is_any_odd = patches.iter().any(|it| it.form != Form::Stop);
        let rule_ids = rule_ids(&conversion);
        prop_assert_eq!(rule_ids.contains(&"no-equivalent"), is_any_odd, "{}", text);
        if is_any_odd {
            prop_assert!(!rule_ids.contains(&"delete-after"), "kube-green has still work to do: {}", text);
        }
    }
}

const HIBERNATE: &str = "    - target: {group: postgresql.cnpg.io, kind: Cluster}\n      patch: |\n        - op: add\n          path: /metadata/annotations/cnpg.io~1hibernation\n          value: 'on'\n";

/// A kind in `--kinds` is scaled in all namespaces, and not every one has a patch for it.
#[test]
fn excludes_a_kind_that_only_another_namespace_stops() {
    let patches = format!("  patches:\n{HIBERNATE}");
    let one = sleep_info("1-5", "20:00", None, "UTC", &patches);
    let other = sleep_info("1-5", "21:00", None, "UTC", "").replace("team", "ops");
    let conversion = convert(&format!("{one}---\n{other}"));
    let excluded = conversion
        .changes
        .iter()
        .filter(|it| it.set == [("dayshift/exclude".to_owned(), "true".to_owned())]);
    let excluded: Vec<_> = excluded.map(|it| &it.target).collect();
    let all = ChangeTarget::All {
        kinds: "clusters.postgresql.cnpg.io".to_owned(),
        namespace: "ops".to_owned(),
        selector: None,
        field_selector: None,
    };
    assert_eq!(excluded, [&all]);
}

#[test]
fn schedules_only_patched_kinds_if_no_other_sleeps() {
    let patches = format!(
        "  suspendDeployments: false\n  suspendStatefulSets: false\n  excludeRef:\n    - {{apiVersion: postgresql.cnpg.io/v1, kind: Cluster, name: main}}\n  patches:\n{HIBERNATE}"
    );
    let text =
        sleep_info("1-5", "20:00", None, "UTC", &patches).replace("  suspendCronJobs: true\n", "");
    let conversion = convert(&text);
    let targets: Vec<_> = conversion.changes.iter().map(|it| &it.target).collect();
    let others = ChangeTarget::All {
        kinds: "clusters.postgresql.cnpg.io".to_owned(),
        namespace: "team".to_owned(),
        selector: None,
        field_selector: Some("metadata.name!=main".to_owned()),
    };
    assert_eq!(targets, [&others]);
    assert_eq!(
        rule_ids(&conversion),
        ["elsewhere", "delete-after", "opt-in"]
    );
}

/// `replace` of a missing field fails in kube-green, and that object continues to run.
#[test]
fn reports_a_replace_patch_as_a_stop() {
    let patches = format!(
        "  patches:\n{}",
        HIBERNATE.replace("op: add", "op: replace")
    );
    let conversion = convert(&sleep_info("1-5", "20:00", None, "UTC", &patches));
    assert_eq!(
        rule_ids(&conversion),
        ["delete-after", "no-equivalent", "opt-in"]
    );
}

#[test]
fn restores_objects_that_a_patch_has_stopped() {
    let patches = json!({
        "Cluster.postgresql.cnpg.io": {"main": r#"{"metadata":{"annotations":{"cnpg.io/hibernation":null}}}"#},
        "VirtualMachine.kubevirt.io": {"vm": r#"{"spec":{"runStrategy":"RerunOnFailure"}}"#},
        "postgresql.acid.zalan.do": {"acid": r#"{"spec":{"numberOfInstances":3}}"#},
        "PerconaServerMongoDB.psmdb.percona.com": {"db": r#"{"spec":{"pause":false}}"#},
        "Widget.example.com": {"w": r#"{"spec":{"replicas":9}}"#},
    });
    let secret = format!(
        "---\napiVersion: v1\nkind: Secret\nmetadata: {{name: sleepinfo-working-hours, namespace: team}}\nstringData: {{operation-type: SLEEP, original-resource-info: '{patches}'}}\n"
    );
    let conversion = convert(&(sleep_info("1-5", "20:00", None, "UTC", "") + &secret));
    let labelled: BTreeSet<_> = conversion
        .changes
        .iter()
        .filter(|it| !it.labels.is_empty())
        .map(|it| {
            let ChangeTarget::Object(object) = &it.target else {
                panic!("{it:?}");
            };
            let labels = it
                .labels
                .iter()
                .map(|(name, text)| format!(" {name}={text}"));
            format!("{object}{}", labels.collect::<String>())
        })
        .collect();
    let expected = [
        "Cluster team/main dayshift/saved-replicas=1 dayshift/saved-value=absent",
        "PerconaServerMongoDB team/db dayshift/saved-replicas=1 dayshift/saved-value=false",
        "VirtualMachine team/vm dayshift/saved-replicas=1 dayshift/saved-value=RerunOnFailure",
        "postgresql team/acid dayshift/saved-replicas=3",
    ];
    assert_eq!(labelled, expected.map(str::to_owned).into());
}
