//! What a request must satisfy before it is served: its `Host`, and of a form its origin, type, size and
//! duration; and the headers that protect every response.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Body, Bytes};
use tokio::time::timeout;

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
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let is_local = match bare {
        Some(address) => address
            .parse::<std::net::Ipv6Addr>()
            .is_ok_and(|address| address.is_loopback()),
        None => {
            host.eq_ignore_ascii_case("localhost")
                || host
                    .parse::<std::net::Ipv4Addr>()
                    .is_ok_and(|address| address.is_loopback())
        }
    };
    is_local && named.is_some() && port.is_none_or(|port| named == Some(port))
}

/// The most bytes of a form on one's own machine: enough for 2,000 names that are as long as may be.
const MAX_BYTES: usize = 1024 * 1024;
/// The same of a form of one of many users: a controller works beside the forms that all of them send.
const MAX_BYTES_OF_MANY: usize = 128 * 1024;
/// The longest that a form may take to come.
const FORM_TIMEOUT: Duration = Duration::from_secs(10);

/// Why a form is not taken.
pub(crate) type FormRefusal = (StatusCode, &'static str);

/// Whose forms they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FormSender {
    /// Somebody at this machine.
    Local,
    /// A user of a proxy, which may speak TLS with the browser.
    Proxied,
}

/// Whether a request comes from a page of ours: its `Host` is known to be this server, or is what the
/// proxy was asked for.
pub(crate) fn is_ours(headers: &HeaderMap, sender: FormSender) -> Result<(), FormRefusal> {
    let foreign = (
        StatusCode::FORBIDDEN,
        match sender {
            FormSender::Local => {
                "This form was not sent by a page of this server, so nothing was done."
            }
            FormSender::Proxied => {
                "This form was not sent by a page of this server, so nothing was done. The proxy has \
                 to pass on the Host of the browser."
            }
        },
    );
    let one = |name: HeaderName| {
        let mut values = headers.get_all(name).iter();
        match (values.next(), values.next()) {
            (Some(value), None) => value.to_str().ok(),
            _ => None,
        }
    };
    let host = one(header::HOST).ok_or(foreign)?;
    let origin = one(header::ORIGIN).and_then(|origin| match origin.strip_prefix("https://") {
        Some(host) if sender == FormSender::Proxied => Some(host),
        _ => origin.strip_prefix("http://"),
    });
    if !origin.is_some_and(|origin| origin.eq_ignore_ascii_case(host)) {
        return Err(foreign);
    }
    // Where a browser says how it came to send it, it says so.
    let site = headers.get_all("sec-fetch-site").iter();
    if site.into_iter().any(|site| site != "same-origin") {
        return Err(foreign);
    }
    let form = one(header::CONTENT_TYPE).and_then(|form| form.split(';').next());
    let is_form = form.is_some_and(|media| {
        media
            .trim()
            .eq_ignore_ascii_case("application/x-www-form-urlencoded")
    });
    if !is_form {
        let message = "Send a form: application/x-www-form-urlencoded.";
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    Ok(())
}

/// The body of a form, if it is not too large and comes in time.
pub(crate) async fn body<B>(body: B, sender: FormSender) -> Result<Bytes, FormRefusal>
where
    B: Body,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let (max, too_large) = match sender {
        FormSender::Local => (
            MAX_BYTES,
            "The form is larger than 1 MB, or it broke off. Choose fewer workloads, or a namespace.",
        ),
        FormSender::Proxied => (
            MAX_BYTES_OF_MANY,
            "The form is larger than 128 kB, or it broke off. Choose fewer workloads, or a namespace.",
        ),
    };
    match timeout(FORM_TIMEOUT, Limited::new(body, max).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(_)) => Err((StatusCode::PAYLOAD_TOO_LARGE, too_large)),
        Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "The form took too long.")),
    }
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

    #[test]
    fn only_a_page_of_this_server_sends_forms() {
        let form = "application/x-www-form-urlencoded";
        let ours = [
            ("host", "127.0.0.1:8000"),
            ("origin", "http://127.0.0.1:8000"),
            ("content-type", form),
            ("sec-fetch-site", "same-origin"),
        ];
        let judged_as = |sender, changed: &[(&'static str, Option<&'static str>)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in ours {
                let value = changed
                    .iter()
                    .find(|change| change.0 == name)
                    .map_or(Some(value), |change| change.1);
                if let Some(value) = value {
                    headers.append(name, HeaderValue::from_static(value));
                }
            }
            is_ours(&headers, sender).map_err(|(status, _)| status.as_u16())
        };
        let judged = |changed: &[_]| judged_as(FormSender::Local, changed);
        assert_eq!(judged(&[]), Ok(()));
        assert_eq!(judged(&[("sec-fetch-site", None)]), Ok(()));
        for (name, value, expected) in [
            ("origin", None, 403),
            ("origin", Some("null"), 403),
            ("origin", Some("http://evil.example"), 403),
            ("origin", Some("https://127.0.0.1:8000"), 403),
            ("origin", Some("http://127.0.0.1:8001"), 403),
            ("origin", Some("http://127.0.0.1:8000.evil.example"), 403),
            ("origin", Some("http://localhost:8000"), 403),
            ("host", None, 403),
            ("sec-fetch-site", Some("cross-site"), 403),
            ("sec-fetch-site", Some("same-site"), 403),
            ("sec-fetch-site", Some("none"), 403),
            ("content-type", None, 415),
            ("content-type", Some("text/plain"), 415),
            ("content-type", Some("multipart/form-data; boundary=x"), 415),
            ("content-type", Some("application/json"), 415),
        ] {
            assert_eq!(judged(&[(name, value)]), Err(expected), "{name}: {value:?}");
            let is_tls = value == Some("https://127.0.0.1:8000");
            let expected = if is_tls { Ok(()) } else { Err(expected) };
            let found = judged_as(FormSender::Proxied, &[(name, value)]);
            assert_eq!(found, expected, "{name}: {value:?}");
        }
    }
}
