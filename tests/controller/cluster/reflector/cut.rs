//! Responses that are cut off, and lists that change while they are read.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::script::{LISTED, Script, ScriptedResponse, bookmark, line, listed, listed_and};
use super::{nothing, seen};

/// A page of a list with its version and the token of the next page.
fn page(name: &str, version: &str, next: &str) -> ScriptedResponse {
    let item = json!({"metadata": {"name": name, "namespace": "dev", "resourceVersion": "5"}});
    let meta = json!({"resourceVersion": version, "continue": next});
    let list = json!({"kind": "DeploymentList", "metadata": meta, "items": [item]});
    ScriptedResponse::Ends(vec![list.to_string()])
}

fn no_streams() -> ScriptedResponse {
    let status = json!({"kind": "Status", "status": "Failure", "code": 422});
    ScriptedResponse::RefusesWith(422, status)
}

/// A proxy that fills its buffer before it forwards data delays the end of an event until the watch
/// ends.
#[tokio::test(start_paused = true)]
async fn incomplete_event_ends_the_watch_and_is_sent_again() {
    let event = line("MODIFIED", "web", 9);
    let (begin, _) = event.split_at(40);
    let script = Script::of([
        ScriptedResponse::FallsSilent(listed_and(&[begin.to_owned()])),
        ScriptedResponse::FallsSilent(vec![event]),
    ]);
    let mut events = script.watch();
    assert_eq!(seen(&mut events, 4).await, LISTED);
    let begun = Instant::now();
    assert_eq!(seen(&mut events, 2).await, "early =web");
    assert_eq!(begun.elapsed().as_secs(), 10);
    nothing(&mut events).await;
    assert_eq!(script.resumed_from(), ["7"]);
}

/// The version of the first page counts: its objects might have changed before the last page was read.
#[tokio::test(start_paused = true)]
async fn watch_continues_from_the_version_of_the_first_page() {
    let script = Script::of([
        no_streams(),
        page("api", "7", "two"),
        page("db", "9", "three"),
        page("web", "12", ""),
        ScriptedResponse::FallsSilent(Vec::new()),
    ]);
    let mut events = script.watch();
    assert_eq!(seen(&mut events, 6).await, "init +api +db +web ready open");
    let asked = script.resumed_from();
    assert_eq!(asked.last().map(String::as_str), Some("7"), "{asked:?}");
}

/// Otherwise the client would request the same page again and again without a pause.
#[tokio::test(start_paused = true)]
async fn page_with_the_token_of_an_earlier_page_is_a_failure() {
    let script = Script::of([
        no_streams(),
        page("api", "7", "two"),
        page("db", "7", "two"),
        page("api", "7", "two"),
        page("db", "7", ""),
        ScriptedResponse::FallsSilent(Vec::new()),
    ]);
    let mut events = script.watch();
    let reported = seen(&mut events, 8).await;
    assert_eq!(reported, "init +api error init +api +db ready open");
}

/// An intermediary might cut each large or slow response. A page is smaller.
#[tokio::test(start_paused = true)]
async fn falls_back_to_pages_if_streams_break_before_the_list_is_complete() {
    let half = || vec![line("ADDED", "api", 5)];
    let ends: [fn(Vec<String>) -> ScriptedResponse; 2] =
        [ScriptedResponse::Breaks, ScriptedResponse::Ends];
    for end in ends {
        let script = Script::of([
            end(half()),
            end(half()),
            end(half()),
            page("web", "7", ""),
            ScriptedResponse::FallsSilent(Vec::new()),
        ]);
        let mut events = script.watch();
        let mut reported = String::new();
        while !reported.ends_with("ready ") {
            reported += &seen(&mut events, 1).await;
            reported.push(' ');
        }
        let reported = reported.replace("error ", "");
        let expected = format!("{}init +web -api ready ", "open init +api ".repeat(3));
        assert_eq!(reported, expected);
    }
}

/// A proxy that answers every watch with an empty body must not look like a quiet server.
#[tokio::test(start_paused = true)]
async fn watch_that_opens_and_ends_at_once_counts_as_failed() {
    let script = Script::of([
        ScriptedResponse::FallsSilent(listed()),
        ScriptedResponse::Ends(Vec::new()),
    ]);
    let mut events = script.watch();
    assert_eq!(seen(&mut events, 4).await, LISTED);
    let reported = seen(&mut events, 7).await;
    assert_eq!(reported, "open error early error early error early");
    let versions = script.resumed_from();
    assert!(versions.iter().all(|it| it == "7"), "{versions:?}");
}

/// An older version repeats known events, and misses none.
#[tokio::test(start_paused = true)]
async fn continues_from_a_bookmark_with_an_older_version() {
    let script = Script::of([
        ScriptedResponse::Ends(listed_and(&[
            line("MODIFIED", "web", 9),
            bookmark(6, false),
        ])),
        ScriptedResponse::FallsSilent(vec![line("MODIFIED", "web", 9)]),
    ]);
    let mut events = script.watch();
    assert_eq!(seen(&mut events, 5).await, format!("{LISTED} =web"));
    while seen(&mut events, 1).await != "=web" {}
    assert_eq!(script.resumed_from(), ["6"]);
}

/// An object of the maximum size that etcd accepts.
#[tokio::test(start_paused = true)]
async fn object_larger_than_a_megabyte_delays_none_of_ten_thousand() {
    let object = |name: &str, note: &str| {
        let meta = json!({
            "name": name, "namespace": "dev", "resourceVersion": "5", "annotations": {"note": note},
        });
        let object = json!({"kind": "Deployment", "metadata": meta, "spec": {}});
        format!("{}\n", json!({"type": "ADDED", "object": object}))
    };
    let mut text: Vec<_> = (0..10_000)
        .map(|it| object(&format!("web-{it}"), ""))
        .collect();
    text[5_000] = object("large", &"x".repeat(3 << 19));
    text.push(bookmark(7, true));
    let script = Script::of([ScriptedResponse::FallsSilent(text)]);
    let mut events = script.watch();
    let begun = Instant::now();
    let reported = seen(&mut events, 10_003).await;
    assert!(reported.ends_with(" +web-9999 ready"));
    assert!(reported.contains(" +web-4999 +large +web-5001 "));
    assert_eq!(begun.elapsed(), Duration::ZERO);
    assert_eq!(script.asked.lock().unwrap().len(), 1);
}
