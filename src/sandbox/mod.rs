//! A cluster in memory, and the scaler on it.
//!
//! [`Api`] is a Kubernetes API without a server, exact enough to stand in for a real one. [`Simulation`]
//! puts Deployments into it and lets the unchanged controller run against it, on time that passes
//! as fast as it can; whoever listens is told what happens.

mod api;
mod examples;
mod observer;
mod requests;
mod simulation;
mod speed;
mod summary;
mod timeline_event;
mod usage;
mod user_action;

pub use api::{Admission, Api, Cause, Changes, Details, Fault, RequestLine, Status, StoredChange};
pub use examples::hands_on_examples;
pub use observer::MOST_IDLE;
pub use requests::Requests;
pub use simulation::Simulation;
pub use speed::{Speed, SpeedError};
pub use summary::Summary;
pub use timeline_event::{EventKind, TimelineEvent};
pub use usage::Usage;
pub use user_action::{Act, UserAction};
