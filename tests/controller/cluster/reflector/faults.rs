//! Watches of a server with faults that a healthy server does not have.

use std::time::Duration;

use futures::StreamExt as _;
use http::StatusCode;
use serde_json::json;
use tokio::time::{Instant, timeout};

use super::script::{
    LISTED, Script, ScriptedResponse, bookmark, failure, line, listed, listed_and,
};
use super::{HOUR, nothing, seen};

#[tokio::test(start_paused = true)]
async fn watch_resumes_after_the_last_event_or_bookmark() {
    for (more, version) in [
        (vec![], "7"),
        (vec![line("MODIFIED", "web", 8)], "8"),
        (vec![line("DELETED", "web", 9)], "9"),
        (vec![bookmark(11, false)], "11"),
        // A line that is cut off is no event; a line in small pieces is one.
        (vec![line("ADDED", "db", 8)[..30].to_owned()], "7"),
        (
            line("ADDED", "db", 8)
                .split_inclusive('"')
                .map(str::to_owned)
                .collect(),
            "8",
        ),
    ] {
        let script = Script::of([
            ScriptedResponse::Ends(listed_and(&more)),
            ScriptedResponse::FallsSilent(Vec::new()),
        ]);
        let mut events = script.watch();
        let reported = seen(&mut events, LISTED.split(' ').count()).await;
        assert_eq!(reported, LISTED);
        while seen(&mut events, 1).await != "early" {}
        assert_eq!(script.resumed_from(), [version]);
    }
}

/// Without the annotated bookmark, a list that is followed by changes has no end.
#[tokio::test(start_paused = true)]
async fn only_the_annotated_bookmark_ends_the_list() {
    let text = [
        line("ADDED", "web", 5),
        bookmark(6, false),
        line("ADDED", "db", 6),
        bookmark(7, true),
        line("ADDED", "api", 8),
    ];
    let script = Script::of([ScriptedResponse::FallsSilent(text.to_vec())]);
    let mut events = script.watch();
    assert_eq!(seen(&mut events, 6).await, "open init +web +db ready =api");
}

#[tokio::test(start_paused = true)]
async fn watch_resumes_after_an_error_event_unless_the_version_is_gone() {
    for (broken, expected, reported) in [
        (
            ScriptedResponse::Ends(listed_and(&[failure(410)])),
            "list",
            "open",
        ),
        (
            ScriptedResponse::Ends(listed_and(&[failure(500)])),
            "7",
            "early",
        ),
        (
            ScriptedResponse::Ends(listed_and(&[failure(504)])),
            "7",
            "early",
        ),
        (ScriptedResponse::Breaks(listed()), "7", "early"),
        // A bare Status, which is not a watch event.
        (
            ScriptedResponse::Ends(listed_and(&[
                "{\"kind\":\"Status\",\"code\":410}\n".to_owned()
            ])),
            "list",
            "open",
        ),
    ] {
        let script = Script::of([broken, ScriptedResponse::FallsSilent(listed())]);
        let mut events = script.watch();
        assert_eq!(seen(&mut events, 4).await, LISTED);
        assert_eq!(seen(&mut events, 2).await, format!("error {reported}"));
        assert_eq!(script.resumed_from(), [expected]);
        let pause = script.pauses()[0];
        assert!(pause >= Duration::from_millis(100), "{pause:?}");
    }
}

/// Otherwise the event would be sent again and again, because the watch resumes before it.
#[tokio::test(start_paused = true)]
async fn unreadable_event_does_not_hide_later_events() {
    let odd = "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":7}}\n".to_owned();
    let more = [odd, line("MODIFIED", "web", 9)];
    let script = Script::of([ScriptedResponse::FallsSilent(listed_and(&more))]);
    let mut events = script.watch();
    assert_eq!(seen(&mut events, 4).await, LISTED);
    assert_eq!(seen(&mut events, 3).await, "error open =web");
    nothing(&mut events).await;
    assert_eq!(script.resumed_from(), [""; 0]);
}

/// The limit of etcd can be higher than usual, so an object can have more than 10 MiB in JSON.
#[tokio::test(start_paused = true)]
async fn large_and_unreadable_events_do_not_delay_others() {
    let begin = Instant::now();
    let large = |version: u32| {
        let object = line("MODIFIED", &"x".repeat(22 << 20), version);
        let half = object.len() / 2;
        [object[..half].to_owned(), object[half..].to_owned()]
    };
    let [first, second] = large(5);
    let mut text = vec![line("ADDED", "db", 4), first, second];
    text.extend(listed());
    for version in 8..10 {
        text.extend(large(version));
        text.push("{\"type\":\"MODIFIED\",\"object\":{\"metadata\":7}}\n".to_owned());
        text.push(line("MODIFIED", "web", version));
    }
    let script = Script::of([ScriptedResponse::FallsSilent(text)]);
    let mut events = script.watch();
    assert_eq!(seen(&mut events, 5).await, "open init +db +web ready");
    let expected = ["error open =web"; 2].join(" ");
    assert_eq!(seen(&mut events, 6).await, expected);
    assert_eq!(begin.elapsed(), Duration::ZERO);
    assert_eq!(script.resumed_from(), [""; 0]);
}

/// A watch without a version would show only new events and hide the changes in between.
#[tokio::test(start_paused = true)]
async fn lists_again_if_an_event_has_no_version() {
    for (kind, version) in [
        ("MODIFIED", ""),
        ("MODIFIED", ",\"resourceVersion\":\"\""),
        ("DELETED", ""),
        ("BOOKMARK", ",\"resourceVersion\":\"\""),
    ] {
        let object = format!(
            "{{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{{\"name\":\"web\"{version}}},\"spec\":{{}}}}"
        );
        let odd = format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n");
        let script = Script::of([
            ScriptedResponse::FallsSilent(listed_and(&[odd])),
            ScriptedResponse::FallsSilent(listed()),
        ]);
        let mut events = script.watch();
        let reported = seen(&mut events, 9).await;
        assert_eq!(reported, format!("{LISTED} error {LISTED}"), "{kind}");
        assert_eq!(script.resumed_from(), ["list"]);
    }
}

/// etcd stores no object of 1.5 MB. A larger event does not come from an API server, and a pod has
/// 64 MiB.
#[tokio::test(start_paused = true)]
async fn stops_reading_an_endless_event() {
    let piece = "x".repeat(1 << 20);
    let script = Script::of([
        ScriptedResponse::FallsSilent(listed_and(&vec![piece; 65])),
        ScriptedResponse::FallsSilent(Vec::new()),
    ]);
    let mut events = script.watch();
    assert_eq!(seen(&mut events, 4).await, LISTED);
    let begun = Instant::now();
    assert_eq!(seen(&mut events, 2).await, "error early");
    assert!(begun.elapsed() < Duration::from_secs(1));
    assert_eq!(script.resumed_from(), ["7"]);
}

#[tokio::test(start_paused = true)]
async fn gives_up_a_watch_that_does_not_open_within_20_s() {
    let script = Script::of([
        ScriptedResponse::Ends(listed()),
        ScriptedResponse::Hangs,
        ScriptedResponse::FallsSilent(Vec::new()),
    ]);
    let mut events = script.watch();
    assert_eq!(seen(&mut events, 4).await, LISTED);
    let begun = Instant::now();
    assert_eq!(seen(&mut events, 1).await, "error");
    assert!((20..22).contains(&begun.elapsed().as_secs()));
    assert_eq!(seen(&mut events, 1).await, "early");
    assert!(begun.elapsed().as_secs() < 22);
    assert_eq!(script.resumed_from(), ["7", "7"]);
}

/// For example, behind a firewall that dropped the connection. The server was asked to end each
/// watch earlier.
#[tokio::test(start_paused = true)]
async fn reopens_a_watch_that_stays_silent_beyond_its_timeout() {
    let script = Script::of([
        ScriptedResponse::FallsSilent(listed()),
        ScriptedResponse::FallsSilent(Vec::new()),
    ]);
    let mut events = script.watch();
    assert_eq!(seen(&mut events, 4).await, LISTED);
    assert_eq!(seen(&mut events, 3).await, "open open open");
    assert_eq!(script.resumed_from(), ["7", "7", "7"]);
    let pauses = script.pauses();
    for (pause, (_, query)) in pauses.iter().zip(&*script.asked.lock().unwrap()) {
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        let (_, life) = pairs.find(|(name, _)| name == "timeoutSeconds").unwrap();
        let life: u64 = life.parse().unwrap();
        assert!((260..=290).contains(&life), "{life} s");
        assert_eq!(pause.as_secs(), life + 5);
    }
    assert!(pauses.windows(2).any(|two| two[0] != two[1]), "{pauses:?}");
}

/// The watcher of kube reopened such a watch in a tight loop.
#[tokio::test(start_paused = true)]
async fn backs_off_if_watches_end_at_once() {
    let script = Script::of([
        ScriptedResponse::FallsSilent(listed()),
        ScriptedResponse::Ends(Vec::new()),
    ]);
    let mut events = script.watch();
    while timeout(HOUR, events.next()).await.is_ok() && script.asked.lock().unwrap().len() < 30 {}
    let pauses = &script.pauses()[1..];
    assert!(pauses[0] <= Duration::from_millis(200), "{pauses:?}");
    let slow = pauses.iter().filter(|it| it.as_millis() >= 2_500).count();
    assert!(slow >= 20, "{pauses:?}");
    assert!(pauses.iter().max().unwrap().as_secs() <= 5, "{pauses:?}");
}

#[tokio::test(start_paused = true)]
async fn watch_honors_retry_after_for_at_most_a_minute() {
    for (after, least, most) in [("7", 7, 8), ("30", 30, 31), ("86400", 60, 61), ("x", 0, 1)] {
        for code in [
            StatusCode::TOO_MANY_REQUESTS,
            StatusCode::SERVICE_UNAVAILABLE,
        ] {
            let script = Script::of([
                ScriptedResponse::Refuses(code, after),
                ScriptedResponse::Ends(listed()),
                ScriptedResponse::Refuses(code, after),
                ScriptedResponse::FallsSilent(Vec::new()),
            ]);
            let mut events = script.watch();
            let reported = seen(&mut events, 7).await;
            assert_eq!(reported, format!("error {LISTED} error early"));
            let pauses: Vec<_> = script.pauses().iter().map(Duration::as_secs).collect();
            for pause in [pauses[0], pauses[2]] {
                assert!((least..most).contains(&pause), "{after}: {pauses:?}");
            }
        }
    }
}

/// A proxy might drop the header. An event that ends a watch has only the status.
#[tokio::test(start_paused = true)]
async fn reads_retry_after_seconds_from_a_status_too() {
    for (after, least, most) in [(7, 7, 8), (86_400, 60, 61), (0, 0, 1)] {
        let status = json!({
            "apiVersion": "v1", "kind": "Status", "status": "Failure", "code": 503,
            "details": {"retryAfterSeconds": after},
        });
        let event = format!("{}\n", json!({"type": "ERROR", "object": status}));
        let script = Script::of([
            ScriptedResponse::RefusesWith(503, status),
            ScriptedResponse::Ends(listed_and(&[event])),
            ScriptedResponse::FallsSilent(Vec::new()),
        ]);
        let mut events = script.watch();
        let reported = seen(&mut events, 7).await;
        assert_eq!(reported, format!("error {LISTED} error early"));
        for pause in script.pauses() {
            assert!((least..most).contains(&pause.as_secs()), "{pause:?}");
        }
    }
}
