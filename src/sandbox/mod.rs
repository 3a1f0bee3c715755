//! A cluster in memory, and the scaler on it.
//!
//! [`Api`] is a Kubernetes API without a server, exact enough to stand in for a real one. [`Stage`]
//! puts Deployments into it and lets the unchanged controller run against it, on time that passes
//! as fast as it can; whoever listens is told what happens.

mod api;
mod examples;
mod hand;
mod narrator;
mod pace;
mod page;
mod play;
mod requests;
mod summary;
mod tally;
mod told;

pub use api::{Admission, Api, Cause, Changes, Details, Fault, RequestLine, Status, StoredChange};
pub use examples::hands_on_examples;
pub use hand::{Act, Hand};
pub use pace::{Pace, PaceError};
pub use page::{Page, Title};
pub use play::Stage;
pub use requests::Requests;
pub use summary::Summary;
pub use tally::Tally;
pub use told::{Deed, Told};
