//! What a request must satisfy before it is served: its `Host`, and of a form its origin, type, size and
//! duration; and the headers that protect every response.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Body, Bytes};
use tokio::time::timeout;

/// Only the dashboard's own style sheet and icon are loaded, only the script with this hash runs
/// (`pages/edges.js`), and no page can be framed.
const POLICY: &str = "default-src 'none'; script-src 'sha256-ySaayRQS8hlN5oPex7Tr9KPV7Ch3F01jzWXT+n2NSCc='; \
                      style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'none'";

/// Adds the security headers that the response does not set itself.
pub(super) fn harden(headers: &mut HeaderMap) {
    let all: [(HeaderName, &'static str); 7] = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        // Without this header, browsers send `Origin: null` with the dashboard's own forms.
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

/// The `Host` values that a request can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hosts {
    /// Any: a proxy sets it.
    Any,
    /// A loopback address with any port.
    Loopback,
    /// A loopback address with this port.
    LoopbackAt(u16),
}

impl Hosts {
    pub(super) fn are_named(self, headers: &HeaderMap) -> bool {
        match self {
            Self::Any => true,
            Self::Loopback => is_for_loopback(headers, None),
            Self::LoopbackAt(port) => is_for_loopback(headers, Some(port)),
        }
    }

    /// The message for a request with another `Host`.
    pub(super) fn refusal(self) -> String {
        match self {
            Self::LoopbackAt(port) => format!(
                "This page is served only at a loopback address, such as http://127.0.0.1:{port}/."
            ),
            Self::Any | Self::Loopback => {
                "This page is served only at a loopback address, such as that of kubectl port-forward."
                    .to_owned()
            }
        }
    }
}

/// Rejects DNS rebinding: a foreign name that resolves to this machine.
fn is_for_loopback(headers: &HeaderMap, port: Option<u16>) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return false;
    };
    host.to_str().is_ok_and(|host| is_loopback(host, port))
}

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

/// The maximum size of a form from the local user: 2,000 names of the maximum length.
const MAX_BYTES: usize = 1024 * 1024;
/// The maximum size of a form from one of many users, who share the controller's memory.
const MAX_BYTES_OF_MANY: usize = 128 * 1024;
/// The maximum time to receive a form.
const FORM_TIMEOUT: Duration = Duration::from_secs(10);

/// The status and message for a rejected form.
pub(crate) type FormRefusal = (StatusCode, &'static str);

/// The origin of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FormSender {
    /// The user of this machine.
    Local,
    /// A user behind a proxy, which might terminate TLS.
    Proxied,
}

/// Rejects a form that another site sent. The `Host` must be this server, or the one that the proxy received.
pub(crate) fn is_ours(headers: &HeaderMap, sender: FormSender) -> Result<(), FormRefusal> {
    let foreign = (
        StatusCode::FORBIDDEN,
        match sender {
            FormSender::Local => {
                "This form was not sent by a page of this server, so nothing was done."
            }
            FormSender::Proxied => {
                "This form was not sent by a page of this server, so nothing was done. The proxy \
                    must forward the Host header of the browser."
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
    // Browsers that support this header set it.
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

/// Reads a form within the limits of size and time.
pub(crate) async fn body<B>(body: B, sender: FormSender) -> Result<Bytes, FormRefusal>
where
    B: Body,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let (max, too_large) = match sender {
        FormSender::Local => (
            MAX_BYTES,
            "The form is larger than 1 MB, or it is incomplete. Select fewer workloads, or a \
                namespace.",
        ),
        FormSender::Proxied => (
            MAX_BYTES_OF_MANY,
            "The form is larger than 128 kB, or it is incomplete. Select fewer workloads, or a \
                namespace.",
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
    fn host_must_be_a_loopback_address_with_this_port() {
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
    fn several_host_headers_are_rejected() {
        let mut headers = HeaderMap::new();
        assert!(!is_for_loopback(&headers, Some(8000)));
        let host = HeaderValue::from_static("127.0.0.1:8000");
        headers.append(header::HOST, host.clone());
        assert!(is_for_loopback(&headers, Some(8000)));
        headers.append(header::HOST, host);
        assert!(!is_for_loopback(&headers, Some(8000)));
    }

    #[test]
    fn form_from_another_origin_is_rejected() {
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
