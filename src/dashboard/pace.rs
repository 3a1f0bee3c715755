//! How much of a processor the pages may take where a controller works beside them.

use std::sync::Arc;

use tokio::{
    sync::{Mutex, OwnedMutexGuard},
    time::{Instant, sleep},
};

/// After a page, so many times as long is waited as it took: pages take a sixth of a processor at
/// most, however many are asked for.
const REST: u32 = 5;

/// One page at a time, with a rest after each.
#[derive(Debug, Default)]
pub(super) struct Pace(Arc<Mutex<()>>);

/// The turn of one page, until it is dropped.
pub(super) struct Turn {
    begun: Instant,
    held: Option<OwnedMutexGuard<()>>,
}

impl Pace {
    /// Waits until a page may be made.
    pub(super) async fn turn(&self) -> Turn {
        let held = Arc::clone(&self.0).lock_owned().await;
        Turn {
            begun: Instant::now(),
            held: Some(held),
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let (held, rest) = (self.held.take(), self.begun.elapsed() * REST);
        tokio::spawn(async move {
            sleep(rest).await;
            drop(held);
        });
    }
}
