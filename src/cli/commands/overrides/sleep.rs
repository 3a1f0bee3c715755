//! `dayshift sleep`.

use crate::{
    cli::{
        args::{
            override_args::{AFTER_HELP, OverrideArgs},
            values::until::UntilArgs,
        },
        exit::Exit,
    },
    operations::RequestedOverride,
};

/// Stop workloads now, and keep them stopped until a time
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct SleepArgs {
    #[command(flatten)]
    until: UntilArgs,

    #[command(flatten)]
    common: OverrideArgs,
}

impl SleepArgs {
    pub(crate) fn run(self) -> Exit {
        self.common
            .request_until(&self.until, RequestedOverride::Sleep)
    }
}
