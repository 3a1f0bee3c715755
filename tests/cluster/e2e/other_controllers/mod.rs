//! The real programs that set the same counts: how to coexist with them, and that each is named
//! when it reverts dayshift's change.
//!
//! `OTHER_CONTROLLERS=full cargo test --test cluster other_controllers` adds those that take long to build.

mod argo_cd;
mod coexistence;
mod flux;
mod kube_green;
pub(super) mod operators;
mod reported;
mod reverts;

use std::env;

use crate::support::Scenario;

/// All scenarios.
pub(crate) fn scenarios() -> Vec<Scenario> {
    let mut all = [coexistence::scenarios(), reverts::scenarios()].concat();
    match env::var("OTHER_CONTROLLERS").as_deref() {
        Err(_) => {}
        Ok("full") => {
            all.extend(
                [
                    argo_cd::scenarios(),
                    flux::scenarios(),
                    kube_green::scenarios(),
                ]
                .concat(),
            );
        }
        Ok(other) => panic!("OTHER_CONTROLLERS={other}: write `full`, or leave it out"),
    }
    all
}
