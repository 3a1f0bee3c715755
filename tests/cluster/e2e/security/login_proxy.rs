//! An authenticating proxy of a few lines, and browsers that have logged in at it or go past it.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use tokio::net::TcpSocket;

/// The address from which the proxy connects, which dayshift trusts.
pub(super) const TRUSTED: &str = "127.0.0.2";

/// Lets whoever has the cookie `session=USER;GROUP` in as that user, in that group.
pub(super) struct Proxy {
    address: SocketAddr,
    upstream: SocketAddr,
}

/// An answer of the pages.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: String,
}

impl Proxy {
    pub(super) fn before(upstream: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                thread::spawn(move || pass_on(stream, upstream));
            }
        });
        Self { address, upstream }
    }

    /// What somebody gets who has logged in.
    pub(super) fn ask(&self, session: &str, line: &str, more: &str, body: &str) -> Answer {
        let cookie = format!("Cookie: session={session}\r\n{more}");
        let stream = TcpStream::connect(self.address).unwrap();
        answer(stream, &request(line, self.address, &cookie, body))
    }

    pub(super) fn get(&self, session: &str, path: &str) -> Answer {
        self.ask(session, &format!("GET {path}"), "", "")
    }

    pub(super) fn post(&self, session: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
        let mut form = form_urlencoded::Serializer::new(String::new());
        let body = form.extend_pairs(fields).finish();
        let origin = self.address;
        let more = format!(
            "Origin: http://{origin}\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        );
        self.ask(session, &format!("POST {path}"), &more, &body)
    }

    /// What somebody gets who goes past the proxy, from 127.0.0.1.
    pub(super) fn past(&self, path: &str, headers: &str) -> Answer {
        let stream = TcpStream::connect(self.upstream).unwrap();
        answer(
            stream,
            &request(&format!("GET {path}"), self.upstream, headers, ""),
        )
    }
}

fn request(line: &str, host: SocketAddr, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "{line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n\
         {headers}\r\n{body}"
    )
}

fn answer(mut stream: TcpStream, request: &str) -> Answer {
    let timeout = Some(Duration::from_secs(60));
    stream.set_read_timeout(timeout).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    Answer {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        head: head.to_owned(),
        body: body.to_owned(),
    }
}

impl Answer {
    /// Where it leads.
    pub(super) fn location(&self) -> &str {
        let lines = self.head.lines();
        let mut found = lines.filter_map(|it| it.strip_prefix("location: "));
        found.next().unwrap_or_else(|| panic!("{self:?}"))
    }

    /// The value of a hidden field.
    pub(super) fn field(&self, name: &str) -> String {
        let begins = format!("name=\"{name}\" value=\"");
        let value = self.body.split_once(&begins).map(|(_, it)| it);
        let value = value.unwrap_or_else(|| panic!("no {name}: {self:?}"));
        value.split('"').next().unwrap().to_owned()
    }
}

/// One request, without what the browser says of itself in the headers of the proxy.
fn pass_on(mut browser: TcpStream, upstream: SocketAddr) {
    let mut read = Vec::new();
    let mut buffer = [0; 4096];
    let (head, body) = loop {
        let text = String::from_utf8_lossy(&read).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let mut lines = head.lines();
            let length = lines.find_map(|it| it.strip_prefix("Content-Length: "));
            if length.is_none_or(|it| it.parse() == Ok(body.len())) {
                break (head.to_owned(), body.to_owned());
            }
        }
        match browser.read(&mut buffer) {
            Ok(more) if more > 0 => read.extend(&buffer[..more]),
            _ => return,
        }
    };
    let session = head
        .lines()
        .find_map(|it| it.strip_prefix("Cookie: session="));
    let Some((user, group)) = session.and_then(|it| it.split_once(';')) else {
        let _ = browser.write_all(b"HTTP/1.1 302 Found\r\nLocation: /oauth2/sign_in\r\n\r\n");
        return;
    };
    let is_own = |line: &&str| !line.to_lowercase().starts_with("x-forwarded-");
    let head: Vec<&str> = head.lines().filter(is_own).collect();
    let request = format!(
        "{}\r\nX-Forwarded-User: {user}\r\nX-Forwarded-Groups: {group}\r\n\r\n{body}",
        head.join("\r\n")
    );
    let mut stream = trusted(upstream);
    let mut answer = Vec::new();
    if stream.write_all(request.as_bytes()).is_ok() && stream.read_to_end(&mut answer).is_ok() {
        let _ = browser.write_all(&answer);
    }
}

/// A connection from the address of the proxy.
fn trusted(upstream: SocketAddr) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .unwrap();
    let stream = runtime.block_on(async {
        let socket = TcpSocket::new_v4().unwrap();
        socket
            .bind(format!("{TRUSTED}:0").parse().unwrap())
            .unwrap();
        socket.connect(upstream).await.unwrap().into_std().unwrap()
    });
    stream.set_nonblocking(false).unwrap();
    stream
}
