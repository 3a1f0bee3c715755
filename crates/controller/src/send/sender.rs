//! Requests: how each is made, and those in flight.

use std::{sync::Arc, time::Duration};

use dayshift_cluster::{Writer, decode::Version, write::ReadError};
use dayshift_workload::{Kind, WorkloadRef};
use tokio::time::Instant;

use crate::{
    ids::Id,
    jobs::pass::Pass,
    objects::history::VersionQuestion,
    queue::lanes::Lane,
    reverts::lookups::Lookup,
    send::in_flight::{Finished, InFlight, NotReady, Patched, PendingEvent, Sent, unless_given_up},
};

/// The time limit of an Event: it takes a place from those of other namespaces.
const EVENT_TIMEOUT: Duration = Duration::from_secs(5);

/// The time limit of a request beside starts and stops: who has set a count, why an object is not ready,
/// and Jobs.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

/// The time limit of the list of one object that shows whether the server answers.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// Sends requests, and returns their results.
pub(crate) struct Sender {
    writer: Writer,
    pub(crate) in_flight: InFlight,
}

impl Sender {
    /// Nothing is in flight. It allows as many slow requests as starts and stops of one namespace.
    pub(crate) fn new(writer: Writer, max_in_flight: usize) -> Self {
        Self {
            writer,
            in_flight: InFlight::new(max_in_flight),
        }
    }

    /// Sends a guarded patch.
    pub(crate) fn patch(&mut self, lane: Lane, sent: Sent, now: Instant) {
        let writer = self.writer.clone();
        let namespace = sent.observed.object.namespace.clone();
        self.in_flight
            .send(lane, &namespace, now, |registration| async move {
                let patch = writer.patch(&sent.observed, &sent.change);
                let result = unless_given_up(registration, patch).await;
                Finished::Patched(Box::new(Patched { sent, result }))
            });
    }

    /// Reads an object, given the known versions.
    pub(crate) fn read(
        &mut self,
        lane: Lane,
        id: Id,
        object: WorkloadRef,
        known: Version,
        now: Instant,
    ) {
        let writer = self.writer.clone();
        let namespace = object.namespace.clone();
        self.in_flight
            .send(lane, &namespace, now, |registration| async move {
                let result = unless_given_up(registration, writer.read(&object)).await;
                Finished::Read {
                    id,
                    known,
                    result: Box::new(result),
                }
            });
    }

    /// Sends an Event.
    pub(crate) fn event(&mut self, event: PendingEvent, now: Instant) {
        let writer = self.writer.within(EVENT_TIMEOUT);
        let namespace: Arc<str> = event.object.namespace.clone();
        self.in_flight
            .send(Lane::Event, &namespace, now, |_| async move {
                let sent = writer.announce(&event.object, &event.text, event.at);
                let result = sent.await;
                Finished::Announced {
                    event: Box::new(event),
                    result,
                }
            });
    }

    /// Reads an object to learn who has set its count. That takes no place from anything else.
    pub(crate) fn look_up(&mut self, lookup: Lookup) {
        let writer = self.writer.within(LOOKUP_TIMEOUT);
        self.in_flight.send_aside(async move {
            let result = writer.read_managers(&lookup.object).await;
            Finished::LookedUp {
                lookup: Box::new(lookup),
                result: Box::new(result),
            }
        });
    }

    /// Reads an object for why it is not ready, likewise.
    pub(crate) fn look_into(&mut self, not_ready: NotReady) {
        let writer = self.writer.within(LOOKUP_TIMEOUT);
        self.in_flight.send_aside(async move {
            let result = writer.read_managers(&not_ready.object).await;
            Finished::LookedInto {
                not_ready: Box::new(not_ready),
                result: Box::new(result),
            }
        });
    }

    /// Looks at the Jobs of CronJobs, likewise.
    pub(crate) fn look_at_jobs(&mut self, pass: Pass) {
        let writer = self.writer.within(LOOKUP_TIMEOUT);
        self.in_flight.send_aside(async move {
            Finished::LookedAtJobs(Box::new(pass.carry_out(&writer).await))
        });
    }

    /// Lists one object beside a given one, to learn whether the server answers at all: a list
    /// passes no admission.
    pub(crate) fn probe(&mut self, object: WorkloadRef) {
        let writer = self.writer.within(PROBE_TIMEOUT);
        self.in_flight.send_aside(async move {
            let list = writer.ask_the_version(object.kind, Some(&object.namespace));
            let has_answered = !matches!(list.await, Err(ReadError::Unavailable(_)));
            Finished::Probed { has_answered }
        });
    }

    /// Lists one object of a kind, for the server's time.
    pub(crate) fn ask_the_time(&mut self, kind: Kind, namespace: Option<String>) {
        let writer = self.writer.clone();
        self.in_flight.send_aside(async move {
            Finished::ToldTheTime(writer.ask_the_version(kind, namespace.as_deref()).await)
        });
    }

    /// Asks how far the server's history is.
    pub(crate) fn ask_the_version(&mut self, question: VersionQuestion) {
        let writer = self.writer.clone();
        self.in_flight.send_aside(async move {
            let namespace = question.namespace.as_deref();
            let result = writer.ask_the_version(question.kind, namespace).await;
            Finished::ToldTheVersion {
                question: Box::new(question),
                result,
            }
        });
    }
}
