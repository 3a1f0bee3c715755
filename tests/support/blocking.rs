//! Blocking access to asynchronous clients, so that tests read from top to bottom.

use std::future::Future;
use std::sync::LazyLock;
use std::thread;

use tokio::runtime::{Builder, Handle};

/// One thread drives the connections of all tests, so that they can share a client.
static RUNTIME: LazyLock<Handle> = LazyLock::new(|| {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let handle = runtime.handle().clone();
    thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
    handle
});

/// Waits for `future` on this thread. It should not be called from asynchronous code.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    RUNTIME.block_on(future)
}
