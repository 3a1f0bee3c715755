//! What asks and changes the cluster for the pages: few at a time, and not on the connections.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError},
};

use futures::{StreamExt as _, stream::FuturesUnordered};
use kube::Client;
use tokio::sync::{mpsc, oneshot};

use super::{
    carry_out::{carry_out, planned},
    plan::{Actions, Plan, Planned},
};
use crate::{
    dashboard::settings::Settings,
    operations::{OverrideRequest, Selection},
};

/// So many at a time; others wait.
const MOST: usize = 4;

/// Something to be done.
pub(super) enum Job {
    /// To look what would change.
    Plan(Arc<Asked>, oneshot::Sender<Planned>),
    /// To change it.
    CarryOut(Arc<Plan>),
}

/// What somebody has asked for.
pub(super) struct Asked {
    pub(super) request: OverrideRequest,
    pub(super) selection: Selection,
    pub(super) missing: Vec<String>,
    pub(super) namespaces: Vec<String>,
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
}

impl Actions {
    /// Does what comes, for as long as it is polled.
    pub(in crate::dashboard) async fn work(
        &self,
        client: &Client,
        settings: &Settings,
    ) -> Infallible {
        let receiver = self.jobs.receiver.lock();
        let taken = receiver.unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut jobs) = taken else {
            return std::future::pending().await;
        };
        let mut under_way = FuturesUnordered::new();
        loop {
            tokio::select! {
                Some(job) = jobs.recv(), if under_way.len() < MOST => {
                    under_way.push(done(client, settings, job));
                }
                Some(()) = under_way.next() => {}
            }
        }
    }
}

async fn done(client: &Client, settings: &Settings, job: Job) {
    match job {
        Job::Plan(asked, answer) => {
            // Who has left needs no answer.
            let _ = answer.send(planned(client, settings, &asked).await);
        }
        Job::CarryOut(plan) => carry_out(client, settings, &plan).await,
    }
}
