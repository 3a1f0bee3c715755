//! Compaction of etcd, which the API server otherwise requests every five minutes.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::timing::wait::eventually;

/// Compacts etcd at its current revision. `socket` is its address.
pub(crate) fn compact(socket: &Path) {
    // Any range response contains the current revision.
    let revision = ask(socket, "range", &json!({"key": "AA=="}))["header"]["revision"].clone();
    ask(
        socket,
        "compaction",
        &json!({"revision": revision, "physical": true}),
    );
}

/// Waits for etcd and creates its first revisions. If an API server starts with an empty history, it cannot
/// list old versions after a compaction.
pub(crate) fn begin_history(socket: &Path) {
    let write = json!({"key": "dGVzdHM=", "value": "MQ=="}); // tests, 1
    eventually("etcd takes a write", || answer(socket, "put", &write));
    ask(socket, "put", &write);
}

/// Sends a request to etcd's JSON gateway.
fn ask(socket: &Path, request: &str, body: &Value) -> Value {
    answer(socket, request, body).unwrap_or_else(|| panic!("etcd: {request}"))
}

/// Sends a request. Returns `None` if it fails.
fn answer(socket: &Path, request: &str, body: &Value) -> Option<Value> {
    let body = body.to_string();
    let length = body.len();
    let mut stream = UnixStream::connect(socket).ok()?;
    write!(
        stream,
        "POST /v3/kv/{request} HTTP/1.0\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let is_taken = head.contains(" 200 ");
    is_taken.then(|| serde_json::from_str(body).unwrap())
}
