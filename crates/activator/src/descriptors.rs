//! File descriptors: a listener uses one, a connection two.
//!
//! The soft limit is raised to the hard limit. Listeners and connections leave enough descriptors for the API
//! server, probes and metrics, so a tenant with many ports or connections cannot stop these.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors that listeners and connections do not use.
const RESERVED: usize = 256;

/// The maximum numbers of listeners and connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DescriptorBudget {
    pub(crate) listeners: usize,
    pub(crate) connections: usize,
}

impl DescriptorBudget {
    /// Raises the soft limit of the process to its hard limit, and divides it.
    pub(crate) fn raise() -> Self {
        let limit = getrlimit(Resource::Nofile);
        let raised = Rlimit {
            current: limit.maximum,
            maximum: limit.maximum,
        };
        if let Err(error) = setrlimit(Resource::Nofile, raised) {
            tracing::warn!(%error, "cannot raise the limit of open files");
        }
        let limit = getrlimit(Resource::Nofile).current;
        let limit = limit.and_then(|limit| usize::try_from(limit).ok());
        Self::new(limit.unwrap_or(usize::MAX))
    }

    fn new(limit: usize) -> Self {
        let free = limit.saturating_sub(RESERVED).max(4);
        let listeners = free / 4;
        Self {
            listeners,
            connections: (free - listeners) / 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listeners_and_connections_leave_descriptors_for_probes() {
        for limit in [0, 256, 1_024, 4_096, 1_048_576] {
            let budget = DescriptorBudget::new(limit);
            let used = budget.listeners + 2 * budget.connections;
            assert!(
                used <= limit.saturating_sub(RESERVED).max(4),
                "{limit}: {budget:?}"
            );
            assert!(budget.listeners > 0 && budget.connections > 0, "{limit}");
        }
    }

    #[test]
    fn soft_limit_is_raised_to_the_hard_limit() {
        DescriptorBudget::raise();
        let limit = getrlimit(Resource::Nofile);
        assert_eq!(limit.current, limit.maximum);
    }
}
