//! `dayshift run`: the scaler itself.

use std::{net::SocketAddr, sync::Arc};

use dayshift_cluster::{
    clock::Clock,
    connect::{compact, connect},
};
use dayshift_controller::Telemetry;
use dayshift_schedule::Tzdata;
use http::Uri;
use tokio::{net::TcpListener, sync::oneshot};

use super::run_dashboard;
use crate::{
    cli::{
        args::{
            connection::without_credentials,
            run_args::{Run, RunArgs},
        },
        calendar_watch::CalendarWatch,
        exit::{Exit, wrong_usage},
        signals::{Shutdown, StartError, until_signal},
    },
    server,
};

impl RunArgs {
    pub(crate) fn run(self, about_zones: Option<&str>, about_kinds: &[String]) -> Exit {
        self.log.start();
        if let Some(about) = about_zones {
            tracing::warn!("{about}");
        }
        for about in about_kinds {
            tracing::error!("{about}; nothing of this kind is scaled");
        }
        let run = match Run::try_from(self) {
            Ok(run) => run,
            Err(error) => return wrong_usage(&error),
        };
        let telemetry = Arc::new(Telemetry::new(Clock::system().now()));
        let ending = Arc::clone(&telemetry);
        until_signal(
            |shutdown| run.work(telemetry, shutdown),
            || ending.shutting_down(),
        )
    }
}

impl Run {
    /// The controller, and beside it, for as long as it works, the probes and metrics.
    async fn work(self, telemetry: Arc<Telemetry>, shutdown: Shutdown) -> Result<(), StartError> {
        let listener =
            TcpListener::bind(self.listen)
                .await
                .map_err(|source| StartError::Listen {
                    address: self.listen,
                    source,
                })?;
        if let Some(address) = self.dashboard {
            let refused = |source| StartError::Dashboard { address, source };
            let login = self.login.clone().map(|it| (it, self.connection.clone()));
            run_dashboard::serve(address, login, &telemetry, &self.settings).map_err(refused)?;
        }
        let (client, server) = connect(&self.connection).await?;
        self.announce(listener.local_addr()?, &server);
        let (files, publisher) = self.calendars;
        let clock = Clock::system();
        let controller = dayshift_controller::run(
            compact(client),
            clock.clone(),
            self.settings,
            telemetry.clone(),
            shutdown,
        );
        let watch = CalendarWatch::new(files);
        let calendars = watch.run(&clock, &publisher, &telemetry);
        let controller = async {
            tokio::select! {
                () = controller => {}
                () = calendars => {}
            }
        };
        let (end, ended) = oneshot::channel::<()>();
        let probes = server::serve(listener, telemetry.clone(), async { drop(ended.await) });
        tokio::join!(probes, async {
            controller.await;
            drop(end);
        });
        Ok(())
    }

    fn announce(&self, listen: SocketAddr, server: &Uri) {
        let scope = &self.settings.scope;
        tracing::info!(
            tzdata = Tzdata::in_use().version(),
            zoneinfo = Tzdata::in_use().source(),
            timezone = self.settings.default_zone.name(),
            server = without_credentials(server),
            namespaces = if scope.namespaces.is_empty() {
                "all".to_owned()
            } else {
                scope.namespaces.join(",")
            },
            excluded = scope.excluded_namespaces.join(","),
            selector = scope.selector.as_deref().unwrap_or_default(),
            dry_run = self.settings.dry_run,
            %listen,
            "dayshift {} begins",
            env!("CARGO_PKG_VERSION"),
        );
    }
}
