//! The flags that select a cluster, and the client that a command uses.

use std::{path::PathBuf, sync::Once, time::Duration};

use dayshift_cluster::connect::{ConnectError, Connection, connect, with_retry_after};
use http::Uri;
use kube::Client;

use crate::cli::{outcome::CommandError, output::messages::print_note, process::block_on};

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Cluster")]
pub(crate) struct ConnectionArgs {
    /// The kubeconfig file [default: as kubectl finds it, else the pod's ServiceAccount]
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// The context in the kubeconfig [default: its current one]
    #[arg(long, value_name = "NAME")]
    context: Option<String>,

    /// The user to impersonate, as in kubectl
    #[arg(long = "as", value_name = "USER")]
    user: Option<String>,

    /// A group to impersonate; repeatable
    #[arg(long = "as-group", value_name = "GROUP", requires = "user")]
    groups: Vec<String>,
}

impl ConnectionArgs {
    /// The connection of the command with this name. An empty value, for example from a template,
    /// is treated as missing.
    pub(crate) fn connection(self, command: &'static str) -> Connection {
        Connection {
            kubeconfig: self.kubeconfig.filter(|path| !path.as_os_str().is_empty()),
            context: self.context.filter(|name| !name.is_empty()),
            user: self.user.filter(|name| !name.is_empty()),
            groups: self.groups,
            purpose: command,
            bounds_memory: matches!(command, "run" | "activator"),
        }
    }

    /// A client that retries when the server is busy and reports that once, and the server's address.
    pub(crate) async fn patient_client(
        self,
        command: &'static str,
    ) -> Result<(Client, Uri), ConnectError> {
        let (client, server) = connect(&self.connection(command)).await?;
        let is_told = Once::new();
        let tell = move |pause: Duration| {
            if pause >= REPORTED_FROM {
                let seconds = pause.as_secs();
                is_told.call_once(|| {
                    print_note(&format!(
                        "the API server is busy and asks to wait {seconds} s; waiting"
                    ));
                });
            }
        };
        Ok((with_retry_after(client, tell), server))
    }

    /// Connects to the cluster and runs `work`.
    pub(crate) fn on_cluster<T, F>(
        self,
        command: &'static str,
        work: impl FnOnce(Client) -> F,
    ) -> Result<T, CommandError>
    where
        F: Future<Output = Result<T, CommandError>>,
    {
        block_on(async {
            let (client, server) = self.patient_client(command).await?;
            let of_server = |error: CommandError| error.with_server(&without_credentials(&server));
            work(client).await.map_err(of_server)
        })?
    }
}

/// Shorter pauses are not reported.
const REPORTED_FROM: Duration = Duration::from_secs(5);

/// Scheme, host and port only. User name, password and query are left out, because they can hold
/// secrets.
pub(crate) fn without_credentials(server: &Uri) -> String {
    let port = server
        .port()
        .map(|port| format!(":{port}"))
        .unwrap_or_default();
    format!(
        "{}://{}{port}",
        server.scheme_str().unwrap_or("http"),
        server.host().unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, Command, FromArgMatches as _};

    use super::*;

    #[test]
    fn prints_the_server_without_credentials() {
        for (full, told) in [
            ("https://10.0.0.1:6443/", "https://10.0.0.1:6443"),
            (
                "https://me:secret@[::1]:6443/api?token=secret",
                "https://[::1]:6443",
            ),
            ("http://example.com", "http://example.com"),
        ] {
            assert_eq!(without_credentials(&full.parse().unwrap()), told);
        }
    }

    #[test]
    fn only_the_controller_and_the_activator_bound_their_memory() {
        for (command, expected) in [("run", true), ("activator", true), ("status", false)] {
            let parser = ConnectionArgs::augment_args(Command::new(command));
            let matches = parser.get_matches_from([command]);
            let arguments = ConnectionArgs::from_arg_matches(&matches).unwrap();
            let connection = arguments.connection(command);
            assert_eq!(connection.bounds_memory, expected, "{command}");
        }
    }
}
