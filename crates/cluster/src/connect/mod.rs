//! Connecting to a cluster: which cluster, with which credentials, from flags, kubeconfig and
//! environment. The other files make the connections and wrap the client.

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

/// Where the cluster is, found as kubectl finds it.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    /// A kubeconfig file. If it is not given: `KUBECONFIG`, `~/.kube/config`, then the pod's
    /// ServiceAccount.
    pub kubeconfig: Option<PathBuf>,
    /// The context in the kubeconfig. If it is not given, the current one.
    pub context: Option<String>,
    /// The user to impersonate (`kubectl --as`). If it is not given, the kubeconfig decides.
    pub user: Option<String>,
    /// The groups of that user (`kubectl --as-group`).
    pub groups: Vec<String>,
    /// The command, such as `run`, for the `User-Agent` header.
    pub purpose: &'static str,
}

/// Why a client cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The kubeconfig is missing or invalid.
    #[error("cannot use the kubeconfig: {}", redacted(.0))]
    Kubeconfig(#[from] KubeconfigError),
    /// There is neither a kubeconfig nor a pod's ServiceAccount.
    #[error("found no cluster: {}; give --kubeconfig, or set KUBECONFIG", no_cluster(.0))]
    NoCluster(#[from] kube::config::InferConfigError),
    /// The configuration makes no client, for example because a certificate is broken.
    #[error("cannot make a client: {}", redacted(.0))]
    Client(#[from] kube::Error),
}

/// Describes why no cluster was found. If the kubeconfig does not exist, kube's message about the
/// missing ServiceAccount would only confuse: most users do not run in a pod.
fn no_cluster(error: &kube::config::InferConfigError) -> String {
    let kubeconfig = std::error::Error::source(error);
    match kubeconfig.and_then(|source| source.downcast_ref()) {
        Some(KubeconfigError::ReadConfig(why, path)) if why.kind() == io::ErrorKind::NotFound => {
            format!(
                "the kubeconfig {} does not exist, and this is not a pod",
                path.display()
            )
        }
        _ => redacted(error),
    }
}

/// Makes a client for the cluster, and returns the server's address. The client's default namespace is
/// that of the context. The server need not be reachable yet.
///
/// # Errors
/// If the configuration is missing or invalid.
pub async fn connect(connection: &Connection) -> Result<(Client, Uri), ConnectError> {
    connect_with(connection, |_| {}).await
}

/// Like [`connect`], but never interactive: a credential program gets no input, and its output is not
/// shown.
///
/// # Errors
/// See [`connect`].
pub async fn connect_silently(connection: &Connection) -> Result<(Client, Uri), ConnectError> {
    let silence = |config: &mut Config| {
        if let Some(program) = &mut config.auth_info.exec {
            program.interactive_mode = Some(ExecInteractiveMode::Never);
        }
    };
    connect_with(connection, silence).await
}

/// Like [`connect`], but without the kubeconfig's impersonation, for a client that
/// [impersonates](crate::connect::acting_as) a user in each request.
///
/// # Errors
/// See [`connect`].
pub async fn connect_as_itself(connection: &Connection) -> Result<(Client, Uri), ConnectError> {
    let itself = |config: &mut Config| {
        config.auth_info.impersonate = None;
        config.auth_info.impersonate_groups = None;
    };
    connect_with(connection, itself).await
}

impl Connection {
    /// The names of all contexts in the kubeconfig.
    ///
    /// # Errors
    /// If there is no kubeconfig, or it is invalid.
    pub fn contexts(&self) -> Result<Vec<String>, ConnectError> {
        Ok(self
            .read_kubeconfig()?
            .contexts
            .into_iter()
            .map(|context| context.name)
            .collect())
    }

    /// The name of the context in use; `None` without a kubeconfig.
    pub fn context_name(&self) -> Option<String> {
        let current = || self.read_kubeconfig().ok()?.current_context;
        self.context.clone().or_else(current)
    }

    fn read_kubeconfig(&self) -> Result<Kubeconfig, KubeconfigError> {
        match &self.kubeconfig {
            Some(path) => Kubeconfig::read_from(path),
            None => Kubeconfig::read(),
        }
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

/// Reads the configuration from the files as they are now.
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
    // kube would retry a 429, 503 or 504 up to 15 times inside one call, invisibly to its caller.
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
