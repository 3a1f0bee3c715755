//! The settings of an activator.

use std::{net::IpAddr, sync::Arc, time::Duration};

use dayshift_schedule::{Tzdata, Zone};
use dayshift_workload::{Kind, KindTable, Prefix};

use crate::{response::PageSettings, service::ServiceName, target::WakeLimits};

/// The settings of an activator, from its flags.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The kinds of workloads to wake.
    pub kinds: Vec<Kind>,
    /// The kinds that an `after` annotation can name.
    pub kind_table: Arc<KindTable>,
    /// The watched namespaces; if empty, all. Namespace annotations are read only if all are watched.
    pub namespaces: Vec<String>,
    /// The Service of the activator's own pods.
    pub service: ServiceName,
    /// The prefix of annotations and labels.
    pub prefix: Prefix,
    /// The time zone of workloads without one.
    pub default_zone: Zone,
    /// The database in which zone names are looked up.
    pub tzdata: Tzdata,
    /// The address to listen on; `None` for all IPv6 and IPv4 addresses.
    pub bind: Option<IpAddr>,
    /// The first and last port for Services.
    pub ports: (u16, u16),
    /// How long a connection waits for a ready pod.
    pub hold: Duration,
    /// How long wakes last, regardless of annotations.
    pub wake_limits: WakeLimits,
    /// The maximum number of open connections, including forwarded ones.
    pub max_connections: usize,
    /// The maximum number of open connections to one Service.
    pub max_per_service: usize,
    /// Texts in lower case. A client whose `User-Agent` contains one wakes nothing.
    pub ignored_agents: Vec<String>,
    /// The page for browsers.
    pub page: PageSettings,
    /// How long open connections continue after a shutdown.
    pub drain: Duration,
    /// The reporting instance in Events.
    pub instance: String,
    /// The seed for jitter.
    pub seed: u64,
}

/// Agents that only check availability, for example health checks and crawlers.
pub const IGNORED_AGENTS: &str = "kube-probe,GoogleHC,ELB-HealthChecker,Amazon-Route53-Health-Check,\
Azure Traffic Manager,Edge Health Probe,HealthCheck,Blackbox Exporter,Prometheus,VictoriaMetrics,Datadog,\
UptimeRobot,StatusCake,Pingdom,Better Uptime,bot,crawler,spider";
