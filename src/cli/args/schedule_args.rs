//! The flags that say how annotations are read, alike in every subcommand that reads any.

use crate::{schedule::Zone, workload::Prefix};

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Schedules")]
pub(crate) struct ScheduleArgs {
    /// The IANA time zone of Deployments that name none
    #[arg(
        long,
        value_name = "ZONE",
        default_value = "UTC",
        value_parser = Zone::parse,
        env = "DAYSHIFT_TIMEZONE"
    )]
    pub(crate) timezone: Zone,

    /// What stands before the slash in annotations and labels
    #[arg(
        long,
        value_name = "PREFIX",
        default_value = "dayshift",
        value_parser = Prefix::parse,
        env = "DAYSHIFT_ANNOTATION_PREFIX"
    )]
    pub(crate) annotation_prefix: Prefix,
}
