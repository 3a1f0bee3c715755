//! Routes a request to a page, a form or a file, and writes the response.

use std::{borrow::Cow, sync::Arc};

use dayshift_cluster::read::{FindError, may_patch_namespace};
use http::{HeaderValue, Method, Request, Response, StatusCode, header, request::Parts};
use http_body_util::Full;
use hyper::body::{Body, Bytes};
use percent_encoding::percent_decode_str;

use super::{
    entrance::{Entered, Visitor},
    events::EventSubject,
    form::ScheduleFields,
    guard::harden,
    pages::{self, Page},
    params::Params,
    permissions::patchable_by_name,
    plan::PlanPhase,
    source::{Dashboard, Seen},
    view::Row,
};

const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
const CSS: HeaderValue = HeaderValue::from_static("text/css; charset=utf-8");
const CALENDAR: HeaderValue = HeaderValue::from_static("text/calendar; charset=utf-8");
const SVG: HeaderValue = HeaderValue::from_static("image/svg+xml");

/// The seconds until a browser reloads a page that shows the cluster.
const REFRESH: HeaderValue = HeaderValue::from_static("10");
/// The seconds until a browser reloads a page that has nothing to show yet.
const SOON: HeaderValue = HeaderValue::from_static("1");

impl Dashboard {
    /// Serves one request.
    pub async fn answer<B>(self: Arc<Self>, request: Request<B>) -> Response<Full<Bytes>>
    where
        B: Body + Send,
        B::Data: Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (head, body) = request.into_parts();
        let mut response = self.respond(&head, body).await;
        harden(response.headers_mut());
        response
    }

    async fn respond<B>(&self, head: &Parts, body: B) -> Response<Full<Bytes>>
    where
        B: Body + Send,
        B::Data: Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let uri = &head.uri;
        let params = Params::parse(
            uri.query().unwrap_or_default(),
            &self.settings.context.tzdata,
        );
        let fails = |status: StatusCode, message: &str| {
            html(status, pages::failure(&params, status, message))
        };
        if !self.hosts.are_named(&head.headers) {
            return fails(StatusCode::FORBIDDEN, &self.hosts.refusal());
        }
        let path = uri.path();
        let parts: Option<Vec<Cow<'_, str>>> = path
            .split('/')
            .skip(1)
            .map(|part| percent_decode_str(part).decode_utf8().ok())
            .collect();
        let parts = parts.unwrap_or_default();
        let parts: Vec<&str> = parts.iter().map(|part| &**part).collect();
        let known = match parts[..] {
            ["confirm" | "act"] | ["result", _] | ["object", _, _, _, "schedule"] => {
                self.actions.is_some()
            }
            ["" | "timeline" | "namespaces" | "style.css" | "icon.svg" | "alert.svg"]
            | ["object", _, _, _]
            | ["ns", _]
            | ["ns", _, "what-if"] => true,
            _ => false,
        };
        if !known {
            return fails(StatusCode::NOT_FOUND, "There is no such page.");
        }
        let visitor = match &parts[..] {
            ["style.css" | "icon.svg" | "alert.svg"] => None,
            _ => match self.entrance.enter(head) {
                Entered::Anybody => None,
                Entered::As(visitor) => Some(visitor),
                Entered::Led { to, cookie } => return led(&to, cookie),
                Entered::FormRefusal(status, message) => return fails(status, &message),
            },
        };
        let visitor = visitor.as_ref();
        let session = visitor.and_then(|visitor| visitor.session.as_ref());
        let _turn = match session {
            None => None,
            Some(session) => match session.turn().await {
                Some(turn) => Some(turn),
                None => {
                    let message = "Too many of your requests wait for a response. Try again later.";
                    return fails(StatusCode::TOO_MANY_REQUESTS, message);
                }
            },
        };
        let acting = self.actions.as_ref().zip(visitor);
        let not_allowed = |allowed, message| {
            let mut response = fails(StatusCode::METHOD_NOT_ALLOWED, message);
            let allowed = HeaderValue::from_static(allowed);
            response.headers_mut().insert(header::ALLOW, allowed);
            response
        };
        if let (["confirm" | "act"], Some(acting)) = (&parts[..], acting) {
            if head.method != Method::POST {
                return not_allowed("POST", "Send the form: opening this page has no effect.");
            }
            let is_confirmed = parts == ["act"];
            return self
                .posted(acting, &head.headers, body, is_confirmed, &params)
                .await;
        }
        if !matches!(head.method, Method::GET | Method::HEAD) {
            return not_allowed("GET, HEAD", "This page is read-only.");
        }
        match parts[..] {
            ["style.css"] => typed_response(CSS, pages::STYLE),
            ["icon.svg"] => typed_response(SVG, pages::ICON),
            ["alert.svg"] => typed_response(SVG, pages::ALERT_ICON),
            _ => {
                let query = uri.query().unwrap_or_default();
                self.page(&parts, (&params, query), visitor).await
            }
        }
    }

    pub(super) fn page_of<'p>(
        &'p self,
        seen: &'p Seen,
        params: &'p Params,
        visitor: Option<&'p Visitor>,
    ) -> Page<'p> {
        Page {
            view: &seen.view,
            patchable: seen.patchable.as_deref(),
            labeled: seen.labeled.as_ref().map(Option::as_ref),
            params,
            settings: &self.settings,
            token: visitor
                .filter(|_| self.actions.is_some())
                .map(|visitor| visitor.token.text()),
            user: visitor.and_then(Visitor::user_name),
            price: self.savings.price.as_deref(),
            recorder: self.savings.counted_by.as_deref(),
        }
    }

    /// Renders the page at this path from the current view.
    async fn page(
        &self,
        parts: &[&str],
        (params, query): (&Params, &str),
        visitor: Option<&Visitor>,
    ) -> Response<Full<Bytes>> {
        let fails = |message: &str| {
            let status = StatusCode::NOT_FOUND;
            html(status, pages::failure(params, status, message))
        };
        let mut seen = match self.seen_by(visitor).await {
            Ok(seen) => seen,
            Err(error) => return html(UNASKED, pages::failure(params, UNASKED, &unasked(&error))),
        };
        if let Some(visitor) = visitor
            && may_change_by_name(parts, &seen, visitor).await
        {
            seen.patchable = None;
        }
        if parts == ["timeline"] {
            self.resolve_labels(&mut seen, visitor, params).await;
        }
        let view = &seen.view;
        if matches!(*parts, ["" | "namespaces"] | ["ns", _]) {
            view.complete_forecasts().await;
        }
        let page = self.page_of(&seen, params, visitor);
        let acting = self.actions.as_ref().zip(visitor);
        if !view.is_complete {
            let (status, again) = match view.outage {
                Some(_) => (StatusCode::SERVICE_UNAVAILABLE, REFRESH),
                None => (StatusCode::OK, SOON),
            };
            let mut response = html(status, page.waiting());
            response.headers_mut().insert(header::REFRESH, again);
            return response;
        }
        match *parts {
            [""] => {
                let savings = self.savings.summary(view, page.zone());
                live(page.overview(&savings), params)
            }
            ["result", id] => {
                let find =
                    |id| acting.and_then(|(actions, visitor)| actions.find(&visitor.identity, id));
                match id.parse().ok().and_then(find) {
                    Some(plan) => {
                        let again = match plan.progress().phase {
                            PlanPhase::Done => page.is_becoming_ready(&plan).then_some(REFRESH),
                            PlanPhase::Preview | PlanPhase::UnderWay { .. } => Some(SOON),
                        };
                        let mut response = html(StatusCode::OK, page.result(&plan));
                        if let Some(again) = again {
                            response.headers_mut().insert(header::REFRESH, again);
                        }
                        response
                    }
                    None => fails("This result is no longer kept."),
                }
            }
            ["timeline"] if page.has_forms() => html(StatusCode::OK, page.timeline()),
            ["timeline"] => live(page.timeline(), params),
            ["namespaces"] => live(page.namespace_list(), params),
            ["object", namespace, kind, name] => match view.row(namespace, kind, name) {
                Some(row) => {
                    let subject = EventSubject::Workload(row.status.object.clone());
                    let events = self.events(subject, &[row]).await;
                    live(page.object(row, &events), params)
                }
                None => fails("There is no such workload here, or it has no schedule."),
            },
            ["object", namespace, kind, name, "schedule"] => {
                match view.row(namespace, kind, name) {
                    Some(row) => html(StatusCode::OK, page.schedule_editor(row)),
                    None => fails("There is no such workload here, or it has no schedule."),
                }
            }
            ["ns", name, "what-if"] if !view.rows_of(name).is_empty() => {
                let tried = ScheduleFields::parse(query);
                html(StatusCode::OK, page.what_if(name, &tried))
            }
            ["ns", file]
                if let Some(name) = file.strip_suffix(".ics")
                    && !view.rows_of(name).is_empty() =>
            {
                typed_response(CALENDAR, page.calendar(name).unwrap_or_default())
            }
            ["ns", name] if view.rows_of(name).is_empty() => {
                fails("No visible workload of this namespace has a schedule.")
            }
            ["ns", name] => {
                let subject = EventSubject::Namespace(name.to_owned());
                let events = self.events(subject, &view.rows_of(name)).await;
                live(page.namespace(name, &events), params)
            }
            _ => fails("There is no such page."),
        }
    }
}

/// Whether a visitor may change the object or the Namespace of a page, although not all objects of that kind.
async fn may_change_by_name(parts: &[&str], seen: &Seen, visitor: &Visitor) -> bool {
    let Some(patchable) = &seen.patchable else {
        return false;
    };
    let is_patchable = |row: &Row| patchable.includes(&row.status.object);
    match *parts {
        ["object", namespace, kind, name] | ["object", namespace, kind, name, "schedule"] => {
            match seen.view.row(namespace, kind, name) {
                Some(row) if !is_patchable(row) => {
                    let object = row.status.object.clone();
                    let named = patchable_by_name(&visitor.client, vec![object]).await;
                    named.is_ok_and(|named| !named.is_empty())
                }
                _ => false,
            }
        }
        ["ns", name] => {
            let rows = seen.view.rows_of(name);
            let is_other = !rows.is_empty() && !rows.into_iter().any(is_patchable);
            is_other && may_patch_namespace(&visitor.client, name).await == Ok(true)
        }
        _ => false,
    }
}

/// The status if the API server does not answer which workloads a user may see.
pub(super) const UNASKED: StatusCode = StatusCode::SERVICE_UNAVAILABLE;

pub(super) fn unasked(error: &FindError) -> String {
    format!(
        "dayshift cannot determine which workloads you may see: {error}. Its requests \
            impersonate you, for which it needs a permission: apply manifests/dashboard-login.yaml, or set \
         dashboard.login.enabled in the chart."
    )
}

/// Redirects a browser that has the key to the same address without it. The referrer policy keeps the key
/// from the next page.
fn led(to: &str, cookie: HeaderValue) -> Response<Full<Bytes>> {
    let mut response = html(StatusCode::SEE_OTHER, String::new());
    let headers = response.headers_mut();
    if let Ok(to) = HeaderValue::try_from(to) {
        headers.insert(header::LOCATION, to);
    }
    headers.insert(header::SET_COOKIE, cookie);
    let policy = HeaderValue::from_static("no-referrer");
    headers.insert(header::REFERRER_POLICY, policy);
    response
}

/// A page that reloads automatically, unless the reader turned that off.
fn live(page: String, params: &Params) -> Response<Full<Bytes>> {
    let mut response = html(StatusCode::OK, page);
    if !params.still {
        response.headers_mut().insert(header::REFRESH, REFRESH);
    }
    response
}

pub(super) fn html(status: StatusCode, page: String) -> Response<Full<Bytes>> {
    let mut response = typed_response(HTML, page);
    *response.status_mut() = status;
    response
}

fn typed_response(content_type: HeaderValue, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, content_type);
    response
}
