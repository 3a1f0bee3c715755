//! What is to be done, on its way to who does it.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, oneshot};

use super::plan::{Asked, Plan, Planned};
use crate::dashboard::view::View;

/// Something to be done.
pub(super) enum Job {
    /// To look what would change.
    Plan(Arc<Asked>, oneshot::Sender<Planned>),
    /// To change it, and what is seen when that is confirmed.
    CarryOut(Arc<Plan>, Arc<View>),
}

/// Jobs on their way.
pub(super) struct Jobs {
    sender: mpsc::UnboundedSender<Job>,
    receiver: Mutex<Option<mpsc::UnboundedReceiver<Job>>>,
}

impl Default for Jobs {
    fn default() -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        let receiver = Mutex::new(Some(receiver));
        Self { sender, receiver }
    }
}

impl Jobs {
    /// Has it done, by and by.
    pub(super) fn send(&self, job: Job) {
        // Where nobody works any more the program ends.
        let _ = self.sender.send(job);
    }

    /// Where they come out; none where somebody has that already.
    pub(super) fn take(&self) -> Option<mpsc::UnboundedReceiver<Job>> {
        let receiver = self.receiver.lock();
        receiver.unwrap_or_else(PoisonError::into_inner).take()
    }
}
