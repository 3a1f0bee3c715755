//! `dayshift resume`.

use crate::{
    cli::{
        args::override_args::{AFTER_HELP, OverrideArgs},
        exit::Exit,
    },
    operations::RequestedOverride,
};

/// End a wake, a sleep or a pause now, and follow the schedule again
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ResumeArgs {
    #[command(flatten)]
    common: OverrideArgs,
}

impl ResumeArgs {
    pub(crate) fn run(self) -> Exit {
        self.common.request_now(RequestedOverride::Resume)
    }
}
