//! Browsers that logged in at an authenticating proxy or bypass it, and a minimal proxy.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use tokio::net::TcpSocket;

/// The address of proxies that dayshift trusts.
pub(super) const TRUSTED: &str = "127.0.0.1";

/// The address of clients that bypass them.
const UNTRUSTED: &str = "127.0.0.2";

/// A running proxy. A session is `USER;GROUP,GROUP`, and empty without a login.
pub(super) struct LoginProxy {
    pub(super) address: SocketAddr,
    pub(super) upstream: SocketAddr,
    /// The cookies of a session.
    pub(super) cookies: Box<dyn Fn(&str) -> String>,
}

/// A response of the pages.
#[derive(Debug)]
pub(super) struct ProxyResponse {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: String,
}

impl LoginProxy {
    /// A minimal proxy that takes the user from the cookie `session`.
    pub(super) fn minimal(upstream: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                thread::spawn(move || pass_on(stream, upstream));
            }
        });
        Self {
            address,
            upstream,
            cookies: Box::new(|session| format!("session={session}")),
        }
    }

    /// The response to a user who logged in.
    pub(super) fn ask(&self, session: &str, line: &str, more: &str, body: &str) -> ProxyResponse {
        let cookies = match session {
            "" => String::new(),
            session => format!("Cookie: {}\r\n", (self.cookies)(session)),
        };
        asked(self.address, line, &format!("{cookies}{more}"), body)
    }

    pub(super) fn get(&self, session: &str, path: &str) -> ProxyResponse {
        self.ask(session, &format!("GET {path}"), "", "")
    }

    pub(super) fn post(&self, session: &str, path: &str, fields: &[(&str, &str)]) -> ProxyResponse {
        let mut form = form_urlencoded::Serializer::new(String::new());
        let body = form.extend_pairs(fields).finish();
        let origin = self.address;
        let more = format!(
            "Origin: http://{origin}\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        );
        self.ask(session, &format!("POST {path}"), &more, &body)
    }

    /// The response to a client that bypasses the proxy.
    pub(super) fn past(&self, path: &str, headers: &str) -> ProxyResponse {
        let request = request(&format!("GET {path}"), self.upstream, headers, "");
        answer(from_elsewhere(self.upstream), &request)
    }
}

/// The response of a server to one request.
pub(super) fn asked(server: SocketAddr, line: &str, headers: &str, body: &str) -> ProxyResponse {
    let stream = TcpStream::connect(server).unwrap();
    answer(stream, &request(line, server, headers, body))
}

fn request(line: &str, host: SocketAddr, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "{line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n\
         {headers}\r\n{body}"
    )
}

fn answer(mut stream: TcpStream, request: &str) -> ProxyResponse {
    let timeout = Some(Duration::from_secs(60));
    stream.set_read_timeout(timeout).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    ProxyResponse {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        head: head.to_owned(),
        body: body.to_owned(),
    }
}

impl ProxyResponse {
    /// The values of a header, whose name is in lower case.
    fn header(&self, name: &str) -> impl Iterator<Item = &str> {
        let headers = self.head.lines().filter_map(|it| it.split_once(": "));
        headers.filter_map(move |(it, value)| (it.to_lowercase() == name).then_some(value))
    }

    /// The target of the redirect.
    pub(super) fn location(&self) -> &str {
        let location = self.header("location").next();
        location.unwrap_or_else(|| panic!("{self:?}"))
    }

    /// The cookies that a browser sends back.
    pub(super) fn cookies(&self) -> String {
        let set = self.header("set-cookie");
        let set = set.filter_map(|it| it.split(';').next());
        let is_set = |it: &&str| {
            it.split_once('=')
                .is_some_and(|(_, value)| !value.is_empty())
        };
        let kept: Vec<_> = set.filter(is_set).collect();
        assert!(!kept.is_empty(), "{self:?}");
        kept.join("; ")
    }

    /// The value of a hidden field.
    pub(super) fn field(&self, name: &str) -> String {
        let begins = format!("name=\"{name}\" value=\"");
        let value = self.body.split_once(&begins).map(|(_, it)| it);
        let value = value.unwrap_or_else(|| panic!("no {name}: {self:?}"));
        value.split('"').next().unwrap().to_owned()
    }
}

/// The head and body of a request, unless its client has gone.
pub(super) fn read_request(client: &mut TcpStream) -> Option<(String, String)> {
    let mut read = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&read).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let mut lines = head.lines();
            let length = lines.find_map(|it| it.strip_prefix("Content-Length: "));
            if length.is_none_or(|it| it.parse() == Ok(body.len())) {
                return Some((head.to_owned(), body.to_owned()));
            }
        }
        match client.read(&mut buffer) {
            Ok(more) if more > 0 => read.extend(&buffer[..more]),
            _ => return None,
        }
    }
}

/// Forwards one request, without the proxy's headers that the browser sent itself.
fn pass_on(mut browser: TcpStream, upstream: SocketAddr) {
    let Some((head, body)) = read_request(&mut browser) else {
        return;
    };
    let session = head
        .lines()
        .find_map(|it| it.strip_prefix("Cookie: session="));
    let Some((user, groups)) = session.and_then(|it| it.split_once(';')) else {
        let _ = browser.write_all(b"HTTP/1.1 302 Found\r\nLocation: /oauth2/sign_in\r\n\r\n");
        return;
    };
    let is_own = |line: &&str| !line.to_lowercase().starts_with("x-forwarded-");
    let head: Vec<&str> = head.lines().filter(is_own).collect();
    let request = format!(
        "{}\r\nX-Forwarded-User: {user}\r\nX-Forwarded-Groups: {groups}\r\n\r\n{body}",
        head.join("\r\n")
    );
    let mut stream = TcpStream::connect(upstream).unwrap();
    let mut answer = Vec::new();
    if stream.write_all(request.as_bytes()).is_ok() && stream.read_to_end(&mut answer).is_ok() {
        let _ = browser.write_all(&answer);
    }
}

/// A connection from an address that dayshift does not trust.
fn from_elsewhere(server: SocketAddr) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .unwrap();
    let stream = runtime.block_on(async {
        let socket = TcpSocket::new_v4().unwrap();
        socket
            .bind(format!("{UNTRUSTED}:0").parse().unwrap())
            .unwrap();
        socket.connect(server).await.unwrap().into_std().unwrap()
    });
    stream.set_nonblocking(false).unwrap();
    stream
}
