//! The process: exit statuses, the tokio runtime of a command, and the signals that end it.

use std::{
    fmt::Display,
    io::{self, Write as _},
    pin::pin,
    process::ExitCode,
};

use clap::error::ErrorKind;
use dayshift_text::{is_unprintable, printable};
use futures::{FutureExt as _, future::BoxFuture};
use tokio::{runtime::Builder, sync::oneshot};

/// The exit status. It distinguishes a finding from an outage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: success.
    Done,
    /// 1: problems were found.
    Problems,
    /// 2: the command line is wrong.
    Usage,
    /// 3: the command could not run, for example because of the cluster, a permission or a port.
    CouldNotRun,
    /// 128 and the number of a signal that was received twice, as in a shell.
    Signal(u8),
}

impl Exit {
    /// The worse of two statuses. `CouldNotRun` is worse than `Problems`.
    pub(super) fn worse(self, other: Self) -> Self {
        match (self, other) {
            (Self::Done, other) => other,
            (_, Self::CouldNotRun) => Self::CouldNotRun,
            _ => self,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Problems => 1,
            Exit::Usage => 2,
            Exit::CouldNotRun => 3,
            Exit::Signal(number) => 128_u8.saturating_add(number),
        })
    }
}

fn is_control(character: char) -> bool {
    character != '\n' && is_unprintable(character)
}

/// An error in the command line that clap does not detect.
pub(super) fn usage_error(message: impl Display) -> clap::Error {
    clap::Error::raw(ErrorKind::ValueValidation, format!("{message}\n"))
}

/// Prints an error in the command line, or the help or version that was requested.
pub(super) fn wrong_usage(error: &clap::Error) -> Exit {
    let shown = error.render().to_string();
    // Errors are ignored, because there is no reader.
    let _ = if shown.contains(is_control) {
        let lines = shown.lines().map(printable).collect::<Vec<_>>().join("\n");
        writeln!(io::stderr(), "{lines}")
    } else {
        error.print()
    };
    if error.use_stderr() {
        Exit::Usage
    } else {
        Exit::Done
    }
}

/// Runs `work` on this thread.
///
/// # Errors
/// If the system provides no timers or sockets.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> io::Result<T> {
    run(&mut Builder::new_current_thread(), work)
}

/// Runs `work` on this thread in tokio's paused time.
///
/// # Errors
/// As [`block_on`].
#[cfg(feature = "sandbox")]
pub(crate) fn block_on_paused_time<T>(work: impl Future<Output = T>) -> io::Result<T> {
    run(Builder::new_current_thread().start_paused(true), work)
}

fn run<T>(builder: &mut Builder, work: impl Future<Output = T>) -> io::Result<T> {
    let runtime = builder.enable_all().build()?;
    let done = runtime.block_on(work);
    // A pending name lookup or sleep should not delay the exit.
    runtime.shutdown_background();
    Ok(done)
}

/// Completes when a signal is received.
pub(super) type Shutdown = BoxFuture<'static, ()>;

/// Runs `work` until it has finished after a first signal, or until a second signal. The first
/// signal calls `ends`. An error at the start is logged.
pub(super) fn until_signal<W, E>(work: impl FnOnce(Shutdown) -> W, ends: impl FnOnce()) -> Exit
where
    W: Future<Output = Result<(), E>>,
    E: Display + From<io::Error>,
{
    let ended = block_on(work_until_signal(work, ends));
    ended
        .unwrap_or_else(|error| Err(error.into()))
        .unwrap_or_else(|error| {
            tracing::error!("{error}");
            Exit::CouldNotRun
        })
}

async fn work_until_signal<W, E>(
    work: impl FnOnce(Shutdown) -> W,
    ends: impl FnOnce(),
) -> Result<Exit, E>
where
    W: Future<Output = Result<(), E>>,
    E: From<io::Error>,
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

/// Receives SIGTERM (Kubernetes, systemd) and SIGINT (Ctrl-C).
pub(super) struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

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

    /// Waits for the next signal.
    #[cfg(unix)]
    pub(super) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.terminate.recv() => Signal::Terminate,
            _ = self.interrupt.recv() => Signal::Interrupt,
        }
    }

    /// Waits for the next signal.
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

    /// The exit status when the process ends without waiting.
    pub(super) const fn exit(self) -> Exit {
        Exit::Signal(match self {
            Self::Terminate => 15,
            Self::Interrupt => 2,
        })
    }
}
