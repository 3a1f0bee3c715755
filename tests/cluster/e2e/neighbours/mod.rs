//! The real programs that set the same counts: how to coexist with them, and that each is named
//! when it reverts dayshift's change.
//!
//! `NEIGHBOURS=full cargo test --test cluster neighbours` adds those that take long to build.

mod argo_cd;
mod coexistence;
mod flux;
mod kube_green;
pub(super) mod operators;
mod reverts;
mod told;

use std::env;

use crate::support::Story;

/// All scenarios.
pub(crate) fn stories() -> Vec<Story> {
    let mut all = [coexistence::stories(), reverts::stories()].concat();
    match env::var("NEIGHBOURS").as_deref() {
        Err(_) => {}
        Ok("full") => {
            all.extend([argo_cd::stories(), flux::stories(), kube_green::stories()].concat());
        }
        Ok(other) => panic!("NEIGHBOURS={other}: write `full`, or leave it out"),
    }
    all
}
