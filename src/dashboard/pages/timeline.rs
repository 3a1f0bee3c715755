//! The timeline: a week of every workload.

use std::collections::BTreeSet;

use chrono::{DateTime, Days, NaiveDate, Utc};
use dayshift_manifest::plan::Period;
use dayshift_text::counted;
use maud::{Markup, html};

use super::week::{Week, axis, days, legend, midnight, patterns};
use crate::dashboard::pages::page::{Kind, Page, badge, next, path, safe, said};
use crate::dashboard::{
    form::FormFields,
    params::{Params, Sort},
    view::{Row, Situation},
};

/// The number of rows on a page.
const ROWS: usize = 50;
/// The maximum number of suggested names. Users can enter others.
const MAX_OFFERED: usize = 500;
/// The states to filter by.
const STATES: [&str; 10] = [
    "error",
    "reverted",
    "running",
    "stopped",
    "awake",
    "asleep",
    "paused",
    "adopted",
    "unseen",
    "left stopped",
];
/// Plans are not computed further ahead.
const MAX_DAYS: u64 = 366 * 100;

/// The optional columns of the table.
#[derive(Clone, Copy)]
struct Columns {
    checkboxes: bool,
    schedules: bool,
}

impl Page<'_> {
    /// Renders the timeline of the filtered workloads.
    pub(crate) fn timeline(&self) -> String {
        let kind = Kind {
            // Selections would be lost if the page reloaded.
            refreshes: !self.has_forms(),
            ..Kind::new("Timeline", "/timeline")
        };
        let rows = self.matching();
        let pages = rows.len().div_ceil(ROWS).max(1);
        let page = self.params.page.min(pages);
        let shown = rows.chunks(ROWS).nth(page - 1).unwrap_or_default();
        let (from, period) = self.period();
        let content = html! {
            div.toolbar {
                h1 { "Timeline" }
                p role="status" {
                    (counted(rows.len(), "workload"))
                    @if self.params.filters() { " of " (self.view.rows.len()) }
                    @if pages > 1 { ", page " (page) " of " (pages) }
                    ". The bars show the schedules, in " (self.zone().name()) "; their height shows the replicas."
                }
                (self.moves(from))
            }
            (self.filter())
            @if let Err(error) = self.labeled { p.banner.bad role="alert" { (said(error)) } }
            @if self.view.rows.is_empty() {
                (self.empty())
            } @else if shown.is_empty() {
                section { p { "No workload matches these filters." } }
            } @else {
                (patterns())
                @let table = self.table(shown, period);
                @if self.has_forms() {
                    (self.form(
                        &html! {
                            (table)
                            @if pages > 1 {
                                p {
                                    label {
                                        input type="checkbox" name="match" value=(self.filter_query());
                                        " all " (rows.len()) " workloads that match, on all " (pages) " pages"
                                    }
                                }
                            }
                        },
                        &FormFields::prefilled(),
                    ))
                    p.far { "This page does not reload by itself, so no selection is lost." }
                } @else {
                    (table)
                    @if self.token.is_some() { (self.instead_of_form()) }
                }
                (self.pager(page, pages))
                (legend())
            }
        };
        self.shell(&kind, &content)
    }

    /// The workloads that match the filters, in the requested order.
    pub(in crate::dashboard) fn matching(&self) -> Vec<&Row> {
        let all = self.view.rows.iter().map(|row| &**row);
        let mut rows: Vec<&Row> = all.filter(|row| self.takes(row)).collect();
        match self.params.sort {
            Sort::Name => {}
            Sort::State => rows.sort_by_key(|row| row.situation()),
            // Workloads without a next change are last.
            Sort::Next => rows.sort_by_key(|row| (row.status.next.is_none(), row.status.next)),
        }
        rows
    }

    fn takes(&self, row: &Row) -> bool {
        let Params {
            namespace,
            kind,
            state,
            text,
            schedule,
            ..
        } = self.params;
        let object = &row.status.object;
        let is = |wanted: &Option<String>, found: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted == found)
        };
        let is_in_state = match state.as_deref() {
            None => true,
            Some("reverted") => row.is_reverted(),
            Some(state) => row.status.state_name() == state || row.situation().slug() == state,
        };
        let has_text = || {
            text.as_deref().is_none_or(|text| {
                let name = object.full_name().to_lowercase();
                name.contains(&text.to_lowercase())
            })
        };
        is(namespace, &object.namespace)
            && is(kind, object.kind.name())
            && is(schedule, row.status.schedule.as_deref().unwrap_or_default())
            && is_in_state
            && has_text()
            && match self.labeled {
                Ok(labeled) => labeled.is_none_or(|labeled| labeled.includes(object)),
                Err(_) => false,
            }
    }

    /// The named schedules that workloads follow.
    pub(super) fn schedule_names(&self) -> BTreeSet<&str> {
        let rows = self.view.rows.iter();
        rows.filter_map(|row| row.status.schedule.as_deref())
            .collect()
    }

    /// The timeline of the workloads that follow a named schedule.
    pub(super) fn following(&self, schedule: &str) -> String {
        let params = Params {
            schedule: Some(schedule.to_owned()),
            ..self.params.common()
        };
        params.link("/timeline")
    }

    /// The address of a workload, which knows this list if it is filtered or sorted.
    fn object_link(&self, row: &Row) -> String {
        let list = Params {
            theme: None,
            still: false,
            zone: None,
            back: None,
            ..self.params.clone()
        };
        let is_whole = list.pairs().is_empty();
        let mut query = form_urlencoded::Serializer::new(String::new());
        let query = query.extend_pairs(list.pairs()).finish();
        let params = Params {
            back: Some(query).filter(|_| !is_whole),
            ..self.params.common()
        };
        params.link(&path(row))
    }

    /// The filters as a query.
    fn filter_query(&self) -> String {
        let params = Params {
            theme: None,
            still: false,
            from: None,
            back: None,
            page: 1,
            zone: None,
            ..self.params.clone()
        };
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(params.pairs()).finish()
    }

    /// A week from the requested day, by default from yesterday.
    fn period(&self) -> (NaiveDate, Option<Period>) {
        let zone = self.zone();
        let today = self.view.now.with_timezone(&zone).date_naive();
        let reach = |date: &NaiveDate| {
            date.signed_duration_since(today).num_days().unsigned_abs() <= MAX_DAYS
        };
        let asked = self.params.from.filter(reach);
        let from = asked.unwrap_or(today - Days::new(1));
        let until = midnight(from + Days::new(7), zone);
        (from, Period::new(midnight(from, zone), until).ok())
    }

    fn filter(&self) -> Markup {
        let objects = self.view.rows.iter().map(|row| &row.status.object);
        let schedules = self.schedule_names();
        let namespaces: BTreeSet<&str> = objects.clone().map(|object| &*object.namespace).collect();
        let kinds: BTreeSet<&str> = objects.map(|object| object.kind.name()).collect();
        let select = |name: &str, label: &str, chosen: &Option<String>, all: &BTreeSet<&str>| {
            html! {
                label {
                    (label)
                    select name=(name) {
                        option value="" { "all" }
                        @for one in all {
                            option value=(one) selected[chosen.as_deref() == Some(*one)] {
                                (safe(one))
                            }
                        }
                    }
                }
            }
        };
        let params = self.params;
        html! {
            form.filter method="get" action="/timeline" aria-label="Filter" {
                @if namespaces.len() <= MAX_OFFERED {
                    (select("namespace", "Namespace", &params.namespace, &namespaces))
                } @else {
                    label {
                        "Namespace"
                        input type="text" name="namespace" value=[params.namespace.as_deref()];
                    }
                }
                (select("kind", "Kind", &params.kind, &kinds))
                label {
                    "State"
                    select name="state" {
                        option value="" { "all" }
                        @for situation in Situation::ALL {
                            @let slug = situation.slug();
                            option value=(slug) selected[params.state.as_deref() == Some(slug)] { (situation.name()) }
                        }
                        optgroup label="with or without problems" {
                            @for state in STATES {
                                option value=(state) selected[params.state.as_deref() == Some(state)] { (state) }
                            }
                        }
                    }
                }
                @if !schedules.is_empty() && schedules.len() <= MAX_OFFERED {
                    (select("schedule", "Named schedule", &params.schedule, &schedules))
                } @else if !schedules.is_empty() {
                    label {
                        "Named schedule"
                        input type="text" name="schedule" value=[params.schedule.as_deref()];
                    }
                }
                label { "Name" input type="search" name="q" value=[params.text.as_deref()]; }
                @if self.view.asks || self.token.is_some() {
                    label {
                        "Label"
                        input type="text" name="label" placeholder="app=shop" value=[params.label.as_deref()];
                    }
                    label {
                        "Team label"
                        input type="text" name="team" placeholder="team=payments" value=[params.team.as_deref()];
                    }
                }
                @let others = Params { from: params.from, sort: params.sort, ..params.common() };
                @for (name, value) in others.pairs() {
                    input type="hidden" name=(name) value=(value);
                }
                button type="submit" { "Filter" }
                @if params.filters() { a.button href=(params.common().link("/timeline")) { "Clear" } }
            }
        }
    }

    fn moves(&self, from: NaiveDate) -> Markup {
        let to = |from: Option<NaiveDate>| {
            let params = Params {
                from,
                ..self.params.clone()
            };
            params.link("/timeline")
        };
        let back = |days| to(from.checked_sub_days(Days::new(days)));
        let on = |days| to(from.checked_add_days(Days::new(days)));
        html! {
            nav.moves aria-label="Days" {
                a href=(back(7)) { "← Week" }
                a href=(back(1)) { "← Day" }
                a href=(to(None)) { "Today" }
                a href=(on(1)) { "Day →" }
                a href=(on(7)) { "Week →" }
            }
        }
    }

    fn table(&self, rows: &[&Row], period: Option<Period>) -> Markup {
        let columns = Columns {
            checkboxes: self.has_forms(),
            schedules: !self.schedule_names().is_empty(),
        };
        let named = if columns.schedules { "5" } else { "4" };
        let names = period.map_or_else(Vec::new, |period| days(period, self.zone()));
        let weeks: Vec<(&Row, Option<Week>)> = rows
            .iter()
            .map(|row| (*row, period.and_then(|period| self.week_of(row, period))))
            .collect();
        let drawn = weeks.iter().filter_map(|(_, week)| week.as_ref());
        let largest = drawn.map(Week::largest).max().unwrap_or_default();
        let is_grouped = self.params.sort == Sort::Name;
        let same_group =
            |a: &(&Row, _), b: &(&Row, _)| !is_grouped || namespace(a.0) == namespace(b.0);
        html! {
            div.scroll.wide tabindex="0" role="group" aria-label="Timeline" {
                table.timeline {
                    thead {
                        tr {
                            @if columns.checkboxes { td { span.hidden { "Selected" } } }
                            th scope="col" { (self.sort_link(Sort::Name, "Workload")) }
                            th scope="col" { (self.sort_link(Sort::State, "State, replicas")) }
                            th scope="col" { (self.sort_link(Sort::Next, "Next")) }
                            @if columns.schedules { th scope="col" { "Schedule" } }
                            th.week scope="col" {
                                (axis(&names))
                            }
                        }
                    }
                    @for group in weeks.chunk_by(same_group) {
                        tbody {
                            @if is_grouped {
                                tr.group {
                                    @let name = group.first().map_or("", |(row, _)| namespace(row));
                                    @if columns.checkboxes { td {} }
                                    th scope="rowgroup" colspan=(named) {
                                        (self.link_to_namespace(name))
                                        @if group.iter().any(|(row, _)| self.may_change(row)) {
                                            label.whole {
                                                input type="checkbox" name="namespace" value=(name);
                                                " the whole namespace"
                                            }
                                        }
                                    }
                                }
                            }
                            @for (row, week) in group { (self.row(row, week.as_ref(), largest, columns)) }
                        }
                    }
                }
            }
        }
    }

    fn row(&self, row: &Row, week: Option<&Week>, largest: u32, columns: Columns) -> Markup {
        let object = &row.status.object;
        let name = match self.params.sort {
            Sort::Name => object.short_name(),
            Sort::State | Sort::Next => object.full_name(),
        };
        html! {
            tr {
                @if columns.checkboxes { td { @if self.may_change(row) { (tick(row)) } } }
                th scope="row" {
                    a href=(self.object_link(row)) { (safe(&name)) }
                }
                td.state {
                    (badge(row)) " "
                    span.far { (row.status.count()) }
                    @if row.is_reverted() { " " span.badge.bad { "reverted" } }
                }
                td.next { (next(&row.status, self.zone(), self.view.now)) }
                @if columns.schedules {
                    td.next {
                        @if let Some(name) = &row.status.schedule {
                            a href=(self.following(name)) { (safe(name)) }
                        }
                    }
                }
                td.week { (drawn(row, week, largest)) }
            }
        }
    }

    /// A column heading that sorts by this column.
    fn sort_link(&self, sort: Sort, name: &str) -> Markup {
        let params = Params {
            sort,
            page: 1,
            ..self.params.clone()
        };
        let is_current = self.params.sort == sort;
        html! {
            a.sort href=(params.link("/timeline")) aria-current=[is_current.then_some("true")] {
                (name)
                @if is_current { span aria-hidden="true" { " ↓" } }
            }
        }
    }

    fn week_of(&self, row: &Row, period: Period) -> Option<Week> {
        let until: DateTime<Utc> = period.until();
        self.week(&self.plan_of(row, until)?, period, self.zone())
    }

    fn pager(&self, page: usize, pages: usize) -> Markup {
        let to = |page| {
            let params = Params {
                page,
                ..self.params.clone()
            };
            params.link("/timeline")
        };
        html! {
            @if pages > 1 {
                nav.moves aria-label="Pages of the timeline" {
                    @if page > 1 {
                        a href=(to(1)) { "First" }
                        a href=(to(page - 1)) rel="prev" { "← Previous" }
                    }
                    span { "Page " (page) " of " (pages) }
                    @if page < pages {
                        a href=(to(page + 1)) rel="next" { "Next →" }
                        a href=(to(pages)) { "Last" }
                    }
                }
            }
        }
    }
}

fn namespace(row: &Row) -> &str {
    &row.status.object.namespace
}

fn drawn(row: &Row, week: Option<&Week>, largest: u32) -> Markup {
    let name = row.status.object.full_name();
    html! {
        @if let Some(week) = week {
            (week.picture(&format!("{}: {}", safe(&name), week.sum()), largest))
        } @else if row.status.error.is_some() {
            span.far { "Invalid schedule; workload left unchanged." }
        } @else {
            span.far { "No schedule." }
        }
    }
}

/// The checkbox that selects a workload.
fn tick(row: &Row) -> Markup {
    let object = &row.status.object;
    let label = object.full_name();
    html! { input type="checkbox" name="object" value=(row.form_name()) aria-label=(safe(&label)); }
}
