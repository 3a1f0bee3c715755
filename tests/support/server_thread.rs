//! A server on a separate thread.

use std::{net::SocketAddr, sync::mpsc, thread};

use tokio::{net::TcpListener, runtime, sync::oneshot};

/// Dropping it ends the server and its connections.
pub(crate) struct ServerThread {
    pub(crate) address: SocketAddr,
    _end: oneshot::Sender<()>,
}

impl ServerThread {
    /// Runs `serve` with a free port of 127.0.0.1 on a runtime of its own.
    pub(crate) fn start<F: Future<Output = ()>>(
        serve: impl FnOnce(TcpListener) -> F + Send + 'static,
    ) -> Self {
        let (end, ended) = oneshot::channel();
        let (bound, address) = mpsc::channel();
        thread::spawn(move || {
            let runtime = runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                bound.send(listener.local_addr().unwrap()).unwrap();
                tokio::select! {
                    () = serve(listener) => {}
                    _ = ended => {}
                }
            });
        });
        Self {
            address: address.recv().unwrap(),
            _end: end,
        }
    }
}
