//! The page of a namespace, and the list of namespaces.

use std::{collections::BTreeMap, sync::Arc};

use chrono::TimeDelta;
use dayshift_manifest::plan::{
    NamespaceSummary, NextStop, Period, PlanCalendar, PlannedStop, StopSummary,
};
use dayshift_text::counted;
use dayshift_workload::{Key, Origin, Override, TEAM_CONFIG_MAP, events::author_text};
use maud::{Markup, html};

use super::{
    object::Events,
    savings::{STOPPED_NOW, stopped_capacity},
};
use crate::dashboard::pages::page::{
    Kind, Page, badge, commands, namespace_path, next, others, path, safe, section, table, time,
};
use crate::dashboard::{
    params::Params,
    view::{Row, Situation, View},
};

/// The maximum number of listed namespaces. The timeline shows the others.
const MAX_NAMESPACES: usize = 500;
/// The maximum number of listed workloads.
const MAX_WORKLOADS: usize = 200;
/// The number of days in a calendar.
const CALENDAR_DAYS: i64 = 60;
/// The maximum number of boundaries that are computed for a calendar. Other pages wait meanwhile.
const MAX_BOUNDARIES: usize = 100_000;
/// The maximum number of listed overrides.
const MAX_OVERRIDES: usize = 50;

impl View {
    fn by_namespace(&self) -> impl Iterator<Item = (&str, &[Arc<Row>])> {
        let groups = self
            .rows
            .chunk_by(|a, b| a.status.object.namespace == b.status.object.namespace);
        groups.filter_map(|rows| Some((&*rows.first()?.status.object.namespace, rows)))
    }
}

impl Page<'_> {
    pub(super) fn link_to_namespace(&self, name: &str) -> Markup {
        let href = self.params.common().link(&namespace_path(name));
        html! { a href=(href) { (safe(name)) } }
    }

    /// Renders the list of namespaces.
    pub(crate) fn namespace_list(&self) -> String {
        let kind = Kind {
            refreshes: true,
            ..Kind::new("Namespaces", "/namespaces")
        };
        let content = html! {
            div.toolbar {
                h1 id="namespaces" { "Namespaces" }
                p { "Each namespace in which a workload has a schedule, and its next stops within seven days." }
            }
            @if self.view.rows.is_empty() { (self.empty()) } @else { (self.namespaces()) }
        };
        self.shell(&kind, &content)
    }

    /// The list of namespaces with the number of workloads in each state, and the effect of the next stops.
    fn namespaces(&self) -> Markup {
        let summary = self.summary();
        let more = self.view.by_namespace().count();
        let more = more.saturating_sub(MAX_NAMESPACES);
        let rows = html! {
            @for (name, rows) in self.view.by_namespace().take(MAX_NAMESPACES) {
                tr {
                    th scope="row" { (self.link_to_namespace(name)) }
                    td { (rows.len()) ": " (states(rows)) }
                    td data-heading=(STOPPED_NOW) { (stopped_capacity(rows.iter().map(|row| &**row), None)) }
                    @let next = summary.namespace(name).copied().unwrap_or_default();
                    td data-heading="Next stop" {
                        @match next.next_stop {
                            Some(at) => { (time(at.to_utc(), self.zone(), self.view.now)) }
                            None => { span.far { "none this week" } }
                        }
                    }
                    td data-heading="Stops" { (takes_away(&next)) }
                    td data-heading="Blockers" { (in_the_way(&next)) }
                }
            }
        };
        let headings = [
            "Namespace",
            "Workloads",
            STOPPED_NOW,
            "Next stop",
            "Stops",
            "Blockers",
        ];
        html! {
            section {
                (table("namespaces", &headings, &rows))
                @if more > 0 { p { "And " (more) " more: filter the timeline by their names." } }
            }
        }
    }

    /// The effect of the next stops within seven days.
    fn summary(&self) -> StopSummary {
        let now = self.view.now;
        // A forecast can be some hours old.
        let is_near = |next: &NextStop| now < next.at && next.at < now + TimeDelta::days(7);
        let mut summary = StopSummary::default();
        let listed = self.view.by_namespace().take(MAX_NAMESPACES);
        for row in listed.flat_map(|(_, rows)| rows) {
            let stop = row.forecast(self.view).stop.map(|stop| PlannedStop {
                next: stop.next.filter(is_near),
                ..stop
            });
            summary.add_stop(&row.observed, stop, row.managers());
        }
        summary
    }

    /// Renders the page of a namespace.
    pub(crate) fn namespace(&self, name: &str, events: &Events) -> String {
        let rows = self.view.rows_of(name);
        let title = format!("namespace/{name}");
        let path = namespace_path(name);
        let kind = Kind {
            title: &safe(&title),
            path: &path,
            refreshes: true,
            crumbs: &[("/namespaces".to_owned(), "Namespaces".to_owned())],
        };
        let timeline = Params {
            namespace: Some(name.to_owned()),
            ..self.params.common()
        };
        let findings = self.view.findings(&rows, &self.settings.prefix);
        let content = html! {
            h1 { (safe(&title)) }
            div.columns.pair {
                (self.counts(&rows, Some(name)))
                (self.attention(&rows, &findings, Some(name)))
            }
            (self.suggestions(&rows))
            (self.actions("Actions on the whole namespace", &rows, ("namespace", name), &path))
            (self.overrides_of(&rows))
            (self.workloads_of(name, &rows, &timeline.link("/timeline")))
            (self.coming(&rows, &self.outlook(&rows)))
            (self.events_of_namespace(name, events))
            (self.notes(&findings))
            section aria-label="Details" {
                details.more {
                    summary { "Details: inherited defaults, commands" }
                    (self.inherited_by(&rows))
                    (self.commands_of(name))
                }
            }
        };
        self.shell(&kind, &content)
    }

    /// The calendar of the next days of a namespace.
    pub(crate) fn calendar(&self, namespace: &str) -> Option<String> {
        let now = self.view.now;
        let until = now + TimeDelta::days(CALENDAR_DAYS);
        let mut calendar = PlanCalendar::new(Period::new(now, until).ok()?);
        let rows = self.view.rows_of(namespace).into_iter();
        let mut boundaries = 0;
        for plan in rows.filter_map(|row| self.plan_of(row, until)) {
            boundaries += calendar.add(&plan);
            if boundaries >= MAX_BOUNDARIES {
                break;
            }
        }
        Some(calendar.file(&format!("dayshift: {namespace}"), now))
    }

    /// The workloads of a namespace, with a link to their timeline.
    fn workloads_of(&self, name: &str, rows: &[&Row], timeline: &str) -> Markup {
        let more = rows.len().saturating_sub(MAX_WORKLOADS);
        let are_known = rows.iter().any(|row| row.status.ready().is_some());
        let workloads = html! {
            @for row in rows.iter().take(MAX_WORKLOADS) {
                @let status = &row.status;
                tr {
                    th scope="row" {
                        a href=(self.params.common().link(&path(row))) {
                            (safe(&status.object.short_name()))
                        }
                    }
                    td { (badge(row)) " " span.far { (status.count()) } }
                    @if are_known { td { (status.ready().unwrap_or_default()) } }
                    td { (next(status, self.zone(), self.view.now)) }
                }
            }
        };
        let headings = ["Workload", "State", "Ready", "Next"].into_iter();
        let headings: Vec<_> = headings
            .filter(|heading| are_known || *heading != "Ready")
            .collect();
        let content = html! {
            p {
                a href=(timeline) { "Their week on the timeline" }
                @if more > 0 { ", with " (more) " more" }
                " · "
                a href=(self.params.common().link(&format!("{}.ics", namespace_path(name)))) { "Calendar (.ics)" }
                " · "
                a href=(self.params.common().link(&format!("{}/what-if", namespace_path(name)))) {
                    "What if they had another schedule?"
                }
            }
            (table("workloads", &headings, &workloads))
        };
        section("workloads", "Workloads", &content)
    }

    /// The active overrides. A Namespace override is listed once for all its workloads.
    fn overrides_of(&self, rows: &[&Row]) -> Markup {
        let mut of_namespace: Vec<(Override, &Row, usize)> = Vec::new();
        let mut own = Vec::new();
        for &row in rows {
            match row.status.active_override {
                Some((Origin::Own, over)) => own.push((over, row)),
                Some((_, over)) => match of_namespace.iter_mut().find(|group| group.0 == over) {
                    Some(known) => known.2 += 1,
                    None => of_namespace.push((over, row, 1)),
                },
                None => {}
            }
        }
        let content = html! {
            @if of_namespace.is_empty() && own.is_empty() {
                p { "None." }
            } @else {
                ul {
                    @for (over, row, count) in &of_namespace {
                        li {
                            "The Namespace, for " (counted(*count, "workload")) ": "
                            (self.override_of(*over, row))
                        }
                    }
                    @for (over, row) in own.iter().take(MAX_OVERRIDES) {
                        li { (self.link_to(row)) ": " (self.override_of(*over, row)) }
                    }
                }
                (others(own.len(), MAX_OVERRIDES))
            }
        };
        section("overrides", "Overrides", &content)
    }

    fn override_of(&self, over: Override, row: &Row) -> Markup {
        html! {
            (over.phase().word())
            @if let Some(until) = over.until() {
                " until " (time(until, self.zone_of(row), self.view.now))
            }
            @if let Some(author) = author_text(&row.status.author) { ", " (safe(&author)) }
        }
    }

    /// The defaults that the workloads inherit from their team and from the Namespace. Values that none of
    /// them uses are left out: not everyone who may list workloads may read the ConfigMap.
    fn inherited_by(&self, rows: &[&Row]) -> Markup {
        let mut inherited: BTreeMap<(Origin, Key, &str), usize> = BTreeMap::new();
        let inheriting = rows.iter().map(|row| &row.observed.inputs);
        for inputs in inheriting.filter(|inputs| inputs.defaults().is_some()) {
            for key in Key::ALL {
                if let (Some(origin @ (Origin::Team | Origin::Namespace)), Some(text)) =
                    (inputs.origin(key), inputs.text(key))
                {
                    *inherited.entry((origin, key, text)).or_default() += 1;
                }
            }
        }
        let prefix = &self.settings.prefix;
        let rows = html! {
            @for ((origin, key, text), count) in &inherited {
                tr {
                    @if *origin == Origin::Team {
                        th scope="row" { code { (key.name()) } }
                    } @else {
                        th scope="row" { code { (prefix.annotation(*key)) } }
                    }
                    td { code { (safe(text)) } }
                    td data-heading="Source" {
                        @if *origin == Origin::Team { "team, in the ConfigMap " (TEAM_CONFIG_MAP) }
                        @else { "Namespace" }
                    }
                    td data-heading="Used by" { (counted(*count, "workload")) }
                }
            }
        };
        let content = if inherited.is_empty() {
            html! { p { "No workload here uses a default of its team or of its Namespace." } }
        } else {
            table("inherited", &["Key", "Value", "Source", "Used by"], &rows)
        };
        section("inherited", "Defaults of the namespace", &content)
    }

    fn events_of_namespace(&self, name: &str, events: &Events) -> Markup {
        let command = format!("kubectl events -n {name}");
        self.events_table(events, &command, self.zone())
    }

    fn commands_of(&self, name: &str) -> Markup {
        let flag = self.settings.prefix.flag();
        commands(&[
            format!("dayshift status -n {name}{flag}"),
            format!("dayshift plan -n {name}{flag}"),
            format!("dayshift wake ns/{name} --for 2h{flag}"),
            format!("dayshift sleep ns/{name} --for 12h{flag}"),
            format!("dayshift pause ns/{name}{flag}"),
            format!("dayshift resume ns/{name}{flag}"),
            format!("kubectl get namespace {name} -o yaml"),
        ])
    }
}

/// `5 running, 2 stopped`
fn states(rows: &[Arc<Row>]) -> String {
    let counts = Situation::count(rows.iter().map(|row| &**row)).into_iter();
    let texts: Vec<_> = counts
        .map(|(situation, count)| format!("{count} {}", situation.name_for(count)))
        .collect();
    texts.join(", ")
}

/// `6 replicas of 2 workloads`
fn takes_away(next: &NamespaceSummary) -> String {
    if next.stops == 0 {
        return String::new();
    }
    let workloads = counted(next.stops, "workload");
    format!("{} of {workloads}", counted(next.replicas, "replica"))
}

/// `1 with an autoscaler, 2 rejected`
fn in_the_way(next: &NamespaceSummary) -> String {
    let parts = [
        (next.autoscaled, "with an autoscaler"),
        (next.set_by_others, "set by other programs"),
        (next.operated, "of an operator"),
        (next.lose_volumes, "would lose volumes"),
        (next.refused, "rejected"),
    ];
    let some = parts.into_iter().filter(|(count, _)| *count > 0);
    let texts: Vec<_> = some
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    texts.join(", ")
}
