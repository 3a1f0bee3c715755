//! The flags of `dayshift activator`, and what they come down to.

use std::{
    hash::{BuildHasher, RandomState},
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use chrono::TimeDelta;
use clap::builder::RangedU64ValueParser;
use dayshift_activator::{IGNORED_AGENTS, ServiceName, Settings};
use dayshift_cluster::connect::Connection;
use dayshift_operations::parse_length;
use dayshift_schedule::Zone;
use dayshift_text::quote;
use dayshift_workload::{Kind, Pods, names::is_dns_label};

use super::{
    connection::ConnectionArgs,
    log::LogArgs,
    schedule_args::PrefixArgs,
    values::value_parsers::{listen, namespace},
};
use crate::cli::args::{kind_args::kind, run_args::instance};

/// Stand in for the Services of stopped workloads, and wake them when a connection comes
///
/// A workload asks for it by the annotation dayshift/wake-on-request, such as "2h": its own or its
/// Namespace's. While its Service has no ready pod, connections come to the activator, which wakes the
/// workload for that long, waits until it is ready, and hands the connection on. It runs in the cluster,
/// behind a Service of its own: manifests/activator.yaml has all of it.
#[derive(Debug, clap::Args)]
pub(crate) struct ActivatorArgs {
    /// The Service before the activator's own pods, whose ready addresses stand in
    #[arg(
        long,
        value_name = "NAMESPACE/NAME",
        default_value = "dayshift/dayshift-activator",
        value_parser = service
    )]
    service: ServiceName,

    /// How long a connection waits until a pod is ready
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = parse_length)]
    hold: TimeDelta,

    /// The longest wake, whatever an annotation asks for
    #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = parse_length)]
    max_wake: TimeDelta,

    /// The ports on which connections to Services are taken: one for each port of a Service
    #[arg(long, value_name = "FIRST-LAST", default_value = "20000-29999", value_parser = ports)]
    ports: (u16, u16),

    /// The address on which connections are taken [default: every address]
    #[arg(long, value_name = "ADDRESS")]
    bind: Option<IpAddr>,

    /// The most connections open at once, those that were handed on included
    #[arg(
        long,
        value_name = "COUNT",
        default_value = "10000",
        value_parser = RangedU64ValueParser::<u32>::new().range(1..=1_000_000)
    )]
    max_connections: u32,

    /// The most connections open at once for one Service
    #[arg(
        long,
        value_name = "COUNT",
        default_value = "1000",
        value_parser = RangedU64ValueParser::<u32>::new().range(1..=1_000_000)
    )]
    max_per_service: u32,

    /// Parts of a User-Agent of clients that wake nothing, whatever the case of letters
    #[arg(long, value_name = "TEXTS", value_delimiter = ',', default_value = IGNORED_AGENTS)]
    ignore_user_agent: Vec<String>,

    /// How long open connections may go on after SIGTERM
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = parse_length)]
    drain: TimeDelta,

    #[command(flatten)]
    which: WhichArgs,

    /// The address of /healthz, /readyz and /metrics; port 0 takes a free port and logs it
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "0.0.0.0:8080",
        value_parser = listen,
        help_heading = "Process"
    )]
    listen: SocketAddr,

    #[command(flatten)]
    connection: ConnectionArgs,

    #[command(flatten)]
    pub(crate) log: LogArgs,
}

#[derive(Debug, clap::Args)]
struct WhichArgs {
    /// A namespace to look at, and no other; repeatable. The annotations of Namespaces do not count then
    #[arg(
        short,
        long,
        help_heading = "Which workloads",
        value_name = "NAMESPACE",
        value_delimiter = ',',
        value_parser = namespace
    )]
    namespace: Vec<String>,

    /// The kinds of workload, separated by commas; those that have pods
    #[arg(
        long,
        help_heading = "Which workloads",
        value_name = "KINDS",
        value_delimiter = ',',
        default_value = "deployments,statefulsets",
        value_parser = kind_with_pods
    )]
    kinds: Vec<Kind>,

    /// The IANA time zone of workloads without a timezone annotation [default: UTC]
    #[arg(long, help_heading = "Schedules", value_name = "ZONE", value_parser = Zone::parse)]
    timezone: Option<Zone>,

    #[command(flatten)]
    prefix: PrefixArgs,
}

/// What [`ActivatorArgs`] mean.
pub(crate) struct Activation {
    pub(crate) connection: Connection,
    pub(crate) listen: SocketAddr,
    pub(crate) settings: Settings,
}

impl From<ActivatorArgs> for Activation {
    fn from(args: ActivatorArgs) -> Self {
        let whole = |it: TimeDelta| it.to_std().unwrap_or(Duration::ZERO);
        let many = |it: u32| usize::try_from(it).unwrap_or(usize::MAX);
        let agents = args.ignore_user_agent.iter();
        let agents = agents.map(|it| it.trim().to_lowercase());
        Self {
            connection: args.connection.connection("activator"),
            listen: args.listen,
            settings: Settings {
                kinds: args.which.kinds,
                namespaces: args.which.namespace,
                service: args.service,
                prefix: args.which.prefix.annotation_prefix,
                default_zone: args.which.timezone.unwrap_or(Zone::UTC),
                bind: args.bind,
                ports: args.ports,
                hold: whole(args.hold),
                max_wake: args.max_wake,
                max_connections: many(args.max_connections),
                max_per_service: many(args.max_per_service),
                ignored_agents: agents.filter(|it| !it.is_empty()).collect(),
                drain: whole(args.drain),
                instance: instance(None, "dayshift-activator"),
                seed: RandomState::new().hash_one("jitter"),
            },
        }
    }
}

fn service(text: &str) -> Result<ServiceName, String> {
    let parts = text.split_once('/');
    let parts = parts.filter(|(namespace, name)| is_dns_label(namespace) && is_dns_label(name));
    let (namespace, name) = parts.ok_or_else(|| {
        format!(
            "`{}` is not a Service; write for example dayshift/dayshift-activator",
            quote(text)
        )
    })?;
    Ok(ServiceName {
        namespace: namespace.into(),
        name: name.into(),
    })
}

fn ports(text: &str) -> Result<(u16, u16), String> {
    let range = text.split_once('-');
    let range = range.and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
    range
        .filter(|(first, last)| (1..=*last).contains(first))
        .ok_or_else(|| {
            format!(
                "`{}` is not a range of ports; write for example 20000-29999",
                quote(text)
            )
        })
}

fn kind_with_pods(text: &str) -> Result<Kind, String> {
    // The pods of an autoscaler are those of another object, and those of a CronJob take no requests.
    let has_pods = |it: &Kind| it.pods() != Pods::OfTarget && *it != Kind::CRON_JOB;
    Some(kind(text)?).filter(has_pods).ok_or_else(|| {
        format!(
            "`{}` is not a kind of workload whose pods a Service selects; write for example \
             deployments,statefulsets",
            quote(text.trim())
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_ports_has_a_first_and_a_last() {
        assert_eq!(ports("20000-20100"), Ok((20000, 20100)));
        assert_eq!(ports("1-1"), Ok((1, 1)));
        for text in ["0-10", "10-9", "20000", "a-b", "1-70000", ""] {
            assert!(ports(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_service_has_a_namespace() {
        assert_eq!(service("a/b").unwrap().to_string(), "a/b");
        for text in ["b", "a/", "/b", "a/b/c", "A/b"] {
            assert!(service(text).is_err(), "{text}");
        }
    }
}
