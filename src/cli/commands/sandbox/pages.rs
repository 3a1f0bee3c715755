//! The pages of a sandbox.

use std::{
    io::{self, Write as _},
    sync::Arc,
};

use tokio::net::TcpListener;

use crate::{
    cli::commands::dashboard::{announce, serve_pages},
    dashboard::Dashboard,
    sandbox::{Played, TimelineEvent},
};

/// Serves the pages of a sandbox while time goes on as real time does, until `stop`.
pub(super) async fn serve_played(
    played: &mut Played,
    listener: TcpListener,
    dashboard: Dashboard,
    tell: impl FnMut(&TimelineEvent) -> io::Result<()>,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let address = listener.local_addr()?;
    let counted = dashboard.counted_by(played.telemetry());
    let dashboard = Arc::new(counted.for_one_user(address.port())?);
    writeln!(
        io::stdout(),
        "\nFrom here on, time goes on as real time does. Press Ctrl-C to end."
    )?;
    announce(&dashboard.url(address))?;
    tokio::select! {
        ended = played.go_on(tell, stop) => ended,
        // A cluster in memory lets itself be watched.
        _ = serve_pages(listener, &dashboard) => Ok(()),
    }
}
