//! etcd made to forget, which the API server asks of it every five minutes only.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde_json::{Value, json};

/// Drops all history up to now. `socket` is where etcd listens.
pub(crate) fn compact(socket: &Path) {
    // Any range answers with the newest revision in its header.
    let revision = ask(socket, "range", &json!({"key": "AA=="}))["header"]["revision"].clone();
    ask(
        socket,
        "compaction",
        &json!({"revision": revision, "physical": true}),
    );
}

/// One request to etcd's gateway of JSON.
fn ask(socket: &Path, what: &str, body: &Value) -> Value {
    let body = body.to_string();
    let length = body.len();
    let mut stream = UnixStream::connect(socket).unwrap();
    write!(
        stream,
        "POST /v3/kv/{what} HTTP/1.0\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(" 200 "), "{what}: {answer}");
    serde_json::from_str(body).unwrap()
}
