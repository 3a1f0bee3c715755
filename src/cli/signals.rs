//! The signals that ask the program to end.

use std::{io, net::SocketAddr, pin::pin};

use dayshift_cluster::connect::ConnectError;
use futures::{FutureExt as _, future::BoxFuture};
use tokio::sync::oneshot;

use super::{exit::Exit, runtime::block_on};

/// Ends once a signal has come.
pub(super) type Shutdown = BoxFuture<'static, ()>;

/// Why a server could not begin.
#[derive(Debug, thiserror::Error)]
pub(super) enum StartError {
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error("cannot listen on {address}: {source}; give another --listen, such as 0.0.0.0:0")]
    Listen {
        address: SocketAddr,
        source: io::Error,
    },
    #[error(
        "cannot serve the dashboard on {address}: {source}; give another --dashboard-listen, such as \
         127.0.0.1:8081"
    )]
    Dashboard {
        address: SocketAddr,
        source: io::Error,
    },
    #[error("cannot create signals, timers or sockets: {0}")]
    System(#[from] io::Error),
}

/// Does `work` until a signal asks for the end and the end is reached, or a second one comes. The first
/// is told to `ends`; why the work could not begin is logged.
pub(super) fn until_signal<W>(work: impl FnOnce(Shutdown) -> W, ends: impl FnOnce()) -> Exit
where
    W: Future<Output = Result<(), StartError>>,
{
    let ended = block_on(work_until_signal(work, ends));
    ended
        .unwrap_or_else(|error| Err(error.into()))
        .unwrap_or_else(|error| {
            tracing::error!("{error}");
            Exit::CouldNotRun
        })
}

async fn work_until_signal<W>(
    work: impl FnOnce(Shutdown) -> W,
    ends: impl FnOnce(),
) -> Result<Exit, StartError>
where
    W: Future<Output = Result<(), StartError>>,
{
    let mut signals = Signals::listen()?;
    let (end, ended) = oneshot::channel::<()>();
    let mut work = pin!(work(ended.map(drop).boxed()));
    let first = tokio::select! {
        ended = &mut work => return ended.map(|()| Exit::Done),
        signal = signals.next() => signal,
    };
    ends();
    tracing::info!("{} received", first.name());
    drop(end);
    tokio::select! {
        ended = work => ended.map(|()| Exit::Done),
        again = signals.next() => {
            tracing::warn!("{} received again, ending at once", again.name());
            Ok(again.exit())
        }
    }
}

/// SIGTERM (Kubernetes, systemd) and SIGINT (Ctrl-C), from when they are first listened to.
pub(super) struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

/// One that came.
#[derive(Clone, Copy, Debug)]
pub(super) enum Signal {
    #[cfg_attr(not(unix), expect(dead_code, reason = "there is none elsewhere"))]
    Terminate,
    Interrupt,
}

impl Signals {
    #[cfg(unix)]
    pub(super) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    #[cfg(not(unix))]
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Waits for the next one.
    #[cfg(unix)]
    pub(super) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.terminate.recv() => Signal::Terminate,
            _ = self.interrupt.recv() => Signal::Interrupt,
        }
    }

    /// Waits for the next one.
    #[cfg(not(unix))]
    pub(super) async fn next(&mut self) -> Signal {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        Signal::Interrupt
    }
}

impl Signal {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Terminate => "SIGTERM",
            Self::Interrupt => "SIGINT",
        }
    }

    /// The end of a program that does not wait for anything more.
    pub(super) const fn exit(self) -> Exit {
        Exit::Signal(match self {
            Self::Terminate => 15,
            Self::Interrupt => 2,
        })
    }
}
