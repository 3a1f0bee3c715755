//! Browsers of users behind a proxy.

use std::{cell::RefCell, net::SocketAddr, pin::Pin, sync::Arc, time::Duration};

use dayshift::dashboard::{self, Dashboard, SECRET_HEADER, TrustedProxy, UserHeaders, Users};
use dayshift_cluster::Query;
use dayshift_controller::CalendarFeed;
use dayshift_workload::{Kind, ParseContext, Prefix};
use futures::future::join_all;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;

use super::guarded_api::{Guard, client};
use crate::sandbox::Sandbox;

pub(super) const PROXY: &str = "10.1.2.3:40000";
/// The secret that this proxy sends.
const SECRET: &str = "0123456789abcdef";
const HOST: &str = "dayshift.example.com";

/// A sandbox whose pages are served to users through a proxy.
pub(super) struct Proxied<'s> {
    scenario: &'s Sandbox,
    pages: Arc<Dashboard>,
    /// The work of the pages while a test waits.
    work: RefCell<Pin<Box<dyn Future<Output = ()>>>>,
    pub(super) guard: Arc<Guard>,
}

#[derive(Debug)]
pub(super) struct PageResponse {
    pub(super) status: u16,
    pub(super) location: Option<String>,
    pub(super) body: String,
}

/// A request of a user.
pub(super) fn request(
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
) -> http::request::Builder {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request
}

impl<'s> Proxied<'s> {
    pub(super) fn new(scenario: &'s Sandbox) -> Self {
        let guard = Arc::<Guard>::default();
        let settings = dashboard::Settings {
            query: Query::all(&[Kind::DEPLOYMENT, Kind::STATEFUL_SET], &[], None),
            prefix: Prefix::default(),
            context: ParseContext::default(),
            zone: None,
            title: "a scenario".to_owned(),
            controller: Some("a controller".to_owned()),
        };
        let headers = UserHeaders {
            user: "x-forwarded-user".parse().unwrap(),
            groups: Some("x-forwarded-groups".parse().unwrap()),
        };
        let networks = vec!["10.1.2.0/24".parse().unwrap()];
        let proxy = TrustedProxy::new(networks, SECRET.parse().ok()).unwrap();
        let users =
            scenario.block_on(async { Users::new(headers, proxy, client(&scenario.api, &guard)) });
        let pages = Dashboard::for_controller(
            scenario.telemetry.clone(),
            CalendarFeed::default(),
            scenario.clock.clone(),
            settings,
        );
        let pages = Arc::new(pages.for_users(users));
        let followed = Arc::clone(&pages);
        let work = async move { drop(followed.follow().await) };
        Self {
            scenario,
            pages,
            work: RefCell::new(Box::pin(work)),
            guard,
        }
    }

    /// Runs a future while the pages work.
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        let mut work = self.work.borrow_mut();
        self.scenario.block_on(async {
            tokio::select! {
                done = future => done,
                () = &mut *work => panic!("the pages have ended"),
            }
        })
    }

    pub(super) fn pass(&self, time: Duration) {
        self.block_on(async { tokio::time::sleep(time).await });
    }

    /// The response to a request from this address.
    pub(super) fn send(
        &self,
        peer: &str,
        request: http::request::Builder,
        body: &str,
    ) -> PageResponse {
        self.block_on(self.response(peer, request, body))
    }

    fn response(
        &self,
        peer: &str,
        request: http::request::Builder,
        body: &str,
    ) -> impl Future<Output = PageResponse> + use<> {
        let peer: SocketAddr = peer.parse().unwrap();
        let sends_own = |headers: &http::HeaderMap| headers.contains_key(SECRET_HEADER);
        let request = match request.headers_ref().is_some_and(sends_own) {
            true => request,
            false => request.header(SECRET_HEADER, SECRET),
        };
        let body = Full::new(Bytes::from(body.to_owned()));
        let request = request.extension(peer).body(body).unwrap();
        let pages = Arc::clone(&self.pages);
        async move {
            let answer: Response<_> = pages.answer(request).await;
            let status = answer.status().as_u16();
            let location = answer.headers().get("location");
            let location = location.map(|it| it.to_str().unwrap().to_owned());
            let body = answer.into_body().collect().await.unwrap().to_bytes();
            PageResponse {
                status,
                location,
                body: String::from_utf8(body.to_vec()).unwrap(),
            }
        }
    }

    /// The status codes of the responses to concurrent requests of a user.
    pub(super) fn get_at_once(&self, user: &str, path: &str, count: usize) -> Vec<u16> {
        let peer: SocketAddr = PROXY.parse().unwrap();
        let answers = (0..count).map(|_| {
            let request = request("GET", path, &[("x-forwarded-user", user)]);
            let request = request.header(SECRET_HEADER, SECRET).extension(peer);
            let request = request.body(Full::<Bytes>::default()).unwrap();
            Arc::clone(&self.pages).answer(request)
        });
        let answers = self.block_on(join_all(answers));
        let codes = answers.iter().map(|answer| answer.status().as_u16());
        codes.collect()
    }

    pub(super) fn get(&self, user: &str, path: &str) -> PageResponse {
        self.send(
            PROXY,
            request("GET", path, &[("x-forwarded-user", user)]),
            "",
        )
    }

    /// A page as an administrator sees it.
    pub(super) fn get_as_admin(&self, path: &str) -> PageResponse {
        let headers = [
            ("x-forwarded-user", "root"),
            ("x-forwarded-groups", "admins"),
        ];
        self.send(PROXY, request("GET", path, &headers), "")
    }

    pub(super) fn post(&self, user: &str, path: &str, fields: &[(&str, &str)]) -> PageResponse {
        let origin = format!("https://{HOST}");
        self.post_from(&origin, user, path, fields)
    }

    pub(super) fn post_from(
        &self,
        origin: &str,
        user: &str,
        path: &str,
        fields: &[(&str, &str)],
    ) -> PageResponse {
        let (request, body) = form(origin, user, path, fields);
        self.send(PROXY, request, &body)
    }

    /// Sends a form, and disconnects after a second. Returns the response if it comes before.
    pub(super) fn abandon(
        &self,
        user: &str,
        path: &str,
        fields: &[(&str, &str)],
    ) -> Option<PageResponse> {
        let (request, body) = form(&format!("https://{HOST}"), user, path, fields);
        let response = self.response(PROXY, request, &body);
        let patience = Duration::from_secs(1);
        self.block_on(async { tokio::time::timeout(patience, response).await.ok() })
    }

    /// The token in the forms of a user.
    pub(super) fn token(&self, user: &str) -> String {
        input(&self.get(user, "/timeline").body, "token")
    }

    /// Confirms the action of a page, and returns the page with the result.
    pub(super) fn confirmed(&self, user: &str, asked: &PageResponse) -> String {
        assert_eq!(asked.status, 200, "{}", asked.body);
        let (token, plan) = (input(&asked.body, "token"), input(&asked.body, "plan"));
        let done = self.post(user, "/act", &[("token", &token), ("plan", &plan)]);
        assert_eq!(done.status, 303, "{}", done.body);
        let to = done.location.unwrap();
        loop {
            let result = self.get(user, &to);
            assert_eq!(result.status, 200, "{}", result.body);
            if !result.body.contains("under way") {
                return result.body;
            }
            self.pass(Duration::from_secs(1));
        }
    }
}

/// A form, and its body.
fn form(
    origin: &str,
    user: &str,
    path: &str,
    fields: &[(&str, &str)],
) -> (http::request::Builder, String) {
    let headers = [
        ("x-forwarded-user", user),
        ("host", HOST),
        ("origin", origin),
        ("content-type", "application/x-www-form-urlencoded"),
    ];
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(fields);
    (request("POST", path, &headers), form.finish())
}

pub(super) fn input(body: &str, name: &str) -> String {
    let begins = format!("name=\"{name}\" value=\"");
    let (_, value) = body
        .split_once(&begins)
        .unwrap_or_else(|| panic!("no {name}: {body}"));
    value.split('"').next().unwrap().to_owned()
}
