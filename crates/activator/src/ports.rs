//! The ports on which the activator listens, one for each Service port.
//!
//! Users who can write EndpointSlices might change the numbers in the activator's slices. So these numbers
//! are only hints, after a restart and from other replicas. A number that this process has assigned is never
//! given to another Service because of a slice. A freed number is not reused until proxies no longer send
//! connections for its last Service.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use chrono::{DateTime, Utc};
use dayshift_workload::sha256_prefix;
use tokio::time::Instant;

use crate::service::ServiceName;

/// How long a freed number is not given to another Service. Proxies and ingress controllers need seconds to
/// apply a changed slice.
const REST: Duration = Duration::from_secs(300);

/// How long a new assignment can still change, because another replica chose a different number at the same
/// time.
const SETTLE: Duration = Duration::from_secs(30);

/// A namespace gets at most one in this many numbers.
const MAX_PART: usize = 4;

/// A Service and the name of one of its ports.
pub(crate) type ServicePort = (ServiceName, Box<str>);

/// A Service that needs ports.
#[derive(Clone, Debug)]
pub(crate) struct PortRequest {
    pub(crate) service: ServiceName,
    /// If ports run out, the newest Services of a namespace lose theirs first.
    pub(crate) created: Option<DateTime<Utc>>,
    pub(crate) ports: Vec<Box<str>>,
}

/// The assignments of this process.
#[derive(Debug)]
pub(crate) struct PortTable {
    first: u16,
    /// The size of the range.
    count: u16,
    /// The maximum number of assignments, limited by file descriptors.
    capacity: usize,
    assigned: BTreeMap<ServicePort, Assignment>,
    resting: BTreeMap<u16, Resting>,
}

#[derive(Clone, Copy, Debug)]
struct Assignment {
    number: u16,
    since: Instant,
}

#[derive(Debug)]
struct Resting {
    owner: ServicePort,
    until: Instant,
}

impl PortTable {
    /// Assigns numbers from `first` to `last`, at most `capacity` of them.
    pub(crate) fn new((first, last): (u16, u16), capacity: usize) -> Self {
        Self {
            first,
            count: last.saturating_sub(first).saturating_add(1),
            capacity,
            assigned: BTreeMap::new(),
            resting: BTreeMap::new(),
        }
    }

    /// Assigns a number to each requested port. `hints` are the numbers in the activator's slices, which
    /// other users might have changed.
    ///
    /// A namespace gets at most a quarter of the numbers. If numbers run out, namespaces share them equally:
    /// one that requests less than its share gets all that it requests, and the newest Services of the others
    /// get none.
    pub(crate) fn assign(
        &mut self,
        requests: &[PortRequest],
        hints: &BTreeMap<ServicePort, u16>,
    ) -> BTreeMap<ServicePort, u16> {
        let now = Instant::now();
        self.resting.retain(|_, resting| resting.until > now);
        let permitted = self.permitted(requests);
        let mut uses: HashMap<u16, usize> = HashMap::new();
        for number in hints.values() {
            *uses.entry(*number).or_default() += 1;
        }
        // If two slices contain the same number, at least one of them is wrong.
        let is_disputed = |number: u16| uses.get(&number).is_some_and(|uses| *uses > 1);
        let mut chosen = BTreeMap::new();
        let mut taken = BTreeSet::new();
        let known = permitted.iter().filter_map(|port| {
            let known = self.assigned.get(port)?;
            Some((port, *known))
        });
        for (port, known) in known {
            if known.since + SETTLE <= now {
                taken.insert(known.number);
                chosen.insert(port.clone(), known.number);
            }
        }
        for port in &permitted {
            if chosen.contains_key(port) {
                continue;
            }
            let hint = hints.get(port).copied().filter(|hint| self.contains(*hint));
            let own = self.assigned.get(port).map(|known| known.number);
            let number = hint.into_iter().chain(own).find(|number| {
                !is_disputed(*number) && !taken.contains(number) && self.may_take(port, *number)
            });
            if let Some(number) = number {
                taken.insert(number);
                chosen.insert(port.clone(), number);
            }
        }
        for port in &permitted {
            if chosen.contains_key(port) {
                continue;
            }
            let free = |number: &u16| !taken.contains(number) && self.may_take(port, *number);
            let mut all = self.starting_at_home(port).filter(free);
            let unclaimed = all.clone().find(|number| !uses.contains_key(number));
            if let Some(number) = unclaimed.or_else(|| all.find(|number| !is_disputed(*number))) {
                taken.insert(number);
                chosen.insert(port.clone(), number);
            }
        }
        self.remember(&chosen, now);
        chosen
    }

    /// The requested ports that get a number.
    fn permitted(&self, requests: &[PortRequest]) -> BTreeSet<ServicePort> {
        let mut by_namespace: BTreeMap<&Arc<str>, Vec<&PortRequest>> = BTreeMap::new();
        let mut requested = BTreeSet::new();
        for request in requests {
            let of_namespace = by_namespace.entry(&request.service.namespace);
            of_namespace.or_default().push(request);
            requested.extend(request.ports.iter().map(|port| (&request.service, port)));
        }
        // Numbers that are resting or about to rest count for their last namespace. Otherwise it could
        // exhaust all numbers by renaming its Services.
        let resting = self.resting.values().map(|resting| &resting.owner);
        let held = resting.chain(self.assigned.keys());
        let held = held.filter(|(service, port)| !requested.contains(&(service, port)));
        let mut unused: HashMap<&Arc<str>, usize> = HashMap::new();
        for (service, _) in held {
            by_namespace.entry(&service.namespace).or_default();
            *unused.entry(&service.namespace).or_default() += 1;
        }
        let unused = |namespace: &Arc<str>| unused.get(namespace).copied().unwrap_or_default();
        let demands = by_namespace.iter().map(|(namespace, requests)| {
            let ports: usize = requests.iter().map(|request| request.ports.len()).sum();
            ports + unused(namespace)
        });
        let capacity = self.capacity.min(usize::from(self.count));
        let share = fair_share(demands.collect(), capacity).min(capacity.div_ceil(MAX_PART));
        let mut permitted = BTreeSet::new();
        for (namespace, mut requests) in by_namespace {
            requests.sort_by_key(|request| (request.created, &request.service));
            let ports = requests.iter().flat_map(|request| {
                let ports = request.ports.iter();
                ports.map(|port| (request.service.clone(), port.clone()))
            });
            permitted.extend(ports.take(share.saturating_sub(unused(namespace))));
        }
        permitted
    }

    fn contains(&self, number: u16) -> bool {
        number
            .checked_sub(self.first)
            .is_some_and(|offset| offset < self.count)
    }

    /// Whether no other port has this number or had it recently.
    fn may_take(&self, port: &ServicePort, number: u16) -> bool {
        let rests = self.resting.get(&number);
        rests.is_none_or(|rests| rests.owner == *port)
            && !self
                .assigned
                .iter()
                .any(|(other, known)| known.number == number && other != port)
    }

    /// All numbers, beginning at the hash of the port, so that all replicas choose the same one.
    fn starting_at_home(&self, port: &ServicePort) -> impl Iterator<Item = u16> + Clone + use<> {
        let (first, count) = (self.first, u64::from(self.count));
        let home = sha256_prefix(&format!("{}:{}", port.0, port.1)) % count;
        (0..count).map(move |step| first + ((home + step) % count) as u16)
    }

    fn remember(&mut self, chosen: &BTreeMap<ServicePort, u16>, now: Instant) {
        let mut assigned = BTreeMap::new();
        for (port, number) in chosen {
            let known = self.assigned.get(port);
            let since = known
                .filter(|known| known.number == *number)
                .map_or(now, |known| known.since);
            let number = *number;
            assigned.insert(port.clone(), Assignment { number, since });
            self.resting.remove(&number);
        }
        for (port, known) in std::mem::replace(&mut self.assigned, assigned) {
            if chosen.get(&port) != Some(&known.number) {
                let resting = Resting {
                    owner: port,
                    until: now + REST,
                };
                self.resting.insert(known.number, resting);
            }
        }
    }
}

/// The largest share for which the sum of all demands, each limited to it, is at most `capacity`.
fn fair_share(mut demands: Vec<usize>, mut capacity: usize) -> usize {
    demands.sort_unstable();
    let mut others = demands.len();
    for demand in demands {
        let share = capacity / others;
        if demand > share {
            return share;
        }
        capacity -= demand;
        others -= 1;
    }
    usize::MAX
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;
    use crate::test_cluster::name;

    fn request(namespace: &str, service: &str, ports: usize) -> PortRequest {
        PortRequest {
            service: name(namespace, service),
            created: None,
            ports: (0..ports).map(|number| number.to_string().into()).collect(),
        }
    }

    fn table(count: u16) -> PortTable {
        PortTable::new((20_000, 19_999 + count), usize::MAX)
    }

    fn port(namespace: &str, service: &str) -> ServicePort {
        (name(namespace, service), "0".into())
    }

    fn count(assigned: &BTreeMap<ServicePort, u16>, namespace: &str) -> usize {
        let names = assigned.keys().map(|(service, _)| &*service.namespace);
        names.filter(|known| *known == namespace).count()
    }

    #[tokio::test(start_paused = true)]
    async fn slice_cannot_claim_the_number_of_another_service() {
        let mut table = table(10);
        let both = [request("a-attacker", "web", 1), request("victim", "web", 1)];
        let before = table.assign(&both, &BTreeMap::new());
        let victims = before[&port("victim", "web")];
        for pause in [0, 60] {
            advance(Duration::from_secs(pause)).await;
            for claims in [
                [port("a-attacker", "web")].as_slice(),
                &[port("a-attacker", "web"), port("victim", "web")],
            ] {
                let hints = claims.iter().map(|claim| (claim.clone(), victims));
                let after = table.assign(&both, &hints.collect());
                assert_ne!(after[&port("a-attacker", "web")], victims, "{claims:?}");
                if pause > 0 || claims.len() == 1 {
                    assert_eq!(after[&port("victim", "web")], victims, "{claims:?}");
                }
            }
            table = self::table(10);
            table.assign(&both, &BTreeMap::new());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn restart_with_two_slices_that_claim_one_number_ignores_both() {
        let both = [request("a-attacker", "web", 1), request("victim", "web", 1)];
        let hints = [port("a-attacker", "web"), port("victim", "web")].map(|port| (port, 20_003));
        let assigned = table(10).assign(&both, &hints.into());
        assert!(
            !assigned.values().any(|number| *number == 20_003),
            "{assigned:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn freed_number_is_not_reused_at_once_by_another_service() {
        let mut table = table(1);
        let (old, new) = ([request("a", "old", 1)], [request("b", "new", 1)]);
        assert_eq!(table.assign(&old, &BTreeMap::new()).len(), 1);
        assert_eq!(table.assign(&new, &BTreeMap::new()).len(), 0);
        // The last Service can have the number again.
        assert_eq!(table.assign(&old, &BTreeMap::new()).len(), 1);
        table.assign(&[], &BTreeMap::new());
        advance(REST).await;
        assert_eq!(table.assign(&new, &BTreeMap::new()).len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn namespace_with_too_many_ports_does_not_reduce_those_of_others() {
        let mut table = table(100);
        let mut requests: Vec<_> = (0..100)
            .map(|number| request("a-greedy", &format!("s{number}"), 100))
            .collect();
        assert_eq!(table.assign(&requests, &BTreeMap::new()).len(), 25);
        requests.push(request("team", "web", 3));
        let assigned = table.assign(&requests, &BTreeMap::new());
        assert_eq!(
            (count(&assigned, "team"), count(&assigned, "a-greedy")),
            (3, 25)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn ports_that_run_out_are_shared_by_namespace() {
        let mut table = table(100);
        let greedy = ["a", "b", "c", "d"].map(|namespace| request(namespace, "web", 30));
        let mut requests = greedy.to_vec();
        assert_eq!(table.assign(&requests, &BTreeMap::new()).len(), 100);
        requests.push(request("team", "web", 3));
        table.assign(&requests, &BTreeMap::new());
        advance(REST).await;
        let assigned = table.assign(&requests, &BTreeMap::new());
        assert_eq!((count(&assigned, "team"), count(&assigned, "a")), (3, 24));
    }

    #[tokio::test(start_paused = true)]
    async fn renaming_services_does_not_use_up_the_numbers_of_others() {
        let mut table = table(100);
        for number in 0..20 {
            let renamed = [request("a-greedy", &format!("s{number}"), 20)];
            table.assign(&renamed, &BTreeMap::new());
        }
        let assigned = table.assign(&[request("team", "web", 3)], &BTreeMap::new());
        assert_eq!(assigned.len(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn newest_service_of_a_namespace_loses_its_ports_first() {
        let mut table = table(4);
        let mut requests = [request("dev", "a-new", 1), request("dev", "z-old", 1)];
        let created = ["2026-11-28T00:00:00Z", "2020-01-01T00:00:00Z"];
        for (request, created) in requests.iter_mut().zip(created) {
            request.created = Some(created.parse().unwrap());
        }
        let assigned = table.assign(&requests, &BTreeMap::new());
        assert_eq!(assigned.keys().collect::<Vec<_>>(), [&port("dev", "z-old")]);
    }

    #[test]
    fn small_demands_are_met_completely() {
        for (demands, capacity, expected) in [
            (vec![], 10, usize::MAX),
            (vec![3, 4], 10, usize::MAX),
            (vec![1, 100], 10, 9),
            (vec![2, 50, 100], 12, 5),
            (vec![5, 5], 9, 4),
        ] {
            let share = fair_share(demands.clone(), capacity);
            assert_eq!(share, expected, "{demands:?}");
        }
    }
}
