//! Sends requests, each in a task of its own, and collects their responses.

use std::{collections::HashMap, panic::resume_unwind, time::Duration};

use dayshift_cluster::{
    Writer,
    write::{PatchError, ReadError},
};
use dayshift_workload::Job;
use tokio::{
    task::{AbortHandle, JoinError, JoinSet},
    time::Instant,
};

use crate::{
    core::io::{Request, Response},
    followups::jobs::{CronJobTarget, JobPatches, JobsPass, JobsPassResult},
    ids::RequestId,
};

/// The timeout of an Event. It is short because Events of all namespaces share their slots.
const EVENT_TIMEOUT: Duration = Duration::from_secs(5);

/// The timeout of the requests that are less urgent than starts and stops: field managers, readiness and
/// Jobs.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

/// How long Jobs are patched in one pass. The remaining ones are left to the next pass of their namespace, so that a
/// namespace with thousands of Jobs does not delay the Jobs of others.
const JOBS_PASS: Duration = Duration::from_secs(10);

/// The timeout of the list that shows whether the server responds.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// The requests in flight.
pub(super) struct Requests {
    writer: Writer,
    tasks: JoinSet<(RequestId, Response)>,
    handles: HashMap<RequestId, AbortHandle>,
}

impl Requests {
    /// Creates the set without requests.
    pub(super) fn new(writer: Writer) -> Self {
        Self {
            writer,
            tasks: JoinSet::new(),
            handles: HashMap::new(),
        }
    }

    /// Sends a request.
    pub(super) fn send(&mut self, id: RequestId, request: Request) {
        let writer = self.writer.clone();
        let task = async move { (id, respond(&writer, request).await) };
        let handle = self.tasks.spawn(task);
        self.handles.insert(id, handle);
    }

    /// Aborts a request. Its response is not returned.
    pub(super) fn abort(&mut self, id: RequestId) {
        if let Some(handle) = self.handles.remove(&id) {
            handle.abort();
        }
    }

    /// Waits for the next response; `None` if no request is in flight.
    pub(super) async fn next(&mut self) -> Option<(RequestId, Response)> {
        loop {
            let ended = self.tasks.join_next().await?;
            if let Some(response) = self.take(ended) {
                return Some(response);
            }
        }
    }

    /// Returns a response that has already arrived, if any.
    pub(super) fn try_next(&mut self) -> Option<(RequestId, Response)> {
        loop {
            let ended = self.tasks.try_join_next()?;
            if let Some(response) = self.take(ended) {
                return Some(response);
            }
        }
    }

    /// The response of a task that has ended; `None` if it was aborted.
    fn take(
        &mut self,
        ended: Result<(RequestId, Response), JoinError>,
    ) -> Option<(RequestId, Response)> {
        match ended {
            Ok((id, response)) => {
                self.handles.remove(&id);
                Some((id, response))
            }
            Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
            Err(_aborted) => None,
        }
    }

    /// Whether no request is in flight.
    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }
}

async fn respond(writer: &Writer, request: Request) -> Response {
    match request {
        Request::Patch(object, patch) => {
            Response::Patch(Box::new(writer.send_patch(&object, &patch).await))
        }
        Request::Read(object) => Response::Read(Box::new(writer.read(&object).await)),
        Request::Managers(object) => {
            let writer = writer.with_timeout(LOOKUP_TIMEOUT);
            Response::Managers(Box::new(writer.read_managers(&object).await))
        }
        Request::Event(event) => {
            let writer = writer.with_timeout(EVENT_TIMEOUT);
            let sent = writer.announce(&event.object, &event.text, event.at);
            Response::Event(sent.await)
        }
        Request::Jobs(pass) => {
            let writer = writer.with_timeout(LOOKUP_TIMEOUT);
            // Boxed, so that a pass does not make the task of every other request larger.
            Response::Jobs(Box::new(Box::pin(run_jobs_pass(pass, &writer)).await))
        }
        Request::Version { kind, namespace } => {
            Response::Version(writer.current_version(&kind, namespace.as_deref()).await)
        }
        Request::Probe(object) => {
            let writer = writer.with_timeout(PROBE_TIMEOUT);
            let namespace = Some(&*object.namespace);
            Response::Version(writer.current_version(&object.kind, namespace).await)
        }
    }
}

/// Runs a pass: patches the Jobs of each page of the list before it requests the next one, so that only one page
/// is in memory. If a patch fails, the others are still tried, unless the server has failed or the permission is
/// missing. Then the remaining Jobs are left to the next pass, and also after [`JOBS_PASS`].
async fn run_jobs_pass(pass: JobsPass, writer: &Writer) -> JobsPassResult {
    let namespace = pass.namespace;
    let targets = pass.cron_jobs.into_iter();
    let mut cron_jobs: Vec<_> = targets
        .map(|target| (target, JobPatches::default()))
        .collect();
    let mut until = None;
    let mut pages = writer.job_pages(&namespace);
    let list_error = loop {
        match pages.next().await {
            Ok(Some(jobs)) => {
                for (target, patches) in &mut cron_jobs {
                    patch_jobs(writer, &namespace, target, &jobs, patches, &mut until).await;
                }
            }
            Ok(None) => break None,
            Err(ReadError::Gone) => break Some(PatchError::Gone),
            Err(ReadError::Rejected(why)) => break Some(PatchError::Forbidden(why)),
            Err(ReadError::Unavailable(why)) => break Some(PatchError::Unavailable(why)),
        }
        if cron_jobs.iter().all(|(_, patches)| patches.are_ended()) {
            break None;
        }
    };
    JobsPassResult {
        namespace,
        cron_jobs,
        list_error,
    }
}

/// Patches the Jobs of a CronJob on one page. The first patch of a pass sets the time `until` which it can last.
async fn patch_jobs(
    writer: &Writer,
    namespace: &str,
    target: &CronJobTarget,
    jobs: &[Job],
    patches: &mut JobPatches,
    until: &mut Option<Instant>,
) {
    let owner = &target.object.uid;
    for job in jobs {
        if patches.are_ended() {
            return;
        }
        if let Some(change) = job.change(owner, target.desired) {
            let now = Instant::now();
            if now >= *until.get_or_insert(now + JOBS_PASS) {
                patches.is_unfinished = true;
                return;
            }
            let result = writer.patch_job(namespace, job, change, owner).await;
            patches.record(&job.name, change, result);
        }
    }
}
