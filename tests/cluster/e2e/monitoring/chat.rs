//! A stop notice, from a real controller through Prometheus and Alertmanager into chats, with the
//! configuration of `docs/guides/notifications.md`.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;
use tempfile::TempDir;

use super::ALERTS;
use crate::e2e::test_namespace::TestNamespace;
use crate::support::{Alerting, ControlPlane, deployment, soon, wait_until};

const PAGE: &str = include_str!("../../../../docs/guides/notifications.md");

/// The posted messages: the path of the webhook, and the message.
type PostedMessages = Arc<Mutex<Vec<(String, Value)>>>;

/// The webhook of a chat, which runs until the tests end.
fn webhook() -> (SocketAddr, PostedMessages) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, messages) = (listener.local_addr().unwrap(), PostedMessages::default());
    let all = Arc::clone(&messages);
    thread::spawn(move || {
        for stream in listener.incoming() {
            all.lock().unwrap().extend(message(stream.unwrap()));
        }
    });
    (address, messages)
}

/// The message of one request; `None` if it is incomplete.
fn message(mut stream: TcpStream) -> Option<(String, Value)> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        (reader.read_line(&mut head).ok()? > 0).then_some(())?;
    }
    let length = head.to_lowercase();
    let (_, length) = length.split_once("content-length: ")?;
    let mut body = vec![0; length.lines().next()?.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    let ok = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
    stream.write_all(ok.as_bytes()).ok()?;
    let path = head.split(' ').nth(1)?.trim_start_matches('/');
    Some((path.to_owned(), serde_json::from_slice(&body).ok()?))
}

/// The page's configuration of Alertmanager, with these two teams and its secrets in this
/// directory. Messages to the on-call engineer are posted too.
fn routes(teams: &[TestNamespace<'_>; 2], directory: &Path, chat: SocketAddr) -> String {
    let blocks = PAGE.split("```yaml\n").skip(1);
    let mut blocks = blocks.map(|it| it.split("```").next().unwrap());
    let mut text = blocks
        .find(|it| it.contains("receivers:"))
        .unwrap()
        .to_owned();
    assert_contains!(text, "slack_configs");
    let secrets = directory.to_str().unwrap();
    let on_call = "  - name: on-call\n";
    let hook = format!("{on_call}    slack_configs:\n      - api_url_file: {secrets}/on-call\n");
    for (from, to) in [
        (on_call, &*hook),
        ("/etc/alertmanager/secrets", secrets),
        ("team-a", teams[0].name()),
        ("team-b", teams[1].name()),
    ] {
        assert_contains!(text, from);
        text = text.replace(from, to);
    }
    for name in ["on-call", teams[0].name(), teams[1].name()] {
        fs::write(directory.join(name), format!("http://{chat}/{name}")).unwrap();
    }
    text
}

pub(super) fn chat_receives_each_stop_notice_of_its_team_once(plane: &ControlPlane) {
    let mut teams = ["chat-a", "chat-b"].map(|name| TestNamespace::without_controller(plane, name));
    let stop = soon(1_800);
    let controllers = teams.each_mut().map(|team| {
        team.create(deployment("web").replicas(3).stop(stop.text()));
        team.run(&["--per-namespace-metrics"]).address().unwrap()
    });
    let directory = TempDir::new().unwrap();
    let (chat, messages) = webhook();
    let config = routes(&teams, directory.path(), chat);
    let alerting = Alerting::start(directory, &controllers, Path::new(ALERTS), &config);
    wait_until("Prometheus has scraped a zero of each", || {
        let found = alerting.ask("dayshift_stop_notices_total");
        let zeros = found.iter().filter(|it| it["value"][1] == "0");
        zeros.count() == 2
    });
    for (index, team) in teams.iter().enumerate() {
        // The notice period has already begun, so the notice is sent at once.
        team.annotate("web", "dayshift/notice", "1h");
        team.await_event("web", "StopsSoon");
        wait_until(
            &format!("the chat of {} contains the notice", team.name()),
            || messages.lock().unwrap().len() > index,
        );
    }
    let messages = messages.lock().unwrap().clone();
    let receivers: Vec<_> = messages
        .iter()
        .map(|(receiver, _)| receiver.as_str())
        .collect();
    let names = teams.each_ref().map(|team| team.name());
    assert_eq!(receivers, names, "{}", alerting.logs());
    for (name, (_, message)) in names.iter().zip(&messages) {
        let attachment = &message["attachments"][0];
        let title = format!("Workloads of the namespace {name} stop soon.");
        assert_eq!(attachment["title"], title, "{message}");
        let command = format!("`dayshift wake --all -n {name} --for 2h`");
        let text = attachment["text"].as_str().unwrap();
        assert!(text.contains(&command), "{message}");
    }
    for team in teams {
        team.ends([("web", 1)]);
    }
}
