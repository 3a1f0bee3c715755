//! One connection, and how long it may take.

use std::{convert::Infallible, pin::pin, time::Duration};

use http::Response;
use http_body_util::Full;
use hyper::{
    Request,
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::timeout,
};

/// The longest wait for a request's head, from when the connection is free for it: so also the
/// longest idle time.
const HEAD: Duration = Duration::from_secs(10);
/// The longest life of a connection, however busy; then it may finish one answer.
const MAX_AGE: Duration = Duration::from_secs(300);
const LAST_ANSWER: Duration = Duration::from_secs(5);
/// The most bytes of a request that are held.
const BUFFER: usize = 16 * 1024;

/// Answers the requests of one connection until the peer leaves or its time is up.
pub(super) async fn serve_connection<F>(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    handler: impl Fn(Request<Incoming>) -> F,
) where
    F: Future<Output = Response<Full<Bytes>>>,
{
    let service = service_fn(|request: Request<Incoming>| {
        let answer = handler(request);
        async { Ok::<_, Infallible>(answer.await) }
    });
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .max_buf_size(BUFFER)
            .serve_connection(TokioIo::new(stream), service)
    );
    if timeout(MAX_AGE, connection.as_mut()).await.is_err() {
        connection.as_mut().graceful_shutdown();
        let _ = timeout(LAST_ANSWER, connection).await;
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        pin::Pin,
        sync::{Arc, Mutex},
        task::{Context, Poll, ready},
    };

    use tokio::{
        io::ReadBuf,
        time::{Instant, Interval, interval},
    };

    use super::*;
    use dayshift_controller::Telemetry;

    use crate::server::routes::probes;

    /// Says the same thing over and over, at once and then so often.
    struct Peer {
        says: &'static str,
        again: Interval,
        listens: bool,
        heard: Arc<Mutex<String>>,
    }

    impl AsyncRead for Peer {
        fn poll_read(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            if !self.says.is_empty() {
                ready!(self.again.poll_tick(cx));
                let fits = self.says.len().min(buffer.remaining());
                buffer.put_slice(&self.says.as_bytes()[..fits]);
                return Poll::Ready(Ok(()));
            }
            Poll::Pending
        }
    }

    impl AsyncWrite for Peer {
        fn poll_write(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            if !self.listens {
                return Poll::Pending;
            }
            self.heard
                .lock()
                .unwrap()
                .push_str(str::from_utf8(bytes).unwrap());
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    /// How long the connection lasted, and what the peer heard.
    async fn meet(says: &'static str, again_ms: u64, listens: bool) -> (Duration, String) {
        let heard = Arc::default();
        let again = interval(Duration::from_millis(again_ms));
        let peer = Peer {
            says,
            again,
            listens,
            heard: Arc::clone(&heard),
        };
        let telemetry = Arc::new(Telemetry::new("2026-11-20T10:00:00Z".parse().unwrap()));
        let begun = Instant::now();
        serve_connection(peer, probes(telemetry)).await;
        let heard = heard.lock().unwrap().clone();
        (begun.elapsed(), heard)
    }

    #[tokio::test(start_paused = true)]
    async fn who_says_nothing_is_shown_out() {
        assert_eq!(meet("", 1, true).await.0, HEAD);
    }

    #[tokio::test(start_paused = true)]
    async fn who_spells_a_head_out_gains_no_time() {
        assert_eq!(meet("GET", 1000, true).await.0, HEAD);
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_without_end_is_refused() {
        let (lasted, heard) = meet("GET", 1, true).await;
        assert!(heard.starts_with("HTTP/1.1 431 "), "{heard}");
        assert!(lasted < HEAD, "{lasted:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn who_does_not_read_the_answer_is_shown_out() {
        let (lasted, _) = meet("GET /healthz HTTP/1.1\r\n\r\n", 1000, false).await;
        assert_eq!(lasted, MAX_AGE + LAST_ANSWER);
    }

    #[tokio::test(start_paused = true)]
    async fn who_asks_again_and_again_is_answered_until_the_life_is_over() {
        let (lasted, heard) = meet("GET /healthz HTTP/1.1\r\n\r\n", 7000, true).await;
        assert_eq!(heard.matches("HTTP/1.1 200 OK").count(), 43);
        assert_eq!(lasted, MAX_AGE);
    }
}
