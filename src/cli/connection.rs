//! The flags that say which cluster, alike in every subcommand that talks to one.

use std::path::PathBuf;

use crate::cluster::Connection;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Cluster")]
pub(super) struct ConnectionArgs {
    /// The kubeconfig file [default: as kubectl finds it, else the pod's ServiceAccount]
    #[arg(long, value_name = "FILE", env = "DAYSHIFT_KUBECONFIG")]
    kubeconfig: Option<PathBuf>,

    /// The context in the kubeconfig [default: its current one]
    #[arg(long, value_name = "NAME", env = "DAYSHIFT_CONTEXT")]
    context: Option<String>,
}

impl ConnectionArgs {
    /// An empty value, as a template leaves it, is none.
    pub(super) fn connection(self) -> Connection {
        Connection {
            kubeconfig: self.kubeconfig.filter(|path| !path.as_os_str().is_empty()),
            context: self.context.filter(|name| !name.is_empty()),
        }
    }
}
