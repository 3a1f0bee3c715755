//! What asks and changes the cluster for the pages: few at a time, and not on the connections.

use std::convert::Infallible;

use futures::{StreamExt as _, stream::FuturesUnordered};

use super::{
    carry_out::{carry_out, planned},
    jobs::Job,
    pending::Actions,
};
use crate::dashboard::settings::Settings;

/// How many work at a time; others wait.
const MAX_RUNNING: usize = 4;

impl Actions {
    /// Does what comes, for as long as it is polled.
    pub(crate) async fn work(&self, settings: &Settings) -> Infallible {
        let Some(mut jobs) = self.jobs.take() else {
            return std::future::pending().await;
        };
        let mut under_way = FuturesUnordered::new();
        loop {
            tokio::select! {
                Some(job) = jobs.recv(), if under_way.len() < MAX_RUNNING => {
                    under_way.push(done(settings, job));
                }
                Some(()) = under_way.next() => {}
            }
        }
    }
}

async fn done(settings: &Settings, job: Job) {
    match job {
        Job::Plan(asked, answer) => {
            // Who has left needs no answer.
            let _ = answer.send(planned(settings, &asked).await);
        }
        Job::CarryOut(plan, view) => carry_out(settings, &plan, &view).await,
    }
}
