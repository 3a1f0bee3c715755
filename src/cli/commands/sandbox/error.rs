//! Why a simulation cannot begin or go on.

use std::{io, net::SocketAddr};

/// Why a simulation cannot begin or go on.
#[derive(Debug, thiserror::Error)]
pub(super) enum SandboxError {
    #[error("there is no workload of a kind that dayshift scales in {0}")]
    Empty(String),
    #[error("none of the files can be read")]
    NothingRead,
    #[error("each workload in the files has an error")]
    NothingRight,
    #[error("the API server accepts none of the workloads")]
    NoneTaken,
    #[error("cannot create signals or timers: {0}")]
    System(io::Error),
    #[error("cannot listen on {address}: {source}; give another --dashboard, such as 127.0.0.1:0")]
    Listen {
        address: SocketAddr,
        source: io::Error,
    },
    #[error("cannot write: {0}")]
    Write(#[source] io::Error),
}
