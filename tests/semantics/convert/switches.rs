//! GoKubeDownscaler's annotations on databases and other operators' resources: what it saves of each, as its
//! `internal/pkg/scalable` has it (`cnpgclusters.go` and `rabbitmqclusters.go` at a931bbd, `postgresqls.go`
//! at b63bfce, `scaledobjects.go` at 018b381, `suspendScaledWorkloads.go`).

use super::converted::{change, convert, said};

fn object(api_version: &str, kind: &str, key: &str, text: &str) -> String {
    format!(
        "apiVersion: {api_version}\nkind: {kind}\nmetadata:\n  name: db\n  namespace: team\n  annotations:\n    downscaler/uptime: Mon-Fri 08:00-20:00 UTC\n    downscaler/{key}: '{text}'\n"
    )
}

const CLUSTER: (&str, &str) = ("postgresql.cnpg.io/v1", "Cluster");
const POSTGRESQL: (&str, &str) = ("acid.zalan.do/v1", "postgresql");
const RABBITMQ: (&str, &str) = ("rabbitmq.com/v1beta1", "RabbitmqCluster");
const RUNNERS: (&str, &str) = ("actions.github.com/v1alpha1", "AutoscalingRunnerSet");
const SCALED_OBJECT: (&str, &str) = ("keda.sh/v1alpha1", "ScaledObject");

#[test]
fn what_was_saved_of_an_operators_resource_comes_back() {
    for ((api_version, kind), text, saved) in [
        // Whether it hibernated before.
        (CLUSTER, "false", "1"),
        (CLUSTER, "true", "0"),
        (POSTGRESQL, "3", "3"),
        (RABBITMQ, "3", "3"),
        (RUNNERS, "2", "2"),
        // It was not paused before, or at this count.
        (SCALED_OBJECT, "-1", "1"),
        (SCALED_OBJECT, "4", "0"),
    ] {
        let conversion = convert(&object(api_version, kind, "original-replicas", text));
        let label = ("dayshift/saved-replicas".to_owned(), saved.to_owned());
        assert_eq!(change(&conversion).labels, [label], "{kind} {text}");
        assert_eq!(said(&conversion), ["opt-in", "saved-count"], "{kind}");
    }
    for ((api_version, kind), text) in [(CLUSTER, "some"), (POSTGRESQL, "true"), (RABBITMQ, "-1")] {
        let conversion = convert(&object(api_version, kind, "original-replicas", text));
        assert_eq!(said(&conversion), ["opt-in", "not-a-count"], "{kind}");
    }
}

#[test]
fn a_stop_leaves_a_count_where_the_kind_has_one() {
    for ((api_version, kind), stops_at) in [
        (CLUSTER, None),
        (RABBITMQ, None),
        (POSTGRESQL, Some("1")),
        (RUNNERS, Some("1")),
        (SCALED_OBJECT, Some("1")),
    ] {
        let conversion = convert(&object(api_version, kind, "downscale-replicas", "1"));
        let name = "dayshift/stop-replicas";
        let set = &change(&conversion).set;
        let found = set.iter().find(|it| it.0 == name).map(|it| &*it.1);
        assert_eq!(found, stops_at, "{kind}");
        let expected: &[&str] = match stops_at {
            Some(_) => &["opt-in"],
            None => &["opt-in", "no-count"],
        };
        assert_eq!(said(&conversion), expected, "{kind}");
    }
}
