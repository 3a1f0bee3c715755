//! The frame of every page, and the parts that several pages share. All text from the cluster goes through
//! `html!` and `printable`.

use std::{borrow::Cow, collections::BTreeSet};

use chrono::{DateTime, SecondsFormat, Utc};
use dayshift_controller::Telemetry;
use dayshift_operations::status::{WorkloadStatus, date_and_time, distance, short_time};
use dayshift_schedule::Zone;
use dayshift_text::{counted, is_unprintable, printable};
use dayshift_workload::savings::Price;
use http::StatusCode;
use maud::{DOCTYPE, Markup, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::dashboard::{
    labels::LabelMatches,
    params::{Params, Theme},
    permissions::Permissions,
    view::{Row, Settings, Situation, View},
};

/// The style sheet.
pub(crate) const STYLE: &str = include_str!("style.css");

/// The icon if workloads need attention: red, with a mark.
pub(crate) const ALERT_ICON: &str = r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#b42318"/><path d="M8 3v6M8 11v2" stroke="#fff" stroke-width="2.5"/></svg>"##;

/// The icon: a day between two nights.
pub(crate) const ICON: &str = r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#1f2937"/><path d="M2 9h3M11 9h3" stroke="#9ca3af" stroke-width="2"/><rect x="5" y="5" width="6" height="8" rx="1" fill="#22a34a"/></svg>"##;

/// The maximum number of suggested zones. Users can enter others.
pub(super) const MAX_ZONES: usize = 100;

/// The data that a page is rendered from.
pub(crate) struct Page<'a> {
    pub(crate) view: &'a View,
    pub(crate) params: &'a Params,
    pub(crate) settings: &'a Settings,
    /// The CSRF token, if the pages allow actions.
    pub(crate) token: Option<&'a str>,
    /// The workloads that the user may change. `None` if that is unknown.
    pub(crate) patchable: Option<&'a Permissions>,
    /// The workloads that the label filters select, if there are any; or why they are unknown.
    pub(crate) labeled: Result<Option<&'a LabelMatches>, &'a String>,
    /// The name of the logged-in user.
    pub(crate) user: Option<&'a str>,
    /// The price of CPU and memory.
    pub(crate) price: Option<&'a Price>,
    /// The controller that has recorded wakes, if there is one in this process.
    pub(crate) recorder: Option<&'a Telemetry>,
}

impl Page<'_> {
    /// Whether forms that change this workload are offered.
    pub(super) fn may_change(&self, row: &Row) -> bool {
        let is_allowed = |patchable: &Permissions| patchable.includes(&row.status.object);
        self.token.is_some() && self.patchable.is_none_or(is_allowed)
    }

    /// Whether forms are offered for any workload.
    pub(crate) fn has_forms(&self) -> bool {
        self.view.rows.iter().any(|row| self.may_change(row))
    }

    /// The sentence instead of a form that would only be denied.
    pub(super) fn instead_of_form(&self) -> Markup {
        html! {
            p.far { "Your permissions do not allow you to change these workloads." }
        }
    }
}

/// The properties of a page that its frame needs.
pub(super) struct Kind<'a> {
    pub(super) title: &'a str,
    pub(super) path: &'a str,
    /// Whether the page reloads by itself.
    pub(super) refreshes: bool,
    /// The links above the title, from the widest: a path and a name.
    pub(super) crumbs: &'a [(String, String)],
}

impl<'a> Kind<'a> {
    /// A page that does not reload by itself and has no links above its title.
    pub(super) const fn new(title: &'a str, path: &'a str) -> Self {
        Self {
            title,
            path,
            refreshes: false,
            crumbs: &[],
        }
    }
}

/// The links above the title of a page in a namespace.
pub(super) fn namespace_crumbs(namespace: &str) -> [(String, String); 2] {
    [
        ("/namespaces".to_owned(), "Namespaces".to_owned()),
        (namespace_path(namespace), namespace.to_owned()),
    ]
}

/// The number of workloads with a problem; `None` on pages that do not know it.
type Alerts = Option<usize>;

impl Page<'_> {
    /// The frame around `content`.
    pub(super) fn shell(&self, kind: &Kind<'_>, content: &Markup) -> String {
        let zone = self.zone();
        let search = Params {
            text: None,
            ..self.params.common()
        };
        let head = html! {
            form.search method="get" action="/timeline" role="search" {
                @for (name, value) in search.pairs() { input type="hidden" name=(name) value=(value); }
                input type="search" name="q" aria-label="Find workloads by name" placeholder="Workload"
                    value=[self.params.text.as_deref()];
                button type="submit" { "Find" }
            }
            details.menu {
                summary { "Display" }
                div.choices {
                    (choices(self.params, kind))
                    (self.zone_choice(kind))
                }
            }
            div.where {
                span.context { (safe(&self.settings.title)) }
                @if let Some(user) = self.user { span { "logged in as " (safe(user)) } }
                span { (date_and_time(self.view.now, zone)) " " (zone.name()) }
            }
        };
        let rows = self.view.rows.iter();
        let alerts = rows.filter(|row| row.status.has_problem()).count();
        let body = html! {
            @if let Some(refused) = &self.params.refused_zone {
                p.banner.warn role="status" { (said(refused)) }
            }
            @if let Some(outage) = &self.view.outage {
                p.banner.bad role="status" {
                    strong {
                        @if self.view.is_complete { "This page might be outdated. " }
                        @else { "The cluster cannot be read. " }
                    }
                    (safe(&without_system_error(outage)))
                }
            }
            (self.unseen())
            (content)
        };
        document(self.params, kind, (Some(alerts), Some(&head)), &body)
    }

    /// The objects that could not be read, behind one line if there are several.
    fn unseen(&self) -> Markup {
        html! {
            @match &*self.view.unseen {
                [] => {}
                [unseen] => p.banner.warn { (safe(&without_system_error(unseen))) }
                all => details.banner.warn {
                    summary { (counted(all.len(), "kind")) " of objects cannot be read" }
                    ul { @for unseen in all { li { (safe(&without_system_error(unseen))) } } }
                }
            }
        }
    }

    /// The choice of a time zone, which links to other pages keep.
    fn zone_choice(&self, kind: &Kind<'_>) -> Markup {
        let params = Params {
            zone: None,
            ..self.params.clone()
        };
        let zones = self.view.rows.iter().map(|row| row.status.zone.name());
        let zones: BTreeSet<&str> = zones.chain(["UTC"]).collect();
        if kind.refreshes && !self.params.still {
            // Input would be lost if the page reloaded.
            let still = Params {
                still: true,
                ..self.params.clone()
            };
            return html! { p { a href=(still.link(kind.path)) { "Another time zone" } } };
        }
        html! {
            form.zone method="get" action=(kind.path) aria-label="Time zone" {
                @for (name, value) in params.pairs() {
                    input type="hidden" name=(name) value=(value);
                }
                label {
                    "Time zone "
                    input type="text" name="tz" list="zones" value=[self.params.zone.map(Zone::name)];
                }
                datalist id="zones" {
                    @for zone in zones.into_iter().take(MAX_ZONES) { option value=(zone) {} }
                }
                button type="submit" { "Show" }
            }
        }
    }

    /// The zone for times that concern several workloads: the chosen one, `--timezone`, or the one that all
    /// schedules share.
    pub(crate) fn zone(&self) -> Zone {
        let zone = self.params.zone.or(self.view.zone);
        zone.unwrap_or(self.view.context.default_zone)
    }

    /// The zone for times of one workload: the chosen one, or its own.
    pub(super) fn zone_of(&self, row: &Row) -> Zone {
        self.params.zone.unwrap_or(row.status.zone)
    }

    /// The page before the initial lists are complete.
    pub(crate) fn waiting(&self) -> String {
        let kind = Kind::new("Reading the cluster", "/");
        let content = html! {
            h1 { "Reading the cluster" }
            p { "The workloads are being listed. This page reloads by itself." }
        };
        self.shell(&kind, &content)
    }
}

/// The page for an error.
pub(crate) fn failure(params: &Params, status: StatusCode, message: &str) -> String {
    let reason = status.canonical_reason().unwrap_or("Error");
    let kind = Kind::new(reason, "");
    let body = html! {
        h1 { (reason) }
        section {
            p { (said(message)) }
            p { a href=(params.common().link("/")) { "To the overview" } }
        }
    };
    document(params, &kind, (None, None), &body)
}

/// Texts of the network below the API, from which on an error has no words for a user.
const NETWORK: [&str; 3] = ["tcp connect error", "dns error", "connection refused"];

/// The text of an error without the words of the network and of the operating system, such as
/// `client error (Connect): tcp connect error: Connection refused (os error 111)`.
fn without_system_error(text: &str) -> Cow<'_, str> {
    let is_network = |part: &&str| {
        let part = part.to_lowercase();
        NETWORK.iter().any(|network| part.contains(network))
    };
    let is_wrapper = |part: &&str| part.starts_with("client error (");
    if text.split(": ").any(|part| is_network(&part)) {
        let known = text.split(": ").take_while(|part| !is_network(part));
        let known: Vec<_> = known.filter(|part| !is_wrapper(part)).collect();
        return match &*known {
            [] => "the API server cannot be reached".into(),
            known => format!("{}: it cannot be reached", known.join(": ")).into(),
        };
    }
    match text.split_once(" (os error ") {
        Some((before, after)) if let Some((_, rest)) = after.split_once(')') => {
            format!("{before}{rest}").into()
        }
        _ => text.into(),
    }
}

fn document(
    params: &Params,
    kind: &Kind<'_>,
    (alerts, head): (Alerts, Option<&Markup>),
    body: &Markup,
) -> String {
    let common = params.common();
    let alerts = alerts.filter(|alerts| *alerts > 0);
    let icon = match alerts {
        Some(_) => "/alert.svg",
        None => "/icon.svg",
    };
    let nav = |path: &str, name: &str| {
        let is_inside = kind.crumbs.first().is_some_and(|(first, _)| first == path);
        let is_here = kind.path == path || is_inside;
        html! {
            a href=(common.link(path)) aria-current=[is_here.then_some("page")] { (name) }
        }
    };
    let page = html! {
        (DOCTYPE)
        html lang="en" class=[params.theme.map(Theme::name)] {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title {
                    @if let Some(alerts) = alerts { "(" (alerts) ") " }
                    (kind.title) " · dayshift"
                }
                link rel="icon" href=(icon) type="image/svg+xml";
                link rel="stylesheet" href="/style.css";
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                header {
                    div.bar {
                        span.brand { (mark()) "dayshift" }
                        nav aria-label="Pages" {
                            (nav("/", "Overview"))
                            (nav("/timeline", "Timeline"))
                            (nav("/namespaces", "Namespaces"))
                        }
                        @if let Some(head) = head { (head) }
                    }
                }
                main id="main" tabindex="-1" {
                    @if !kind.crumbs.is_empty() {
                        nav.crumbs aria-label="Breadcrumbs" {
                            @for (path, name) in kind.crumbs {
                                a href=(common.link(path)) { (safe(name)) }
                                span aria-hidden="true" { "›" }
                            }
                            span aria-current="page" { (without_namespace(kind)) }
                        }
                    }
                    (body)
                }
            }
        }
    };
    page.into_string()
}

/// The title of a page, without the namespace or the word that the breadcrumb before it shows.
fn without_namespace<'a>(kind: &Kind<'a>) -> &'a str {
    if let Some(namespace) = kind.title.strip_prefix("namespace/") {
        return namespace;
    }
    let namespace = kind.crumbs.last().map(|(_, name)| &**name);
    let name = namespace.and_then(|name| kind.title.strip_prefix(name));
    name.and_then(|name| name.strip_prefix('/'))
        .unwrap_or(kind.title)
}

/// The brand's mark: a day between two nights.
fn mark() -> Markup {
    html! {
        svg.mark viewBox="0 0 16 16" aria-hidden="true" focusable="false" {
            path.night d="M1 9h4v3h-4zM11 9h4v3h-4z" {}
            path.day d="M6 4h4v8h-4z" {}
        }
    }
}

/// The choices of color scheme and reloading.
fn choices(params: &Params, kind: &Kind<'_>) -> Markup {
    let with = |theme: Option<Theme>| {
        let params = Params {
            theme,
            ..params.clone()
        };
        params.link(kind.path)
    };
    let still = Params {
        still: !params.still,
        ..params.clone()
    };
    html! {
        nav aria-label="Display" {
        @for (theme, name) in [
            (None, "System colors"),
            (Some(Theme::Light), "Light"),
            (Some(Theme::Dark), "Dark"),
        ] {
            a href=(with(theme)) aria-current=[(params.theme == theme).then_some("true")] { (name) }
        }
        @if kind.refreshes {
            a href=(still.link(kind.path)) {
                @if params.still { "Refresh every 10 s" } @else { "Stop refreshing" }
            }
        }
        }
    }
}

/// Characters that are not escaped in a path segment.
const PART: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

pub(super) fn path(row: &Row) -> String {
    let object = &row.status.object;
    let part = |text| utf8_percent_encode(text, PART);
    format!(
        "/object/{}/{}/{}",
        part(&object.namespace),
        part(object.kind.short_name()),
        part(&object.name)
    )
}

pub(super) fn namespace_path(name: &str) -> String {
    format!("/ns/{}", utf8_percent_encode(name, PART))
}

/// A time in a zone.
pub(super) fn time(at: DateTime<Utc>, zone: Zone, now: DateTime<Utc>) -> Markup {
    let exact = at.with_timezone(&zone);
    html! {
        time datetime=(exact.to_rfc3339_opts(SecondsFormat::Secs, false)) { (short_time(at, zone, now)) }
    }
}

/// The next boundary of a workload, and the time until then.
pub(super) fn next(status: &WorkloadStatus, zone: Zone, now: DateTime<Utc>) -> Markup {
    html! {
        @if let Some(at) = status.next {
            @let (what, then) = status.next_text();
            (what) (time(at, zone, now)) " "
            span.far { (distance(at, now)) (then) }
        } @else {
            span.far { "none" }
        }
    }
}

pub(super) fn section(id: &str, title: &str, content: &Markup) -> Markup {
    html! {
        section aria-labelledby=(id) {
            h2 id=(id) { (title) }
            (content)
        }
    }
}

/// A table below the heading with this id. On a narrow screen, cells are stacked and repeat their heading
/// from `data-heading`.
pub(super) fn table(id: &str, headings: &[&str], rows: &Markup) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-labelledby=(id) {
            table.stacked {
                thead { tr { @for heading in headings { th scope="col" { (heading) } } } }
                tbody { (rows) }
            }
        }
    }
}

pub(super) fn commands(commands: &[String]) -> Markup {
    let lines: Vec<_> = commands.iter().map(|command| safe(command)).collect();
    section(
        "commands",
        "Commands",
        &html! { pre tabindex="0" { (lines.join("\n")) } },
    )
}

/// The state of a workload as a word with its color. If it needs attention, the word of `dayshift status`
/// follows.
pub(super) fn badge(row: &Row) -> Markup {
    let situation = row.situation();
    html! {
        span.badge title=(situation.explanation()) { (key(situation)) (situation.name()) }
        @if situation == Situation::NeedsAttention { " " span.far { (row.status.state_name()) } }
    }
}

/// A square with the color of a state.
pub(super) fn key(situation: Situation) -> Markup {
    html! { span class={ "key " (situation.slug()) } aria-hidden="true" {} }
}

impl Page<'_> {
    /// The address of the list from which this page was opened; `None` if it was opened from another page.
    pub(super) fn back_to_list(&self) -> Option<String> {
        let query = self.params.back.as_deref()?;
        let Params {
            theme, still, zone, ..
        } = self.params.common();
        let list = Params {
            theme,
            still,
            zone,
            back: None,
            ..Params::parse(query, &self.view.context.tzdata)
        };
        Some(list.link("/timeline"))
    }

    pub(super) fn link_to(&self, row: &Row) -> Markup {
        let href = self.params.common().link(&path(row));
        html! { a href=(href) { (safe(&row.status.object.full_name())) } }
    }
}

/// The values at the left of a chart, from top to bottom. Each bar has its own text for screen readers.
pub(super) fn scale(values: &[String]) -> Markup {
    html! {
        div.scale aria-hidden="true" { @for value in values { span { (value) } } }
    }
}

/// The first items, and the number of the others: `a, b and 9 more`.
pub(super) fn first_of<T>(items: &[T], limit: usize, shown: impl Fn(&T) -> Markup) -> Markup {
    let more = items.len().saturating_sub(limit);
    html! {
        @for (at, item) in items.iter().take(limit).enumerate() {
            @if at > 0 { ", " }
            (shown(item))
        }
        @if more > 0 { " and " (more) " more" }
    }
}

/// The number of the others below a list of the first items: `And 9 more.`
pub(super) fn others(all: usize, limit: usize) -> Markup {
    let more = all.saturating_sub(limit);
    html! {
        @if more > 0 { p { "And " (more) " more." } }
    }
}

/// Text from the cluster with visible control characters.
pub(super) fn safe(text: &str) -> Cow<'_, str> {
    if text.chars().any(is_unprintable) {
        printable(text).into()
    } else {
        text.into()
    }
}

/// Text in which parts between backticks are code.
pub(super) fn said(text: &str) -> Markup {
    let text = safe(text);
    html! {
        @for (at, part) in text.split('`').enumerate() {
            @if at % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// Multi-line text from the cluster with visible control characters.
pub(super) fn safe_lines(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(safe).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_shown_without_the_words_of_the_system() {
        for (error, expected) in [
            (
                "the API server is not available: client error (Connect): tcp connect error: \
                 Connection refused (os error 111)",
                "the API server is not available: it cannot be reached",
            ),
            (
                "the API server is not available: client error (Connect): dns error: failed to \
                 lookup address information: Name or service not known",
                "the API server is not available: it cannot be reached",
            ),
            (
                "tcp connect error: Connection refused (os error 111)",
                "the API server cannot be reached",
            ),
            ("Connection refused", "the API server cannot be reached"),
            (
                "cannot read ca.crt: Permission denied (os error 13); use another file",
                "cannot read ca.crt: Permission denied; use another file",
            ),
            (
                "the API server is not available: client error (Connect): invalid peer \
                 certificate: UnknownIssuer",
                "the API server is not available: client error (Connect): invalid peer \
                 certificate: UnknownIssuer",
            ),
            (
                "the API server refuses: request to connect denied",
                "the API server refuses: request to connect denied",
            ),
            ("", ""),
        ] {
            assert_eq!(without_system_error(error), expected, "{error}");
        }
    }
}
