//! How a command ends: the result that it prints, or the error that prevents one.

use std::{
    io::{self, BufWriter, StdoutLock, Write as _},
    net::SocketAddr,
};

use dayshift_cluster::{connect::ConnectError, read::FindError};
use tokio::net::TcpListener;

use crate::cli::{
    output::{
        messages::print_error,
        terminal::{Style, style},
    },
    process::{Exit, wrong_usage},
};

/// Why a command has no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    #[error(transparent)]
    Usage(#[from] clap::Error),
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error(transparent)]
    Find(#[from] FindError),
    #[error("{error} (the server is {server})")]
    Unavailable { error: FindError, server: String },
    #[error("{0}")]
    Namespaces(String),
    #[error("cannot listen on {address}: {source}; give another {flag}")]
    Listen {
        address: SocketAddr,
        source: io::Error,
        /// The flag of the address, with an example.
        flag: &'static str,
    },
    #[error("cannot create signals, timers or sockets: {0}")]
    System(#[from] io::Error),
    #[error("cannot write: {0}")]
    Write(#[source] io::Error),
}

impl CommandError {
    /// The error with the address of the server, if the server cannot be reached.
    pub(crate) fn with_server(self, server: &str) -> Self {
        match self {
            Self::Find(error @ FindError::Unavailable(_)) => Self::Unavailable {
                error,
                server: server.to_owned(),
            },
            error => error,
        }
    }

    /// Prints the error on standard error, and returns the exit status.
    pub(crate) fn report(&self) -> Exit {
        match self {
            Self::Usage(error) => wrong_usage(error),
            // A closed pipe is not an error: the reader has seen enough.
            Self::Write(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
            error => {
                print_error(error);
                Exit::CouldNotRun
            }
        }
    }
}

/// Writes a result to standard output. A closed pipe is not an error.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn print_result(
    write: impl FnOnce(&mut BufWriter<StdoutLock<'static>>, Style) -> io::Result<()>,
) -> Result<(), CommandError> {
    let stdout = io::stdout();
    let style = style(&stdout);
    let mut out = BufWriter::new(stdout.lock());
    match write(&mut out, style).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CommandError::Write(error)),
        _ => Ok(()),
    }
}

/// Listens on the address of a flag, which is named with an example.
///
/// # Errors
/// If the address is in use or does not belong to this machine.
pub(crate) async fn listen(
    address: SocketAddr,
    flag: &'static str,
) -> Result<TcpListener, CommandError> {
    let refused = |source| CommandError::Listen {
        address,
        source,
        flag,
    };
    TcpListener::bind(address).await.map_err(refused)
}
