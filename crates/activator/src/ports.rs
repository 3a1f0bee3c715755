//! The ports on which the activator listens, one for each Service port.
//!
//! Users who can write EndpointSlices might change the numbers in the activator's slices. So these numbers
//! are only hints: they show the assignments from before a restart and those of other replicas. Hints for
//! Services that get no port are ignored. A number that this process has assigned is never given to another
//! Service because of a slice. A freed number, and one that two slices contain at a restart, is not reused
//! until proxies no longer send connections for its last Service.
//!
//! If two replicas have assigned different numbers to one port, each of them sees the number of the other in
//! the slice again and again. If another port claims one of the two numbers, both replicas use the other
//! number. Otherwise, they use the lower one.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use chrono::{DateTime, Utc};
use dayshift_cluster::fair_share::fair_share;
use dayshift_workload::sha256_prefix;
use tokio::time::Instant;

use crate::service::ServiceName;

/// How long a freed number is not given to another Service. Proxies and ingress controllers need seconds to
/// apply a changed slice.
const REST: Duration = Duration::from_secs(300);

/// A new assignment is replaced immediately for this long if the slice contains another number, because
/// another replica might have chosen it at the same time. An older assignment is replaced only after the
/// slice has contained the other number for this long.
const SETTLE: Duration = Duration::from_secs(30);

/// A namespace gets at most one in this many numbers.
const MAX_PART: usize = 4;

/// A Service and the name of one of its ports.
pub(crate) type ServicePort = (ServiceName, Box<str>);

/// A Service that needs ports.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// The number that another replica seems to have assigned, and when the slice first had it.
    rival: Option<(u16, Instant)>,
}

#[derive(Debug)]
struct Resting {
    /// The last port with this number; `None` if two slices contained it.
    owner: Option<ServicePort>,
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
        if self.assigned.is_empty() && self.resting.is_empty() {
            self.rest_disputed(&permitted, hints, now);
        }
        let claims = Claims::new(self, &permitted, hints);
        let mut chosen = BTreeMap::new();
        let mut taken = BTreeSet::new();
        let (mut others, mut without) = (Vec::new(), Vec::new());
        for port in &permitted {
            match self.assigned.get(port) {
                Some(known) if known.since + SETTLE <= now => {
                    match claims.followed(port, *known, now) {
                        Some(assignment) if taken.insert(assignment.number) => {
                            chosen.insert(port.clone(), assignment);
                        }
                        Some(_) | None => without.push(port),
                    }
                }
                _ => others.push(port),
            }
        }
        for port in others {
            let known = self.assigned.get(port);
            let known_number = known.map(|known| known.number);
            let numbers = claims.hint(port).into_iter().chain(known_number);
            let mut free = numbers.filter(|number| claims.may_take(port, *number));
            match free.find(|number| !taken.contains(number)) {
                Some(number) => {
                    taken.insert(number);
                    let since = known.filter(|known| known.number == number);
                    let since = since.map_or(now, |known| known.since);
                    chosen.insert(port.clone(), Assignment::new(number, since));
                }
                None => without.push(port),
            }
        }
        let mut free = FreeNumbers::default();
        if !without.is_empty() {
            free = FreeNumbers::new(self, &claims, &taken);
        }
        for port in without {
            if let Some(number) = free.take(port, self.home(port)) {
                chosen.insert(port.clone(), Assignment::new(number, now));
            }
        }
        self.remember(chosen, now)
    }

    /// After a restart, lets the numbers rest that two slices contain. Otherwise, one of the two ports would get
    /// the number as soon as the slice of the other has changed, while proxies still use it for the other.
    fn rest_disputed(
        &mut self,
        permitted: &BTreeSet<ServicePort>,
        hints: &BTreeMap<ServicePort, u16>,
        now: Instant,
    ) {
        let claims = Claims::new(self, permitted, hints);
        let claimed = claims.uses.keys().copied();
        let disputed: Vec<_> = claimed
            .filter(|number| claims.is_disputed(*number))
            .collect();
        for number in disputed {
            let resting = Resting {
                owner: None,
                until: now + REST,
            };
            self.resting.insert(number, resting);
        }
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
        let resting = self.resting.values();
        let resting = resting.filter_map(|resting| resting.owner.as_ref());
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

    /// The first number to try for a port. All replicas begin at the same one.
    fn home(&self, port: &ServicePort) -> u16 {
        let hash = sha256_prefix(&format!("{}:{}", port.0, port.1));
        self.first + (hash % u64::from(self.count)) as u16
    }

    fn numbers(&self) -> impl Iterator<Item = u16> + use<> {
        let first = self.first;
        (0..self.count).map(move |offset| first + offset)
    }

    fn remember(
        &mut self,
        chosen: BTreeMap<ServicePort, Assignment>,
        now: Instant,
    ) -> BTreeMap<ServicePort, u16> {
        let numbers = chosen.iter();
        let numbers: BTreeMap<_, _> = numbers
            .map(|(port, assignment)| (port.clone(), assignment.number))
            .collect();
        for number in numbers.values() {
            self.resting.remove(number);
        }
        for (port, known) in std::mem::replace(&mut self.assigned, chosen) {
            if numbers.get(&port) != Some(&known.number) {
                let resting = Resting {
                    owner: Some(port),
                    until: now + REST,
                };
                self.resting.insert(known.number, resting);
            }
        }
        numbers
    }
}

impl Assignment {
    const fn new(number: u16, since: Instant) -> Self {
        Self {
            number,
            since,
            rival: None,
        }
    }
}

/// Which port has, had or claims each number, before an assignment.
struct Claims<'t> {
    /// The numbers in slices, of ports that get one.
    hints: HashMap<&'t ServicePort, u16>,
    /// How many ports claim each number in slices.
    uses: HashMap<u16, usize>,
    /// The ports that have each number, or had it recently; `None` if two slices contained it.
    owners: HashMap<u16, Option<&'t ServicePort>>,
}

impl<'t> Claims<'t> {
    fn new(
        table: &'t PortTable,
        permitted: &'t BTreeSet<ServicePort>,
        hints: &BTreeMap<ServicePort, u16>,
    ) -> Self {
        let hints = permitted.iter().filter_map(|port| {
            let number = hints.get(port).copied();
            Some((port, number.filter(|number| table.contains(*number))?))
        });
        let hints: HashMap<_, _> = hints.collect();
        let mut uses = HashMap::new();
        for number in hints.values() {
            *uses.entry(*number).or_default() += 1;
        }
        let resting = table.resting.iter();
        let resting = resting.map(|(number, resting)| (*number, resting.owner.as_ref()));
        let assigned = table.assigned.iter();
        let assigned = assigned.map(|(port, known)| (known.number, Some(port)));
        Self {
            hints,
            uses,
            owners: resting.chain(assigned).collect(),
        }
    }

    fn hint(&self, port: &ServicePort) -> Option<u16> {
        self.hints.get(port).copied()
    }

    fn is_claimed(&self, number: u16) -> bool {
        self.uses.contains_key(&number)
    }

    /// If two slices contain the same number, at least one of them is wrong.
    fn is_disputed(&self, number: u16) -> bool {
        self.uses.get(&number).is_some_and(|uses| *uses > 1)
    }

    /// Whether a port other than this one claims the number.
    fn is_claimed_by_another(&self, port: &ServicePort, number: u16) -> bool {
        let own = usize::from(self.hint(port) == Some(number));
        self.uses.get(&number).is_some_and(|uses| *uses > own)
    }

    /// Whether no other port has this number, had it recently, or claims it too.
    fn may_take(&self, port: &ServicePort, number: u16) -> bool {
        let owner = self.owners.get(&number);
        owner.is_none_or(|owner| *owner == Some(port)) && !self.is_disputed(number)
    }

    /// The next assignment of a port whose assignment has settled. If the slice has contained another number
    /// for [`SETTLE`], the port changes to that number if it is preferred. If other ports claim both numbers,
    /// the result is `None`, and the port needs a third one.
    fn followed(&self, port: &ServicePort, known: Assignment, now: Instant) -> Option<Assignment> {
        let in_doubt = self.is_claimed_by_another(port, known.number);
        let rival = self.hint(port).filter(|rival| *rival != known.number);
        let better = rival.filter(|rival| *rival < known.number || in_doubt);
        let better = better.filter(|rival| self.may_take(port, *rival));
        let Some(rival) = rival.filter(|_| better.is_some() || in_doubt) else {
            return Some(known);
        };
        let since = known.rival.filter(|(number, _)| *number == rival);
        let since = since.map_or(now, |(_, since)| since);
        if since + SETTLE > now {
            let rival = Some((rival, since));
            return Some(Assignment { rival, ..known });
        }
        better.map(|number| Assignment::new(number, now))
    }
}

/// The numbers that a port without one can have.
#[derive(Default)]
struct FreeNumbers {
    /// Numbers in no slice.
    unclaimed: BTreeSet<u16>,
    claimed: BTreeSet<u16>,
    /// The numbers that rest for their last port.
    resting: BTreeMap<ServicePort, u16>,
}

impl FreeNumbers {
    fn new(table: &PortTable, claims: &Claims<'_>, taken: &BTreeSet<u16>) -> Self {
        let is_free = |number: &u16| !taken.contains(number) && !claims.is_disputed(*number);
        let unowned = |number: &u16| !claims.owners.contains_key(number);
        let (claimed, unclaimed) = table
            .numbers()
            .filter(|number| is_free(number) && unowned(number))
            .partition(|number| claims.is_claimed(*number));
        let resting = table.resting.iter();
        let resting = resting.filter_map(|(number, resting)| {
            let owner = resting.owner.as_ref()?;
            let is_usable = is_free(number) && !claims.is_claimed_by_another(owner, *number);
            is_usable.then(|| (owner.clone(), *number))
        });
        Self {
            unclaimed,
            claimed,
            resting: resting.collect(),
        }
    }

    /// Takes the last number of this port, or the first free one from `home` on.
    fn take(&mut self, port: &ServicePort, home: u16) -> Option<u16> {
        if let Some(number) = self.resting.remove(port) {
            return Some(number);
        }
        for free in [&mut self.unclaimed, &mut self.claimed] {
            let after = free.range(home..).next();
            if let Some(number) = after.or_else(|| free.first()).copied() {
                free.remove(&number);
                return Some(number);
            }
        }
        None
    }
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
        let [attacker, victim] = [port("a-attacker", "web"), port("victim", "web")];
        let hints = [attacker.clone(), victim.clone()].map(|port| (port, 20_003));
        let mut table = table(10);
        let assigned = table.assign(&both, &hints.into());
        let is_used = |assigned: &BTreeMap<_, u16>| assigned.values().any(|it| *it == 20_003);
        assert!(!is_used(&assigned), "{assigned:?}");
        // The slice of the victim now has its new number, and that of the attacker still contains the old one.
        for (pause, expected) in [(1, false), (298, false), (60, true), (60, true)] {
            advance(Duration::from_secs(pause)).await;
            let victims = table.assigned[&victim].number;
            let hints = [(attacker.clone(), 20_003), (victim.clone(), victims)];
            let assigned = table.assign(&both, &hints.into());
            assert!(expected || !is_used(&assigned), "{pause}: {assigned:?}");
        }
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

    /// Two replicas that write the slices in turns, every second, for this long.
    async fn converge(
        replicas: &mut [PortTable; 2],
        requests: &[PortRequest],
        seconds: u64,
    ) -> [BTreeMap<ServicePort, u16>; 2] {
        let mut slices = BTreeMap::new();
        let mut last = [BTreeMap::new(), BTreeMap::new()];
        for second in 0..seconds {
            // The slices of the Services are not written at the same time.
            for (turn, request) in (second..).zip(requests) {
                for (replica, numbers) in replicas.iter_mut().zip(&mut last) {
                    *numbers = replica.assign(requests, &slices);
                }
                let port = (request.service.clone(), request.ports[0].clone());
                let written = last[(turn % 2) as usize][&port];
                slices.insert(port, written);
            }
            advance(Duration::from_secs(1)).await;
        }
        last
    }

    /// A replica that has had these numbers for a long time.
    async fn settled(requests: &[PortRequest], numbers: &[(ServicePort, u16)]) -> PortTable {
        let mut table = table(10);
        let assigned = table.assign(requests, &numbers.iter().cloned().collect());
        assert_eq!(assigned, numbers.iter().cloned().collect());
        advance(SETTLE).await;
        table
    }

    #[tokio::test(start_paused = true)]
    async fn replicas_that_disagree_for_long_converge() {
        let (a, b) = (port("dev", "a"), port("dev", "b"));
        let requests = [request("dev", "a", 1), request("dev", "b", 1)];
        for numbers in [
            [(20_001, 20_002), (20_005, 20_002)],
            [(20_005, 20_007), (20_001, 20_003)],
            // Each has given one number to another port.
            [(20_001, 20_006), (20_005, 20_001)],
            [(20_001, 20_002), (20_002, 20_001)],
        ] {
            let [first, second] =
                numbers.map(|(of_a, of_b)| [(a.clone(), of_a), (b.clone(), of_b)]);
            let mut replicas = [
                settled(&requests, &first).await,
                settled(&requests, &second).await,
            ];
            let [first, second] = converge(&mut replicas, &requests, 20).await;
            let kept = [&first, &second].map(|numbers| (numbers[&a], numbers[&b]));
            assert_eq!(kept, numbers, "listeners keep their ports at first");
            let [first, second] = converge(&mut replicas, &requests, 600).await;
            assert_eq!(first, second, "{numbers:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn slices_of_services_that_get_no_port_claim_no_number() {
        let web = [request("dev", "web", 1)];
        let ours = (port("dev", "web"), 20_003);
        for foreign in [
            port("evil", "without-a-wake"),
            (name("dev", "web"), "other".into()),
        ] {
            let hints = [ours.clone(), (foreign.clone(), 20_003)];
            let assigned = table(10).assign(&web, &hints.into());
            assert_eq!(assigned[&ours.0], 20_003, "{foreign:?}");
        }
        // Many claims do not keep a new Service from a number.
        let all = (20_000..20_010).map(|number| {
            let service = format!("s{number}");
            (port("evil", &service), number)
        });
        let assigned = table(10).assign(&web, &all.collect());
        assert_eq!(assigned, table(10).assign(&web, &BTreeMap::new()));
    }

    #[test]
    fn many_ports_are_assigned_in_little_time() {
        let mut table = PortTable::new((10_000, 39_999), usize::MAX);
        let requests: Vec<_> = (0..30_u32)
            .map(|number| request(&format!("ns-{number}"), "web", 1_000))
            .collect();
        let begun = std::time::Instant::now();
        let assigned = table.assign(&requests, &BTreeMap::new());
        assert_eq!(assigned.len(), 30_000);
        assert_eq!(table.assign(&requests, &assigned), assigned);
        assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    }
}
