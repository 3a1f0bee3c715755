//! How often the scaler has asked the API for what.

use kube_in_memory::RequestLine;

/// The requests of the scaler, by what they are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// Pages of lists of workloads.
    pub lists: u64,
    /// Single workloads that were read.
    pub gets: u64,
    /// Patches of workloads.
    pub patches: u64,
    /// Events that were reported.
    pub events: u64,
}

impl Requests {
    pub(super) fn count(&mut self, line: &RequestLine) {
        let counter = match line.verb {
            "list" => &mut self.lists,
            "get" => &mut self.gets,
            "patch" => &mut self.patches,
            "create" => &mut self.events,
            _ => return,
        };
        *counter += 1;
    }
}
