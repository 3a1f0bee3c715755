//! An intermediary between the controller and the server that answers requests itself or corrupts
//! responses.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use chrono::TimeDelta;
use dayshift_controller::{Scope, Settings};
use dayshift_workload::{Kind, KindTable};
use http::{Method, Request, Response};
use kube::{Client, client::Body};
use kube_in_memory::{Fault, RequestLine, Status};
use serde_json::{Value, json};
use tower::{BoxError, service_fn};

use super::isolation::{answered, healthy};
use crate::sandbox::{Sandbox, default_with, deployment};

/// How the intermediary handles a request.
enum Fate {
    Passes,
    /// Forwards the request and drops the body of the response.
    LosesItsBody,
    /// Answers with this code and body, and does not forward the request.
    IsAnswered(u16, String),
}

/// An empty cluster at 18:00 with a controller behind such an intermediary.
fn behind(
    settings: Settings,
    fate: impl Fn(&Request<Body>) -> Fate + Clone + Send + Sync + 'static,
) -> Sandbox {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    scenario.start_controller_with(
        |api| {
            let server = api.client_as("scaler");
            let service = service_fn(move |request: Request<Body>| {
                let (server, fate) = (server.clone(), fate(&request));
                async move {
                    if let Fate::IsAnswered(code, text) = fate {
                        let answer = Response::builder().status(code);
                        return Ok::<_, BoxError>(answer.body(Body::from(text.into_bytes()))?);
                    }
                    let answer = server.send(request).await?;
                    Ok(match fate {
                        Fate::LosesItsBody => answer.map(|_| Body::empty()),
                        _ => answer,
                    })
                }
            });
            Client::new(service, "default")
        },
        settings,
    );
    scenario
}

fn is_patch_of(request: &Request<Body>, name: &str) -> bool {
    let last = request.uri().path().rsplit('/').next();
    request.method() == Method::PATCH && last.is_some_and(|it| it.starts_with(name))
}

/// Healthy Deployments in the namespace that stop some seconds after 19:00.
fn with_healthy(scenario: &Sandbox) {
    scenario.api.namespace("prod");
    for second in [3, 12, 40] {
        scenario.apply(healthy("prod", second));
    }
}

fn assert_healthy_is_punctual(scenario: &Sandbox) {
    for second in [3, 12, 40] {
        let at = answered(scenario, "prod", &format!("healthy-{second}")).unwrap();
        let due = scenario.utc("2026-11-20 19:00") + TimeDelta::seconds(second.into());
        assert_eq!(at - due, TimeDelta::zero(), "healthy-{second}");
    }
}

/// The watch confirms the patches, and the next boundary is carried out.
#[test]
fn patches_with_empty_responses_are_sent_and_reported_once() {
    for count in [1, 40] {
        let scenario = behind(Settings::default(), |request| {
            match is_patch_of(request, "bad") {
                true => Fate::LosesItsBody,
                false => Fate::Passes,
            }
        });
        let name = |number: usize| (["dev", "qa"][number % 2], format!("bad-{number}"));
        scenario.api.namespace("qa");
        for number in 0..count {
            let (namespace, name) = name(number);
            scenario.apply(
                deployment(&name)
                    .namespace(namespace)
                    .replicas(3)
                    .stop("19:00"),
            );
        }
        with_healthy(&scenario);
        scenario.sleep_until("18:59");
        scenario.api.forget_requests();
        scenario.sleep_until("19:05");
        assert_healthy_is_punctual(&scenario);
        for number in 0..count {
            let (namespace, name) = name(number);
            assert_eq!(scenario.api.replicas(namespace, &name), Some(0), "{name}");
            assert_eq!(scenario.patched(&name).len(), 1, "{name}");
            assert_eq!(scenario.events(&name), ["Stopped"], "{name}");
        }
        let all = count + 3;
        let done =
            format!("dayshift_transitions_total{{action=\"stop\",outcome=\"done\"}} {all}\n");
        assert!(scenario.metrics().contains(&done), "{}", scenario.metrics());
    }
}

/// The watch confirms the first patch only after its retry was scheduled.
#[test]
fn late_confirmation_does_not_delay_the_next_patch() {
    let scenario = behind(Settings::default(), |request| {
        match is_patch_of(request, "web") {
            true => Fate::LosesItsBody,
            false => Fate::Passes,
        }
    });
    let web = deployment("web").replicas(3).hours("09:00-19:00");
    scenario.apply(web.annotation("dayshift/enforce", "true"));
    scenario.sleep_until("18:59:59");
    scenario.pass(Duration::from_millis(900));
    scenario.api.on_request(|line| {
        let late = Fault::Delay(Duration::from_millis(200));
        (line.verb == "watch").then_some(late)
    });
    scenario.api.close_watches();
    scenario.api.compact();
    scenario.pass(Duration::from_millis(400));
    assert_eq!(
        (scenario.replicas("web"), scenario.patched("web").len()),
        (0, 2)
    );
    scenario.api.clear_fault();
    scenario.scale("web", 5);
    scenario.pass(Duration::from_millis(50));
    assert_eq!(
        scenario.replicas("web"),
        0,
        "enforce reverts the manual change at once"
    );
}

/// For example, from a cache. The watch would not show the new object again if its entry were removed.
#[test]
fn response_about_an_earlier_uid_removes_no_object() {
    let kept = Arc::<Mutex<Option<Value>>>::default();
    let cache = kept.clone();
    let scenario = behind(Settings::default(), move |request| {
        let is_read =
            request.method() == Method::GET && request.uri().path().ends_with("/deployments/web");
        let kept = cache.lock().unwrap().take_if(|_| is_read);
        kept.map_or(Fate::Passes, |it| Fate::IsAnswered(200, it.to_string()))
    });
    let web = || deployment("web").replicas(3).stop("19:00");
    scenario.apply(web());
    let earlier = scenario.object("web");
    scenario.api.delete("dev", "web").unwrap();
    scenario.settle();
    scenario.apply(web());
    assert_ne!(
        scenario.object("web")["metadata"]["uid"],
        earlier["metadata"]["uid"]
    );
    scenario.sleep_until("18:59");
    *kept.lock().unwrap() = Some(earlier);
    let conflict = Status::new(422, "Invalid", "the server rejected our request");
    let patch = |line: &RequestLine| line.verb == "patch" && line.name == "web";
    scenario.api.fail_next(patch, Fault::Answer(conflict));
    scenario.sleep_until("19:05");
    assert!(
        kept.lock().unwrap().is_none(),
        "the cached response was requested"
    );
    assert_eq!(scenario.replicas("web"), 0);
}

/// For example, to the login page of a proxy whose session expired: this is no denial of one object.
#[test]
fn treats_a_redirect_as_an_unavailable_server() {
    let is_astray = Arc::new(AtomicBool::new(false));
    let astray = is_astray.clone();
    let scenario = behind(Settings::default(), move |request| {
        let goes = astray.load(Ordering::Relaxed) && request.method() != Method::GET;
        match goes {
            true => Fate::IsAnswered(302, "<a href=\"/login\">Found</a>".to_owned()),
            false => Fate::Passes,
        }
    });
    for number in 0..20 {
        scenario.apply(
            deployment(&format!("web-{number}"))
                .replicas(3)
                .stop("19:00"),
        );
    }
    scenario.sleep_until("18:59");
    is_astray.store(true, Ordering::Relaxed);
    scenario.sleep_until("19:05");
    assert!(scenario.telemetry.ready().is_err());
    is_astray.store(false, Ordering::Relaxed);
    scenario.sleep_until("19:05:06");
    assert_eq!(scenario.telemetry.ready(), Ok(()));
    for number in 0..20 {
        let name = format!("web-{number}");
        assert_eq!(scenario.replicas(&name), 0, "{name}");
        assert_eq!(scenario.events(&name), ["Stopped"], "{name}");
    }
}

/// Its own server (an aggregated API) or its conversion webhook is unavailable, and the API server
/// reports that.
#[test]
fn unavailable_server_of_one_kind_delays_no_other_kind() {
    let aggregated = (503, "service unavailable\n".to_owned());
    let unreachable =
        "error trying to reach service: dial tcp 10.0.0.1:443: connect: connection refused";
    let conversion = json!({
        "kind": "Status", "status": "Failure", "code": 500, "reason": "InternalError",
        "message": "conversion webhook for wings.example.com/v1, Kind=Parafoil failed: Post \"https://w\": EOF",
    });
    for (code, text) in [
        aggregated,
        (503, unreachable.to_owned()),
        (500, conversion.to_string()),
    ] {
        let foils = KindTable::default().resource("parafoils", "wings.example.com");
        let scope = Scope {
            kinds: vec![foils, Kind::DEPLOYMENT],
            ..Scope::default()
        };
        let settings = default_with(|settings| settings.scope = scope);
        let (is_away, shown) = (Arc::new(AtomicBool::new(false)), text.clone());
        let away = is_away.clone();
        let scenario = behind(settings, move |request| {
            match away.load(Ordering::Relaxed) && is_patch_of(request, "foil") {
                true => Fate::IsAnswered(code, text.clone()),
                false => Fate::Passes,
            }
        });
        scenario
            .api
            .serve_custom("wings.example.com", "v1", "parafoils", "Parafoil");
        scenario.api.namespace("qa");
        for number in 0..40 {
            let mut foil = Value::from(
                deployment(&format!("foil-{number}"))
                    .replicas(3)
                    .stop("19:00"),
            );
            foil["apiVersion"] = json!("wings.example.com/v1");
            foil["kind"] = json!("Parafoil");
            foil["metadata"]["namespace"] = json!(["dev", "qa"][number % 2]);
            scenario.api.create(foil).unwrap();
        }
        with_healthy(&scenario);
        scenario.sleep_until("18:59");
        scenario.api.forget_requests();
        is_away.store(true, Ordering::Relaxed);
        scenario.sleep_until("19:02");
        assert_healthy_is_punctual(&scenario);
        assert_eq!(scenario.telemetry.ready(), Ok(()), "{shown}");
        assert_eq!(scenario.events("foil-0"), ["ScaleFailed"], "{shown}");
        is_away.store(false, Ordering::Relaxed);
        scenario.pass(Duration::from_secs(31));
        for number in 0..40 {
            let namespace = ["dev", "qa"][number % 2];
            let foil = scenario
                .api
                .get("Parafoil", namespace, &format!("foil-{number}"));
            assert_eq!(foil.unwrap()["spec"]["replicas"], 0, "{number} {shown}");
        }
    }
}
