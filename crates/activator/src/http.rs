//! HTTP as far as the activator needs it: recognizing a request head in the first bytes of a connection, and
//! responding to clients whose connection is not forwarded.

use chrono::{DateTime, SecondsFormat, Utc};
use dayshift_text::{cut_chars, printable};
use httparse::Status;
use maud::{DOCTYPE, html};

/// The maximum length of a request head.
pub(crate) const MAX_HEAD: usize = 16 * 1024;

/// The maximum number of headers. Browsers and probes send fewer.
const MAX_HEADERS: usize = 128;

/// The maximum length of a host, path or agent in logs and Events.
const MAX_SHOWN: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FirstBytes {
    /// Not HTTP/1.
    Other,
    /// The beginning of an HTTP/1 request.
    Incomplete,
    /// A complete request head.
    Request(Head),
}

/// The relevant parts of a request head, printable and shortened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    /// The path without the query.
    pub(crate) path: String,
    pub(crate) host: String,
    pub(crate) agent: String,
    /// Whether a browser requests a page.
    pub(crate) wants_page: bool,
    pub(crate) is_without_body: bool,
}

const METHODS: [&str; 9] = [
    "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT",
];

impl FirstBytes {
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let is_begun = |method: &&str| {
            let line = method.bytes().chain([b' ']);
            line.zip(bytes).all(|(wanted, byte)| wanted == *byte)
        };
        if bytes.is_empty() || !METHODS.iter().any(is_begun) {
            return Self::Other;
        }
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        match request.parse(bytes) {
            Ok(Status::Complete(_)) => Self::Request(Head::from_request(&request)),
            Ok(Status::Partial) if bytes.len() < MAX_HEAD => Self::Incomplete,
            // A head that is too long is forwarded unchanged, like other protocols.
            Ok(Status::Partial) | Err(_) => Self::Other,
        }
    }
}

/// Whether a client that has sent these bytes and closed its sending side has disconnected. TCP cannot
/// distinguish that from a half-close. TLS and HTTP/2 need more from the client, a silent client expects
/// nothing, and HTTP/1 servers such as nginx treat it as a disconnect.
pub(crate) fn ends_with_its_client(bytes: &[u8]) -> bool {
    const TLS_HANDSHAKE: &[u8] = &[0x16, 0x03];
    const HTTP_2: &[u8] = b"PRI * HTTP/2.0\r\n";
    let begins = |prefix: &[u8]| bytes.starts_with(prefix);
    bytes.is_empty()
        || begins(TLS_HANDSHAKE)
        || begins(HTTP_2)
        || FirstBytes::parse(bytes) != FirstBytes::Other
}

impl Head {
    fn from_request(request: &httparse::Request<'_, '_>) -> Self {
        let method = request.method.unwrap_or_default();
        let target = request.path.unwrap_or_default();
        let shown = |text: &str| cut_chars(&printable(text), MAX_SHOWN).to_owned();
        // Requests to a proxy contain an absolute URL.
        let path = match target.split_once("://") {
            Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]),
            None => target,
        };
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let mut head = Self {
            path: shown(path),
            is_without_body: method == "HEAD",
            ..Self::default()
        };
        let mut accepts_page = false;
        for header in &*request.headers {
            let value = String::from_utf8_lossy(header.value);
            match &*header.name.to_ascii_lowercase() {
                "host" => head.host = shown(&value),
                "user-agent" => head.agent = shown(&value),
                "accept" => accepts_page |= value.contains("text/html"),
                _ => {}
            }
        }
        head.wants_page = accepts_page && matches!(method, "GET" | "HEAD");
        head
    }

    /// Whether the agent contains one of these texts, which are in lower case.
    pub(crate) fn is_by(&self, agents: &[String]) -> bool {
        let agent = self.agent.to_lowercase();
        agents.iter().any(|ignored| agent.contains(&**ignored))
    }
}

/// The seconds until a browser reloads the page, and until other clients should retry.
const RETRY_AFTER: u32 = 3;

/// The details on the page for a browser.
#[derive(Clone, Debug)]
pub(crate) struct StoppedService {
    /// When the workload was stopped.
    pub(crate) since: Option<DateTime<Utc>>,
    /// The duration of the last starts in seconds.
    pub(crate) start_durations: Vec<u64>,
}

/// The page for a browser during a wake. It reloads by itself.
pub(crate) fn starting(head: &Head, details: &StoppedService) -> Vec<u8> {
    let start_durations: Vec<_> = details
        .start_durations
        .iter()
        .map(|seconds| format!("{seconds} s"))
        .collect();
    let body = page(
        "This service is starting",
        html! {
            p { "This page shows what you asked for as soon as it is ready." }
            @if let Some(since) = details.since {
                p { "Stopped since " (since.to_rfc3339_opts(SecondsFormat::Secs, true)) "." }
            }
            @if !start_durations.is_empty() {
                p { "The last starts took " (start_durations.join(", ")) "." }
            }
        },
        true,
    );
    answer(head, "text/html; charset=utf-8", Some(RETRY_AFTER), &body)
}

/// The response if the workload cannot be woken.
pub(crate) fn refused(head: &Head, why: &str) -> Vec<u8> {
    if !head.wants_page {
        return plain(head, &format!("This service is stopped: {why}\n"));
    }
    let body = page("This service is stopped", html! { p { (why) "." } }, false);
    answer(head, "text/html; charset=utf-8", None, &body)
}

/// A response with one line of text.
pub(crate) fn plain(head: &Head, text: &str) -> Vec<u8> {
    answer(head, "text/plain; charset=utf-8", None, text)
}

#[expect(clippy::needless_pass_by_value, reason = "as html! gives it")]
fn page(title: &str, body: maud::Markup, asks_again: bool) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                meta name="color-scheme" content="light dark";
                @if asks_again { meta http-equiv="refresh" content=(RETRY_AFTER); }
                title { (title) }
            }
            body style="font-family: system-ui, sans-serif; max-width: 40em; margin: 4em auto; padding: 0 1em" {
                h1 { (title) }
                (body)
            }
        }
    }
    .into_string()
}

fn answer(head: &Head, media: &str, retry_after: Option<u32>, body: &str) -> Vec<u8> {
    let retry_after =
        retry_after.map_or_else(String::new, |seconds| format!("Retry-After: {seconds}\r\n"));
    let length = body.len();
    let body = if head.is_without_body { "" } else { body };
    format!(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: {media}\r\nContent-Length: {length}\r\n\
         {retry_after}Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\
         Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\n\
         Connection: close\r\n\r\n{body}"
    )
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str) -> Head {
        match FirstBytes::parse(text.as_bytes()) {
            FirstBytes::Request(head) => head,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn http_is_distinguished_from_other_protocols() {
        for (bytes, expected) in [
            (&b"G"[..], FirstBytes::Incomplete),
            (b"GET / HTTP/1.1\r\nHost: a\r\n", FirstBytes::Incomplete),
            (b"\x16\x03\x01\x02\x00", FirstBytes::Other),
            (b"\x00\x00\x00\x08\x04\xd2\x16\x2f", FirstBytes::Other),
            (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", FirstBytes::Other),
            (b"GETX / HTTP/1.1\r\n\r\n", FirstBytes::Other),
            (b"GET /\r\n\r\n", FirstBytes::Other),
            (b"", FirstBytes::Other),
        ] {
            assert_eq!(FirstBytes::parse(bytes), expected, "{bytes:?}");
        }
        let endless = [b"GET /".as_slice(), &[b'a'; MAX_HEAD]].concat();
        assert_eq!(FirstBytes::parse(&endless), FirstBytes::Other);
    }

    #[test]
    fn close_is_a_disconnect_in_tls_and_http_and_a_half_close_otherwise() {
        for (bytes, expected) in [
            (&b""[..], true),
            (b"\x16\x03\x01\x02\x00", true),
            (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", true),
            (b"GET / HTTP/1.1\r\nHost: a\r\n\r\nabc", true),
            (b"GET / HT", true),
            (b"\x16", false),
            (b"PING\r\n", false),
            (b"\x00\x00\x00\x08\x04\xd2\x16\x2f", false),
        ] {
            assert_eq!(ends_with_its_client(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn query_is_dropped_and_accept_header_identifies_browsers() {
        let head = request(
            "GET /a/b?token=secret HTTP/1.1\r\nHost: dev.example.com\r\nUSER-AGENT: Mozilla/5.0\r\n\
             Accept: text/html,application/xhtml+xml\r\n\r\n",
        );
        assert_eq!((&*head.path, &*head.host), ("/a/b", "dev.example.com"));
        assert!(head.wants_page && !head.is_without_body);
        assert!(!request("GET / HTTP/1.1\r\nAccept: */*\r\n\r\n").wants_page);
        assert!(!request("POST / HTTP/1.1\r\nAccept: text/html\r\n\r\n").wants_page);
        assert_eq!(request("GET http://a.b/c?d HTTP/1.1\r\n\r\n").path, "/c");
    }

    #[test]
    fn probes_are_recognized_by_a_part_of_their_agent() {
        let agents = ["kube-probe".to_owned(), "bot".to_owned()];
        for (agent, expected) in [
            ("kube-probe/1.36", true),
            ("Mozilla/5.0 (compatible; Googlebot/2.1)", true),
            ("curl/8.0", false),
        ] {
            let head = request(&format!("GET / HTTP/1.1\r\nUser-Agent: {agent}\r\n\r\n"));
            assert_eq!(head.is_by(&agents), expected, "{agent}");
        }
    }

    #[test]
    fn control_characters_in_a_head_are_removed() {
        for raw in [
            "GET /\u{1b}[2J HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: \u{1b}]0;x\u{7}\r\n\r\n",
        ] {
            assert_eq!(
                FirstBytes::parse(raw.as_bytes()),
                FirstBytes::Other,
                "{raw:?}"
            );
        }
        let head = request("GET /\u{202e}a HTTP/1.1\r\nHost: \u{202e}b\u{9b}c\r\n\r\n");
        let acts = |text: &str| text.contains(['\u{202e}', '\u{9b}']);
        assert!(!acts(&head.path) && !acts(&head.host), "{head:?}");
    }

    fn details() -> StoppedService {
        StoppedService {
            since: DateTime::from_timestamp(0, 0),
            start_durations: vec![12, 9],
        }
    }

    #[test]
    fn starting_page_reloads_without_a_script() {
        let head = Head {
            wants_page: true,
            ..Head::default()
        };
        let page = String::from_utf8(starting(&head, &details())).unwrap();
        assert!(page.starts_with("HTTP/1.1 503 "), "{page}");
        for part in [
            "Retry-After: 3\r\n",
            "http-equiv=\"refresh\" content=\"3\"",
            "<h1>This service is starting</h1>",
            "12 s, 9 s",
            "since 1970-01-01T00:00:00Z",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(!page.contains("<script"));
        let (head, body) = page.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}", body.len())));
    }

    #[test]
    fn response_to_head_has_no_body() {
        let head = Head {
            is_without_body: true,
            ..Head::default()
        };
        let answer = String::from_utf8(refused(&head, "it is paused")).unwrap();
        assert!(answer.ends_with("\r\n\r\n"), "{answer}");
    }
}
