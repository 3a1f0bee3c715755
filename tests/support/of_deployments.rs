//! A scaler that watches the least, for days and months.

use dayshift_controller::{Scope, Settings};
use dayshift_workload::Kind;

/// Deployments alone. Nothing else costs as much as watches that end every five minutes and begin again, and
/// this has one where the others have four.
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
