//! From flags and environment to a client: where the cluster is, which credentials to use, and the wrappers
//! around the client.

pub(crate) mod compact;
pub(crate) mod middleware;
pub(crate) mod redact;
mod transport;

pub use self::{
    compact::compact,
    middleware::{Exchange, acting_as, instrument, server_time, with_retry_after},
    redact::redacted_chain,
};

use std::{io, path::PathBuf};

use futures::FutureExt as _;
use http::{HeaderValue, Uri, header::USER_AGENT};
use kube::{
    Client, Config,
    config::{ExecInteractiveMode, KubeConfigOptions, Kubeconfig, KubeconfigError},
};

use crate::connect::{
    redact::redacted,
    transport::{Reload, client},
};

/// How to find the cluster: as kubectl does.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    /// A kubeconfig file; else `KUBECONFIG`, `~/.kube/config`, the pod's ServiceAccount.
    pub kubeconfig: Option<PathBuf>,
    /// The context in the kubeconfig; else its current one.
    pub context: Option<String>,
    /// The user to act as; otherwise the kubeconfig's (`kubectl --as`).
    pub user: Option<String>,
    /// The groups of that user (`kubectl --as-group`).
    pub groups: Vec<String>,
    /// The command, such as `run`, for the `User-Agent` of each request.
    pub purpose: &'static str,
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The kubeconfig is missing or wrong.
    #[error("cannot use the kubeconfig: {}", redacted(.0))]
    Kubeconfig(#[from] KubeconfigError),
    /// There is neither a kubeconfig nor a pod's ServiceAccount.
    #[error("found no cluster: {}; give --kubeconfig, or set KUBECONFIG", no_cluster(.0))]
    NoCluster(#[from] kube::config::InferConfigError),
    /// The configuration makes no client: a broken certificate, say.
    #[error("cannot make a client: {}", redacted(.0))]
    Client(#[from] kube::Error),
}

/// Why the kubeconfig is of no use. Most users know that they are not in a pod.
fn no_cluster(error: &kube::config::InferConfigError) -> String {
    let kubeconfig = std::error::Error::source(error);
    match kubeconfig.and_then(|it| it.downcast_ref()) {
        Some(KubeconfigError::ReadConfig(why, path)) if why.kind() == io::ErrorKind::NotFound => {
            format!(
                "the kubeconfig {} does not exist, and this is not a pod",
                path.display()
            )
        }
        _ => redacted(error),
    }
}

/// A client for that cluster, and the server's address; its default namespace is the context's. The
/// server need not be there yet.
///
/// # Errors
/// Where the configuration is missing or wrong.
pub async fn connect(connection: &Connection) -> Result<(Client, Uri), ConnectError> {
    connect_with(connection, |_| {}).await
}

/// As [`connect`], without any question to the user: a credential program gets no input, and its
/// output is not shown.
///
/// # Errors
/// As [`connect`].
pub async fn connect_silently(connection: &Connection) -> Result<(Client, Uri), ConnectError> {
    let silence = |config: &mut Config| {
        if let Some(program) = &mut config.auth_info.exec {
            program.interactive_mode = Some(ExecInteractiveMode::Never);
        }
    };
    connect_with(connection, silence).await
}

/// As [`connect`], without acting as anybody else, whatever the kubeconfig says: for a client that
/// [acts as others](crate::connect::middleware::acting_as) request by request.
///
/// # Errors
/// As [`connect`].
pub async fn connect_as_itself(connection: &Connection) -> Result<(Client, Uri), ConnectError> {
    let itself = |config: &mut Config| {
        config.auth_info.impersonate = None;
        config.auth_info.impersonate_groups = None;
    };
    connect_with(connection, itself).await
}

impl Connection {
    /// The names of the contexts in its kubeconfig, whatever context is its own.
    ///
    /// # Errors
    /// Where there is no kubeconfig, or it is wrong.
    pub fn contexts(&self) -> Result<Vec<String>, ConnectError> {
        let kubeconfig = match &self.kubeconfig {
            Some(path) => Kubeconfig::read_from(path)?,
            None => Kubeconfig::read()?,
        };
        Ok(kubeconfig.contexts.into_iter().map(|it| it.name).collect())
    }
}

async fn connect_with(
    connection: &Connection,
    adapt: impl Fn(&mut Config) + Clone + Send + Sync + 'static,
) -> Result<(Client, Uri), ConnectError> {
    let config = configuration(connection, adapt.clone()).await?;
    let server = config.cluster_url.clone();
    let connection = connection.clone();
    let reload: Reload = Box::new(move || {
        let (connection, adapt) = (connection.clone(), adapt.clone());
        async move { configuration(&connection, adapt).await.ok() }.boxed()
    });
    Ok((client(config, reload)?, server))
}

/// The configuration of a client, as the files have it now.
async fn configuration(
    connection: &Connection,
    adapt: impl Fn(&mut Config),
) -> Result<Config, ConnectError> {
    let options = KubeConfigOptions {
        context: connection.context.clone(),
        ..KubeConfigOptions::default()
    };
    let mut config = match (&connection.kubeconfig, &connection.context) {
        (Some(path), _) => {
            Config::from_custom_kubeconfig(Kubeconfig::read_from(path)?, &options).await?
        }
        (None, Some(_)) => Config::from_kubeconfig(&options).await?,
        (None, None) => Config::infer().await?,
    };
    // kube would retry a 429, 503 or 504 up to 15 times inside one call, out of sight.
    config.default_retry = false;
    if let Some(user) = &connection.user {
        config.auth_info.impersonate = Some(user.clone());
        config.auth_info.impersonate_groups =
            Some(connection.groups.clone()).filter(|groups| !groups.is_empty());
    }
    let agent = format!(
        concat!("dayshift/", env!("CARGO_PKG_VERSION"), " ({})"),
        connection.purpose
    );
    config.headers.extend(
        HeaderValue::try_from(agent)
            .ok()
            .map(|agent| (USER_AGENT, agent)),
    );
    adapt(&mut config);
    Ok(config)
}
