//! The controller in a cluster in memory, on simulated time.
//!
//! [`Simulation`] loads workloads into `kube_in_memory` and runs the unchanged controller against it.
//! Simulated time advances whenever the controller is idle, and a callback receives every event. The API in
//! memory responds with JSON only: `docs/decisions/api-server/protobuf.md` describes how both encodings are
//! compared.

mod simulation;
mod timeline;

pub use simulation::{
    RunningSimulation, Simulation, UserAction, UserChange, example_actions, is_fragment,
    missing_fields,
};
pub use timeline::{EventKind, MAX_IDLE, Requests, Speed, Summary, TimelineEvent, Usage};
