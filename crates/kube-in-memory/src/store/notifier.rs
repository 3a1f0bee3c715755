//! Wakes all listeners, in the order in which they began to wait.
//!
//! tokio's `watch` channel wakes in random order, and a simulation is to take the same course each
//! time.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use tokio::sync::Notify;

/// Wakes all listeners.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notifier(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    count: AtomicU64,
    notify: Notify,
}

impl Notifier {
    pub(crate) fn notify(&self) {
        self.0.count.fetch_add(1, Ordering::Release);
        self.0.notify.notify_waiters();
    }

    /// A listener that is woken by each notification from now on.
    pub(crate) fn listen(&self) -> Listener {
        Listener {
            seen: self.0.count.load(Ordering::Acquire),
            shared: Arc::clone(&self.0),
        }
    }
}

/// Waits for notifications. One that comes while nobody waits is not lost.
#[derive(Debug)]
pub(crate) struct Listener {
    shared: Arc<Shared>,
    seen: u64,
}

impl Listener {
    /// Returns at the next notification, or at once where there was one since the last call.
    pub(crate) async fn notified(&mut self) {
        loop {
            let notified = self.shared.notify.notified();
            let count = self.shared.count.load(Ordering::Acquire);
            if count != self.seen {
                self.seen = count;
                return;
            }
            notified.await;
        }
    }

    /// Forgets the notifications so far.
    pub(crate) fn catch_up(&mut self) {
        self.seen = self.shared.count.load(Ordering::Acquire);
    }
}

#[cfg(test)]
mod tests {
    use std::{future::Future, pin::pin, task::Context};

    use super::*;

    #[test]
    fn each_listener_sees_a_notification_once_also_afterwards() {
        let notifier = Notifier::default();
        let mut listeners = [notifier.listen(), notifier.listen()];
        notifier.notify();
        notifier.notify();
        let mut nobody = Context::from_waker(std::task::Waker::noop());
        for listener in &mut listeners {
            assert!(pin!(listener.notified()).poll(&mut nobody).is_ready());
            assert!(pin!(listener.notified()).poll(&mut nobody).is_pending());
        }
        notifier.notify();
        listeners[0].catch_up();
        assert!(pin!(listeners[0].notified()).poll(&mut nobody).is_pending());
        assert!(pin!(listeners[1].notified()).poll(&mut nobody).is_ready());
    }
}
