//! Which posted forms are taken: those of our own pages, of this start, that are not too large.

use std::time::Duration;

use http::{HeaderMap, HeaderName, StatusCode, header};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Body, Bytes};
use tokio::time::timeout;

/// The most bytes of a form on one's own machine: enough for 2,000 names that are as long as may be.
const MAX_BYTES: usize = 1024 * 1024;
/// The same of a form of one of many users: a controller works beside the forms that all of them send.
const MAX_BYTES_OF_MANY: usize = 128 * 1024;
/// The longest that a form may take to come.
const FORM_TIMEOUT: Duration = Duration::from_secs(10);

/// Why a form is not taken.
pub(super) type Refused = (StatusCode, &'static str);

/// Whose forms they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sender {
    /// Somebody at this machine.
    Local,
    /// A user of a proxy, which may speak TLS with the browser.
    Proxied,
}

/// Whether a request comes from a page of ours: its `Host` is known to be this server, or is what the
/// proxy was asked for.
pub(super) fn is_ours(headers: &HeaderMap, sender: Sender) -> Result<(), Refused> {
    let foreign = (
        StatusCode::FORBIDDEN,
        match sender {
            Sender::Local => {
                "This form was not sent by a page of this server, so nothing was done."
            }
            Sender::Proxied => {
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
    let origin = one(header::ORIGIN).and_then(|it| match it.strip_prefix("https://") {
        Some(host) if sender == Sender::Proxied => Some(host),
        _ => it.strip_prefix("http://"),
    });
    if !origin.is_some_and(|origin| origin.eq_ignore_ascii_case(host)) {
        return Err(foreign);
    }
    // Where a browser says how it came to send it, it says so.
    let site = headers.get_all("sec-fetch-site").iter();
    if site.into_iter().any(|it| it != "same-origin") {
        return Err(foreign);
    }
    let form = one(header::CONTENT_TYPE).and_then(|it| it.split(';').next());
    let is_form = form.is_some_and(|it| {
        it.trim()
            .eq_ignore_ascii_case("application/x-www-form-urlencoded")
    });
    if !is_form {
        let message = "Send a form: application/x-www-form-urlencoded.";
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    Ok(())
}

/// The body of a form, if it is not too large and comes in time.
pub(super) async fn body<B>(body: B, sender: Sender) -> Result<Bytes, Refused>
where
    B: Body,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let (max, too_large) = match sender {
        Sender::Local => (
            MAX_BYTES,
            "The form is larger than 1 MB, or it broke off. Choose fewer workloads, or a namespace.",
        ),
        Sender::Proxied => (
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
    use http::HeaderValue;

    use super::*;

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
                    .find(|it| it.0 == name)
                    .map_or(Some(value), |it| it.1);
                if let Some(value) = value {
                    headers.append(name, HeaderValue::from_static(value));
                }
            }
            is_ours(&headers, sender).map_err(|(status, _)| status.as_u16())
        };
        let judged = |changed: &[_]| judged_as(Sender::Local, changed);
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
            let found = judged_as(Sender::Proxied, &[(name, value)]);
            assert_eq!(found, expected, "{name}: {value:?}");
        }
    }
}
