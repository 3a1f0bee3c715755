//! What is answered to which request.

use std::sync::Arc;

use futures::{FutureExt as _, future::BoxFuture};
use http::{
    HeaderValue, Method, Response, StatusCode,
    header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE},
};
use http_body_util::Full;
use hyper::{
    Request,
    body::{Bytes, Incoming},
};
use tokio::{sync::Mutex, task::spawn_blocking};

use super::probes::Probes;

const PLAIN: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
/// <https://github.com/prometheus/OpenMetrics/blob/v1.0.0/specification/OpenMetrics.md>
const OPEN_METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

const METRICS: &str = "/metrics";

/// The answer to a request. (The body of an answer to HEAD is left out by hyper.)
pub(super) fn answer<P: Probes>(method: &Method, path: &str, of: &P) -> Response<Full<Bytes>> {
    let answers: fn(&P) -> Response<Full<Bytes>> = match path {
        "/healthz" => |of| probe(of.alive().map(|()| "ok\n".to_owned())),
        "/readyz" => |of| probe(of.ready()),
        METRICS => |of| response(StatusCode::OK, OPEN_METRICS, of.metrics()),
        _ => {
            let text = "not found; try /healthz, /readyz or /metrics\n";
            return plain(StatusCode::NOT_FOUND, text);
        }
    };
    if matches!(*method, Method::GET | Method::HEAD) {
        return answers(of);
    }
    let mut refusal = plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n");
    refusal
        .headers_mut()
        .insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    refusal
}

/// What answers probes and metrics. Counting very many objects takes longer than a boundary may wait,
/// so metrics are written on another thread, one scrape at a time.
pub(super) fn probes<P: Probes>(
    of: Arc<P>,
) -> impl Fn(Request<Incoming>) -> BoxFuture<'static, Response<Full<Bytes>>> + Clone {
    let scraping = Arc::new(Mutex::new(()));
    move |request| {
        let (of, scraping) = (Arc::clone(&of), Arc::clone(&scraping));
        let (head, _) = request.into_parts();
        async move {
            if head.uri.path() != METRICS {
                return answer(&head.method, head.uri.path(), &*of);
            }
            let _turn = scraping.lock().await;
            let scrape = move || answer(&head.method, METRICS, &*of);
            let failure = |_| plain(StatusCode::INTERNAL_SERVER_ERROR, "no metrics\n");
            spawn_blocking(scrape).await.unwrap_or_else(failure)
        }
        .boxed()
    }
}

fn probe(said: Result<String, String>) -> Response<Full<Bytes>> {
    match said {
        Ok(text) => plain(StatusCode::OK, text),
        Err(text) => plain(StatusCode::SERVICE_UNAVAILABLE, text),
    }
}

fn plain(status: StatusCode, text: impl Into<Bytes>) -> Response<Full<Bytes>> {
    response(status, PLAIN, text)
}

fn response(
    status: StatusCode,
    content_type: HeaderValue,
    body: impl Into<Bytes>,
) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http_body_util::BodyExt;
    use tokio::time::Instant;

    use super::*;
    use dayshift_controller::{Condition, Telemetry};

    fn telemetry() -> Telemetry {
        Telemetry::new("2026-11-20T10:00:00Z".parse().unwrap())
    }

    #[test]
    fn answers_to_get_and_head_on_three_paths_alone() {
        for (method, path, expected) in [
            (Method::GET, "/healthz", 200),
            (Method::HEAD, "/healthz", 200),
            (Method::GET, "/readyz", 503),
            (Method::GET, "/metrics", 200),
            (Method::POST, "/metrics", 405),
            (Method::OPTIONS, "/healthz", 405),
            (Method::PUT, "/readyz", 405),
            (Method::DELETE, "/metrics", 405),
            (Method::PATCH, "/metrics", 405),
            (Method::TRACE, "/healthz", 405),
            (Method::CONNECT, "/healthz", 405),
            (Method::GET, "/metrics/../debug", 404),
            (Method::GET, "//metrics", 404),
            (Method::GET, "/METRICS", 404),
            (Method::GET, "/debug/pprof", 404),
            (Method::GET, "*", 404),
            (Method::GET, "/", 404),
            (Method::GET, "/healthz/", 404),
            (Method::POST, "/elsewhere", 404),
        ] {
            let answer = answer(&method, path, &telemetry());
            assert_eq!(answer.status(), expected, "{method} {path}");
            assert_eq!(
                answer.headers().contains_key(ALLOW),
                expected == 405,
                "{method} {path}"
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_controller_that_does_nothing_for_a_minute_is_not_alive() {
        let telemetry = telemetry();
        let status = || answer(&Method::GET, "/healthz", &telemetry).status();
        tokio::time::advance(Duration::from_secs(3600)).await;
        assert_eq!(status(), 200, "none has begun");
        for (silence, expected) in [(0, 200), (59, 200), (61, 503), (1, 200)] {
            telemetry.acted(Instant::now());
            tokio::time::advance(Duration::from_secs(silence)).await;
            assert_eq!(status(), expected, "{silence} s");
        }
    }

    #[tokio::test]
    async fn says_why_it_is_not_ready() {
        let telemetry = telemetry();
        telemetry.set(Condition::Reachable, true);
        telemetry.set(Condition::Watching, true);
        let body = answer(&Method::GET, "/readyz", &telemetry)
            .into_body()
            .collect()
            .await;
        assert_eq!(
            body.unwrap().to_bytes(),
            "not ready: the workloads have not been listed yet\n"
        );
        telemetry.set(Condition::Listed, true);
        assert_eq!(answer(&Method::GET, "/readyz", &telemetry).status(), 200);
    }

    #[tokio::test]
    async fn says_what_is_not_watched_though_it_is_ready() {
        let telemetry = telemetry();
        let missing = "cannot watch statefulsets.apps: forbidden";
        telemetry.set_unwatched(vec![missing.to_owned()]);
        telemetry.set(Condition::Reachable, true);
        telemetry.set(Condition::Watching, true);
        for (listed, expected) in [
            (
                false,
                "not ready: the workloads have not been listed yet\ncannot watch statefulsets.apps: forbidden\n",
            ),
            (true, "ok\ncannot watch statefulsets.apps: forbidden\n"),
        ] {
            telemetry.set(Condition::Listed, listed);
            let answer = answer(&Method::GET, "/readyz", &telemetry);
            assert_eq!(answer.status().is_success(), listed);
            let body = answer.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(body, expected);
        }
    }
}
