//! Why a simulation cannot begin or go on.

use std::{io, net::SocketAddr};

/// Why a simulation cannot begin or go on.
#[derive(Debug, thiserror::Error)]
pub(super) enum SandboxError {
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
