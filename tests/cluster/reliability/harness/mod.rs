//! What the cases are written with: fleets, scenarios, what stands between dayshift and the server,
//! who looks on, and the table that comes of it.

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
