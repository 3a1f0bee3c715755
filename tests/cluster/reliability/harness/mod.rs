//! The parts of the cases: fleets, scenarios, proxies between dayshift and the server, observers, and the
//! table of results.

pub(crate) mod blackhole_proxy;
pub(crate) mod cases;
pub(crate) mod figures;
pub(crate) mod fleet;
pub(crate) mod fleet_watch;
pub(crate) mod gate;
pub(crate) mod probes;
pub(crate) mod profile;
pub(crate) mod proxy;
pub(crate) mod scenario;
pub(crate) mod turns;
pub(crate) mod webhook;
