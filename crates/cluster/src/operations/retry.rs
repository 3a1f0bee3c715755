//! Writing to one object again, where that can help.

use std::time::Duration;

use crate::cluster::ReadError;

/// How many objects are written to at a time.
pub(super) const AT_ONCE: usize = 16;

/// How often one object is tried, and how long to wait before the second try; then twice as long
/// each time.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(200);

/// An error that may go by.
pub(super) trait Retry: From<ReadError> {
    fn is_worth_another_try(&self) -> bool;
}

/// What `attempt` comes to with the object as it is: seen before, and read again before each
/// further try.
pub(super) async fn retry<O, T, E: Retry>(
    before: &O,
    read: impl AsyncFn() -> Result<O, ReadError>,
    attempt: impl AsyncFn(&O) -> Result<T, E>,
) -> Result<T, E> {
    let mut pause = PAUSE;
    let mut done = attempt(before).await;
    for _ in 1..TRIES {
        match &done {
            Err(error) if error.is_worth_another_try() => {}
            _ => break,
        }
        tokio::time::sleep(pause).await;
        pause *= 2;
        done = match read().await {
            Ok(read) => attempt(&read).await,
            Err(error) => Err(error.into()),
        };
    }
    done
}
