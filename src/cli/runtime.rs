//! The tokio runtime of a command.

use std::io;

use tokio::runtime::Builder;

/// Does `work` on this thread.
///
/// # Errors
/// Where the system gives no timers or sockets.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> io::Result<T> {
    run(&mut Builder::new_current_thread(), work)
}

/// Does `work` on this thread, in tokio's paused time.
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
    // A name that is still being looked up, or a sleep that was cut short, must not delay the end.
    runtime.shutdown_background();
    Ok(done)
}
