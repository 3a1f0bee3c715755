//! The in-memory API compared with a real server: does the real server still give the recorded
//! responses?
//!
//! The table of requests and the recorded responses are in `crates/kube-in-memory/tests/parity/`,
//! where the in-memory API is compared with them. Here a control plane gets the same requests, and
//! both get random patches. `DAYSHIFT_RECORD=1 cargo test --test cluster api_parity::real` records
//! the responses again.

#[path = "../../../crates/kube-in-memory/tests/parity/backend.rs"]
mod backend;
#[path = "../../../crates/kube-in-memory/tests/parity/cases/mod.rs"]
mod cases;
mod random;
mod real;
#[path = "../../../crates/kube-in-memory/tests/parity/recorded.rs"]
mod recorded;
#[path = "../../../crates/kube-in-memory/tests/parity/run.rs"]
mod run;
#[path = "../../../crates/kube-in-memory/tests/parity/table.rs"]
mod table;

use crate::support::Scenario;

/// The directory of the recorded responses.
const RECORDED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/crates/kube-in-memory/tests/parity/recorded"
);

/// All scenarios. They cannot run at the same time, because they compact etcd.
pub(crate) fn scenarios() -> Vec<Scenario> {
    [real::scenarios(), random::scenarios()].concat()
}
