//! Kubernetes: the client, a Deployment as dayshift sees it, and the only code that sends writes.

mod compact;
mod connect;
mod deployment;
mod error;
mod find;
mod guard;
mod held;
mod instrument;
mod list_watch;
mod live_watch;
mod messages;
mod protobuf;
mod server_time;
mod transport;
mod withheld;
mod writer;

pub use compact::compact;
pub use connect::{ConnectError, Connection, connect};
pub use deployment::{Deployment, Version};
pub use error::{AnnounceError, FailureKind, PatchError, ReadError, Unavailable};
pub use find::{FindError, Found, Missing, Sought, find};
pub use guard::{annotation_patch, guarded_patch};
pub use held::{Hand, Held};
pub use instrument::{Exchange, instrument};
pub use list_watch::list_watch;
pub use live_watch::{Sight, Sights, watch};
pub use server_time::server_time;
pub use withheld::withheld;
pub use writer::Writer;
