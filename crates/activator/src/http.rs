//! HTTP as far as the activator speaks it: it recognizes the head of a request in the first bytes of a
//! connection, and answers clients whose connection is not forwarded.

use chrono::{DateTime, SecondsFormat, Utc};
use dayshift_text::{cut_chars, printable};
use httparse::Status;
use maud::{DOCTYPE, html};

use crate::service::ServiceName;

/// The most bytes of a head that are read.
pub(crate) const MAX_HEAD: usize = 16 * 1024;

/// The most headers that a head may have: more are no request that a browser or a probe sends.
const MAX_HEADERS: usize = 128;

/// How much of a host, a path or an agent goes into logs and Events.
const MAX_SHOWN: usize = 100;

/// What the first bytes of a connection are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FirstBytes {
    /// Not HTTP/1: anything else.
    Other,
    /// The beginning of a request of HTTP/1.
    Incomplete,
    /// The whole head of a request.
    Request(Head),
}

/// The head of a request. Its texts are plain and short.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    /// The path without its query.
    pub(crate) path: String,
    pub(crate) host: String,
    pub(crate) agent: String,
    /// Whether it is a browser that asks for a page.
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
            // More than is read of a head is handed on as it is, like what is no HTTP.
            Ok(Status::Partial) | Err(_) => Self::Other,
        }
    }
}

/// Whether a client that has said no more than this, and will say no more, has left. On the wire that is
/// what a half-close is too, but a handshake of TLS and a connection of HTTP/2 need more of the client, who
/// has said nothing wants nothing, and of HTTP/1 servers take it so, as nginx and Go's do.
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
        // A proxy is asked for the whole address.
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

    /// Whether it is one of these clients, whose names are in lower case.
    pub(crate) fn is_by(&self, agents: &[String]) -> bool {
        let agent = self.agent.to_lowercase();
        agents.iter().any(|ignored| agent.contains(&**ignored))
    }
}

/// After how many seconds a page asks again, and a client should.
const RETRY_AFTER: u32 = 3;

/// What a page tells of a Service.
#[derive(Clone, Debug)]
pub(crate) struct StoppedService {
    pub(crate) service: ServiceName,
    /// Since when it sleeps.
    pub(crate) since: Option<DateTime<Utc>>,
    /// How many seconds it took to be ready the last times.
    pub(crate) took: Vec<u64>,
}

/// The answer to a browser while a wake is under way: a page that asks again by itself.
pub(crate) fn starting(head: &Head, story: &StoppedService) -> Vec<u8> {
    let took: Vec<_> = story
        .took
        .iter()
        .map(|seconds| format!("{seconds} s"))
        .collect();
    let body = page(
        &format!("{} is starting", story.service.name),
        html! {
            p { "This page shows what you asked for as soon as it is ready." }
            @if let Some(since) = story.since {
                p { "Stopped since " (since.to_rfc3339_opts(SecondsFormat::Secs, true)) "." }
            }
            @if !took.is_empty() {
                p { "The last starts took " (took.join(", ")) "." }
            }
        },
        true,
    );
    answer(head, "text/html; charset=utf-8", Some(RETRY_AFTER), &body)
}

/// The answer where nothing will come: why.
pub(crate) fn refused(head: &Head, story: &StoppedService, why: &str) -> Vec<u8> {
    if !head.wants_page {
        return plain(head, &format!("{} is stopped: {why}\n", story.service));
    }
    let title = format!("{} is stopped", story.service.name);
    let body = page(&title, html! { p { (why) "." } }, false);
    answer(head, "text/html; charset=utf-8", None, &body)
}

/// The answer to others, in a line.
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
    fn http_is_told_from_every_other_protocol() {
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
    fn a_close_ends_tls_and_http_and_half_closes_other_bytes() {
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
    fn a_query_is_dropped_and_a_browser_is_known_by_what_it_accepts() {
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
    fn probes_are_known_by_a_part_of_their_name() {
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
    fn nothing_in_a_head_acts_on_a_terminal() {
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

    fn story() -> StoppedService {
        StoppedService {
            service: ServiceName {
                namespace: "dev".into(),
                name: "<web>".into(),
            },
            since: DateTime::from_timestamp(0, 0),
            took: vec![12, 9],
        }
    }

    #[test]
    fn a_browser_gets_a_page_that_asks_again_and_runs_no_script() {
        let head = Head {
            wants_page: true,
            ..Head::default()
        };
        let page = String::from_utf8(starting(&head, &story())).unwrap();
        assert!(page.starts_with("HTTP/1.1 503 "), "{page}");
        for part in [
            "Retry-After: 3\r\n",
            "http-equiv=\"refresh\" content=\"3\"",
            "&lt;web&gt; is starting",
            "12 s, 9 s",
            "since 1970-01-01T00:00:00Z",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(!page.contains("<script") && !page.contains("<web>"));
        let (head, body) = page.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}", body.len())));
    }

    #[test]
    fn the_answer_to_a_head_has_no_body() {
        let head = Head {
            is_without_body: true,
            ..Head::default()
        };
        let answer = String::from_utf8(refused(&head, &story(), "it is paused")).unwrap();
        assert!(answer.ends_with("\r\n\r\n"), "{answer}");
    }
}
