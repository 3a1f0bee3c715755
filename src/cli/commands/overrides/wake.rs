//! `dayshift wake`.

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

/// Start workloads now, and keep them running until a time
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct WakeArgs {
    #[command(flatten)]
    until: UntilArgs,

    #[command(flatten)]
    common: OverrideArgs,
}

impl WakeArgs {
    pub(crate) fn run(self) -> Exit {
        self.common
            .request_until(&self.until, RequestedOverride::Wake)
    }
}
