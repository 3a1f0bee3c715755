//! The page of one workload.

use chrono::{DateTime, Days, NaiveDate, Utc};
use dayshift_cluster::read::{FindError, SeenEvent};
use dayshift_manifest::plan::{Period, PlannedBoundary, WorkloadPlan};
use dayshift_operations::status::{distance, time_of_day};
use dayshift_schedule::Zone;
use dayshift_text::counted;
use dayshift_workload::{Inputs, Key, Problem, events::author_text, savings::Bill};
use maud::{Markup, html};

use super::{
    bits::{badge, next, path, section, table, time},
    shell::{Kind, Page},
    text::{safe, safe_lines, said},
    week::{Week, day_name, legend, midnight, patterns},
};
use crate::dashboard::view::Row;

/// How many days are shown.
const DAYS: u64 = 14;
/// How many boundaries are looked at, and how many of a day are told one by one.
const MAX_BOUNDARIES: usize = 2_000;
const MAX_OF_A_DAY: usize = 12;

/// The Events of an object, or why they are not shown; none where nobody has asked.
pub(crate) type Events = Option<Result<Vec<SeenEvent>, FindError>>;

impl Page<'_> {
    /// The page of one workload.
    pub(crate) fn object(&self, row: &Row, events: &Events) -> String {
        let status = &row.status;
        let title = status.object.full_name();
        let kind = Kind {
            title: &safe(&title),
            path: &path(row),
            refreshes: true,
        };
        let content = html! {
            h1 { (safe(&title)) " " (badge(status)) }
            (self.findings_of(row))
            (self.standing(row))
            (self.actions("Actions", ("object", &row.form_name()), &path(row)))
            (self.days(row))
            (self.schedule(row))
            (self.labels(row))
            (self.others(row))
            (self.events_shown(row, events))
            (self.commands(row))
        };
        self.shell(&kind, &content)
    }

    fn findings_of(&self, row: &Row) -> Markup {
        let findings = row.findings(&self.settings.prefix, self.view.now);
        let status = &row.status;
        html! {
            @if !findings.is_empty() {
                section aria-labelledby="said" {
                    h2 id="said" { "Findings" }
                    ul.findings {
                        @for (level, text, command) in &findings {
                            li class={ "finding " (level.name()) } {
                                strong { (level.name()) } " " (said(text)) (said(command))
                            }
                        }
                    }
                    @for problem in &status.problems { (caret(problem, &row.observed.inputs)) }
                }
            }
        }
    }

    fn standing(&self, row: &Row) -> Markup {
        let (status, now) = (&row.status, self.view.now);
        let zone = self.zone_of(row);
        let at = |at: DateTime<Utc>| time(at, zone, now);
        html! {
            section aria-labelledby="stands" {
                h2 id="stands" { "Status" }
                dl {
                    dt { "Kind" }
                    dd { (status.object.kind.name()) }
                    dt { "Count" }
                    dd { (status.count()) }
                    @if let Some(ready) = status.ready() {
                        dt { "Ready" }
                        dd { (ready) }
                    }
                    dt { "State" }
                    dd {
                        (status.state_name())
                        @if let Some(since) = status.since {
                            " since " (at(since)) " " span.far { (distance(since, now)) }
                        }
                    }
                    @if let Some(saved) = status.saved {
                        dt { "Saved count" }
                        dd { (saved) }
                    }
                    dt { "Next" }
                    dd { (next(status, zone, now)) }
                    @if let Some((origin, over)) = status.laid_over {
                        dt { "Override" }
                        dd {
                            (over.phase())
                            @if let Some(until) = over.until() { " until " (at(until)) }
                            ", written on the " (origin.name())
                            @if let Some(author) = author_text(&status.author) { ", " (author) }
                        }
                    }
                    dt { "Time zone" }
                    dd { (status.zone.name()) }
                    dt { "Schedule from" }
                    dd { (status.origin.name()) }
                    @if let Some(services) = status.woken_by() {
                        dt { "Woken by requests to" }
                        dd { (safe(&services)) }
                    }
                    @if status.held_down.replicas > 0 {
                        dt { "Held down" }
                        dd { (Bill::per_hour(status.held_down, None)) " would run without the schedule" }
                    }
                    @if let Some(words) = status.revert_words() {
                        dt { "Reverted" }
                        dd {
                            (safe(&words))
                            @if let Some(cure) = status.cure(&self.settings.prefix) {
                                pre tabindex="0" { (safe_lines(&cure)) }
                            }
                        }
                    }
                }
            }
        }
    }

    fn days(&self, row: &Row) -> Markup {
        let zone = self.zone_of(row);
        let today = self.view.now.with_timezone(&zone).date_naive();
        let until = midnight(today + Days::new(DAYS), zone);
        let Some(plan) = self.plan_of(row, until).filter(|it| it.spec().is_some()) else {
            return html! {};
        };
        let boundaries: Vec<_> = plan.boundaries().take(MAX_BOUNDARIES).collect();
        let is_cut = boundaries.len() == MAX_BOUNDARIES;
        let name = row.status.object.full_name();
        html! {
            section aria-labelledby="days" {
                h2 id="days" { "Two weeks" }
                p { "The schedule from now on, in the time zone " (zone.name()) "." }
                (patterns())
                (legend())
                div.scroll tabindex="0" role="group" aria-labelledby="days" {
                    table.timeline {
                        thead {
                            tr {
                                th scope="col" { "Day" }
                                th.week scope="col" {
                                    span.axis {
                                        @for hour in ["0:00", "6:00", "12:00", "18:00"] {
                                            span { (hour) }
                                        }
                                    }
                                }
                                th scope="col" { "What happens" }
                            }
                        }
                        tbody {
                            @for (at, date) in today.iter_days().take(DAYS as usize).enumerate() {
                                @let week = self.day(&plan, date, zone);
                                tr {
                                    th scope="row" { (day_name(date, at == 0)) }
                                    td.week {
                                        @if let Some(week) = &week {
                                            (week.picture(&format!("{}, {date}: {}", safe(&name), week.sum())))
                                        }
                                    }
                                    td {
                                        (happens(&boundaries, date, zone, is_cut))
                                        @if let Some(week) = &week { (remarks(week, date, zone)) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    fn day(&self, plan: &WorkloadPlan, date: NaiveDate, zone: Zone) -> Option<Week> {
        let period = Period::new(midnight(date, zone), midnight(date + Days::new(1), zone));
        self.week(plan, period.ok()?, zone)
    }

    fn schedule(&self, row: &Row) -> Markup {
        let inputs = &row.observed.inputs;
        let prefix = &self.settings.prefix;
        let keys = Key::ALL.into_iter();
        let keys: Vec<_> = keys
            .filter_map(|key| Some((key, inputs.text(key)?, inputs.origin(key)?)))
            .collect();
        let rows = html! {
            @for (key, text, origin) in &keys {
                tr {
                    th scope="row" { code { (prefix.annotation(*key)) } }
                    td { code { (safe(text)) } }
                    td data-heading="Written on the" { (origin.name()) }
                }
            }
        };
        let table = table("schedule", &["Annotation", "Text", "Written on the"], &rows);
        section("schedule", "Its annotations", &table)
    }
}

/// What happens on a day.
fn happens(boundaries: &[PlannedBoundary], date: NaiveDate, zone: Zone, is_cut: bool) -> Markup {
    let at = |it: &PlannedBoundary| it.at.with_timezone(&zone);
    let of_day: Vec<_> = boundaries
        .iter()
        .filter(|it| at(it).date_naive() == date)
        .collect();
    let is_beyond = is_cut
        && boundaries
            .last()
            .is_some_and(|it| at(it).date_naive() <= date);
    let clock = |it: &PlannedBoundary| {
        let at = at(it);
        html! { time datetime=(at.to_rfc3339()) { (at.format(time_of_day(&at)).to_string()) } }
    };
    html! {
        @if let ([first, .., last], true) = (&*of_day, of_day.len() > MAX_OF_A_DAY) {
            (counted(of_day.len(), "change")) ", " (clock(first)) " to " (clock(last))
        } @else {
            @for (position, boundary) in of_day.iter().enumerate() {
                @if position > 0 { ", " }
                span.boundary {
                    (boundary.action.name()) " " (clock(boundary))
                    @if let Some(count) = boundary.replicas { " → " (count) }
                    @if !boundary.applied { " (not applied)" }
                    @if let Some(ends) = boundary.ends { " (end of " (ends.name()) ")" }
                }
            }
        }
        @if is_beyond { " and more" }
    }
}

/// What else is to be known of a day: the day that it counts as, that nothing starts on it, and its
/// clock change.
fn remarks(week: &Week, date: NaiveDate, zone: Zone) -> Markup {
    let (from, until) = (midnight(date, zone), midnight(date + Days::new(1), zone));
    let change = zone.clock_change(from, until);
    let holiday = week.holidays.iter().find(|it| it.0 == date);
    let treated = week.treated.iter().find(|it| it.0 == date);
    html! {
        @if let Some((_, day)) = treated {
            span.remark { " counts as " (day) }
        }
        @if let Some((_, name)) = holiday {
            span.remark {
                " no start: an excepted date"
                @if !name.is_empty() { ", " (safe(name)) }
            }
        }
        @if let Some(change) = change {
            span.remark {
                " clocks go from " (change.shown_before().format("%H:%M").to_string())
                " to " (change.shown_after().format("%H:%M").to_string())
            }
        }
    }
}

/// The text of an annotation with a mark under what is at fault.
fn caret(problem: &Problem, inputs: &Inputs) -> Markup {
    let text = Key::from_name(&problem.annotation).and_then(|key| inputs.text(key));
    let Some(text) = text else { return html! {} };
    let span = problem.diagnostic.span();
    let (Some(before), Some(fault), Some(after)) = (
        text.get(..span.start),
        text.get(span.clone()),
        text.get(span.end..),
    ) else {
        return html! {};
    };
    let blank: String = " ".repeat(unicode_width::UnicodeWidthStr::width(&*safe(before)));
    let carets = "^".repeat(unicode_width::UnicodeWidthStr::width(&*safe(fault)).max(1));
    html! {
        pre.fault tabindex="0" {
            (safe(before)) mark { (safe(fault)) } (safe(after)) "\n" (blank) (carets)
        }
    }
}
