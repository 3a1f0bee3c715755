//! What is answered to which request.

use std::{borrow::Cow, sync::Arc};

use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Bytes;
use percent_encoding::percent_decode_str;

use super::{
    guard::{harden, is_for_loopback},
    pages::{self, Page},
    params::Params,
    source::Dashboard,
};

const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
const CSS: HeaderValue = HeaderValue::from_static("text/css; charset=utf-8");
const SVG: HeaderValue = HeaderValue::from_static("image/svg+xml");

/// So often an overview is read again.
const REFRESH: HeaderValue = HeaderValue::from_static("10");
/// The same before there is anything to show.
const SOON: HeaderValue = HeaderValue::from_static("1");

impl Dashboard {
    /// The answer to a request.
    pub async fn answer<B>(self: Arc<Self>, request: Request<B>) -> Response<Full<Bytes>> {
        let mut response = self.respond(&request).await;
        harden(response.headers_mut());
        response
    }

    async fn respond<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        let uri = request.uri();
        let params = Params::parse(uri.query().unwrap_or_default());
        let fails = |status: StatusCode, message: &str| {
            html(status, pages::failure(&params, status, message))
        };
        if let Some(port) = self.port
            && !is_for_loopback(request.headers(), port)
        {
            let message = format!(
                "This page answers only at a loopback address, such as http://127.0.0.1:{port}/."
            );
            return fails(StatusCode::FORBIDDEN, &message);
        }
        let path = uri.path();
        let parts: Option<Vec<Cow<'_, str>>> = path
            .split('/')
            .skip(1)
            .map(|part| percent_decode_str(part).decode_utf8().ok())
            .collect();
        let parts = parts.unwrap_or_default();
        let parts: Vec<&str> = parts.iter().map(|it| &**it).collect();
        let known = matches!(
            parts[..],
            ["" | "timeline" | "style.css" | "icon.svg"] | ["object", _, _, _]
        );
        if !known {
            return fails(StatusCode::NOT_FOUND, "There is no such page.");
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let mut response = fails(
                StatusCode::METHOD_NOT_ALLOWED,
                "This page can only be read.",
            );
            let allowed = HeaderValue::from_static("GET, HEAD");
            response.headers_mut().insert(header::ALLOW, allowed);
            return response;
        }
        match parts[..] {
            ["style.css"] => return of_type(CSS, pages::STYLE),
            ["icon.svg"] => return of_type(SVG, pages::ICON),
            _ => {}
        }
        let view = self.view();
        let page = Page {
            view: &view,
            params: &params,
            settings: &self.settings,
        };
        if !view.is_complete {
            let (status, again) = match view.outage {
                Some(_) => (StatusCode::SERVICE_UNAVAILABLE, REFRESH),
                None => (StatusCode::OK, SOON),
            };
            let mut response = html(status, page.waiting());
            response.headers_mut().insert(header::REFRESH, again);
            return response;
        }
        match parts[..] {
            [""] => {
                let saved = self.saved.as_ref().map(|saved| saved(view.now));
                live(page.overview(saved), &params)
            }
            ["timeline"] => html(StatusCode::OK, page.timeline()),
            ["object", namespace, kind, name] => {
                let row = view.rows.iter().find(|row| {
                    let object = &row.status.object;
                    &*object.namespace == namespace
                        && &*object.name == name
                        && object.kind.short_name() == kind
                });
                match row {
                    Some(row) => {
                        let events = self.events(&row.status.object).await;
                        live(page.object(row, &events), &params)
                    }
                    None => fails(
                        StatusCode::NOT_FOUND,
                        "There is no such workload here, or it has no schedule.",
                    ),
                }
            }
            _ => fails(StatusCode::NOT_FOUND, "There is no such page."),
        }
    }
}

/// A page that is read again by itself, unless that is not wanted.
fn live(page: String, params: &Params) -> Response<Full<Bytes>> {
    let mut response = html(StatusCode::OK, page);
    if !params.still {
        response.headers_mut().insert(header::REFRESH, REFRESH);
    }
    response
}

fn html(status: StatusCode, page: String) -> Response<Full<Bytes>> {
    let mut response = of_type(HTML, page);
    *response.status_mut() = status;
    response
}

fn of_type(content_type: HeaderValue, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, content_type);
    response
}
