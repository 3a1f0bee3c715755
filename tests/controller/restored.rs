//! etcd restored from a backup: the server continues from an older resourceVersion.

use std::time::Duration;

use dayshift_controller::Settings;
use http::Request;
use kube::{Client, client::Body};
use kube_in_memory::{Api, Fault, Status};
use tokio::time::sleep;
use tower::{BoxError, service_fn};

use crate::sandbox::{Sandbox, deployment};

/// 18:01 on a server that was restored from a backup a minute old. The writes after the backup are lost:
/// `web` itself, and a change of the hours that `plain` inherits.
fn restored() -> Sandbox {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours("09:00-19:00"));
    scenario.apply(deployment("plain").replicas(3));
    hours(&scenario, "09:00-20:00");
    let backup = scenario.api.revision();
    scenario.annotate("web", "hours", Some("10:00-19:00"));
    hours(&scenario, "09:00-21:00");
    for number in 0..40 {
        scenario.apply(deployment(&format!("other-{number}")).replicas(1));
    }
    scenario.pass(Duration::from_secs(60));
    scenario.api.restore(backup);
    scenario
}

fn hours(scenario: &Sandbox, text: &str) {
    let annotate = |name, text| scenario.api.annotate_of("Namespace", "", "dev", name, text);
    annotate("dayshift/hours", Some(text)).unwrap();
    scenario.settle();
}

/// A watch from a version that the server has not reached yet shows nothing until the next write.
#[test]
fn detects_a_resource_version_rollback_at_the_next_write() {
    let scenario = restored();
    hours(&scenario, "09:00-19:30");
    scenario.sleep_until("19:01");
    assert_eq!(scenario.replicas("web"), 0);
    scenario.sleep_until("19:31");
    assert_eq!(
        scenario.replicas("plain"),
        0,
        "its Namespace is observed again"
    );
    scenario.sleep_until("2026-11-22 20:00");
    let watches = scenario.requests("watch").into_iter();
    let lists = watches.filter(|line| line.query.contains("sendInitialEvents"));
    assert_eq!(
        lists.count(),
        2,
        "one initial list, and one after the rollback"
    );
}

fn lists(scenario: &Sandbox) -> usize {
    let watches = scenario.requests("watch").into_iter();
    let lists = watches.filter(|line| line.query.contains("sendInitialEvents"));
    lists.count()
}

/// The server ends the watches earlier than usual, which triggers a check.
#[test]
fn detects_a_resource_version_rollback_in_an_idle_cluster() {
    let scenario = restored();
    scenario.sleep_until("18:05");
    scenario.annotate("web", "hours", Some("09:00-18:30"));
    hours(&scenario, "09:00-18:40");
    scenario.sleep_until("18:31");
    assert_eq!(
        (scenario.replicas("web"), scenario.replicas("plain")),
        (0, 3)
    );
    scenario.sleep_until("18:41");
    assert_eq!((scenario.replicas("plain"), lists(&scenario)), (0, 2));
}

/// Bookmarks advance the resourceVersion of a watch with the writes of other objects, so it can be newer than
/// the last event of the watch.
#[test]
fn detects_a_rollback_without_a_write_since_the_backup() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours("09:00-19:00"));
    let backup = scenario.api.revision();
    for number in 0..40 {
        scenario.api.namespace(&format!("other-{number}"));
    }
    scenario.sleep_until("18:20");
    scenario.api.restore(backup);
    scenario.sleep_until("18:25");
    scenario.annotate("web", "hours", Some("09:00-18:30"));
    scenario.sleep_until("18:31");
    assert_eq!(scenario.replicas("web"), 0);
}

/// The server ends each watch after five minutes, and might be unavailable for longer.
#[test]
fn sends_no_version_query_if_a_watch_resumes_normally() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours("09:00-19:00"));
    scenario.sleep_until("18:58");
    let asked = || {
        scenario
            .api
            .requests()
            .iter()
            .filter(|it| it.verb == "list")
            .count()
    };
    assert_eq!((lists(&scenario), asked()), (1, 0));
    scenario.api.on_request(|_| Some(Fault::DropBefore));
    scenario.sleep_until("19:20");
    scenario.api.clear_fault();
    scenario.sleep_until("19:25");
    let once = asked();
    assert!((1..=3).contains(&once), "{once}");
    scenario.sleep_until("21:00");
    assert_eq!((lists(&scenario), asked()), (1, once));
}

/// If the watches list again for another reason, the list applies even with older versions.
#[test]
fn accepts_a_list_with_older_versions() {
    let scenario = restored();
    let gone = || Fault::Answer(Status::new(410, "Expired", "too old resource version"));
    scenario.api.on_request(move |line| {
        let goes_on = line.verb == "watch" && !line.query.contains("sendInitialEvents");
        goes_on.then(gone)
    });
    scenario.api.close_watches();
    scenario.pass(Duration::from_secs(10));
    scenario.api.clear_fault();
    scenario.pass(Duration::from_secs(30));
    hours(&scenario, "09:00-18:30");
    scenario.annotate("web", "hours", Some("09:00-18:40"));
    scenario.sleep_until("18:31");
    assert_eq!(
        (scenario.replicas("web"), scenario.replicas("plain")),
        (3, 0)
    );
    scenario.sleep_until("18:41");
    assert_eq!(scenario.replicas("web"), 0);
}

/// A client whose lists arrive three seconds late, and show the state at the time of the request.
fn with_late_lists(api: &Api) -> Client {
    let inner = api.client_as("scaler");
    let service = service_fn(move |request: Request<Body>| {
        let inner = inner.clone();
        async move {
            let uri = request.uri();
            let is_stream = uri
                .query()
                .is_some_and(|it| it.contains("sendInitialEvents"));
            let is_list = is_stream
                || uri.path().ends_with("/deployments")
                    && !uri.query().is_some_and(|it| it.contains("watch="));
            let answer = inner.send(request).await?;
            if is_list {
                sleep(Duration::from_secs(3)).await;
            }
            Ok::<_, BoxError>(answer)
        }
    });
    Client::new(service, "default")
}

/// A list that was requested before a stop was answered, and arrives after it.
#[test]
fn list_older_than_a_response_does_not_change_that_object() {
    for has_streams in [true, false] {
        let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
        if !has_streams {
            let no = || Fault::Answer(Status::new(422, "Invalid", "no streams"));
            scenario
                .api
                .on_request(move |line| line.query.contains("sendInitialEvents").then(no));
        }
        scenario.start_controller_with(with_late_lists, Settings::default());
        scenario.apply(deployment("web").replicas(3).stop("19:00"));
        scenario.sleep_until("18:59:58");
        scenario.api.forget_requests();
        scenario.api.close_watches();
        scenario.api.create(deployment("other").into()).unwrap();
        scenario.api.compact();
        scenario.sleep_until("19:05");
        assert_eq!(scenario.replicas("web"), 0);
        let sent = |verb| scenario.requests(verb).len();
        assert_eq!((sent("patch"), sent("get")), (1, 0), "{has_streams}");
    }
}
