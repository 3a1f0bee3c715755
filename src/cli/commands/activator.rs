//! `dayshift activator`: the stand-in for Services of stopped workloads.

use std::{io, net::SocketAddr, pin::pin, sync::Arc};

use tokio::{net::TcpListener, sync::oneshot};

use crate::{
    activator::{self, Telemetry},
    cli::{
        args::{
            activator_args::{Activation, ActivatorArgs},
            connection::without_credentials,
        },
        exit::Exit,
        runtime::block_on,
        signals::Signals,
    },
    clock::Clock,
    cluster::{ConnectError, connect},
    server::serve_with,
};

#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error("cannot listen on {address}: {source}; give another --listen, such as 0.0.0.0:0")]
    Listen {
        address: SocketAddr,
        source: io::Error,
    },
    #[error("cannot create signals, timers or sockets: {0}")]
    System(#[from] io::Error),
}

impl ActivatorArgs {
    pub(crate) fn run(self) -> Exit {
        self.log.start();
        let ended = block_on(Activation::from(self).until_signal());
        ended
            .unwrap_or_else(|error| Err(error.into()))
            .unwrap_or_else(|error| {
                tracing::error!("{error}");
                Exit::CouldNotRun
            })
    }
}

impl Activation {
    async fn until_signal(self) -> Result<Exit, StartError> {
        let mut signals = Signals::listen()?;
        let (end, ended) = oneshot::channel::<()>();
        let mut work = pin!(self.work(async { drop(ended.await) }));
        let first = tokio::select! {
            ended = &mut work => return ended.map(|()| Exit::Done),
            signal = signals.next() => signal,
        };
        tracing::info!("{} received", first.name());
        drop(end);
        tokio::select! {
            ended = work => ended.map(|()| Exit::Done),
            again = signals.next() => {
                tracing::warn!("{} received again, ending at once", again.name());
                Ok(again.exit())
            }
        }
    }

    async fn work(self, shutdown: impl Future<Output = ()>) -> Result<(), StartError> {
        let listen = |source| StartError::Listen {
            address: self.listen,
            source,
        };
        let listener = TcpListener::bind(self.listen).await.map_err(listen)?;
        let (client, server) = connect(&self.connection).await?;
        let settings = self.settings;
        tracing::info!(
            server = without_credentials(&server),
            service = %settings.service,
            namespaces = if settings.namespaces.is_empty() {
                "all".to_owned()
            } else {
                settings.namespaces.join(",")
            },
            listen = %listener.local_addr()?,
            "dayshift activator {} begins",
            env!("CARGO_PKG_VERSION"),
        );
        let telemetry = Arc::<Telemetry>::default();
        let probes = {
            let telemetry = Arc::clone(&telemetry);
            move |request: hyper::Request<hyper::body::Incoming>| {
                let answer = telemetry.answer(request.method(), request.uri().path());
                async { answer }
            }
        };
        let work = activator::run(client, Clock::system(), settings, telemetry, shutdown);
        let mut work = pin!(work);
        // The probes are answered until the work has ended.
        serve_with(listener, probes, &mut work).await;
        Ok(())
    }
}
