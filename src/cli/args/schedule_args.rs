//! The flags that say how annotations are read, alike in every subcommand that reads any.

use crate::{schedule::Zone, workload::Prefix};

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Schedules")]
pub(crate) struct ScheduleArgs {
    /// The IANA time zone of Deployments without a timezone annotation
    #[arg(
        long,
        value_name = "ZONE",
        default_value = "UTC",
        value_parser = Zone::parse
    )]
    pub(crate) timezone: Zone,

    /// The prefix of annotations and labels, before the slash
    #[arg(
        long,
        value_name = "PREFIX",
        default_value = "dayshift",
        value_parser = Prefix::parse
    )]
    pub(crate) annotation_prefix: Prefix,
}
