//! Stories on a real API server: etcd and kube-apiserver, and where a story asks for pods
//! Kubernetes' own controllers, scheduler and a fake node. See `tests/support`.
//!
//! - `monitoring/`: the alerts and the metrics, by Prometheus' promtool
//! - `neighbours/`: other programs that set the same counts
//! - `overrides/`: overrides by `kubectl annotate`, and `kubectl rollout undo`
//! - `scalers/`: several scalers on one cluster
//! - `security/`: the limits of permissions, and attacks

pub(crate) mod activator;
mod boundaries;
mod calendars;
mod cluster;
mod commands;
mod counts;
mod faults;
mod figures;
mod install;
mod kinds;
mod leaving;
mod monitoring;
mod moving;
mod namespaces;
mod neighbours;
mod objects;
mod overrides;
mod pages;
mod policy;
mod protobuf;
mod scalers;
mod security;
mod test_namespace;
mod zones;

pub(crate) use test_namespace::LOG_LAG;

use crate::support::Story;

/// All scenarios, the longest first.
pub(crate) fn stories() -> Vec<Story> {
    [
        kinds::stories(),
        moving::stories(),
        scalers::starting::stories(),
        scalers::together::stories(),
        overrides::rollout::stories(),
        overrides::ended::stories(),
        overrides::annotated::stories(),
        overrides::authors::stories(),
        activator::stories(),
        faults::stories(),
        security::hostile::stories(),
        pages::stories(),
        leaving::stories(),
        security::limits::stories(),
        security::login::stories(),
        namespaces::stories(),
        overrides::notices::stories(),
        neighbours::stories(),
        neighbours::operators::stories(),
        security::access::stories(),
        security::connecting::stories(),
        calendars::stories(),
        figures::stories(),
        boundaries::stories(),
        cluster::stories(),
        commands::stories(),
        counts::stories(),
        objects::stories(),
        security::permissions::stories(),
        security::reading::stories(),
        security::people::stories(),
        scalers::split::stories(),
        protobuf::stories(),
        zones::stories(),
    ]
    .concat()
}

/// Scenarios that wait for no time, and use the processor that others need.
pub(crate) fn busy_stories() -> Vec<Story> {
    [install::stories(), monitoring::stories(), policy::stories()].concat()
}
