//! Scenarios on a real API server: etcd and kube-apiserver, and if a scenario needs pods, also
//! the controllers and the scheduler of Kubernetes, and a fake node. See `tests/support`.
//!
//! - `monitoring/`: the alerts and the metrics, by Prometheus' promtool
//! - `other_controllers/`: other programs that set the same counts
//! - `overrides/`: overrides by `kubectl annotate`, and `kubectl rollout undo`
//! - `controllers/`: several controllers on one cluster
//! - `security/`: the limits of permissions, and attacks

pub(crate) mod activator;
mod boundaries;
mod calendars;
mod cluster;
mod commands;
mod controllers;
mod developers;
mod faults;
mod install;
mod kinds;
mod leaving;
mod monitoring;
mod moving;
mod named_schedules;
mod namespaces;
mod other_controllers;
mod overrides;
mod pages;
mod policy;
mod protobuf;
mod security;
mod team_defaults;
mod test_namespace;

pub(crate) use test_namespace::LOG_LAG;

use crate::support::Scenario;

/// All scenarios, the longest first.
pub(crate) fn scenarios() -> Vec<Scenario> {
    [
        kinds::scenarios(),
        namespaces::scenarios(),
        named_schedules::scenarios(),
        security::odd_objects::scenarios(),
        security::permissions::scenarios(),
        activator::scenarios(),
        security::limits::scenarios(),
        pages::scenarios(),
        moving::scenarios(),
        controllers::starting::scenarios(),
        controllers::together::scenarios(),
        overrides::rollout::scenarios(),
        overrides::ended::scenarios(),
        overrides::authors::scenarios(),
        faults::scenarios(),
        security::hostile::scenarios(),
        leaving::scenarios(),
        security::login::scenarios(),
        overrides::notices::scenarios(),
        other_controllers::scenarios(),
        other_controllers::operators::scenarios(),
        security::access::scenarios(),
        security::connecting::scenarios(),
        developers::scenarios(),
        boundaries::scenarios(),
        security::reading::scenarios(),
        security::user_roles::scenarios(),
        controllers::split::scenarios(),
        team_defaults::scenarios(),
        cluster::scenarios(),
        protobuf::scenarios(),
        commands::scenarios(),
        calendars::scenarios(),
    ]
    .concat()
}

/// Scenarios that do not wait, and use the processor that others need.
pub(crate) fn busy_scenarios() -> Vec<Scenario> {
    [
        install::scenarios(),
        monitoring::scenarios(),
        policy::scenarios(),
    ]
    .concat()
}
