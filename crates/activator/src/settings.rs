//! What an activator goes by.

use std::{net::IpAddr, time::Duration};

use chrono::TimeDelta;
use dayshift_schedule::{Tzdata, Zone};
use dayshift_workload::{Kind, Prefix};

use crate::service::ServiceName;

/// What an activator goes by.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The kinds of workload that it wakes.
    pub kinds: Vec<Kind>,
    /// The namespaces that it looks at; none are all. In all it knows the annotations of Namespaces.
    pub namespaces: Vec<String>,
    /// The Service before its own pods: whose ready addresses stand in.
    pub service: ServiceName,
    /// What stands before the slash in annotations and labels.
    pub prefix: Prefix,
    /// The zone of workloads that name none.
    pub default_zone: Zone,
    /// The database in which zones are looked up.
    pub tzdata: Tzdata,
    /// The address on which connections are taken; `None` for every one, of IPv6 and IPv4.
    pub bind: Option<IpAddr>,
    /// The first and the last port that may be taken for Services.
    pub ports: (u16, u16),
    /// How long a connection waits for a ready pod.
    pub hold: Duration,
    /// The longest wake, whatever an annotation says.
    pub max_wake: TimeDelta,
    /// How many connections are open at once, those that were handed on included.
    pub max_connections: usize,
    /// How many of them are for one Service.
    pub max_per_service: usize,
    /// Parts of a `User-Agent`, in lower case, of clients that wake nothing.
    pub ignored_agents: Vec<String>,
    /// How long open connections may go on after a shutdown.
    pub drain: Duration,
    /// The name in Events.
    pub instance: String,
    /// For jitter.
    pub seed: u64,
}

/// Clients that look whether something is there, and mean nobody by it.
pub const IGNORED_AGENTS: &str = "kube-probe,GoogleHC,ELB-HealthChecker,Amazon-Route53-Health-Check,\
Azure Traffic Manager,Edge Health Probe,HealthCheck,Blackbox Exporter,Prometheus,VictoriaMetrics,Datadog,\
UptimeRobot,StatusCake,Pingdom,Better Uptime,bot,crawler,spider";
