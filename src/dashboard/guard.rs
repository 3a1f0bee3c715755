//! Who may ask, and what every answer says to the browser.

use http::{HeaderMap, HeaderName, HeaderValue, header};

/// Nothing but our own style sheet and icon may be loaded, nothing may run, and nobody may put a
/// page into one of theirs.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";

/// What every answer says, unless it says that itself.
pub(super) fn harden(headers: &mut HeaderMap) {
    let all: [(HeaderName, &'static str); 7] = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        // Without it a browser says of our own forms that they are nobody's.
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ];
    for (name, value) in all {
        let value = HeaderValue::from_static(value);
        headers.entry(name).or_insert(value);
    }
}

/// What a request must say that it is meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hosts {
    /// Anything: it may come from anywhere.
    Any,
    /// A loopback address, and any port of it.
    Loopback,
    /// This port of a loopback address.
    LoopbackAt(u16),
}

impl Hosts {
    /// Whether a request is meant for here.
    pub(super) fn are_named(self, headers: &HeaderMap) -> bool {
        match self {
            Self::Any => true,
            Self::Loopback => is_for_loopback(headers, None),
            Self::LoopbackAt(port) => is_for_loopback(headers, Some(port)),
        }
    }

    /// What is said to who names something else.
    pub(super) fn refusal(self) -> String {
        match self {
            Self::LoopbackAt(port) => format!(
                "This page answers only at a loopback address, such as http://127.0.0.1:{port}/."
            ),
            Self::Any | Self::Loopback => {
                "This page answers only at a loopback address, such as that of kubectl port-forward."
                    .to_owned()
            }
        }
    }
}

/// Whether a request was meant for this port of a loopback address. The name of somebody else
/// that is resolved to this machine ("DNS rebinding") is not.
fn is_for_loopback(headers: &HeaderMap, port: Option<u16>) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return false;
    };
    host.to_str().is_ok_and(|host| is_loopback(host, port))
}

/// Whether this is a loopback address or `localhost`, with this port.
fn is_loopback(authority: &str, port: Option<u16>) -> bool {
    let (host, named) = match authority.rsplit_once(':') {
        Some((host, named)) if !named.ends_with(']') => (host, named.parse::<u16>().ok()),
        _ => (authority, Some(80)),
    };
    let bare = host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    let is_local = match bare {
        Some(address) => address
            .parse::<std::net::Ipv6Addr>()
            .is_ok_and(|it| it.is_loopback()),
        None => {
            host.eq_ignore_ascii_case("localhost")
                || host
                    .parse::<std::net::Ipv4Addr>()
                    .is_ok_and(|it| it.is_loopback())
        }
    };
    is_local && named.is_some() && port.is_none_or(|port| named == Some(port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_port_of_loopback_is_meant() {
        for (host, expected) in [
            ("127.0.0.1:8000", true),
            ("127.1.2.3:8000", true),
            ("localhost:8000", true),
            ("LocalHost:8000", true),
            ("[::1]:8000", true),
            ("127.0.0.1", false),
            ("localhost", false),
            ("[::1]", false),
            ("127.0.0.1:8001", false),
            ("127.0.0.1:", false),
            ("localhost.:8000", false),
            ("evil.example:8000", false),
            ("localhost.evil.example:8000", false),
            ("127.0.0.1.evil.example:8000", false),
            ("127.0.0.1:8000@evil.example", false),
            ("evil.example@127.0.0.1:8000", false),
            ("::1:8000", false),
            ("[::ffff:10.0.0.1]:8000", false),
            ("10.0.0.1:8000", false),
            ("0.0.0.0:8000", false),
            ("", false),
        ] {
            assert_eq!(is_loopback(host, Some(8000)), expected, "{host}");
        }
        assert!(is_loopback("localhost", Some(80)));
        for (host, expected) in [
            ("127.0.0.1:8000", true),
            ("localhost", true),
            ("[::1]:9", true),
            ("localhost:", false),
            ("evil.example", false),
            ("10.0.0.1:8000", false),
        ] {
            assert_eq!(is_loopback(host, None), expected, "{host}");
        }
    }

    #[test]
    fn one_host_is_named_and_not_several() {
        let mut headers = HeaderMap::new();
        assert!(!is_for_loopback(&headers, Some(8000)));
        let host = HeaderValue::from_static("127.0.0.1:8000");
        headers.append(header::HOST, host.clone());
        assert!(is_for_loopback(&headers, Some(8000)));
        headers.append(header::HOST, host);
        assert!(!is_for_loopback(&headers, Some(8000)));
    }
}
