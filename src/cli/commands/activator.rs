//! `dayshift activator`: the stand-in for Services of stopped workloads.

use std::sync::Arc;

use dayshift_activator::Telemetry;
use dayshift_cluster::{clock::Clock, connect::connect};
use tokio::net::TcpListener;

use crate::{
    cli::{
        args::{
            activator_args::{Activation, ActivatorArgs},
            connection::without_credentials,
        },
        exit::Exit,
        signals::{Shutdown, StartError, until_signal},
    },
    server::serve,
};

impl ActivatorArgs {
    pub(crate) fn run(self) -> Exit {
        self.log.start();
        until_signal(|shutdown| Activation::from(self).work(shutdown), || ())
    }
}

impl Activation {
    async fn work(self, shutdown: Shutdown) -> Result<(), StartError> {
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
        let shown = Arc::clone(&telemetry);
        let work = dayshift_activator::run(client, Clock::system(), settings, telemetry, shutdown);
        // The probes are answered until the work has ended.
        serve(listener, shown, work).await;
        Ok(())
    }
}
