//! Limits on open connections: in total, by namespace, by Service, and by source.
//!
//! A source is known only by the address from which the connection arrives: a pod, or an ingress controller, a
//! proxy or a node in front of many clients. So no fixed number is right for one. Instead, the sources share a
//! limit, and only if it is reached.

use std::{
    collections::{BTreeSet, HashMap},
    hash::Hash,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

use crate::service::ServiceName;

/// Counts open connections.
///
/// A namespace may have at most as many as are still free, so it always leaves some to every other namespace.
/// The same applies to the connections from one block of addresses, in total and to one namespace. If a Service or a
/// block has reached its limit, a new connection from a source with fewer connections replaces a held one from the
/// source with the most.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionLimits {
    open: Arc<Mutex<Open>>,
    max: usize,
    max_per_service: usize,
}

#[derive(Debug, Default)]
struct Open {
    all: usize,
    by_namespace: HashMap<Arc<str>, usize>,
    by_service: HashMap<ServiceName, OfService>,
    by_block: HashMap<Block, usize>,
    by_address: HashMap<IpAddr, usize>,
    by_block_and_namespace: HashMap<(Block, Arc<str>), usize>,
    /// The number of the last connection.
    last: u64,
}

/// The open connections of one Service.
#[derive(Debug, Default)]
struct OfService {
    by_block: HashMap<Block, OfBlock>,
    /// Those that are not being ended.
    connections: HashMap<u64, OpenConnection>,
}

/// The open connections of one Service from one block of addresses.
#[derive(Debug, Default)]
struct OfBlock {
    open: usize,
    by_address: HashMap<IpAddr, OfAddress>,
}

#[derive(Debug, Default)]
struct OfAddress {
    open: usize,
    /// The numbers of those that wait for a pod.
    held: BTreeSet<u64>,
}

#[derive(Debug)]
struct OpenConnection {
    address: IpAddr,
    /// Notified when another connection gets the place.
    ended: Arc<Notify>,
}

/// Neighboring addresses, which can belong to one pod or one node: a /24 of IPv4, a /64 of IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Block(IpAddr);

impl Block {
    fn new(address: IpAddr) -> Self {
        Self(match address {
            IpAddr::V4(address) => {
                let [a, b, c, _] = address.octets();
                Ipv4Addr::new(a, b, c, 0).into()
            }
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
            }
        })
    }
}

/// The permission for one connection, until it is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionPermit {
    open: Arc<Mutex<Open>>,
    service: ServiceName,
    address: IpAddr,
    number: u64,
    ended: Arc<Notify>,
}

impl ConnectionLimits {
    pub(crate) fn new(max: usize, max_per_service: usize) -> Self {
        Self {
            open: Arc::default(),
            max,
            max_per_service,
        }
    }

    /// Permits a connection from this address to this Service unless a limit is reached.
    pub(crate) fn take(&self, service: &ServiceName, from: IpAddr) -> Option<ConnectionPermit> {
        let from = from.to_canonical();
        let (block, namespace) = (Block::new(from), &service.namespace);
        let mut open = lock(&self.open);
        let free = self.max.saturating_sub(open.all);
        let of_namespace = count(&open.by_namespace, namespace);
        let of_both = (block, Arc::clone(namespace));
        if of_namespace >= free {
            return None;
        }
        let is_full = count(&open.by_block, &block) >= free
            || count(&open.by_block_and_namespace, &of_both) >= free - of_namespace;
        if is_full && !open.make_room(block, from) {
            return None;
        }
        let number = open.last + 1;
        let of_service = open.by_service.entry(service.clone()).or_default();
        let is_full = of_service.connections.len() >= self.max_per_service;
        if is_full && !of_service.make_room(from) {
            return None;
        }
        let ended = of_service.add(number, from);
        open.last = number;
        open.all += 1;
        *open.by_namespace.entry(Arc::clone(namespace)).or_default() += 1;
        *open.by_block.entry(block).or_default() += 1;
        *open.by_address.entry(from).or_default() += 1;
        *open.by_block_and_namespace.entry(of_both).or_default() += 1;
        Some(ConnectionPermit {
            open: Arc::clone(&self.open),
            service: service.clone(),
            address: from,
            number,
            ended,
        })
    }

    /// The number of open connections.
    pub(crate) fn open(&self) -> usize {
        lock(&self.open).all
    }
}

impl Open {
    /// Ends a held connection from the busiest address in a block, if it has more connections than a new one's
    /// address will have. Returns whether it ended one.
    fn make_room(&mut self, block: Block, from: IpAddr) -> bool {
        let own = count(&self.by_address, &from);
        // No other address there has more. An attacker with one address causes no search.
        if 2 * own >= count(&self.by_block, &block) {
            return false;
        }
        let held = self.by_service.iter().flat_map(|(service, of_service)| {
            let of_block = of_service.by_block.get(&block).into_iter();
            let addresses = of_block.flat_map(|of_block| &of_block.by_address);
            addresses.filter_map(move |(address, of_address)| {
                Some((*address, *of_address.held.last()?, service))
            })
        });
        let all = |address: &IpAddr| count(&self.by_address, address);
        let held = held.filter(|(address, ..)| all(address) > own + 1);
        let busiest = held.max_by_key(|(address, number, _)| (all(address), *number));
        let Some((_, number, service)) = busiest else {
            return false;
        };
        let service = service.clone();
        let of_service = self.by_service.get_mut(&service);
        let ended = of_service.and_then(|of_service| of_service.remove(number));
        if let Some(connection) = &ended {
            connection.ended.notify_one();
        }
        ended.is_some()
    }
}

impl OfService {
    fn add(&mut self, number: u64, address: IpAddr) -> Arc<Notify> {
        let ended = Arc::<Notify>::default();
        let connection = OpenConnection {
            address,
            ended: Arc::clone(&ended),
        };
        let of_block = self.by_block.entry(Block::new(address)).or_default();
        of_block.open += 1;
        let of_address = of_block.by_address.entry(address).or_default();
        of_address.open += 1;
        of_address.held.insert(number);
        self.connections.insert(number, connection);
        ended
    }

    fn remove(&mut self, number: u64) -> Option<OpenConnection> {
        let connection = self.connections.remove(&number)?;
        self.keep(number, connection.address);
        let block = Block::new(connection.address);
        if let Some(of_block) = self.by_block.get_mut(&block) {
            of_block.open -= 1;
            if let Some(of_address) = of_block.by_address.get_mut(&connection.address) {
                of_address.open -= 1;
                if of_address.open == 0 {
                    of_block.by_address.remove(&connection.address);
                }
            }
            if of_block.open == 0 {
                self.by_block.remove(&block);
            }
        }
        Some(connection)
    }

    /// Records that a connection does not wait for a pod any more.
    fn keep(&mut self, number: u64, address: IpAddr) {
        let of_block = self.by_block.get_mut(&Block::new(address));
        let of_address = of_block.and_then(|of_block| of_block.by_address.get_mut(&address));
        if let Some(of_address) = of_address {
            of_address.held.remove(&number);
        }
    }

    /// Ends a held connection if its source has more connections than the source of a new one will have: the
    /// newest of the busiest address in the busiest block. Returns whether it ended one.
    ///
    /// A client can cause thousands of calls a second, so this takes a few nanoseconds for each address.
    fn make_room(&mut self, from: IpAddr) -> bool {
        let busiest = self.by_block.iter().flat_map(|(block, of_block)| {
            let addresses = of_block.by_address.values();
            addresses.filter_map(|of_address| {
                let newest = *of_address.held.last()?;
                Some(((of_block.open, of_address.open, newest), *block))
            })
        });
        let busiest = busiest.max_by_key(|(weight, _)| *weight);
        let Some(((of_block, of_address, number), block)) = busiest else {
            return false;
        };
        let own = self.by_block.get(&Block::new(from));
        let own_block = own.map_or(0, |own| own.open);
        let own_address = own.and_then(|own| own.by_address.get(&from));
        let own_address = own_address.map_or(0, |own| own.open);
        let gives_way = match block == Block::new(from) {
            true => of_address > own_address + 1,
            false => of_block > own_block + 1,
        };
        if gives_way && let Some(connection) = self.remove(number) {
            connection.ended.notify_one();
        }
        gives_way
    }
}

impl ConnectionPermit {
    /// Waits until the place is given to another connection.
    pub(crate) async fn ended(&self) {
        self.ended.notified().await;
    }

    /// The connection is forwarded now, so it keeps its place.
    pub(crate) fn keep(&self) {
        let mut open = lock(&self.open);
        if let Some(of_service) = open.by_service.get_mut(&self.service)
            && let Some(connection) = of_service.connections.get(&self.number)
        {
            let address = connection.address;
            of_service.keep(self.number, address);
        }
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut open = lock(&self.open);
        let namespace = Arc::clone(&self.service.namespace);
        open.all -= 1;
        release(&mut open.by_namespace, &namespace);
        let block = Block::new(self.address);
        release(&mut open.by_block, &block);
        release(&mut open.by_address, &self.address);
        release(&mut open.by_block_and_namespace, &(block, namespace));
        if let Some(of_service) = open.by_service.get_mut(&self.service) {
            of_service.remove(self.number);
            if of_service.connections.is_empty() {
                open.by_service.remove(&self.service);
            }
        }
    }
}

fn lock(open: &Mutex<Open>) -> MutexGuard<'_, Open> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

fn count<K: Eq + Hash>(counts: &HashMap<K, usize>, key: &K) -> usize {
    counts.get(key).copied().unwrap_or_default()
}

fn release<K: Eq + Hash>(counts: &mut HashMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;
    use crate::test_cluster::name;

    /// An address of its own block.
    fn source(number: u32) -> IpAddr {
        Ipv4Addr::from(0x0a00_0001 + (number << 8)).into()
    }

    #[test]
    fn service_at_its_limit_leaves_connections_to_others() {
        let [web, db] = ["web", "db"].map(|service| name("dev", service));
        let limits = ConnectionLimits::new(6, 2);
        let first = limits.take(&web, source(1)).unwrap();
        let _second = limits.take(&web, source(2)).unwrap();
        assert!(limits.take(&web, source(3)).is_none(), "two are for web");
        let _third = limits.take(&db, source(4)).unwrap();
        assert!(
            limits.take(&db, source(5)).is_none(),
            "half of all are for one namespace"
        );
        drop(first);
        assert_eq!(limits.open(), 2);
        assert!(limits.take(&db, source(5)).is_some());
    }

    #[test]
    fn namespace_with_many_silent_connections_leaves_some_to_every_other() {
        let limits = ConnectionLimits::new(10_000, 1_000);
        let mut permits = Vec::new();
        for attackers in 1..=4 {
            for service in 0..10 {
                let service = name(&format!("attacker-{attackers}"), &format!("s{service}"));
                let sources = (0..1_000).map(source);
                permits.extend(sources.map_while(|from| limits.take(&service, from)));
            }
            let victim = name("team", "web");
            let sources = (0..200).map(source);
            let got: Vec<_> = sources
                .map_while(|from| limits.take(&victim, from))
                .collect();
            assert_eq!(got.len(), 200, "{attackers} namespaces full of connections");
        }
        drop(permits);
        let open = lock(&limits.open);
        assert_eq!((open.all, open.by_service.len()), (0, 0));
        assert_eq!((open.by_block.len(), open.by_namespace.len()), (0, 0));
        assert_eq!(open.by_address.len(), 0);
        assert_eq!(open.by_block_and_namespace.len(), 0);
    }

    /// Which of these connections were ended.
    fn ended(permits: &[ConnectionPermit]) -> usize {
        let ended = permits.iter();
        ended
            .filter(|permit| permit.ended().now_or_never().is_some())
            .count()
    }

    #[test]
    fn pod_with_many_addresses_leaves_a_stopped_service_to_other_clients() {
        let limits = ConnectionLimits::new(10_000, 1_000);
        let web = name("team", "web");
        // All addresses of a /64.
        let of_attacker =
            |number: u64| IpAddr::from(Ipv6Addr::from((0xfd00_u128 << 112) + u128::from(number)));
        let attack: Vec<_> = (0..2_000)
            .filter_map(|number| limits.take(&web, of_attacker(number)))
            .collect();
        assert_eq!(attack.len(), 1_000, "alone, it gets all");
        let clients: Vec<_> = (0..400)
            .filter_map(|number| limits.take(&web, source(number % 4)))
            .collect();
        assert_eq!(clients.len(), 400);
        assert_eq!((ended(&attack), ended(&clients)), (400, 0));
        // It does not get the places back.
        assert!(limits.take(&web, of_attacker(9_999)).is_none());
    }

    #[test]
    fn pods_on_many_nodes_leave_each_other_client_an_equal_share_of_a_service() {
        let limits = ConnectionLimits::new(10_000, 1_000);
        let web = name("team", "web");
        let attack: Vec<_> = (0..1_000)
            .filter_map(|number| limits.take(&web, source(number % 24)))
            .collect();
        let clients: Vec<_> = (0..100)
            .filter_map(|_| limits.take(&web, source(100)))
            .collect();
        assert_eq!(clients.len(), 40, "a part of 25");
        assert_eq!(ended(&attack), 40);
    }

    #[test]
    fn neighbor_on_the_same_node_leaves_others_a_share() {
        let limits = ConnectionLimits::new(10_000, 1_000);
        let web = name("team", "web");
        let [pod, ingress] =
            ["10.0.1.7", "::ffff:10.0.1.8"].map(|address| address.parse().unwrap());
        let attack: Vec<_> = (0..1_000).filter_map(|_| limits.take(&web, pod)).collect();
        let clients: Vec<_> = (0..700)
            .filter_map(|_| limits.take(&web, ingress))
            .collect();
        assert_eq!((attack.len(), clients.len()), (1_000, 500));
    }

    /// A pod on the node of an ingress controller.
    #[test]
    fn neighbor_on_the_same_node_cannot_use_up_the_connections_of_all_services() {
        let limits = ConnectionLimits::new(10_000, 1_000);
        let [pod, ingress] = ["10.0.1.7", "10.0.1.8"].map(|address| address.parse().unwrap());
        let mut attack = Vec::new();
        for number in 0..40 {
            let service = name(&format!("team-{number}"), "web");
            attack.extend((0..1_000).map_while(|_| limits.take(&service, pod)));
        }
        let mut clients = Vec::new();
        for number in 0..40 {
            let service = name(&format!("team-{number}"), "other");
            clients.extend((0..25).map_while(|_| limits.take(&service, ingress)));
        }
        assert_eq!((attack.len(), clients.len()), (5_000, 1_000));
        assert_eq!((ended(&attack), ended(&clients)), (1_000, 0));
        // It does not get the places back.
        assert!(limits.take(&name("team-0", "third"), pod).is_none());
        // Forwarded connections keep theirs.
        attack.iter().for_each(ConnectionPermit::keep);
        assert!(limits.take(&name("team-0", "third"), ingress).is_none());
    }

    #[test]
    fn forwarded_connection_is_never_ended_by_another_client() {
        let limits = ConnectionLimits::new(100, 2);
        let web = name("team", "web");
        let of_ingress = [limits.take(&web, source(1)), limits.take(&web, source(1))];
        let of_ingress = of_ingress.map(Option::unwrap);
        of_ingress.iter().for_each(ConnectionPermit::keep);
        assert!(limits.take(&web, source(2)).is_none());
        assert_eq!(ended(&of_ingress), 0);
    }

    #[test]
    fn one_source_cannot_use_up_the_connections_of_all_services() {
        let limits = ConnectionLimits::new(10_000, 1_000);
        let mut attack = Vec::new();
        for number in 0..40 {
            let service = name(&format!("team-{number}"), "web");
            attack.extend((0..1_000).map_while(|_| limits.take(&service, source(1))));
        }
        for number in 0..40 {
            let service = name(&format!("team-{number}"), "other");
            let got: Vec<_> = (0..100)
                .map_while(|_| limits.take(&service, source(2)))
                .collect();
            assert_eq!(got.len(), 100, "{service}");
        }
        drop(attack);
        // Nor those of one namespace.
        let mut attack = Vec::new();
        for number in 0..40 {
            let service = name("team", &format!("s{number}"));
            attack.extend((0..1_000).map_while(|_| limits.take(&service, source(1))));
        }
        let service = name("team", "web");
        let got: Vec<_> = (0..900)
            .map_while(|_| limits.take(&service, source(2)))
            .collect();
        assert_eq!(got.len(), 900);
    }
}
