//! Request heads in the first bytes of a connection.

use dayshift_text::{cut_chars, printable};
use httparse::Status;

/// The maximum length of a request head.
pub(crate) const MAX_HEAD: usize = 16 * 1024;

/// The maximum number of headers. Browsers and probes send fewer.
const MAX_HEADERS: usize = 128;

/// The maximum length of a host, path or agent in logs and Events.
const MAX_SHOWN: usize = 100;

/// The protocol of a connection, by its first bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FirstBytes {
    /// Not HTTP/1.
    Other,
    /// The beginning of an HTTP/1 request.
    Incomplete,
    /// A complete request head.
    Request(Head),
}

/// The relevant parts of a request head, printable and shortened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The path without the query.
    pub path: String,
    /// The `Host`.
    pub host: String,
    /// The `User-Agent`.
    pub agent: String,
    /// Whether a browser requests a page.
    pub(crate) wants_page: bool,
    pub(crate) accepts_page: bool,
    pub(crate) accepts_json: bool,
    pub(crate) is_without_body: bool,
    /// Whether the method is GET or HEAD.
    pub(crate) is_plain_read: bool,
    /// Whether it is a POST of the form on the waiting page.
    pub(crate) keeps_awake: bool,
    /// Whether a page of another site sent it, or its origin is unclear.
    pub(crate) is_cross_site: bool,
    /// The URL of the page with the form, if a browser sent it.
    pub(crate) came_from: Option<Box<str>>,
}

/// The last segment of the path to which the form on the waiting page is sent.
pub(crate) const KEEP_AWAKE: &str = "dayshift-keep-awake";

/// The maximum length of a URL to which a browser returns.
const MAX_URL: usize = 2_000;

const METHODS: [&str; 9] = [
    "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT",
];

/// The length of the longest method with the blank after it.
const MAX_METHOD: usize = 8;

impl FirstBytes {
    /// Recognizes the protocol.
    pub fn parse(bytes: &[u8]) -> Self {
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

/// Whether the protocol can be known since there were only so many bytes: the first bytes are a method, and a
/// request head ends with a line. Otherwise a client that sends single bytes would cause thousands of parses.
pub(crate) fn can_end_head(bytes: &[u8], before: usize) -> bool {
    before < MAX_METHOD || bytes.len() >= MAX_HEAD || bytes[before..].contains(&b'\n')
}

impl Head {
    fn from_request(request: &httparse::Request<'_, '_>) -> Self {
        let method = request.method.unwrap_or_default();
        let target = request.path.unwrap_or_default();
        let shown = |text: &str| cut_chars(&printable(text), MAX_SHOWN).to_owned();
        let path = path_of(target);
        let mut head = Self {
            path: shown(path),
            is_without_body: method == "HEAD",
            is_plain_read: matches!(method, "GET" | "HEAD"),
            keeps_awake: method == "POST" && path.rsplit('/').next() == Some(KEEP_AWAKE),
            ..Self::default()
        };
        if head.keeps_awake {
            head.is_cross_site = is_cross_site(request);
            let referrer = only_header(request, "referer").ok().flatten();
            let referrer = referrer.filter(|url| url.len() <= MAX_URL && is_of_host(url, request));
            head.came_from = referrer.map(Into::into);
        }
        let mut accepts_page = false;
        for header in &*request.headers {
            let value = String::from_utf8_lossy(header.value);
            match &*header.name.to_ascii_lowercase() {
                "host" => head.host = shown(&value),
                "user-agent" => head.agent = shown(&value),
                "accept" => {
                    accepts_page |= value.contains("text/html");
                    head.accepts_json |= value.contains("application/json");
                }
                _ => {}
            }
        }
        head.wants_page = accepts_page && head.is_plain_read;
        head.accepts_page = accepts_page;
        head
    }

    /// Whether the agent contains one of these texts, which are in lower case.
    pub(crate) fn is_by(&self, agents: &[String]) -> bool {
        let agent = self.agent.to_lowercase();
        agents.iter().any(|ignored| agent.contains(&**ignored))
    }
}

/// The path of a request target. Requests to a proxy contain an absolute URL. A query can contain one too.
fn path_of(target: &str) -> &str {
    let before_query = target.split(['?', '#']).next().unwrap_or_default();
    match before_query.split_once("://") {
        Some((_, rest)) if !target.starts_with('/') => rest.find('/').map_or("/", |at| &rest[at..]),
        _ => before_query,
    }
}

/// The value of a header; an error if it occurs twice or contains other than visible ASCII characters, because
/// a proxy and the activator could then read it in different ways.
fn only_header<'r>(
    request: &httparse::Request<'_, 'r>,
    name: &str,
) -> Result<Option<&'r str>, AmbiguousHeader> {
    let headers = request.headers.iter();
    let mut headers = headers.filter(|header| header.name.eq_ignore_ascii_case(name));
    let Some(header) = headers.next() else {
        return Ok(None);
    };
    if headers.next().is_some() {
        return Err(AmbiguousHeader);
    }
    let is_plain = header.value.iter().all(u8::is_ascii_graphic);
    let value = str::from_utf8(header.value).ok().filter(|_| is_plain);
    value.map(Some).ok_or(AmbiguousHeader)
}

#[derive(Debug)]
struct AmbiguousHeader;

/// Whether a page of another site sent the request. Every browser sends `Sec-Fetch-Site` over HTTPS, and
/// `Origin` with each POST; other programs send neither.
fn is_cross_site(request: &httparse::Request<'_, '_>) -> bool {
    match (
        only_header(request, "sec-fetch-site"),
        only_header(request, "origin"),
    ) {
        (Ok(Some(site)), Ok(_)) => site != "same-origin",
        (Ok(None), Ok(Some(origin))) => !is_of_host(origin, request),
        (Ok(None), Ok(None)) => false,
        (Err(_), _) | (_, Err(_)) => true,
    }
}

/// Whether this is a URL or an origin of the host that the client requests.
fn is_of_host(url: &str, request: &httparse::Request<'_, '_>) -> bool {
    let rest = url.strip_prefix("https://").or(url.strip_prefix("http://"));
    let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
    let requested = only_header(request, "host").ok().flatten();
    host.zip(requested).is_some_and(|(host, requested)| {
        host.eq_ignore_ascii_case(requested) && !url.contains('\\')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_of_the_page_is_recognized_by_its_method_and_last_segment() {
        let long = format!("POST /{}/dayshift-keep-awake", "x".repeat(500));
        for (line, expected) in [
            ("POST /dayshift-keep-awake", true),
            ("POST /shop/cart/dayshift-keep-awake?a", true),
            (&*long, true),
            ("GET /dayshift-keep-awake", false),
            ("POST /dayshift-keep-awake/", false),
            ("POST /a?/dayshift-keep-awake", false),
            ("POST /not-dayshift-keep-awake", false),
        ] {
            let head = request(&format!("{line} HTTP/1.1\r\nHost: a\r\n\r\n"));
            assert_eq!(head.keeps_awake, expected, "{line}");
        }
    }

    /// A path can be ignored or answered, so another URL in the target must not replace it.
    #[test]
    fn path_is_that_of_the_request_and_not_of_a_url_in_it() {
        for (target, expected) in [
            ("/shop/cart?a#b", "/shop/cart"),
            ("http://dev.example.com/shop?a", "/shop"),
            ("http://dev.example.com", "/"),
            ("/login?next=https://dev.example.com/healthz", "/login"),
            (
                "/proxy/https://dev.example.com/healthz",
                "/proxy/https://dev.example.com/healthz",
            ),
            ("http://dev.example.com?next=/healthz", "/"),
            ("http://dev.example.com/a?next=http://b/healthz", "/a"),
            ("*", "*"),
        ] {
            let head = request(&format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n"));
            assert_eq!(head.path, expected, "{target}");
        }
    }

    #[test]
    fn request_of_another_site_is_recognized_by_its_headers() {
        for (headers, expected) in [
            ("", false),
            ("Origin: http://dev.example.com", false),
            ("Origin: https://DEV.example.com", false),
            ("Sec-Fetch-Site: same-origin", false),
            // A proxy changed the Host.
            (
                "Sec-Fetch-Site: same-origin\r\nOrigin: https://public.example.com",
                false,
            ),
            (
                "Sec-Fetch-Site: same-site\r\nOrigin: https://dev.example.com",
                true,
            ),
            ("Sec-Fetch-Site: cross-site", true),
            ("Sec-Fetch-Site: none", true),
            ("Origin: null", true),
            ("Origin: https://evil.example.com", true),
            ("Origin: https://dev.example.com:8443", true),
            ("Origin: https://dev.example.com@evil.example.com", true),
            ("Origin: https://dev.example.com.evil.example.com", true),
            ("Origin:", true),
            // Two proxies or a smuggled header.
            (
                "Origin: https://dev.example.com\r\norigin: https://evil.example.com",
                true,
            ),
            (
                "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site",
                true,
            ),
            (
                "Origin: https://dev.example.com\r\nHost: evil.example.com",
                true,
            ),
            ("Origin: https://dev.example.com\u{e9}", true),
        ] {
            let head = request(&format!(
                "POST /dayshift-keep-awake HTTP/1.1\r\nHost: dev.example.com\r\n{headers}\r\n\r\n"
            ));
            assert_eq!(head.is_cross_site, expected, "{headers}");
        }
    }

    #[test]
    fn browser_returns_only_to_a_page_of_the_requested_host() {
        let long = format!("https://dev.example.com/{}", "x".repeat(MAX_URL));
        for (referrer, is_kept) in [
            ("https://dev.example.com/cart?a=b%0d", true),
            ("http://dev.example.com", true),
            ("https://evil.example.com/", false),
            ("https://dev.example.com@evil.example.com/", false),
            ("https://dev.example.com/\\evil.example.com/", false),
            ("//dev.example.com/", false),
            ("javascript://dev.example.com/%0aalert(1)", false),
            ("https://dev.example.com/a b", false),
            ("https://dev.example.com/\u{e9}", false),
            (&*long, false),
            (
                "https://dev.example.com/\r\nReferer: https://dev.example.com/",
                false,
            ),
        ] {
            let head = request(&format!(
                "POST /dayshift-keep-awake HTTP/1.1\r\nHost: dev.example.com\r\nReferer: {referrer}\r\n\r\n"
            ));
            let expected = is_kept.then_some(referrer);
            assert_eq!(head.came_from.as_deref(), expected, "{referrer}");
        }
    }

    #[test]
    fn head_is_parsed_once_for_each_line() {
        let head = format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(10_000));
        let bytes = head.as_bytes();
        let parses = (0..bytes.len()).filter(|before| can_end_head(&bytes[..=*before], *before));
        assert_eq!(parses.count(), MAX_METHOD + 3);
        assert!(can_end_head(bytes, 0));
        let endless = [b'x'; MAX_HEAD];
        assert!(can_end_head(&endless, MAX_HEAD - 1));
    }

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
        let json = request("GET / HTTP/1.1\r\nAccept: application/json\r\n\r\n");
        assert!(json.accepts_json && !json.wants_page && !head.accepts_json);
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
}
