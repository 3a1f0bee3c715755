//! The scaler in a cluster in memory, on simulated time.
//!
//! [`Simulation`] puts workloads into a Kubernetes API in memory, `kube_in_memory`, and lets the
//! unchanged controller run against it. Simulated time passes as fast as the controller has nothing
//! to do; a listener receives every event. Its answers are JSON, whatever a client accepts: of
//! protobuf they could hold only the fields that dayshift reads, which would be wrong for any other
//! client. `docs/decisions/api-server/protobuf.md` says how both forms are shown to be the same.

mod simulation;
mod summary;
mod timeline;
mod user_action;

pub use simulation::{Played, Simulation, is_fragment, lacks};
pub use summary::{Requests, Summary, Usage};
pub use timeline::{EventKind, MAX_IDLE, Speed, SpeedError, TimelineEvent};
pub use user_action::{Act, UserAction, example_actions};
