//! The timeline: a week of every workload.

use std::collections::BTreeSet;

use chrono::{DateTime, Days, NaiveDate, Utc};
use dayshift_manifest::plan::Period;
use dayshift_text::counted;
use maud::{Markup, html};

use super::week::{Week, day_name, days, legend, midnight, patterns};
use crate::dashboard::pages::page::{Kind, Page, badge, next, path, safe};
use crate::dashboard::{form::FormFields, params::Params, view::Row};

/// The number of rows on a page.
const ROWS: usize = 50;
/// The maximum number of suggested names. Users can enter others.
const MAX_OFFERED: usize = 500;
/// The states to filter by.
const STATES: [&str; 11] = [
    "problem",
    "error",
    "reverted",
    "running",
    "stopped",
    "woken",
    "slept",
    "paused",
    "adopted",
    "unseen",
    "left down",
];
/// Plans are not computed further ahead.
const MAX_DAYS: u64 = 366 * 100;

impl Page<'_> {
    /// Renders the timeline of the filtered workloads.
    pub(crate) fn timeline(&self) -> String {
        let kind = Kind {
            title: "Timeline",
            path: "/timeline",
            // Selections would be lost if the page reloaded.
            refreshes: self.token.is_none(),
        };
        let all = self.view.rows.iter().map(|row| &**row);
        let rows: Vec<&Row> = all.filter(|row| self.takes(row)).collect();
        let pages = rows.len().div_ceil(ROWS).max(1);
        let page = self.params.page.min(pages);
        let shown = rows.chunks(ROWS).nth(page - 1).unwrap_or_default();
        let (from, period) = self.period();
        let content = html! {
            h1 { "Timeline" }
            (self.filter())
            (self.moves(from))
            p role="status" {
                (counted(rows.len(), "workload"))
                @if self.params.filters() { " of " (self.view.rows.len()) }
                @if pages > 1 { ", page " (page) " of " (pages) }
                ". The pictures show what the schedules say, in " (self.zone().name()) "."
            }
            @if shown.is_empty() {
                p { "None. " a href=(self.params.common().link("/timeline")) { "Show all" } }
            } @else {
                (patterns())
                (legend())
                @let table = self.table(shown, period);
                @if self.token.is_some() {
                    (self.form(
                        &html! { (table) h2 { "Act on selected workloads" } },
                        &FormFields::prefilled(),
                    ))
                    p.far {
                        "This page does not reload by itself, so no tick is lost."
                        @if pages > 1 {
                            " A tick counts on its own page only, of " (pages) ": act on one page \
                                after the other, filter, or tick a whole namespace, which includes \
                                its workloads on other pages."
                        }
                    }
                } @else {
                    (table)
                }
                (self.pager(page, pages))
            }
        };
        self.shell(&kind, &content)
    }

    fn takes(&self, row: &Row) -> bool {
        let Params {
            namespace,
            kind,
            state,
            text,
            ..
        } = self.params;
        let object = &row.status.object;
        let is = |wanted: &Option<String>, found: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted == found)
        };
        let is_in_state = match state.as_deref() {
            None => true,
            Some("problem") => row.status.has_problem(),
            Some("reverted") => row.is_reverted(),
            Some(state) => row.status.state_name() == state,
        };
        let has_text = || {
            text.as_deref().is_none_or(|text| {
                let name = object.full_name().to_lowercase();
                name.contains(&text.to_lowercase())
            })
        };
        is(namespace, &object.namespace)
            && is(kind, object.kind.name())
            && is_in_state
            && has_text()
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
                (select("state", "State", &params.state, &STATES.into_iter().collect()))
                label { "Name" input type="search" name="q" value=[params.text.as_deref()]; }
                @let others = Params { from: params.from, ..params.common() };
                @for (name, value) in others.pairs() {
                    input type="hidden" name=(name) value=(value);
                }
                button type="submit" { "Filter" }
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
        let now = self.view.now;
        let acts = self.token.is_some();
        let names = period.map_or_else(Vec::new, |period| days(period, self.zone()));
        html! {
            div.scroll tabindex="0" role="group" aria-label="Timeline" {
                table.timeline {
                    thead {
                        tr {
                            @if acts { td { span.hidden { "Ticked" } } }
                            th scope="col" { "Workload" }
                            th scope="col" { "State" }
                            th scope="col" { "Next" }
                            th.week scope="col" {
                                span.axis {
                                    @for (at, date) in names.iter().enumerate() {
                                        span { (day_name(*date, at == 0)) }
                                    }
                                }
                            }
                        }
                    }
                    @for group in rows.chunk_by(|a, b| namespace(a) == namespace(b)) {
                        tbody {
                            tr.group {
                                @let name = group.first().map_or("", namespace);
                                @if acts { td {} }
                                th scope="rowgroup" colspan="4" {
                                    (self.link_to_namespace(name))
                                    @if acts {
                                        label.whole {
                                            input type="checkbox" name="namespace" value=(name);
                                            " the whole namespace"
                                        }
                                    }
                                }
                            }
                            @for row in group {
                                tr {
                                    @if acts { td { (tick(row)) } }
                                    th scope="row" {
                                        a href=(self.params.common().link(&path(row))) {
                                            (safe(&row.status.object.short_name()))
                                        }
                                    }
                                    td {
                                        (badge(&row.status)) " "
                                        span.far { (row.status.count()) }
                                        @if row.is_reverted() { " " span.badge.bad { "reverted" } }
                                    }
                                    td.next { (next(&row.status, self.zone(), now)) }
                                    td.week { (self.drawn(row, period)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    fn drawn(&self, row: &Row, period: Option<Period>) -> Markup {
        let week = period.and_then(|period| self.week_of(row, period));
        let name = row.status.object.full_name();
        let name = safe(&name);
        html! {
            @if let Some(week) = week {
                (week.picture(&format!("{name}: {}", week.sum())))
                details {
                    summary { "Times" span.hidden { " of " (name) } }
                    (week.table())
                }
            } @else if row.status.error.is_some() {
                span.far { "Invalid schedule; workload left unchanged." }
            } @else {
                span.far { "No schedule." }
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

fn namespace<'a>(row: &&'a Row) -> &'a str {
    &row.status.object.namespace
}

/// The checkbox that selects a workload.
fn tick(row: &Row) -> Markup {
    let object = &row.status.object;
    let label = object.full_name();
    html! { input type="checkbox" name="object" value=(row.form_name()) aria-label=(safe(&label)); }
}
