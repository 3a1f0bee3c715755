//! Access to a Kubernetes cluster: the client, the workloads as dayshift reads them, the watches, and the
//! only code that sends writes.
//!
//! - [`connect`] makes a client from a kubeconfig, and adds observation, time limits, retries and protobuf.
//! - [`decode`] turns objects into workloads, and knows where each kind has its count.
//! - [`read`] finds and lists workloads, Namespaces, Services, Events and autoscalers.
//! - [`watch`](mod@watch) lists and then follows objects without an end.
//! - [`write`](mod@write) sends guarded patches and Events.
//! - [`clock`] is the one place that reads the time and sleeps, [`delays`] holds the backoff of retries.

pub mod clock;
pub mod connect;
pub mod decode;
pub mod delays;
pub mod read;
pub mod watch;
pub mod write;

pub use decode::Workload;
pub use read::Query;
pub use write::Writer;
