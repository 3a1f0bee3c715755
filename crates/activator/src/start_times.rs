//! How long starts take: those that are under way, and the last ones of each Service, as this replica has
//! observed them.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use crate::{routes::Routes, service::ServiceName, target::TargetState};

/// The maximum number of remembered starts of a Service, and of Services.
const MAX_STARTS: usize = 5;
const MAX_SERVICES: usize = 10_000;

/// A longer start is not remembered: its workload was broken.
const MAX_LENGTH: Duration = Duration::from_secs(3600);

/// The start times of all Services.
#[derive(Clone, Debug, Default)]
pub(crate) struct StartTimes(Arc<Mutex<Starts>>);

#[derive(Debug, Default)]
struct Starts {
    /// Services that are starting, since when.
    starting: HashMap<ServiceName, Instant>,
    /// Services whose workloads were all stopped at the last look.
    stopped: HashSet<ServiceName>,
    /// The durations of the last starts in seconds, the most recent first.
    last: HashMap<ServiceName, VecDeque<u64>>,
}

impl StartTimes {
    /// Records the beginning of a start.
    pub(crate) fn begin(&self, service: &ServiceName) {
        let mut starts = self.starts();
        starts
            .starting
            .entry(service.clone())
            .or_insert_with(Instant::now);
    }

    /// Records which Services are starting, and how long the others took.
    pub(crate) fn note(&self, routes: &Routes) {
        let mut starts = self.starts();
        let Starts {
            starting,
            stopped,
            last,
        } = &mut *starts;
        let is_ready = |service: &ServiceName| {
            let route = routes.get(service);
            route.map(|route| route.has_ready_pod())
        };
        starting.retain(|service, since| match is_ready(service) {
            None => false,
            Some(false) => true,
            Some(true) => {
                if since.elapsed() < MAX_LENGTH {
                    remember(last, service, since.elapsed(), routes);
                }
                false
            }
        });
        // Another replica, a user or the schedule can start a workload too. One that was running before has
        // crashed or restarts.
        let mut now_stopped = HashSet::new();
        for (service, route) in routes {
            let mut targets = route.targets.iter();
            if !targets.any(|target| target.state == TargetState::Running) {
                now_stopped.insert(service.clone());
            } else if stopped.contains(service) && !route.has_ready_pod() {
                starting.entry(service.clone()).or_insert_with(Instant::now);
            }
        }
        *stopped = now_stopped;
    }

    /// The seconds since the beginning of a start that is under way.
    pub(crate) fn elapsed(&self, service: &ServiceName) -> Option<u64> {
        let starts = self.starts();
        starts
            .starting
            .get(service)
            .map(|since| since.elapsed().as_secs())
    }

    /// The median of the last starts in seconds.
    pub(crate) fn median(&self, service: &ServiceName) -> Option<u64> {
        let starts = self.starts();
        let mut last: Vec<_> = starts.last.get(service)?.iter().copied().collect();
        last.sort_unstable();
        last.get(last.len() / 2).copied()
    }

    fn starts(&self) -> MutexGuard<'_, Starts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn remember(
    last: &mut HashMap<ServiceName, VecDeque<u64>>,
    service: &ServiceName,
    duration: Duration,
    routes: &Routes,
) {
    if last.len() >= MAX_SERVICES {
        // Services that were deleted since. Each of the others has a port, so there are fewer than that.
        last.retain(|service, _| routes.contains_key(service));
    }
    let last = last.entry(service.clone()).or_default();
    last.push_front(duration.as_secs().max(1));
    last.truncate(MAX_STARTS);
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::time::advance;

    use super::*;
    use crate::test_cluster::{Cluster, name};

    #[tokio::test(start_paused = true)]
    async fn median_of_the_last_starts_is_known() {
        let web = name("dev", "web");
        let starts = StartTimes::default();
        assert_eq!((starts.elapsed(&web), starts.median(&web)), (None, None));
        for seconds in [30, 10, 20] {
            let mut cluster = Cluster::new().asleep().with_service();
            starts.note(&cluster.desired().routes);
            assert_eq!(starts.elapsed(&web), None, "the workload is stopped");
            cluster.workload("woken", 2, json!({"dayshift/wake-on-request": "2h"}));
            starts.note(&cluster.desired().routes);
            advance(Duration::from_secs(seconds)).await;
            starts.note(&cluster.desired().routes);
            assert_eq!(starts.elapsed(&web), Some(seconds));
            cluster.slice("dev", "web", &["10.0.0.1"], 8081);
            starts.note(&cluster.desired().routes);
            assert_eq!(starts.elapsed(&web), None, "the workload is ready");
        }
        assert_eq!(starts.median(&web), Some(20));
    }

    #[test]
    fn starts_of_deleted_services_do_not_replace_those_of_others() {
        let cluster = Cluster::new().asleep().with_service();
        let routes = cluster.desired().routes;
        let mut last = HashMap::new();
        let second = Duration::from_secs(1);
        let web = name("dev", "web");
        remember(&mut last, &web, second, &routes);
        for number in 0..2 * MAX_SERVICES {
            let deleted = name("greedy", &number.to_string());
            remember(&mut last, &deleted, second, &routes);
            assert!(last.len() <= MAX_SERVICES);
        }
        assert!(last.contains_key(&web));
    }

    #[tokio::test(start_paused = true)]
    async fn crash_of_a_running_workload_is_no_start() {
        let web = name("dev", "web");
        let starts = StartTimes::default();
        let mut cluster = Cluster::new().with_service();
        cluster.workload("running", 2, json!({"dayshift/wake-on-request": "2h"}));
        // After a restart of the activator, it is unknown when the start began.
        starts.note(&cluster.desired().routes);
        assert_eq!(starts.elapsed(&web), None);
        for addresses in [&["10.0.0.1"][..], &[], &["10.0.0.1"]] {
            cluster.slice("dev", "web", addresses, 8081);
            starts.note(&cluster.desired().routes);
            assert_eq!(starts.elapsed(&web), None, "{addresses:?}");
            advance(Duration::from_secs(10)).await;
        }
        assert_eq!(starts.median(&web), None);
    }

    #[tokio::test(start_paused = true)]
    async fn start_of_a_broken_workload_is_not_remembered() {
        let web = name("dev", "web");
        let starts = StartTimes::default();
        let mut cluster = Cluster::new().asleep().with_service();
        starts.begin(&web);
        advance(MAX_LENGTH).await;
        cluster.slice("dev", "web", &["10.0.0.1"], 8081);
        starts.note(&cluster.desired().routes);
        assert_eq!(starts.median(&web), None);
    }
}
