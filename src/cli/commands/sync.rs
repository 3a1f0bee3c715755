//! `dayshift sync`.

use crate::{
    cli::{
        args::override_args::{AFTER_HELP, OverrideArgs},
        exit::Exit,
    },
    operations::RequestedOverride,
};

/// Do now what the schedule says, until its next boundary
///
/// A new or edited schedule scales nothing by itself, and a manual change holds until the next
/// boundary. This starts or stops the workload now if the schedule says so. It ends a wake or a
/// sleep that holds. Where none holds, it writes one, which ends at the next boundary: an edit of the
/// schedule does not end it sooner, `dayshift resume` does.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct SyncArgs {
    #[command(flatten)]
    common: OverrideArgs,
}

impl SyncArgs {
    pub(crate) fn run(self) -> Exit {
        self.common.request_now(RequestedOverride::Sync)
    }
}
