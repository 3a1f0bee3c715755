//! The server decides when to retry, up to a limit.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use chrono::TimeDelta;
use dayshift_controller::Settings;
use http::{Method, Request, Response};
use kube::{Client, client::Body};
use kube_in_memory::Api;
use tower::{BoxError, service_fn};

use crate::sandbox::{Sandbox, deployment};

/// The maximum effect of `Retry-After`, plus some seconds for the backoff after it.
const BOUND: TimeDelta = TimeDelta::seconds(66);

/// The lateness of the stop of `web` if the first patch gets this response.
fn answered(code: u16, retry_after: &'static str) -> TimeDelta {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    let before = |api: &Api| {
        let (api, closed) = (api.clone(), Arc::new(AtomicBool::new(true)));
        let inner = api.client_as("scaler");
        let service = service_fn(move |request: Request<Body>| {
            let (api, inner, closed) = (api.clone(), inner.clone(), Arc::clone(&closed));
            async move {
                let adopted = api.get("Deployment", "dev", "web");
                let adopted = adopted
                    .is_some_and(|web| !web["metadata"]["labels"]["dayshift/state"].is_null());
                let is_patch = request.method() == Method::PATCH;
                if is_patch && adopted && closed.swap(false, Ordering::Relaxed) {
                    let page = Body::from(b"closed for maintenance".to_vec());
                    let answer = Response::builder().status(code);
                    return Ok(answer.header("retry-after", retry_after).body(page)?);
                }
                Ok::<_, BoxError>(inner.send(request).await?)
            }
        });
        Client::new(service, "default")
    };
    scenario.start_controller_with(before, Settings::default());
    scenario.apply(deployment("web").replicas(3).stop("19:00"));
    scenario.sleep_until("19:00");
    let stop = scenario.utc("2026-11-20 19:00");
    // At most two hours.
    for _ in 0..7200 {
        if scenario.replicas("web") == 0 {
            break;
        }
        scenario.pass(Duration::from_secs(1));
    }
    let made = scenario.patched("web");
    made.get(1).map_or(TimeDelta::MAX, |made| *made - stop)
}

#[test]
fn honors_retry_after_for_at_most_a_minute() {
    for code in [429, 503] {
        for retry_after in [
            "61",
            "3600",
            "4294967296",
            "9000000000000",
            "18446744073709551615",
            "99999999999999999999999",
        ] {
            let late = answered(code, retry_after);
            assert!(late <= BOUND, "{code}, {retry_after}: {late}");
        }
    }
}

#[test]
fn honors_retry_after_of_a_response() {
    for (retry_after, seconds) in [("1", 1), ("7", 7), ("59", 59)] {
        let late = answered(429, retry_after);
        assert!(late >= TimeDelta::seconds(seconds), "{retry_after}: {late}");
        assert!(
            late <= TimeDelta::seconds(seconds + 6),
            "{retry_after}: {late}"
        );
    }
}

#[test]
fn ignores_a_retry_after_that_is_no_number_of_seconds() {
    for retry_after in ["", "soon", "-1", "1.5", "Fri, 20 Nov 2026 23:00:00 GMT"] {
        let late = answered(429, retry_after);
        assert!(late <= TimeDelta::seconds(6), "{retry_after}: {late}");
    }
}
