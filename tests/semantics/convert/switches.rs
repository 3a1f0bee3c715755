//! GoKubeDownscaler's annotations on operators' resources, and the state that it saves of each, as
//! in its `internal/pkg/scalable` (`cnpgclusters.go` and `rabbitmqclusters.go` at a931bbd,
//! `postgresqls.go` at b63bfce, `scaledobjects.go` at 018b381, `suspendScaledWorkloads.go`).

use super::converted::{change, convert, rule_ids};

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
fn restores_the_saved_state_of_an_operators_resource() {
    for ((api_version, kind), text, saved) in [
        // Whether it was hibernated before.
        (CLUSTER, "false", "1"),
        (CLUSTER, "true", "0"),
        (POSTGRESQL, "3", "3"),
        (RABBITMQ, "3", "3"),
        (RUNNERS, "2", "2"),
        // It was not paused before, or paused at this count.
        (SCALED_OBJECT, "-1", "1"),
        (SCALED_OBJECT, "4", "0"),
    ] {
        let conversion = convert(&object(api_version, kind, "original-replicas", text));
        let label = ("dayshift/saved-replicas".to_owned(), saved.to_owned());
        assert_eq!(change(&conversion).labels, [label], "{kind} {text}");
        assert_eq!(rule_ids(&conversion), ["opt-in", "saved-count"], "{kind}");
    }
    for ((api_version, kind), text) in [(CLUSTER, "some"), (POSTGRESQL, "true"), (RABBITMQ, "-1")] {
        let conversion = convert(&object(api_version, kind, "original-replicas", text));
        assert_eq!(rule_ids(&conversion), ["opt-in", "not-a-count"], "{kind}");
    }
}

#[test]
fn keeps_a_stop_count_if_the_kind_has_one() {
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
        assert_eq!(rule_ids(&conversion), expected, "{kind}");
    }
}
