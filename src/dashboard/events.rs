//! The Events on pages. Listing them takes an API server long, so a page that is opened again shows those that were
//! read before, while they are read again.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use chrono::{DateTime, Utc};
use dayshift_cluster::read::{FindError, ListedEvent, events_in, events_of};
use dayshift_workload::WorkloadRef;
use kube::Client;
use tokio::time::Instant;

use crate::dashboard::permissions::in_time;

/// The maximum number of Events on a page.
const MAX_EVENTS: usize = 50;
/// The time limit for reading Events.
const PATIENCE: Duration = Duration::from_secs(5);
/// Events of this age are shown without reading them again.
const FRESH: Duration = Duration::from_secs(2);
/// Events of this age are shown while they are read again. A page reloads every 10 seconds.
const USABLE: Duration = Duration::from_secs(30);
/// The maximum number of lists in memory.
const MAX_LISTS: usize = 16;

/// The newest Events of a page.
#[derive(Clone, Debug)]
pub(super) struct ShownEvents {
    pub(super) newest: Arc<[ListedEvent]>,
    /// The number of all Events.
    pub(super) all: usize,
}

/// The subject of a list of Events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EventSubject {
    Workload(WorkloadRef),
    /// dayshift's own Events in a namespace.
    Namespace(String),
}

/// The subject, and the time of the last action on its workloads: a page that shows an action shows its Event.
type ListKey = (EventSubject, Option<DateTime<Utc>>);

type Listed = Result<ShownEvents, FindError>;

/// The lists that were read last.
#[derive(Clone, Debug, Default)]
pub(super) struct RecentEvents(Arc<Mutex<VecDeque<RecentList>>>);

#[derive(Debug)]
struct RecentList {
    key: ListKey,
    /// When the last reading began.
    begun: Instant,
    read: Instant,
    events: Listed,
}

impl RecentEvents {
    /// The Events of a subject, at most [`USABLE`] old and not older than the last action on its workloads.
    ///
    /// # Errors
    ///
    /// The API server does not list them, or not in time.
    pub(super) async fn get(&self, client: &Client, key: ListKey) -> Listed {
        if let Some((events, is_due)) = self.known(&key) {
            if is_due {
                let (recent, client) = (self.clone(), client.clone());
                tokio::spawn(async move { recent.read(&client, key).await });
            }
            return events;
        }
        self.read(client, key).await
    }

    /// The known Events, and whether to read them again now.
    fn known(&self, key: &ListKey) -> Option<(Listed, bool)> {
        let mut lists = self.lists();
        let known = lists.iter_mut().find(|list| list.key == *key)?;
        let age = known.read.elapsed();
        if age >= USABLE {
            return None;
        }
        let is_being_read = known.begun > known.read && known.begun.elapsed() < PATIENCE;
        let is_due = age >= FRESH && !is_being_read;
        if is_due {
            known.begun = Instant::now();
        }
        Some((known.events.clone(), is_due))
    }

    async fn read(&self, client: &Client, key: ListKey) -> Listed {
        let begun = Instant::now();
        let listed = in_time(PATIENCE, async {
            match &key.0 {
                EventSubject::Workload(object) => events_of(client, object).await,
                EventSubject::Namespace(name) => events_in(client, name).await,
            }
        });
        let events = listed.await.map(ShownEvents::new);
        let mut lists = self.lists();
        lists.retain(|list| list.key.0 != key.0);
        if lists.len() == MAX_LISTS {
            lists.pop_front();
        }
        lists.push_back(RecentList {
            key,
            begun,
            read: Instant::now(),
            events: events.clone(),
        });
        events
    }

    fn lists(&self) -> MutexGuard<'_, VecDeque<RecentList>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ShownEvents {
    fn new(mut events: Vec<ListedEvent>) -> Self {
        let all = events.len();
        events.truncate(MAX_EVENTS);
        Self {
            newest: events.into(),
            all,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use http::{Request, Response};
    use kube::client::Body;
    use serde_json::json;
    use tokio::time::sleep;
    use tower::service_fn;

    use super::*;

    /// A client of an API server that needs a second for a list, whose only Event has the number of the list.
    fn slow_server(asked: &Arc<AtomicUsize>) -> Client {
        let asked = Arc::clone(asked);
        let service = service_fn(move |_: Request<Body>| {
            let number = asked.fetch_add(1, Ordering::Relaxed) + 1;
            async move {
                sleep(Duration::from_secs(1)).await;
                let event =
                    json!({"reportingComponent": "dayshift", "message": number.to_string()});
                let page = json!({"metadata": {}, "items": [event]}).to_string();
                Ok::<_, Infallible>(Response::new(Body::from(page.into_bytes())))
            }
        });
        Client::new(service, "default")
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_that_is_opened_again_does_not_wait_for_its_events() {
        let asked = Arc::default();
        let client = slow_server(&asked);
        let recent = RecentEvents::default();
        let begin = Instant::now();
        // The last action on the workloads, and the expectations.
        for (seconds, last, waits, message, lists) in [
            (0, 0, true, "1", 1),
            (2, 0, false, "1", 1),
            // Two pages while the list is read again.
            (10, 0, false, "1", 2),
            (10, 0, false, "1", 2),
            (12, 0, false, "2", 2),
            (20, 0, false, "2", 3),
            // A page after a long time, or after an action, shows no old Events.
            (60, 0, true, "4", 4),
            (62, 5, true, "5", 5),
            (64, 5, false, "5", 5),
        ] {
            let due = begin + Duration::from_secs(seconds);
            tokio::time::sleep_until(due).await;
            let asks = Instant::now();
            let last = DateTime::from_timestamp(last, 0);
            let key = (EventSubject::Namespace("dev".to_owned()), last);
            let events = recent.get(&client, key).await.unwrap();
            let waited = asks.elapsed();
            tokio::task::yield_now().await;
            assert_eq!(waited > Duration::ZERO, waits, "{seconds} s");
            assert_eq!(events.newest[0].message, message, "{seconds} s");
            assert_eq!(asked.load(Ordering::Relaxed), lists, "{seconds} s");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn keeps_a_bounded_number_of_lists_and_of_events() {
        let client = slow_server(&Arc::default());
        let recent = RecentEvents::default();
        for number in 0..3 * MAX_LISTS {
            let subject = EventSubject::Namespace(number.to_string());
            recent.get(&client, (subject, None)).await.unwrap();
        }
        assert_eq!(recent.lists().len(), MAX_LISTS);
        let event = ListedEvent {
            at: None,
            namespace: String::new(),
            object: String::new(),
            level: String::new(),
            reason: String::new(),
            message: String::new(),
        };
        let shown = ShownEvents::new(vec![event; MAX_EVENTS + 1]);
        assert_eq!(
            (shown.newest.len(), shown.all),
            (MAX_EVENTS, MAX_EVENTS + 1)
        );
    }
}
