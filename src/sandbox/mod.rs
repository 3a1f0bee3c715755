//! The controller in a cluster in memory, on simulated time.
//!
//! [`Simulation`] loads workloads into `kube_in_memory` and runs the unchanged controller against it.
//! Simulated time advances whenever the controller is idle, and a callback receives every event. The API in
//! memory responds with JSON only: `docs/decisions/api-server/protobuf.md` describes how both encodings are
//! compared.

mod simulation;
mod summary;
mod timeline;
mod user_action;

pub use simulation::{RunningSimulation, Simulation, is_fragment, missing_fields};
pub use summary::{Requests, Summary, Usage};
pub use timeline::{EventKind, MAX_IDLE, Speed, TimelineEvent};
pub use user_action::{UserAction, UserChange, example_actions};
