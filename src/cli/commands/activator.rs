//! `dayshift activator`: its flags, and the process that serves Services of stopped workloads.

use std::{
    fmt::Display,
    fs::File,
    hash::{BuildHasher, RandomState},
    io::Read as _,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use chrono::TimeDelta;
use clap::builder::RangedU64ValueParser;
use dayshift_activator::{
    IGNORED_AGENTS, MAX_TEMPLATE, PageSettings, PageTemplate, ServiceName, Settings, Telemetry,
    WakeLimits,
};
use dayshift_cluster::{
    clock::Clock,
    connect::{Connection, connect},
};
use dayshift_operations::parse_length;
use dayshift_schedule::{Tzdata, Zone};
use dayshift_text::quote;
use dayshift_workload::{Kind, KindTable, Pods, names::is_dns_label};

use crate::{
    cli::{
        args::{
            connection::{ConnectionArgs, without_credentials},
            kinds::{KindFiles, parse_kind},
            log::LogArgs,
            schedules::PrefixArgs,
            values::{listen_address, namespace},
        },
        commands::run::{instance, namespaces_text},
        outcome::{CommandError, listen},
        process::{Exit, Shutdown, until_signal},
    },
    server::serve,
};

/// Accept connections for the Services of stopped workloads, and wake these workloads
///
/// Applies to workloads with the annotation dayshift/wake-on-request, such as "2h", on themselves
/// or on their Namespace. While the Service of such a workload has no ready pod, connections reach
/// the activator. It wakes the workload for that duration, waits until it is ready, and forwards
/// the connection. It runs in the cluster with its own Service; manifests/activator.yaml contains
/// all objects.
#[derive(Debug, clap::Args)]
pub(crate) struct ActivatorArgs {
    /// The Service of the activator's own pods, whose ready addresses are used
    #[arg(
        long,
        value_name = "NAMESPACE/NAME",
        default_value = "dayshift/dayshift-activator",
        value_parser = parse_service
    )]
    service: ServiceName,

    /// How long a connection waits until a pod is ready
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = parse_length)]
    hold: TimeDelta,

    /// The longest wake, even if an annotation specifies more, or use (while-used) or a
    /// visitor (keep) prolongs it
    #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = parse_length)]
    max_wake: TimeDelta,

    /// The minimum time between two writes that prolong a wake that is in use (while-used). The wake
    /// ends up to this much later than its duration after the last use
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = parse_length)]
    prolong_interval: TimeDelta,

    /// The ports on which the activator accepts connections: one for each port of a Service
    #[arg(long, value_name = "FIRST-LAST", default_value = "20000-29999", value_parser = parse_ports)]
    ports: (u16, u16),

    /// The address on which the activator accepts connections [default: every address]
    #[arg(long, value_name = "ADDRESS")]
    bind: Option<IpAddr>,

    /// The maximum number of open connections, including forwarded ones
    #[arg(
        long,
        value_name = "COUNT",
        default_value = "10000",
        value_parser = RangedU64ValueParser::<u32>::new().range(1..=1_000_000)
    )]
    max_connections: u32,

    /// The maximum number of open connections of one Service
    #[arg(
        long,
        value_name = "COUNT",
        default_value = "1000",
        value_parser = RangedU64ValueParser::<u32>::new().range(1..=1_000_000)
    )]
    max_per_service: u32,

    /// Clients whose User-Agent contains one of these strings wake nothing; case is ignored
    #[arg(long, value_name = "TEXTS", value_delimiter = ',', default_value = IGNORED_AGENTS)]
    ignore_user_agent: Vec<String>,

    /// An HTML file with placeholders such as {{title}}, instead of the page for browsers
    #[arg(
        long,
        value_name = "FILE",
        value_parser = read_template,
        help_heading = "Page for browsers"
    )]
    page_template: Option<PageTemplate>,

    /// The contact for a stopped Service on that page: a chat channel, an address
    #[arg(long, value_name = "TEXT", help_heading = "Page for browsers")]
    page_contact: Option<String>,

    /// Show the names of Services and workloads and the errors of Kubernetes on that page, to everyone who can
    /// connect
    #[arg(long, help_heading = "Page for browsers")]
    page_names: bool,

    /// How long open connections may continue after SIGTERM
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = parse_length)]
    drain: TimeDelta,

    #[command(flatten)]
    which: ActivatorScopeArgs,

    /// The address of /healthz, /readyz and /metrics; port 0 takes a free port and logs it
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "0.0.0.0:8080",
        value_parser = listen_address,
        help_heading = "Process"
    )]
    listen: SocketAddr,

    #[command(flatten)]
    connection: ConnectionArgs,

    #[command(flatten)]
    pub(crate) log: LogArgs,
}

#[derive(Debug, clap::Args)]
struct ActivatorScopeArgs {
    /// Only watch this namespace; repeatable. The annotations of Namespaces are not used then
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
        value_parser = |text: &str| kind_with_pods(text, &KindTable::default())
    )]
    kinds: Vec<Kind>,

    /// A file of kind definitions with the path of the on/off field or the count of each kind, as
    /// docs/reference/operator-kinds.md describes; repeatable. Give the activator the files of `dayshift run`
    #[arg(long, help_heading = "Which workloads", value_name = "FILE")]
    kind_file: Vec<PathBuf>,

    /// The IANA time zone of workloads without a timezone annotation [default: UTC]
    #[arg(long, help_heading = "Schedules", value_name = "ZONE", value_parser = Zone::parse)]
    timezone: Option<Zone>,

    #[command(flatten)]
    prefix: PrefixArgs,
}

/// The validated form of [`ActivatorArgs`].
pub(crate) struct Activation {
    pub(crate) connection: Connection,
    pub(crate) listen: SocketAddr,
    pub(crate) settings: Settings,
}

impl Activation {
    pub(crate) fn new(args: ActivatorArgs, tzdata: &Tzdata, files: &KindFiles) -> Self {
        let kinds = args.which.kinds.into_iter();
        let whole = |time: TimeDelta| time.to_std().unwrap_or(Duration::ZERO);
        let many = |count: u32| usize::try_from(count).unwrap_or(usize::MAX);
        let agents = args.ignore_user_agent.iter();
        let agents = agents.map(|agent| agent.trim().to_lowercase());
        Self {
            connection: args.connection.connection("activator"),
            listen: args.listen,
            settings: Settings {
                kinds: kinds.filter(|kind| !files.is_rejected(kind)).collect(),
                kind_table: Arc::clone(&files.table),
                namespaces: args.which.namespace,
                service: args.service,
                prefix: args.which.prefix.annotation_prefix,
                default_zone: args.which.timezone.unwrap_or(Zone::UTC),
                tzdata: tzdata.clone(),
                bind: args.bind,
                ports: args.ports,
                hold: whole(args.hold),
                wake_limits: WakeLimits {
                    longest: args.max_wake,
                    prolong_interval: args.prolong_interval,
                },
                max_connections: many(args.max_connections),
                max_per_service: many(args.max_per_service),
                ignored_agents: agents.filter(|agent| !agent.is_empty()).collect(),
                page: PageSettings {
                    template: args.page_template,
                    contact: args.page_contact,
                    shows_names: args.page_names,
                },
                drain: whole(args.drain),
                instance: instance(None, "dayshift-activator"),
                seed: RandomState::new().hash_one("jitter"),
            },
        }
    }
}

/// Reads a template, at most one byte more than its maximum size.
fn read_template(path: &str) -> Result<PageTemplate, String> {
    let explained = |error: &dyn Display| format!("{}: {error}", quote(path));
    let file = File::open(path).map_err(|error| explained(&error))?;
    let mut text = String::new();
    let limit = u64::try_from(MAX_TEMPLATE + 1).unwrap_or(u64::MAX);
    file.take(limit)
        .read_to_string(&mut text)
        .map_err(|error| explained(&error))?;
    PageTemplate::parse(&text).map_err(|error| explained(&error))
}

fn parse_service(text: &str) -> Result<ServiceName, String> {
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

fn parse_ports(text: &str) -> Result<(u16, u16), String> {
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

pub(crate) fn kind_with_pods(text: &str, table: &KindTable) -> Result<Kind, String> {
    // The pods of an autoscaler belong to another object, and those of a CronJob serve no requests.
    let has_pods = |kind: &Kind| kind.pods() != Pods::OfTarget && *kind != Kind::CRON_JOB;
    Some(parse_kind(text, table)?)
        .filter(has_pods)
        .ok_or_else(|| {
            format!(
                "`{}` is not a kind of workload whose pods a Service selects; write for example \
             deployments,statefulsets",
                quote(text.trim())
            )
        })
}

impl ActivatorArgs {
    pub(crate) fn run(self, tzdata: &Tzdata, files: &KindFiles) -> Result<Exit, CommandError> {
        self.log.start();
        Ok(until_signal(
            |shutdown| Activation::new(self, tzdata, files).work(shutdown),
            || (),
        ))
    }
}

impl Activation {
    async fn work(self, shutdown: Shutdown) -> Result<(), CommandError> {
        let listener = listen(self.listen, "--listen, such as 0.0.0.0:0").await?;
        let (client, server) = connect(&self.connection).await?;
        let settings = self.settings;
        tracing::info!(
            server = without_credentials(&server),
            service = %settings.service,
            namespaces = namespaces_text(&settings.namespaces),
            listen = %listener.local_addr()?,
            "dayshift activator {} begins",
            env!("CARGO_PKG_VERSION"),
        );
        let telemetry = Arc::<Telemetry>::default();
        let shown = Arc::clone(&telemetry);
        let work = dayshift_activator::run(client, Clock::system(), settings, telemetry, shutdown);
        // The probes respond until the activator has finished.
        serve(listener, shown, work).await;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_a_range_of_ports() {
        assert_eq!(parse_ports("20000-20100"), Ok((20000, 20100)));
        assert_eq!(parse_ports("1-1"), Ok((1, 1)));
        for text in ["0-10", "10-9", "20000", "a-b", "1-70000", ""] {
            assert!(parse_ports(text).is_err(), "{text}");
        }
    }

    #[test]
    fn template_errors_name_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("page.html");
        let shown = path.to_str().unwrap();
        std::fs::write(&path, "<h1>{{title}}</h1>").unwrap();
        assert!(read_template(shown).is_ok());
        std::fs::write(&path, "{{titel}}").unwrap();
        let error = read_template(shown).unwrap_err();
        assert!(
            error.contains("page.html") && error.contains("`titel`"),
            "{error}"
        );
        std::fs::write(&path, "x".repeat(MAX_TEMPLATE + 10)).unwrap();
        assert!(
            read_template(shown).unwrap_err().contains("larger"),
            "{shown}"
        );
        assert!(read_template("/does/not/exist").is_err());
    }

    #[test]
    fn requires_the_namespace_of_a_service() {
        assert_eq!(parse_service("a/b").unwrap().to_string(), "a/b");
        for text in ["b", "a/", "/b", "a/b/c", "A/b"] {
            assert!(parse_service(text).is_err(), "{text}");
        }
    }
}
