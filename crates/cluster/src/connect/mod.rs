//! Connecting to a cluster. This file chooses the cluster and the credentials from flags, the
//! kubeconfig and the environment. The other files open connections and wrap the client.

pub(crate) mod compact;
mod large_bodies;
pub(crate) mod middleware;
pub(crate) mod redact;
mod transport;

pub use self::{
    compact::compact,
    middleware::{Exchange, acting_as, instrument, server_time, with_retry_after},
    redact::redacted_chain,
};

use std::{io, path::PathBuf};

use dayshift_text::{nearest, quote};
use futures::FutureExt as _;
use http::{HeaderValue, Uri, header::USER_AGENT};
use kube::{
    Client, Config,
    client::AuthError,
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
    /// Whether to bound the memory of responses that arrive at the same time, which makes large ones slower if
    /// the server is far away.
    pub bounds_memory: bool,
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
    /// The kubeconfig has no such context, but a similar one.
    #[error("{error}; did you mean {}?", quote(.similar))]
    SimilarContext {
        /// The error about the missing context.
        error: Box<ConnectError>,
        /// The name of the similar context.
        similar: String,
    },
    /// The credential program of the kubeconfig is not installed.
    #[error(
        "cannot make a client: the credential program {} of the kubeconfig is not installed, or not in PATH",
        quote(.0)
    )]
    MissingProgram(String),
}

impl ConnectError {
    /// Adds the similar context, if a missing context is the error.
    fn with_similar_context(self, connection: &Connection) -> Self {
        let Self::Kubeconfig(KubeconfigError::LoadContext(name)) = &self else {
            return self;
        };
        let contexts = connection.contexts().unwrap_or_default();
        match nearest(name, contexts.iter().map(String::as_str)) {
            Some(similar) => Self::SimilarContext {
                similar: similar.to_owned(),
                error: Box::new(self),
            },
            None => self,
        }
    }

    /// The error of a configuration whose credential program is `program`.
    fn from_client(error: kube::Error, program: Option<String>) -> Self {
        match (&error, program) {
            (kube::Error::Auth(AuthError::AuthExecStart(why)), Some(program))
                if why.kind() == io::ErrorKind::NotFound =>
            {
                Self::MissingProgram(program)
            }
            _ => Self::Client(error),
        }
    }
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
    let non_interactive = |config: &mut Config| {
        if let Some(program) = &mut config.auth_info.exec {
            program.interactive_mode = Some(ExecInteractiveMode::Never);
        }
    };
    connect_with(connection, non_interactive).await
}

/// Like [`connect`], but without the kubeconfig's impersonation, for a client that
/// [impersonates](crate::connect::acting_as) a user in each request.
///
/// # Errors
/// See [`connect`].
pub async fn connect_as_itself(connection: &Connection) -> Result<(Client, Uri), ConnectError> {
    let without_impersonation = |config: &mut Config| {
        config.auth_info.impersonate = None;
        config.auth_info.impersonate_groups = None;
    };
    connect_with(connection, without_impersonation).await
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
    let config = configuration(connection, adapt.clone())
        .await
        .map_err(|error| error.with_similar_context(connection))?;
    let server = config.cluster_url.clone();
    let program = config.auth_info.exec.as_ref();
    let program = program.and_then(|program| program.command.clone());
    let bounds_memory = connection.bounds_memory;
    let connection = connection.clone();
    let reload: Reload = Box::new(move || {
        let (connection, adapt) = (connection.clone(), adapt.clone());
        async move { configuration(&connection, adapt).await.ok() }.boxed()
    });
    let client = client(config, bounds_memory, reload);
    let client = client.map_err(|error| ConnectError::from_client(error, program))?;
    Ok((client, server))
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
