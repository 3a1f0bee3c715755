//! Stories on a real API server: etcd and kube-apiserver, and where a story asks for pods
//! Kubernetes' own controllers, scheduler and a fake node. See `tests/support`.

mod access;
mod boundaries;
mod cluster;
mod commands;
mod counts;
mod ended;
mod faults;
mod hostile;
mod kinds;
mod leaving;
mod neighbours;
mod objects;
mod overrides;
mod permissions;
mod protobuf;
mod rollout;
mod split;
mod team;
mod together;
mod zones;

use crate::support::Story;

/// All of them, the longest first.
pub(crate) fn stories() -> Vec<Story> {
    [
        together::stories(),
        rollout::stories(),
        ended::stories(),
        overrides::stories(),
        faults::stories(),
        hostile::stories(),
        kinds::stories(),
        leaving::stories(),
        neighbours::stories(),
        access::stories(),
        boundaries::stories(),
        cluster::stories(),
        commands::stories(),
        counts::stories(),
        objects::stories(),
        permissions::stories(),
        split::stories(),
        protobuf::stories(),
        zones::stories(),
    ]
    .concat()
}
