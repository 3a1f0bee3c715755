//! What a controller is told once, at its start.

use std::num::NonZeroUsize;

use chrono::TimeDelta;

use crate::{schedule::Zone, workload::Prefix};

/// How a controller behaves.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The zone of local times on an object that names none.
    pub default_zone: Zone,
    /// What stands before the `/` of every annotation and label.
    pub prefix: Prefix,
    /// Which Deployments are looked at.
    pub scope: Scope,
    /// What was missed for longer than this is adopted instead of done.
    pub catch_up: TimeDelta,
    /// How far the clock may be from the API server's; none where that is not looked at.
    pub max_clock_skew: Option<TimeDelta>,
    /// How many requests may be under way at once.
    pub max_in_flight: NonZeroUsize,
    /// Say what would be done, and write nothing.
    pub dry_run: bool,
    /// The pod that this process runs in: the Deployment it belongs to is never scaled.
    pub own_pod: Option<OwnPod>,
    /// Who reports Events: the pod's name, say.
    pub instance: String,
    /// The seed of the backoff's jitter.
    pub seed: u64,
}

/// Which Deployments are looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// These namespaces; all where none is named.
    pub namespaces: Vec<String>,
    /// But not these.
    pub excluded_namespaces: Vec<String>,
    /// Of those, what this label selector matches.
    pub selector: Option<String>,
}

/// The pod that this process runs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnPod {
    /// Its namespace.
    pub namespace: String,
    /// Its name, `<deployment>-<hash>-<suffix>` where a Deployment made it.
    pub name: String,
}

impl OwnPod {
    /// Whether this Deployment is the one that made the pod.
    pub fn belongs_to(&self, namespace: &str, deployment: &str) -> bool {
        let made = || self.name.rsplitn(3, '-').nth(2) == Some(deployment);
        self.namespace == namespace && made()
    }
}

impl Default for Settings {
    /// The documented defaults: all namespaces, UTC, catch up for 72 h, 30 s of clock skew.
    fn default() -> Self {
        Self {
            default_zone: Zone::UTC,
            prefix: Prefix::default(),
            scope: Scope::default(),
            catch_up: TimeDelta::hours(72),
            max_clock_skew: Some(TimeDelta::seconds(30)),
            max_in_flight: NonZeroUsize::new(32).unwrap_or(NonZeroUsize::MIN),
            dry_run: false,
            own_pod: None,
            instance: "dayshift".to_owned(),
            seed: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_knows_the_deployment_that_made_it() {
        let pod = OwnPod {
            namespace: "ops".into(),
            name: "day-shift-7c9f8d6b5-x2x4z".into(),
        };
        assert!(pod.belongs_to("ops", "day-shift"));
        assert!(!pod.belongs_to("dev", "day-shift"));
        assert!(!pod.belongs_to("ops", "day"));
    }
}
