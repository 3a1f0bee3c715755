//! What becomes of one workload, without a cluster, and with nothing of one linked.
//!
//! - `decide/`: each rule of behaviour, on the pure function

mod decide;
