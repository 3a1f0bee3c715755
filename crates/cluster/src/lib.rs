//! Access to a Kubernetes cluster: the client, decoding of workloads, watches, and the only code that
//! sends writes.
//!
//! - [`connect`] makes a client from a kubeconfig and adds observation, time limits, retries and
//!   protobuf.
//! - [`decode`] turns API objects into workloads and knows the count field of each kind.
//! - [`read`] finds and lists workloads, Namespaces, Services, Events and autoscalers.
//! - [`watch`](mod@watch) lists objects and follows their changes.
//! - [`write`](mod@write) sends guarded patches and Events.
//! - [`clock`] is the only code that reads the time and sleeps; [`delays`] has the backoff of retries.
//! - [`log_limit`] limits the log lines that tenants can cause.
//! - [`fair_share`](mod@fair_share) divides a capacity among namespaces.

pub mod clock;
pub mod connect;
pub mod decode;
pub mod delays;
pub mod fair_share;
pub mod log_limit;
pub mod read;
pub mod watch;
pub mod write;

pub use decode::Workload;
pub use read::Query;
pub use write::Writer;
