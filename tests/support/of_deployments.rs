//! Settings for runs over days and months.

use dayshift_controller::{Scope, Settings};
use dayshift_workload::Kind;

/// Settings that watch only Deployments. Watches that are renewed every five minutes are the main cost of a
/// long run.
pub fn of_deployments() -> Settings {
    Settings {
        scope: Scope {
            kinds: vec![Kind::DEPLOYMENT],
            namespace_defaults: false,
            ..Scope::default()
        },
        ..Settings::default()
    }
}
