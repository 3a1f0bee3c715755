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
        activator::scenarios(),
        overrides::rollout::scenarios(),
        pages::scenarios(),
        security::hostile::scenarios(),
        moving::scenarios(),
        named_schedules::scenarios(),
        calendars::scenarios(),
        other_controllers::scenarios(),
        faults::scenarios(),
        namespaces::scenarios(),
        controllers::starting::scenarios(),
        security::odd_objects::scenarios(),
        boundaries::scenarios(),
        security::permissions::scenarios(),
        team_defaults::scenarios(),
        security::limits::scenarios(),
        overrides::notices::scenarios(),
        overrides::authors::scenarios(),
        security::user_roles::scenarios(),
        controllers::together::scenarios(),
        leaving::scenarios(),
        controllers::split::scenarios(),
        security::reading::scenarios(),
        security::login::scenarios(),
        commands::scenarios(),
        security::connecting::scenarios(),
        protobuf::scenarios(),
        cluster::scenarios(),
        overrides::ended::scenarios(),
        developers::scenarios(),
        security::access::scenarios(),
        other_controllers::operators::scenarios(),
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
