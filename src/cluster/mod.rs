//! Kubernetes: the client, workloads as dayshift sees them, and the only code that sends writes.

mod absence;
mod compact;
mod connect;
mod error;
mod find;
mod guard;
mod instrument;
mod list_watch;
mod live_watch;
mod managers;
mod messages;
mod protobuf;
mod redact;
mod resource;
mod server_time;
mod transport;
mod watch_pace;
mod workload;
mod writer;

pub use absence::Absence;
pub use compact::compact;
pub use connect::{ConnectError, Connection, connect};
pub use error::{AnnounceError, FailureKind, PatchError, ReadError, Unavailable};
pub use find::{FindError, Found, Missing, Query, find, namespace_exists};
pub use guard::{annotation_patch, guarded_patch};
pub use instrument::{Exchange, instrument};
pub use list_watch::list_watch;
pub use live_watch::{WatchEvent, WatchEvents, watch};
pub use managers::{FieldManager, WithManagers};
pub use redact::redacted_chain;
pub use resource::kind_of_collection;
pub use server_time::server_time;
pub use workload::{Version, Workload};
pub use writer::Writer;
