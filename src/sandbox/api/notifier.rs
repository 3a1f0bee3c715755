//! A bell that wakes everybody who waits, in the order in which they began to wait.
//!
//! tokio's `watch` channel wakes in random order, and a simulation is to take the same course each
//! time.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use tokio::sync::Notify;

/// Rings for all who listen.
#[derive(Clone, Debug, Default)]
pub(super) struct Notifier(Arc<Rings>);

#[derive(Debug, Default)]
struct Rings {
    count: AtomicU64,
    rung: Notify,
}

impl Notifier {
    pub(super) fn ring(&self) {
        self.0.count.fetch_add(1, Ordering::Release);
        self.0.rung.notify_waiters();
    }

    /// Somebody who hears each ring from now on.
    pub(super) fn listen(&self) -> Listener {
        Listener {
            heard: self.0.count.load(Ordering::Acquire),
            rings: Arc::clone(&self.0),
        }
    }
}

/// Somebody who hears a bell, also where it rings while nobody waits.
#[derive(Debug)]
pub(super) struct Listener {
    rings: Arc<Rings>,
    heard: u64,
}

impl Listener {
    /// Waits for a ring, or for none where it rang since it was heard last.
    pub(super) async fn rung(&mut self) {
        loop {
            let rung = self.rings.rung.notified();
            let count = self.rings.count.load(Ordering::Acquire);
            if count != self.heard {
                self.heard = count;
                return;
            }
            rung.await;
        }
    }

    /// What rang until now has been heard.
    pub(super) fn catch_up(&mut self) {
        self.heard = self.rings.count.load(Ordering::Acquire);
    }
}

#[cfg(test)]
mod tests {
    use std::{future::Future, pin::pin, task::Context};

    use super::*;

    #[test]
    fn a_ring_is_heard_once_by_each_listener_also_afterwards() {
        let notifier = Notifier::default();
        let mut listeners = [notifier.listen(), notifier.listen()];
        notifier.ring();
        notifier.ring();
        let mut nobody = Context::from_waker(std::task::Waker::noop());
        for listener in &mut listeners {
            assert!(pin!(listener.rung()).poll(&mut nobody).is_ready());
            assert!(pin!(listener.rung()).poll(&mut nobody).is_pending());
        }
        notifier.ring();
        listeners[0].catch_up();
        assert!(pin!(listeners[0].rung()).poll(&mut nobody).is_pending());
        assert!(pin!(listeners[1].rung()).poll(&mut nobody).is_ready());
    }
}
