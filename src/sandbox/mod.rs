//! The scaler in a cluster in memory, on simulated time.
//!
//! [`Simulation`] puts workloads into a Kubernetes API in memory, `kube_in_memory`, and lets the
//! unchanged controller run against it. Simulated time passes as fast as the controller has nothing
//! to do; a listener receives every event. Its answers are JSON, whatever a client accepts: of
//! protobuf they could hold only the fields that dayshift reads, which would be wrong for any other
//! client. `docs/decisions/api-server/protobuf.md` says how both forms are shown to be the same.

mod examples;
mod fragment;
mod observer;
mod requests;
mod simulation;
mod speed;
mod summary;
mod timeline_event;
mod usage;
mod user_action;

pub use examples::example_actions;
pub use fragment::{is_fragment, lacks};
pub use observer::MAX_IDLE;
pub use requests::Requests;
pub use simulation::{Played, Simulation};
pub use speed::{Speed, SpeedError};
pub use summary::Summary;
pub use timeline_event::{EventKind, TimelineEvent};
pub use usage::Usage;
pub use user_action::{Act, UserAction};
