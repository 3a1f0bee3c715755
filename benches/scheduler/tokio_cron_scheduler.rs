//! tokio-cron-scheduler as in its documentation, on a multi-threaded runtime.

use chrono::{TimeDelta, Utc};
use tokio::runtime;
use tokio_cron_scheduler::{Job, JobScheduler};

use super::{
    outcome::{Outcome, measure_run},
    recorder::Recorder,
};

pub(crate) fn run(jobs: u32, before: TimeDelta, channel: usize) -> Outcome {
    let runtime = runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let outcome = runtime.block_on(async {
        let recorder = Recorder::new(jobs, before);
        let begun = Utc::now();
        let scheduler = JobScheduler::new_with_channel_size(channel).await.unwrap();
        scheduler.start().await.unwrap();
        for number in 0..jobs {
            let jobs_recorder = recorder.clone();
            let job = Job::new_async(recorder.cron(), move |_, _| {
                let recorder = jobs_recorder.clone();
                Box::pin(async move { recorder.ran(number) })
            });
            scheduler.add(job.unwrap()).await.unwrap();
            if Utc::now() > recorder.due {
                break; // use the jobs that were added in time
            }
        }
        measure_run(&recorder, begun).await
    });
    runtime.shutdown_background();
    outcome
}
