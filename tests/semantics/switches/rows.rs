//! Each kind definition under faults: a field of another type, a missing field, a concurrent
//! change, two controllers, and a controller that is killed after each step.

use Holds::{Annotation, Count, Flag, Instant, Text};
use dayshift_workload::{Kind, KindTable};
use serde_json::{Value, json};

use super::{
    live::{Live, apply},
    table::put,
};
use crate::object::utc;
use crate::rows::{rows, words};

/// The type of a field. It determines the values while running and while stopped, and invalid
/// values.
#[derive(Clone, Copy)]
enum Holds {
    /// `false` and `true`.
    Flag,
    Text(&'static str, &'static str),
    /// An annotation, with its values while running and while stopped. Any text is valid.
    Annotation(&'static str, &'static str),
    /// A missing annotation, or the time of the stop.
    Instant,
    /// 3 and 0.
    Count,
}

/// Every definition: its resource, its field and its values.
const ROWS: &str = "
    rollouts.argoproj.io => /spec/replicas => count
    clusters.postgresql.cnpg.io => /metadata/annotations/cnpg.io~1hibernation => annotation off on
    poolers.postgresql.cnpg.io => /spec/instances => count
    postgresclusters.postgres-operator.crunchydata.com => /spec/shutdown => flag
    perconapgclusters.pgv2.percona.com => /spec/pause => flag
    perconaservermongodbs.psmdb.percona.com => /spec/pause => flag
    perconaxtradbclusters.pxc.percona.com => /spec/pause => flag
    postgresqls.acid.zalan.do => /spec/numberOfInstances => count
    cassandradatacenters.cassandra.datastax.com => /spec/stopped => flag
    clickhouseinstallations.clickhouse.altinity.com => /spec/stop => text no yes
    rabbitmqclusters.rabbitmq.com => /spec/replicas => count
    kafkaconnects.kafka.strimzi.io => /spec/replicas => count
    kafkabridges.kafka.strimzi.io => /spec/replicas => count
    kafkamirrormaker2s.kafka.strimzi.io => /spec/replicas => count
    airflowclusters.airflow.stackable.tech => /spec/clusterOperation/stopped => flag
    druidclusters.druid.stackable.tech => /spec/clusterOperation/stopped => flag
    hbaseclusters.hbase.stackable.tech => /spec/clusterOperation/stopped => flag
    hdfsclusters.hdfs.stackable.tech => /spec/clusterOperation/stopped => flag
    hiveclusters.hive.stackable.tech => /spec/clusterOperation/stopped => flag
    kafkaclusters.kafka.stackable.tech => /spec/clusterOperation/stopped => flag
    nificlusters.nifi.stackable.tech => /spec/clusterOperation/stopped => flag
    opaclusters.opa.stackable.tech => /spec/clusterOperation/stopped => flag
    opensearchclusters.opensearch.stackable.tech => /spec/clusterOperation/stopped => flag
    supersetclusters.superset.stackable.tech => /spec/clusterOperation/stopped => flag
    trinoclusters.trino.stackable.tech => /spec/clusterOperation/stopped => flag
    zookeeperclusters.zookeeper.stackable.tech => /spec/clusterOperation/stopped => flag
    virtualmachines.kubevirt.io => /spec/runStrategy => text RerunOnFailure Halted
    rayclusters.ray.io => /spec/suspend => flag
    rayservices.ray.io => /spec/rayClusterConfig/suspend => flag
    cronworkflows.argoproj.io => /spec/suspend => flag
    scheduledsparkapplications.sparkoperator.k8s.io => /spec/suspend => flag
    autoscalingrunnersets.actions.github.com => /spec/minRunners => count
    notebooks.kubeflow.org => /metadata/annotations/kubeflow-resource-stopped => instant
    shoots.core.gardener.cloud => /spec/hibernation/enabled => flag
    clusterdeployments.hive.openshift.io => /spec/powerState => text Running Hibernating
";

fn definitions() -> impl Iterator<Item = (&'static str, &'static str, Holds)> {
    rows(ROWS).map(|[resource, path, holds]| {
        let holds = match words(holds)[..] {
            ["flag"] => Flag,
            ["text", running, stopped] => Text(running, stopped),
            ["annotation", running, stopped] => Annotation(running, stopped),
            ["instant"] => Instant,
            ["count"] => Count,
            _ => panic!("{holds}"),
        };
        (resource, path, holds)
    })
}

impl Holds {
    fn running(self) -> Value {
        match self {
            Flag => json!(false),
            Text(running, _) | Annotation(running, _) => json!(running),
            Instant => Value::Null,
            Count => json!(3),
        }
    }

    fn stopped(self) -> Value {
        match self {
            Flag => json!(true),
            Text(_, stopped) | Annotation(_, stopped) => json!(stopped),
            Instant => json!("2026-11-19T19:00:00Z"),
            Count => json!(0),
        }
    }

    /// Values without a meaning in this field. An annotation is text in any case.
    fn odd(self) -> Vec<Value> {
        let mut odd = vec![
            json!([]),
            json!([true]),
            json!({}),
            json!({"a": 1}),
            json!(1.5),
        ];
        match self {
            Flag => odd.extend([json!("true"), json!("no"), json!(1)]),
            Text(..) => odd.extend([json!(true), json!(1)]),
            Count => odd.extend([json!("3"), json!(true), json!(-1), json!(1_u64 << 40)]),
            Annotation(..) | Instant => odd.clear(),
        }
        odd
    }
}

/// An object with this value, or without the field.
fn object(path: &str, value: Value) -> Value {
    let mut object = json!({"spec": {"name": "x"}});
    if !value.is_null() {
        put(&mut object, path, value);
    }
    object
}

#[test]
fn every_row_is_in_the_table() {
    let mut rows: Vec<_> = definitions().map(|(resource, ..)| resource).collect();
    let table = KindTable::default();
    let mut known: Vec<_> = table.operators().iter().map(Kind::argument).collect();
    rows.sort_unstable();
    known.sort_unstable();
    assert_eq!(rows[..], known[..]);
}

#[test]
fn rejects_a_value_of_another_type_until_it_is_corrected() {
    for (resource, path, holds) in definitions() {
        for odd in holds.odd() {
            let mut live = Live::new(resource, object(path, odd.clone()));
            live.until("2026-11-20 20:00");
            assert_eq!(live.object.pointer(path), Some(&odd), "{resource}");
            let field = path[1..].replace('/', ".");
            assert_starts_with!(live.error(), field, "{resource}: {odd}");
            put(&mut live.object, path, holds.running());
            live.until("2026-11-21 20:00");
            assert_eq!(
                live.object.pointer(path),
                Some(&holds.stopped()),
                "{resource} {odd}"
            );
            assert_eq!(live.error(), "", "{resource} {odd}");
            live.until("2026-11-22 12:00");
            assert_eq!(
                live.object.pointer(path),
                Some(&holds.running()),
                "{resource} {odd}"
            );
        }
    }
}

/// A parent that is not a map cannot contain the field.
#[test]
fn leaves_a_parent_of_another_type_unchanged() {
    for (resource, path, _) in definitions() {
        let above = path.rsplit_once('/').unwrap().0;
        if above == "/spec" || above.starts_with("/metadata") {
            continue;
        }
        for odd in [json!("x"), json!([]), json!(3), json!(true)] {
            let before = object(above, odd.clone());
            let mut live = Live::new(resource, before.clone());
            live.until("2026-11-20 20:00");
            assert_eq!(live.object["spec"], before["spec"], "{resource} {odd}");
            assert_ne!(live.error(), "", "{resource} {odd}");
        }
    }
}

#[test]
fn restores_the_same_value_when_killed_after_each_step() {
    for (resource, path, holds) in definitions() {
        for value in [holds.running(), Value::Null] {
            let mut live = Live::new(resource, object(path, value.clone()));
            let before = live.theirs();
            let starts = if resource.starts_with("autoscalingrunnersets") && value.is_null() {
                // A missing `minRunners` is 0, so neither a stop nor a start adds it.
                continue;
            } else if value.is_null() && live.kind.switch().is_none() {
                // A missing count is restored as its default number.
                let mut live = live.clone();
                let absent = live.until("2026-11-20 12:00").object.pointer(path).cloned();
                Some(absent.unwrap())
            } else {
                None
            };
            for day in 19..22 {
                live.killed().until(&format!("2026-11-{day} 20:00"));
                let stopped = match holds {
                    Instant => json!(format!("2026-11-{day}T19:00:00Z")),
                    holds => holds.stopped(),
                };
                assert_eq!(
                    live.object.pointer(path),
                    Some(&stopped),
                    "{resource} {value}"
                );
                live.killed().until(&format!("2026-11-{} 12:00", day + 1));
                match &starts {
                    Some(count) => assert_eq!(live.object.pointer(path), Some(count), "{resource}"),
                    None if resource.starts_with("virtualmachines") && value.is_null() => {
                        assert_eq!(live.object.pointer(path), None, "{resource}");
                    }
                    None => assert_eq!(live.theirs(), before, "{resource} {value}"),
                }
            }
        }
    }
}

/// The stop creates `spec`, and the start removes it again; a count stays in it.
#[test]
fn stops_and_restores_an_object_without_a_spec() {
    for (resource, path, holds) in definitions() {
        if resource.starts_with("autoscalingrunnersets") {
            // A missing `minRunners` is 0, so a stop does not add it.
            continue;
        }
        let mut live = Live::new(resource, json!({}));
        let before = live.theirs();
        live.until("2026-11-19 20:00");
        let stopped = holds.stopped();
        assert_eq!(live.object.pointer(path), Some(&stopped), "{resource}");
        live.killed().until("2026-11-20 12:00");
        if live.kind.switch().is_some() {
            assert_eq!(live.theirs(), before, "{resource}");
        } else {
            let started = live.object.pointer(path).and_then(Value::as_u64);
            assert!(started > Some(0), "{resource}");
        }
    }
}

/// A change while stopped stays until the next stop, and is restored after it.
#[test]
fn saves_a_manual_change_at_the_next_stop() {
    for (resource, path, holds) in definitions() {
        let other = match holds {
            Flag | Instant => Value::Null,
            Text(..) if resource.starts_with("virtualmachines") => json!("Manual"),
            Text(..) => json!("other"),
            Annotation(..) => json!("no"),
            Count => json!(5),
        };
        let mut live = Live::new(resource, object(path, holds.running()));
        live.until("2026-11-19 20:00");
        match &other {
            Value::Null => {
                let (above, name) = path.rsplit_once('/').unwrap();
                let name = name.replace("~1", "/");
                let above = live.object.pointer_mut(above).unwrap();
                above.as_object_mut().unwrap().remove(&name);
            }
            other => put(&mut live.object, path, other.clone()),
        }
        let theirs = live.theirs();
        for time in ["2026-11-20 02:00", "2026-11-20 12:00"] {
            live.until(time);
            assert_eq!(live.theirs(), theirs, "{resource} at {time}");
        }
        live.until("2026-11-20 20:00");
        assert_ne!(live.theirs(), theirs, "{resource}");
        live.until("2026-11-21 12:00");
        assert_eq!(
            live.object.pointer(path),
            theirs.pointer(path),
            "{resource}"
        );
    }
}

#[test]
fn a_second_controller_changes_nothing() {
    for (resource, path, holds) in definitions() {
        let mut live = Live::new(resource, object(path, holds.running()));
        for time in ["2026-11-19 19:00", "2026-11-20 09:00"] {
            live.now = utc(time);
            let mut second = live.clone();
            let (_, first) = live.due().unwrap();
            let (_, late) = second.due().unwrap();
            apply(&mut live.object, &first).unwrap();
            let after = live.object.clone();
            assert!(
                apply(&mut live.object, &late).is_err(),
                "{resource} at {time}"
            );
            assert_eq!(live.object, after, "{resource} at {time}");
        }
    }
}
