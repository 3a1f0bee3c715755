//! The in-memory API beside a real server: is what is recorded still what the real one answers?
//!
//! The table of requests and the recorded answers are in `crates/kube-in-memory/tests/parity/`,
//! where the in-memory API is held to them. Here a control plane is asked the same, and both are
//! asked random patches.
//! `DAYSHIFT_RECORD=1 cargo test --test cluster api_parity::real` writes down what the real server answers now.

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

use crate::support::Story;

/// Where the real server's answers are.
const RECORDED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/crates/kube-in-memory/tests/parity/recorded"
);

/// All of them: each changes what the others are told, by a compaction of etcd.
pub(crate) fn stories() -> Vec<Story> {
    [real::stories(), random::stories()].concat()
}
