//! What several pages are made of.

use chrono::{DateTime, SecondsFormat, Utc};
use dayshift_operations::status::{WorkloadStatus, distance, short_time};
use dayshift_schedule::Zone;
use maud::{Markup, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{
    shell::Page,
    text::{safe, said},
};
use crate::dashboard::view::{Finding, Row};

/// How many objects are named where the same is said of more.
const MAX_NAMES: usize = 3;

/// What stands in a part of a path as it is.
const PART: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The path of an object's page.
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

/// The path of a namespace's page.
pub(super) fn namespace_path(name: &str) -> String {
    format!("/ns/{}", utf8_percent_encode(name, PART))
}

/// An instant, on the clocks of a zone.
pub(super) fn time(at: DateTime<Utc>, zone: Zone, now: DateTime<Utc>) -> Markup {
    let exact = at.with_timezone(&zone);
    html! {
        time datetime=(exact.to_rfc3339_opts(SecondsFormat::Secs, false)) { (short_time(at, zone, now)) }
    }
}

/// What happens next to an object, on the clocks of a zone, and how far that is.
pub(super) fn next(status: &WorkloadStatus, zone: Zone, now: DateTime<Utc>) -> Markup {
    html! {
        @if let Some(at) = status.next {
            @let (what, then) = status.next_words();
            (what) (time(at, zone, now)) " "
            span.far { (distance(at, now)) (then) }
        } @else {
            span.far { "nothing" }
        }
    }
}

/// A part of a page, below its heading.
pub(super) fn section(id: &str, title: &str, content: &Markup) -> Markup {
    html! {
        section aria-labelledby=(id) {
            h2 id=(id) { (title) }
            (content)
        }
    }
}

/// A table below the heading with this id. On a narrow screen its cells stand below each other, with no
/// headings but those that a cell repeats as `data-heading`.
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

/// Commands to copy.
pub(super) fn commands(commands: &[String]) -> Markup {
    let lines: Vec<_> = commands.iter().map(|it| safe(it)).collect();
    section(
        "commands",
        "Commands",
        &html! { pre tabindex="0" { (lines.join("\n")) } },
    )
}

/// The state of an object, in a word with a colour.
pub(super) fn badge(status: &WorkloadStatus) -> Markup {
    let name = status.state_name();
    let class = match name {
        "error" => "badge bad",
        "left down" | "unseen" => "badge warn",
        "running" | "woken" => "badge up",
        "stopped" | "slept" => "badge down",
        "paused" => "badge held",
        _ => "badge",
    };
    html! { span class=(class) { (name) } }
}

impl Page<'_> {
    /// A link to an object's page.
    pub(super) fn link_to(&self, row: &Row) -> Markup {
        let href = self.params.common().link(&path(row));
        html! { a href=(href) { (safe(&row.status.object.full_name())) } }
    }

    /// One thing to be said of some objects.
    pub(super) fn finding(&self, finding: &Finding<'_>) -> Markup {
        let more = finding.rows.len().saturating_sub(MAX_NAMES);
        let command = match finding.command.strip_prefix("; ") {
            Some(command) if finding.rows.len() > 1 => {
                format!("; for the first, {command}")
            }
            _ => finding.command.clone(),
        };
        html! {
            li class={ "finding " (finding.level.name()) } {
                strong { (finding.level.name()) }
                " "
                @for (at, row) in finding.rows.iter().take(MAX_NAMES).enumerate() {
                    @if at > 0 { ", " }
                    (self.link_to(row))
                }
                @if more > 0 { " and " (more) " more" }
                ": "
                (said(&finding.text))
                (said(&command))
            }
        }
    }
}
