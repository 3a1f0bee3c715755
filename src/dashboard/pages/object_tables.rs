//! What stands under the weeks of a workload: its labels, who else has a hand on it, its Events, and
//! the commands for it.

use dayshift_cluster::read::SeenEvent;
use dayshift_schedule::Zone;
use dayshift_workload::Label;
use maud::{Markup, html};

use super::{
    bits::{commands, section, table, time},
    object::Events,
    shell::Page,
    text::{safe, safe_lines, said},
};
use crate::dashboard::view::Row;

/// How many Events are shown.
const MAX_EVENTS: usize = 50;

impl Page<'_> {
    pub(super) fn labels(&self, row: &Row) -> Markup {
        let prefix = &self.settings.prefix;
        let labels = Label::ALL.into_iter();
        let labels: Vec<_> = labels
            .filter_map(|label| Some((label, row.observed.labels.text(label)?)))
            .collect();
        let rows = html! {
            @for (label, text) in &labels {
                tr {
                    th scope="row" { code { (prefix.label(*label)) } }
                    td { code { (safe(text)) } }
                }
            }
        };
        html! {
            @if !labels.is_empty() {
                (section("labels", "Its labels", &table("labels", &["Label", "Value"], &rows)))
            }
        }
    }

    /// Who else sets its count.
    pub(super) fn others(&self, row: &Row) -> Markup {
        let status = &row.status;
        let content = if !self.view.asks {
            html! {
                p {
                    "The controller does not read this for every workload. To see it: "
                    code {
                        "dayshift status " (safe(&status.object.argument()))
                        (self.settings.prefix.flag())
                    }
                }
            }
        } else if status.owners.is_empty() {
            return html! {};
        } else {
            html! {
                @for owner in &status.owners {
                    h3 { (owner.name()) }
                    pre tabindex="0" {
                        (safe_lines(&owner.advice(&[&status.object], &self.settings.prefix)))
                    }
                }
            }
        };
        section("others", "Other managers of replicas", &content)
    }

    pub(super) fn events_shown(&self, row: &Row, events: &Events) -> Markup {
        let command = format!("kubectl events --for {}", row.status.object.argument());
        self.events_table(events, &command, self.zone_of(row))
    }

    /// What happened, as far as Events tell; where they are not asked for, the command that does.
    pub(super) fn events_table(&self, events: &Events, command: &str, zone: Zone) -> Markup {
        let content = html! {
            @match events {
                None => p {
                    "This page does not ask the API server. To see the Events: "
                    code { (safe(command)) }
                }
                Some(Err(error)) => p { "The Events cannot be read: " (safe(&error.to_string())) }
                Some(Ok(events)) => {
                    p.far {
                        @if events.is_empty() { "There are no Events. " }
                        @if events.len() > MAX_EVENTS { "The last " (MAX_EVENTS) " of " (events.len()) " Events. " }
                        "A cluster keeps Events for an hour, unless its API server has another --event-ttl."
                    }
                    @if !events.is_empty() { (self.events_listed(events, zone)) }
                }
            }
        };
        section("events", "What happened", &content)
    }

    fn events_listed(&self, events: &[SeenEvent], zone: Zone) -> Markup {
        let rows = html! {
            @for event in events.iter().take(MAX_EVENTS) {
                tr {
                    td { @if let Some(at) = event.at { (time(at, zone, self.view.now)) } }
                    td { (safe(&event.level)) }
                    td { (safe(&event.object)) }
                    td { (safe(&event.reason)) }
                    td { (said(&event.message)) }
                }
            }
        };
        let headings = ["When", "Type", "Object", "Reason", "Message"];
        table("events", &headings, &rows)
    }

    pub(super) fn commands(&self, row: &Row) -> Markup {
        let (argument, flag) = (row.status.object.argument(), self.settings.prefix.flag());
        commands(&[
            format!("dayshift status {argument}{flag}"),
            format!("dayshift plan {argument}{flag}"),
            format!("dayshift wake {argument} --for 2h{flag}"),
            format!("dayshift sleep {argument} --for 12h{flag}"),
            format!("dayshift pause {argument}{flag}"),
            format!("dayshift resume {argument}{flag}"),
            format!("dayshift sync {argument}{flag}"),
            format!("kubectl events --for {argument}"),
            format!("kubectl get {argument} -o yaml"),
        ])
    }
}
