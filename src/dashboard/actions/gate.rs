//! Which posted forms are taken: those of our own pages, of this start, that are not too large.

use std::time::Duration;

use http::{HeaderMap, HeaderName, StatusCode, header};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Body, Bytes};
use tokio::time::timeout;

/// The most bytes of a form: enough for 2,000 names that are as long as may be.
const MAX_BYTES: usize = 1024 * 1024;
/// The longest that a form may take to come.
const FORM_TIMEOUT: Duration = Duration::from_secs(10);

/// Why a form is not taken.
pub(super) type Refused = (StatusCode, &'static str);

/// Whether a request comes from a page of ours: its `Host` is known to be this server.
pub(super) fn is_ours(headers: &HeaderMap) -> Result<(), Refused> {
    let foreign = (
        StatusCode::FORBIDDEN,
        "This form was not sent by a page of this server, so nothing was done.",
    );
    let one = |name: HeaderName| {
        let mut values = headers.get_all(name).iter();
        match (values.next(), values.next()) {
            (Some(value), None) => value.to_str().ok(),
            _ => None,
        }
    };
    let host = one(header::HOST).ok_or(foreign)?;
    let origin = one(header::ORIGIN).and_then(|it| it.strip_prefix("http://"));
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
pub(super) async fn body<B>(body: B) -> Result<Bytes, Refused>
where
    B: Body,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    match timeout(FORM_TIMEOUT, Limited::new(body, MAX_BYTES).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(_)) => Err((
            StatusCode::PAYLOAD_TOO_LARGE,
            "The form is larger than 1 MB, or it broke off. Choose fewer workloads, or a namespace.",
        )),
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
        let judged = |changed: &[(&'static str, Option<&'static str>)]| {
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
            is_ours(&headers).map_err(|(status, _)| status.as_u16())
        };
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
        }
    }
}
