//! Responses to HTTP clients whose connection is not forwarded: a page for browsers, JSON for clients that
//! accept it, and text for all others.
//!
//! By default they contain no names of objects, because everyone who can connect to the activator's ports can
//! read them.

use chrono::{DateTime, SecondsFormat, Utc};
use dayshift_cluster::decode::StartFailure;
use dayshift_schedule::Zone;
use dayshift_workload::time_format::distance;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::{Value, json};

use crate::{
    http::{Head, KEEP_AWAKE},
    page_template::{PageTemplate, Placeholder},
};

/// The settings of the page.
#[derive(Clone, Debug, Default)]
pub struct PageSettings {
    /// The page instead of the standard one.
    pub template: Option<PageTemplate>,
    /// Whom to ask, for example a chat channel.
    pub contact: Option<String>,
    /// Whether responses contain the names of the Service, the workloads and their dependencies, and the
    /// error messages of Kubernetes.
    pub shows_names: bool,
}

/// The seconds until a browser reloads the page, and until other clients should retry.
const RETRY_AFTER: i64 = 3;

/// The state of a Service, for a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServiceStatus {
    pub(crate) name: String,
    pub(crate) zone: Zone,
    /// When the workload was stopped.
    pub(crate) since: Option<DateTime<Utc>>,
    /// The end of the wake.
    pub(crate) until: Option<DateTime<Utc>>,
    /// The end of the wake if the visitor keeps the workload awake; `None` if that is not possible.
    pub(crate) keep: Option<DateTime<Utc>>,
    /// From when a request wakes it again, or its schedule starts it.
    pub(crate) opens: Option<DateTime<Utc>>,
    /// The seconds since the start began.
    pub(crate) elapsed: Option<u64>,
    /// The median of the last starts in seconds.
    pub(crate) typical: Option<u64>,
    /// The dependencies, and then the workloads.
    pub(crate) stages: Vec<Stage>,
    /// Why the start fails.
    pub(crate) failure: Option<StartFailure>,
}

impl Default for ServiceStatus {
    fn default() -> Self {
        Self {
            name: String::new(),
            zone: Zone::UTC,
            since: None,
            until: None,
            keep: None,
            opens: None,
            elapsed: None,
            typical: None,
            stages: Vec::new(),
            failure: None,
        }
    }
}

/// How much of a workload is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stage {
    /// For example `deploy/web`.
    pub(crate) object: String,
    pub(crate) is_dependency: bool,
    /// Unknown for some kinds.
    pub(crate) ready: Option<u32>,
    pub(crate) wanted: u32,
    pub(crate) is_ready: bool,
}

/// Why a connection is not forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome<'w> {
    /// It is starting, and the client is a browser.
    Starting,
    /// A request does not wake it now, for this reason, but later.
    Closed(&'w str),
    /// A request does not wake it, for this reason.
    Stopped(&'w str),
    /// This request does not wake it.
    Ignored,
    /// It did not become ready in time.
    TimedOut,
    /// The visitor keeps it awake.
    Kept,
    /// The visitor wants to keep it awake, which is not possible now.
    NotKept,
    /// A page of another site wants to keep it awake.
    CrossSite,
}

impl Outcome<'_> {
    /// The value in JSON.
    const fn name(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Closed(_) => "closed",
            Self::Stopped(_) => "stopped",
            Self::Ignored => "ignored",
            Self::TimedOut => "timed-out",
            Self::Kept => "kept",
            Self::NotKept => "not-kept",
            Self::CrossSite => "forbidden",
        }
    }

    const fn title(self, is_failing: bool) -> &'static str {
        match self {
            Self::Starting | Self::TimedOut if is_failing => "This service fails to start",
            Self::Starting => "This service is starting",
            Self::Closed(_) => "This service is closed",
            Self::Stopped(_) | Self::Ignored => "This service is stopped",
            Self::TimedOut => "This service did not become ready in time",
            Self::Kept => "This service stays awake",
            Self::NotKept | Self::CrossSite => "This service was not kept awake",
        }
    }

    /// The status of the response to a program.
    const fn status_line(self) -> &'static str {
        match self {
            Self::Kept => "200 OK",
            Self::CrossSite => "403 Forbidden",
            _ => "503 Service Unavailable",
        }
    }

    /// A sentence without its full stop.
    fn message(self) -> String {
        match self {
            Self::Starting => {
                "This page shows what you asked for as soon as it is ready".to_owned()
            }
            Self::Closed(why) | Self::Stopped(why) => format!("This service is stopped: {why}"),
            Self::Ignored => {
                "This service is stopped, and this request does not wake it".to_owned()
            }
            Self::TimedOut => "This service did not become ready in time".to_owned(),
            Self::Kept => "This service stays awake".to_owned(),
            Self::NotKept => "The wake of this service could not be prolonged now".to_owned(),
            Self::CrossSite => "Only the waiting page of this service can keep it awake".to_owned(),
        }
    }

    /// The seconds after which a retry can succeed.
    fn retry_after(self, status: &ServiceStatus, now: DateTime<Utc>) -> Option<i64> {
        match self {
            Self::Starting | Self::TimedOut | Self::NotKept => Some(RETRY_AFTER),
            Self::Closed(_) => Some((status.opens? - now).num_seconds().max(RETRY_AFTER)),
            Self::Stopped(_) | Self::Ignored | Self::Kept | Self::CrossSite => None,
        }
    }
}

/// The response to a heartbeat of a stopped workload.
pub(crate) const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 0\r\n\
    Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n";

/// A response with status 503, or the result of the form on the page. A browser that sent the form returns to
/// the page.
pub(crate) fn response(
    head: &Head,
    outcome: Outcome<'_>,
    status: &ServiceStatus,
    page: &PageSettings,
    now: DateTime<Utc>,
) -> Vec<u8> {
    let view = View {
        head,
        outcome,
        status,
        page,
        now,
    };
    let (media, body) = if head.wants_page && outcome != Outcome::Ignored {
        ("text/html; charset=utf-8", view.page())
    } else if head.accepts_json {
        ("application/json", view.json().to_string() + "\n")
    } else {
        ("text/plain; charset=utf-8", view.text())
    };
    let mut headers = String::new();
    if let Some(seconds) = outcome.retry_after(status, now) {
        headers += &format!("Retry-After: {seconds}\r\n");
    }
    if outcome == Outcome::Starting {
        headers += &format!("Refresh: {RETRY_AFTER}\r\n");
    }
    let mut status_line = outcome.status_line();
    if head.accepts_page && matches!(outcome, Outcome::Kept | Outcome::NotKept) {
        let page = head.came_from.as_deref().unwrap_or("./");
        headers += &format!("Location: {page}\r\n");
        status_line = "303 See Other";
    }
    let length = body.len();
    let body = if head.is_without_body { "" } else { &body };
    format!(
        "HTTP/1.1 {status_line}\r\nContent-Type: {media}\r\nContent-Length: {length}\r\n{headers}\
         Cache-Control: no-store\r\nVary: Accept\r\nX-Content-Type-Options: nosniff\r\n\
         Referrer-Policy: same-origin\r\nContent-Security-Policy: {POLICY}\r\nConnection: close\r\n\r\n{body}"
    )
    .into_bytes()
}

/// No scripts, frames and requests, and no forms except that of the page. Styles and images are in the page
/// itself.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
                      form-action 'self'; frame-ancestors 'none'";

struct View<'v> {
    head: &'v Head,
    outcome: Outcome<'v>,
    status: &'v ServiceStatus,
    page: &'v PageSettings,
    now: DateTime<Utc>,
}

impl View<'_> {
    fn text(&self) -> String {
        let mut text = self.outcome.message();
        match (self.outcome, self.status.opens, self.status.until) {
            (Outcome::Closed(_), Some(opens), _) => {
                text += &format!(" (it opens {})", self.shown(opens));
            }
            (Outcome::Kept, _, Some(until)) => text += &format!(" until {}", self.shown(until)),
            _ => {}
        }
        text + "\n"
    }

    fn json(&self) -> Value {
        let status = self.status;
        let time = |at: Option<DateTime<Utc>>| at.map(|at| rfc3339(at, status.zone));
        let stage = |(number, stage): (usize, &Stage)| {
            json!({
                "name": self.name_of(stage, number), "dependency": stage.is_dependency,
                "ready": stage.ready, "wanted": stage.wanted, "isReady": stage.is_ready,
            })
        };
        json!({
            "status": self.outcome.name(),
            "message": self.outcome.message(),
            "name": self.name(),
            "stoppedSince": time(status.since),
            "awakeUntil": time(status.until),
            "opens": time(status.opens),
            "elapsedSeconds": status.elapsed,
            "typicalSeconds": status.typical,
            "stages": status.stages.iter().enumerate().map(stage).collect::<Vec<_>>(),
            "failure": self.failure(),
            "contact": self.page.contact,
        })
    }

    fn page(&self) -> String {
        if let Some(template) = &self.page.template {
            return template.render(|placeholder| self.value(placeholder));
        }
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title()) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    main {
                        @if let Some(subject) = self.subject() { p.subject { (subject) } }
                        h1 { (self.title()) }
                        (self.reason())
                        p { (self.outcome.message()) "." }
                        (self.details())
                    }
                }
            }
        }
        .into_string()
    }

    fn title(&self) -> &'static str {
        self.outcome.title(self.status.failure.is_some())
    }

    /// Why the start fails.
    fn reason(&self) -> Markup {
        html! {
            @if let Some(failure) = self.failure() {
                div.failure role="status" {
                    p { strong { (failure) } }
                    @if let Some(cause) = self.cause() { p { (cause) } }
                }
            }
        }
    }

    /// The content of the page below its first sentence.
    fn details(&self) -> Markup {
        let status = self.status;
        html! {
            @if self.outcome == Outcome::Starting { (self.progress()) }
            @if !status.stages.is_empty() && !matches!(self.outcome, Outcome::Closed(_)) {
                ol {
                    @for (number, stage) in status.stages.iter().enumerate() {
                        li class=[stage.is_ready.then_some("ready")] { (self.name_of(stage, number)) ": " (stage.text()) }
                    }
                }
            }
            dl {
                @if let Some(opens) = status.opens.filter(|_| self.outcome != Outcome::Starting) {
                    dt { "Opens" } dd { (self.time(opens)) " " (self.distance(opens)) }
                    dt { "Earlier" } dd { "Users who can run " code { "dayshift wake" } " for it can start it." }
                }
                @if let Some(until) = status.until {
                    dt { "Awake until" } dd { (self.time(until)) " " (self.distance(until)) }
                }
                @if let Some(since) = status.since {
                    dt { "Stopped since" } dd { (self.time(since)) " " (self.distance(since)) }
                }
                @if let Some(contact) = &self.page.contact {
                    dt { "Contact" } dd { (contact) }
                }
            }
            @if let Some(keep) = status.keep {
                form method="post" action=(self.keep_awake_url()) {
                    button { "Keep it awake until " (self.time(keep)) }
                }
            }
        }
    }

    /// The address of the form, relative to the page and below it, because an ingress might forward only this
    /// part of the site.
    fn keep_awake_url(&self) -> String {
        match self.head.path.rsplit('/').next() {
            None | Some("") => KEEP_AWAKE.to_owned(),
            Some(page) => format!("./{page}/{KEEP_AWAKE}"),
        }
    }

    fn progress(&self) -> Markup {
        let elapsed = self.status.elapsed.unwrap_or_default();
        html! {
            // A failing start takes longer than the last ones.
            @match self.status.typical.filter(|_| self.status.failure.is_none()) {
                Some(typical) => {
                    progress max=(typical) value=(elapsed.min(typical)) aria-label="Progress of the start" {}
                    p.small { (elapsed) " s of about " (typical) " s, the median of the last starts" }
                }
                None => {
                    @if self.status.failure.is_none() { progress aria-label="The start is in progress" {} }
                    p.small { (elapsed) " s since the start began" }
                }
            }
        }
    }

    /// A value of a template as HTML.
    fn value(&self, placeholder: Placeholder) -> String {
        let status = self.status;
        let seconds = |seconds: Option<u64>| seconds.map(|seconds| seconds.to_string());
        let time = |at: Option<DateTime<Utc>>| at.map(|at| self.shown(at));
        let text = match placeholder {
            Placeholder::Details => {
                return html! { (self.reason()) (self.details()) }.into_string();
            }
            Placeholder::Title => Some(self.title().to_owned()),
            Placeholder::Message => Some(self.outcome.message() + "."),
            Placeholder::Host => Some(self.head.host.clone()),
            Placeholder::Name => self.name().map(str::to_owned),
            Placeholder::Elapsed => seconds(status.elapsed),
            Placeholder::Typical => seconds(status.typical),
            Placeholder::Until => time(status.until),
            Placeholder::Opens => time(status.opens),
            Placeholder::Contact => self.page.contact.clone(),
        };
        html! { (text.unwrap_or_default()) }.into_string()
    }

    /// The name of the Service if it can be shown, and otherwise the host that the client knows.
    fn subject(&self) -> Option<&str> {
        let host = Some(&*self.head.host).filter(|host| !host.is_empty());
        self.name().or(host)
    }

    fn name(&self) -> Option<&str> {
        Some(&*self.status.name).filter(|name| self.page.shows_names && !name.is_empty())
    }

    fn name_of(&self, stage: &Stage, number: usize) -> String {
        match (self.page.shows_names, stage.is_dependency) {
            (true, _) => stage.object.clone(),
            (false, true) => format!("Dependency {}", number + 1),
            (false, false) => "Replicas".to_owned(),
        }
    }

    fn failure(&self) -> Option<String> {
        let failure = self.status.failure.as_ref()?;
        Some(match self.page.shows_names {
            true => format!("{}: {}", failure.reason, failure.message),
            false => format!("{}.", failure.reason),
        })
    }

    /// The usual causes of a failure whose message is not shown.
    fn cause(&self) -> Option<&'static str> {
        match &*self.status.failure.as_ref()?.reason {
            "FailedCreate" => Some(
                "Kubernetes cannot create its pods. A quota of the namespace or a policy might forbid them.",
            ),
            "ProgressDeadlineExceeded" => Some(
                "Its pods are not ready in time. An image might be missing, or no node might have space for them.",
            ),
            _ => None,
        }
    }

    /// `in 1 h 27 min`, which is right in every time zone.
    fn distance(&self, at: DateTime<Utc>) -> Markup {
        html! { span.small { (distance(at, self.now)) } }
    }

    fn time(&self, at: DateTime<Utc>) -> Markup {
        html! { time datetime=(rfc3339(at, self.status.zone)) { (self.shown(at)) } }
    }

    /// `16:27 UTC+09:00`, or with the day if it is another one.
    fn shown(&self, at: DateTime<Utc>) -> String {
        let zone = self.status.zone;
        let (local, now) = (at.with_timezone(&zone), self.now.with_timezone(&zone));
        let days = (local.date_naive() - now.date_naive()).num_days();
        let format = match days {
            0 => "%H:%M UTC%:z",
            1..=6 => "%A %H:%M UTC%:z",
            _ => "%Y-%m-%d %H:%M UTC%:z",
        };
        local.format(format).to_string()
    }
}

fn rfc3339(at: DateTime<Utc>, zone: Zone) -> String {
    at.with_timezone(&zone)
        .to_rfc3339_opts(SecondsFormat::Secs, true)
}

impl Stage {
    fn text(&self) -> String {
        match self.ready {
            _ if self.is_ready => "ready".to_owned(),
            Some(ready) => format!("{ready} of {} ready", self.wanted),
            None => "not ready yet".to_owned(),
        }
    }
}

const STYLE: &str = "\
:root{color-scheme:light dark;--page:#f4f6f8;--card:#fff;--text:#1c2128;--muted:#57606a;--line:#d0d7de;--mark:#1a7f37;--bad:#b42318}\
@media(prefers-color-scheme:dark){:root{--page:#0d1117;--card:#161b22;--text:#e6edf3;--muted:#9da7b3;--line:#30363d;--mark:#3fb950;--bad:#ff8a80}}\
body{margin:0;min-height:100vh;display:grid;place-items:center;background:var(--page);color:var(--text);font:1rem/1.5 system-ui,sans-serif}\
main{box-sizing:border-box;width:min(34rem,100% - 2rem);margin:1rem;padding:2rem;background:var(--card);border:1px solid var(--line);border-radius:.75rem}\
h1{margin:0 0 .5rem;font-size:1.5rem;line-height:1.25}\
p{margin:.5rem 0}.subject:first-child{margin-top:0}.subject,.small{color:var(--muted);font-size:.875rem;overflow-wrap:anywhere}.failure{margin:1rem 0;padding:.125rem 1rem;border-left:3px solid var(--bad);background:var(--page);border-radius:0 .5rem .5rem 0;overflow-wrap:anywhere}.failure strong{color:var(--bad)}\
progress{width:100%;height:.75rem;accent-color:var(--mark)}\
ol{padding-left:1.25rem}li::marker{content:\"○  \";color:var(--muted)}li.ready::marker{content:\"✓  \";color:var(--mark)}li{overflow-wrap:anywhere}\
form{margin:1.5rem 0 0}button{font:inherit;font-weight:600;padding:.5rem 1rem;color:var(--text);background:var(--page);border:1px solid var(--line);border-radius:.5rem;cursor:pointer}\
button:hover{border-color:var(--muted)}button:focus-visible{outline:2px solid var(--mark);outline-offset:2px}\
dl{display:grid;grid-template-columns:auto 1fr;gap:.25rem 1rem;margin:1rem 0 0}dt{color:var(--muted)}dd{margin:0;overflow-wrap:anywhere}";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        target::{ASLEEP, OUT_OF_HOURS},
        test_cluster::at,
    };

    /// A Wednesday evening in Tokyo.
    const NOW: &str = "2026-11-25T06:00:00Z";

    fn browser() -> Head {
        Head {
            host: "dev.example.com".to_owned(),
            path: "/".to_owned(),
            wants_page: true,
            accepts_page: true,
            ..Head::default()
        }
    }

    fn status() -> ServiceStatus {
        let stage = |object: &str, is_dependency, ready, is_ready| Stage {
            object: object.to_owned(),
            is_dependency,
            ready: Some(ready),
            wanted: 2,
            is_ready,
        };
        ServiceStatus {
            name: "web".to_owned(),
            zone: Zone::parse("Asia/Tokyo").unwrap(),
            since: Some(at("2026-11-24T10:00:00Z")),
            until: Some(at("2026-11-25T07:27:00Z")),
            keep: None,
            opens: None,
            elapsed: Some(12),
            typical: Some(20),
            stages: vec![
                stage("sts/db", true, 2, true),
                stage("deploy/web", false, 0, false),
            ],
            failure: None,
        }
    }

    fn failing() -> ServiceStatus {
        ServiceStatus {
            failure: Some(StartFailure {
                reason: "FailedCreate".into(),
                message: "pods \"web-<1>\" is forbidden: exceeded quota".into(),
            }),
            ..status()
        }
    }

    fn body_of(
        head: &Head,
        outcome: Outcome<'_>,
        status: &ServiceStatus,
        page: &PageSettings,
    ) -> (String, String) {
        let text = String::from_utf8(response(head, outcome, status, page, at(NOW))).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let code = match outcome {
            Outcome::Kept => "200",
            Outcome::CrossSite => "403",
            _ => "503",
        };
        assert!(head.starts_with(&format!("HTTP/1.1 {code} ")), "{head}");
        assert!(
            head.contains(&format!("Content-Length: {}\r\n", body.len())),
            "{head}"
        );
        (head.to_owned(), body.to_owned())
    }

    #[test]
    fn starting_page_shows_progress_stages_and_times_without_names() {
        let (head, page) = body_of(
            &browser(),
            Outcome::Starting,
            &status(),
            &PageSettings::default(),
        );
        assert!(
            head.contains("\r\nRetry-After: 3\r\nRefresh: 3\r\n"),
            "{head}"
        );
        for part in [
            "<h1>This service is starting</h1><p>This page shows what you asked for",
            "<p class=\"subject\">dev.example.com</p>",
            "<progress max=\"20\" value=\"12\"",
            "12 s of about 20 s",
            "<li class=\"ready\">Dependency 1: ready</li><li>Replicas: 0 of 2 ready</li>",
            "<time datetime=\"2026-11-25T16:27:00+09:00\">16:27 UTC+09:00</time> <span class=\"small\">in 1 h 27 min</span>",
            "<dt>Stopped since</dt><dd><time datetime=\"2026-11-24T19:00:00+09:00\">2026-11-24 19:00 UTC+09:00</time>",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        for part in ["<script", "web", "db", "exceeded", "http-equiv"] {
            assert!(!page.contains(part), "{part}: {page}");
        }
    }

    #[test]
    fn failing_start_is_the_headline() {
        let page_settings = PageSettings::default();
        let (_, page) = body_of(&browser(), Outcome::Starting, &failing(), &page_settings);
        let begin = "<h1>This service fails to start</h1><div class=\"failure\" role=\"status\"><p><strong>FailedCreate.\
                     </strong></p><p>Kubernetes cannot create its pods.";
        assert!(page.contains(begin), "{page}");
        assert!(page.contains("<title>This service fails to start</title>"));
        assert!(page.contains("12 s since the start began"), "{page}");
        for part in ["<progress", "median", "is starting", "exceeded"] {
            assert!(!page.contains(part), "{part}: {page}");
        }
        let (_, late) = body_of(&browser(), Outcome::TimedOut, &failing(), &page_settings);
        assert!(late.contains(begin), "{late}");
    }

    #[test]
    fn page_offers_to_keep_a_workload_awake_only_if_that_is_possible() {
        let kept = ServiceStatus {
            keep: Some(at("2026-11-25T11:00:00Z")),
            ..status()
        };
        for (path, action) in [
            ("/", "dayshift-keep-awake"),
            ("/shop/", "dayshift-keep-awake"),
            ("/shop", "./shop/dayshift-keep-awake"),
            ("/a/b:\"c", "./b:&quot;c/dayshift-keep-awake"),
        ] {
            let browser = Head {
                path: path.to_owned(),
                ..browser()
            };
            let (_, page) = body_of(&browser, Outcome::Starting, &kept, &PageSettings::default());
            let form = format!("<form method=\"post\" action=\"{action}\"><button>");
            assert!(page.contains(&form), "{path}: {page}");
            assert!(page.contains(">20:00 UTC+09:00</time></button>"), "{page}");
        }
        let (_, page) = body_of(
            &browser(),
            Outcome::Starting,
            &status(),
            &PageSettings::default(),
        );
        assert!(!page.contains("<form"), "{page}");
    }

    /// `tests/browser/check.mjs` checks these pages in a browser. `UPDATE_GOLDEN=1` writes them.
    #[test]
    fn pages_are_those_that_are_checked_in_a_browser() {
        let starting = ServiceStatus {
            keep: Some(at("2026-11-25T14:00:00Z")),
            ..status()
        };
        let closed = ServiceStatus {
            until: None,
            opens: Some(at("2026-11-30T00:00:00Z")),
            elapsed: None,
            stages: Vec::new(),
            ..status()
        };
        let failing = ServiceStatus {
            keep: starting.keep,
            ..failing()
        };
        let settings = PageSettings {
            contact: Some("#platform".to_owned()),
            ..PageSettings::default()
        };
        let html = "<!DOCTYPE html><html lang=\"en\"><title>{{title}}</title><style>body{font:1rem sans-serif;color:#222;\
            background:#fff}</style><main><h1>Shop: {{title}}</h1><p>{{message}}</p>{{details}}</main></html>";
        let own = PageSettings {
            template: Some(PageTemplate::parse(html).unwrap()),
            ..settings.clone()
        };
        let program = Head {
            accepts_json: true,
            ..Head::default()
        };
        let browser = browser();
        for (file, head, outcome, status, settings) in [
            (
                "starting.html",
                &browser,
                Outcome::Starting,
                &starting,
                &settings,
            ),
            (
                "failing.html",
                &browser,
                Outcome::Starting,
                &failing,
                &settings,
            ),
            (
                "closed.html",
                &browser,
                Outcome::Closed(OUT_OF_HOURS),
                &closed,
                &settings,
            ),
            ("template.html", &browser, Outcome::Starting, &failing, &own),
            (
                "closed.json",
                &program,
                Outcome::Closed(OUT_OF_HOURS),
                &closed,
                &settings,
            ),
        ] {
            let (_, page) = body_of(head, outcome, status, settings);
            let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/src/waiting_pages");
            let path = format!("{directory}/{file}");
            if std::env::var_os("UPDATE_GOLDEN").is_some() {
                std::fs::write(&path, &page).unwrap();
            }
            assert_eq!(std::fs::read_to_string(&path).unwrap(), page, "{file}");
        }
    }

    #[test]
    fn page_shows_names_only_if_it_is_enabled() {
        let page = PageSettings {
            shows_names: true,
            contact: Some("#platform <help>".to_owned()),
            ..PageSettings::default()
        };
        let (_, page) = body_of(&browser(), Outcome::Starting, &failing(), &page);
        for part in [
            "<p class=\"subject\">web</p>",
            "sts/db: ready",
            "deploy/web: 0 of 2 ready",
            "FailedCreate: pods &quot;web-&lt;1&gt;&quot; is forbidden",
            "<dt>Contact</dt><dd>#platform &lt;help&gt;</dd>",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
    }

    #[test]
    fn closed_page_shows_when_it_opens_and_does_not_reload() {
        let closed = ServiceStatus {
            opens: Some(at("2026-11-29T21:00:00Z")),
            zone: status().zone,
            ..ServiceStatus::default()
        };
        let (head, page) = body_of(
            &browser(),
            Outcome::Closed(OUT_OF_HOURS),
            &closed,
            &PageSettings::default(),
        );
        assert!(
            !head.contains("Refresh") && head.contains("\r\nRetry-After: 399600\r\n"),
            "{head}"
        );
        for part in [
            "This service is closed",
            ">Monday 06:00 UTC+09:00</time>",
            "<code>dayshift wake</code>",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        let (_, text) = body_of(
            &Head::default(),
            Outcome::Closed(OUT_OF_HOURS),
            &closed,
            &PageSettings::default(),
        );
        let expected = "This service is stopped: a request does not wake it at this time of day \
                        (it opens Monday 06:00 UTC+09:00)\n";
        assert_eq!(text, expected);
        let (_, text) = body_of(
            &Head::default(),
            Outcome::Closed(ASLEEP),
            &closed,
            &PageSettings::default(),
        );
        let expected = "This service is stopped: a user has put it to sleep, and requests do not wake it \
                        (it opens Monday 06:00 UTC+09:00)\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn program_that_accepts_json_gets_json() {
        let program = Head {
            accepts_json: true,
            ..Head::default()
        };
        let (head, body) = body_of(
            &program,
            Outcome::TimedOut,
            &failing(),
            &PageSettings::default(),
        );
        assert!(
            head.contains("Content-Type: application/json\r\n") && head.contains("Retry-After: 3"),
            "{head}"
        );
        let json: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(json["status"], "timed-out");
        assert_eq!(json["awakeUntil"], "2026-11-25T16:27:00+09:00");
        assert_eq!(json["stages"][1]["ready"], 0);
        assert!(!body.contains("web") && json["name"].is_null(), "{body}");
        let (_, text) = body_of(
            &Head::default(),
            Outcome::Stopped("it is paused"),
            &status(),
            &PageSettings::default(),
        );
        assert_eq!(text, "This service is stopped: it is paused\n");
    }

    #[test]
    fn template_contains_escaped_values() {
        let template = "<h1>{{title}}</h1><p>{{host}} {{until}}{{name}}</p>{{details}}";
        let page = PageSettings {
            template: Some(PageTemplate::parse(template).unwrap()),
            ..PageSettings::default()
        };
        let browser = Head {
            host: "<b>&\"".to_owned(),
            ..browser()
        };
        let (head, page) = body_of(&browser, Outcome::Starting, &status(), &page);
        let begin =
            "<h1>This service is starting</h1><p>&lt;b&gt;&amp;&quot; 16:27 UTC+09:00</p><progress";
        assert!(page.starts_with(begin), "{page}");
        assert!(head.contains("Refresh: 3"), "{head}");
    }

    #[test]
    fn response_permits_no_scripts_and_requests() {
        let (head, _) = body_of(
            &browser(),
            Outcome::Starting,
            &status(),
            &PageSettings::default(),
        );
        let policy = head
            .lines()
            .find(|line| line.starts_with("Content-Security-Policy: "))
            .unwrap();
        assert!(
            policy.contains("default-src 'none'") && !policy.contains("script"),
            "{policy}"
        );
    }

    #[test]
    fn response_to_head_has_no_body() {
        let head = Head {
            is_without_body: true,
            ..Head::default()
        };
        let answer = response(
            &head,
            Outcome::Stopped("it is paused"),
            &status(),
            &PageSettings::default(),
            at(NOW),
        );
        assert!(answer.ends_with(b"\r\n\r\n"));
    }
}
