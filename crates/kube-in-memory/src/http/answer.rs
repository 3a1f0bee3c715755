//! What a request is answered with, and the response that carries it.

use std::convert::Infallible;

use chrono::{DateTime, Utc};
use http::header::{CONTENT_TYPE, DATE, RETRY_AFTER};
use http::{HeaderValue, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use serde_json::json;

use crate::objects::Resource;
use crate::status::{Details, Status};

pub(crate) type ResponseBody = UnsyncBoxBody<Bytes, Infallible>;

/// What a request is answered with.
pub(super) enum Answer {
    Json(u16, Vec<u8>),
    Text(u16, &'static str),
    Stream(ResponseBody),
}

impl Answer {
    /// `now` is what the `Date` header says.
    pub(super) fn respond(
        answer: Result<Self, Status>,
        now: DateTime<Utc>,
    ) -> Response<ResponseBody> {
        let mut wait = 0;
        let answer = answer.unwrap_or_else(|status| {
            wait = status
                .details
                .as_ref()
                .map_or(0, |details| details.retry_after_seconds);
            Self::Json(status.code, status.to_value().to_string().into_bytes())
        });
        let (code, kind, body) = match answer {
            Self::Json(code, body) => (code, "application/json", full(body)),
            Self::Text(code, text) => (code, "text/plain; charset=utf-8", full(text)),
            Self::Stream(body) => (200, "application/json", body),
        };
        let mut response = Response::new(body);
        *response.status_mut() = http::StatusCode::from_u16(code).unwrap_or_default();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        let date = now.format("%a, %d %b %Y %H:%M:%S GMT").to_string();
        if let Ok(date) = HeaderValue::from_str(&date) {
            headers.insert(DATE, date);
        }
        if wait > 0 {
            headers.insert(RETRY_AFTER, HeaderValue::from(wait));
        }
        response
    }

    /// `/version`, `/readyz` and the like.
    pub(super) fn page(text: &'static str) -> Self {
        if text.starts_with('{') {
            Self::Json(200, text.as_bytes().to_vec())
        } else {
            Self::Text(200, text)
        }
    }

    /// What a deletion that leaves nothing is answered with.
    pub(super) fn gone(resource: &Resource, name: &str, uid: String) -> Self {
        let details = Details {
            name: name.into(),
            group: resource.group.into(),
            kind: resource.plural.into(),
            uid,
            ..Details::default()
        };
        let status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details,
        });
        Self::Json(200, status.to_string().into_bytes())
    }
}

fn full(body: impl Into<Bytes>) -> ResponseBody {
    Full::new(body.into()).boxed_unsync()
}
