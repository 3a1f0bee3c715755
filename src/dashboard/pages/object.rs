//! The page of a workload: its next days, labels, other managers, Events and commands.

use chrono::{DateTime, Days, NaiveDate, Utc};
use dayshift_cluster::read::FindError;
use dayshift_manifest::plan::{CountedWith, Period, PlannedBoundary, WorkloadPlan};
use dayshift_operations::status::{ScheduleStatus, distance, time_of_day};
use dayshift_schedule::Zone;
use dayshift_text::counted;
use dayshift_workload::{
    Inputs, Key, Label, Origin, Problem, Replicas, TEAM_CONFIG_MAP,
    events::author_text,
    savings::{Bill, short_number},
};
use maud::{Markup, html};

use crate::dashboard::{
    events::ShownEvents,
    outlook::Share,
    pages::{
        page::{
            Kind, Page, badge, commands, namespace_crumbs, next, path, safe, safe_lines, said,
            section, table, time,
        },
        week::{Week, day_name, legend, midnight, patterns},
    },
    view::{Finding, Row},
};

/// The number of days shown.
const DAYS: u64 = 14;
/// The maximum number of boundaries that are computed, and of those that are listed for a day.
const MAX_BOUNDARIES: usize = 2_000;
const MAX_OF_A_DAY: usize = 12;

/// The Events of an object, or the error. `None` if the API server is not asked.
pub(crate) type Events = Option<Result<ShownEvents, FindError>>;

impl Page<'_> {
    /// Renders the page of a workload.
    pub(crate) fn object(&self, row: &Row, events: &Events) -> String {
        let status = &row.status;
        let title = status.object.full_name();
        let kind = Kind {
            title: &safe(&title),
            path: &path(row),
            refreshes: true,
            crumbs: &namespace_crumbs(&status.object.namespace),
        };
        let zone = self.zone_of(row);
        let today = self.view.now.with_timezone(&zone).date_naive();
        let until = midnight(today + Days::new(DAYS), zone);
        let plan = self.plan_of(row, until);
        let plan = plan.filter(|plan| plan.spec().is_some());
        let this_day = plan.as_ref().and_then(|plan| self.day(plan, today, zone));
        let content = html! {
            @if let Some(list) = self.back_to_list() {
                p.far { a href=(list) { "← Back to the filtered timeline" } }
            }
            h1 { (safe(&title)) " " (badge(row)) }
            (self.sentence(row, this_day.as_ref()))
            (self.findings_of(row))
            (self.suggestions(&[row]))
            (self.actions("Actions", &[row], ("object", &row.form_name()), &path(row)))
            @if let Some(plan) = &plan { (self.days(row, plan)) }
            (self.cost(row))
            (self.events_shown(row, events))
            section aria-label="Details" {
                details.more {
                    summary { "Details: status, annotations, labels, other managers, commands" }
                    (self.standing(row))
                    (self.schedule(row))
                    (self.labels(row))
                    (self.others(row))
                    (self.commands(row))
                }
            }
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
                        @for Finding { level, message, .. } in &findings {
                            li class={ "finding " (level.name()) } {
                                strong { (level.name()) } " " (said(&message.to_string()))
                            }
                        }
                    }
                    @for problem in &status.problems { (caret(problem, &row.observed.inputs)) }
                    @if !status.problems.is_empty() { p { (self.edit_link(row)) } }
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
                    @if let Some(saved) = status.saved.filter(|saved| *saved > status.replicas) {
                        dt { "Saved count" }
                        dd { (saved) }
                    }
                    dt { "Next" }
                    dd { (next(status, zone, now)) }
                    @if let Some((origin, over)) = status.active_override {
                        dt { "Override" }
                        dd {
                            (over.phase().word())
                            @if let Some(until) = over.until() { " until " (at(until)) }
                            @if origin == Origin::Team {
                                ", written in the ConfigMap " (TEAM_CONFIG_MAP)
                            } @else {
                                ", written on the " (origin.name())
                            }
                            @if let Some(author) = author_text(&status.author) { ", " (author) }
                        }
                    }
                    dt { "Time zone" }
                    dd { (status.zone.name()) }
                    dt { "Schedule from" }
                    dd { (status.origin.name()) }
                    @if let Some(name) = &status.schedule {
                        dt { "Named schedule" }
                        dd { a href=(self.following(name)) { (safe(name)) } }
                    }
                    @if let Some(services) = status.woken_by() {
                        dt { "Woken by requests to" }
                        dd { (safe(&services)) }
                    }
                    @if status.stopped_capacity.replicas > 0 {
                        dt { "Stopped capacity" }
                        dd { (Bill::per_hour(status.stopped_capacity, None)) " would run without the schedule" }
                    }
                    @if let Some(words) = status.revert_text() {
                        dt { "Reverted" }
                        dd {
                            (safe(&words))
                            @if let Some(cure) = status.fix(&self.settings.prefix) {
                                pre tabindex="0" { (safe_lines(&cure)) }
                            }
                        }
                    }
                }
            }
        }
    }

    /// The share of this week that the schedule saves.
    fn cost(&self, row: &Row) -> Markup {
        let outlook = self.outlook(&[row]);
        let week = Share::total(outlook.week.into_iter());
        let content = html! {
            @if let Some(percent) = week.percent() {
                p {
                    "This week the schedule saves " strong { (format!("{percent:.0} %")) } " of "
                    (short_number(week.used.replica_hours + week.saved.replica_hours))
                    " replica-hours: " (Bill::new(week.saved, self.price)) "."
                }
            } @else if row.status.condition == ScheduleStatus::Rejected {
                p.far { "Nothing is counted while its schedule is rejected." }
            } @else if row.status.counted_with == CountedWith::Owner {
                p.far { "Counted with the resource that it belongs to." }
            } @else {
                p.far { "This kind has no replicas that can be counted." }
            }
        };
        section("cost", "What it saves", &content)
    }

    fn days(&self, row: &Row, plan: &WorkloadPlan) -> Markup {
        let zone = self.zone_of(row);
        let today = self.view.now.with_timezone(&zone).date_naive();
        let boundaries: Vec<_> = plan.boundaries().take(MAX_BOUNDARIES).collect();
        let is_cut = boundaries.len() == MAX_BOUNDARIES;
        let name = row.status.object.full_name();
        let largest = plan.runs.map_or(1, Replicas::get);
        html! {
            section aria-labelledby="days" {
                div.heading {
                    h2 id="days" { "Two weeks" }
                    (self.edit_link(row))
                }
                p.far { "The schedule from now on, in the time zone " (zone.name()) "." }
                (patterns())
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
                            @for (position, date) in today.iter_days().take(DAYS as usize).enumerate() {
                                @let week = self.day(plan, date, zone);
                                tr {
                                    th scope="row" { (day_name(date, position)) }
                                    td.week {
                                        @if let Some(week) = &week {
                                            (week.picture(&format!("{}, {date}: {}", safe(&name), week.sum()), largest))
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
                details { summary { "Legend" } (legend()) }
            }
        }
    }

    fn edit_link(&self, row: &Row) -> Markup {
        let to = self
            .params
            .common()
            .link(&format!("{}/schedule", path(row)));
        html! { @if self.token.is_some() { a.button href=(to) { "Edit the schedule" } } }
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
                    td data-heading="Source" { (origin.name()) }
                }
            }
        };
        let table = table("schedule", &["Annotation", "Value", "Source"], &rows);
        section("schedule", "Its annotations", &table)
    }
}

/// The boundaries of a day.
fn happens(boundaries: &[PlannedBoundary], date: NaiveDate, zone: Zone, is_cut: bool) -> Markup {
    let at = |boundary: &PlannedBoundary| boundary.at.with_timezone(&zone);
    let of_day: Vec<_> = boundaries
        .iter()
        .filter(|boundary| at(boundary).date_naive() == date)
        .collect();
    let is_beyond = is_cut
        && boundaries
            .last()
            .is_some_and(|boundary| at(boundary).date_naive() <= date);
    let clock = |boundary: &PlannedBoundary| {
        let at = at(boundary);
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

/// Excluded dates, dates treated as another weekday, and clock changes.
fn remarks(week: &Week, date: NaiveDate, zone: Zone) -> Markup {
    let (from, until) = (midnight(date, zone), midnight(date + Days::new(1), zone));
    let change = zone.clock_change(from, until);
    let holiday = week.holidays.iter().find(|holiday| holiday.0 == date);
    let treated = week.treated.iter().find(|exception| exception.0 == date);
    html! {
        @if let Some((_, day)) = treated {
            span.remark { " counts as " (day) }
        }
        @if let Some((_, name)) = holiday {
            span.remark {
                " no start: an excluded date"
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

/// The annotation text with a mark below the error.
pub(super) fn caret(problem: &Problem, inputs: &Inputs) -> Markup {
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

    /// Other controllers that set the count.
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

    /// The Events, or the command that shows them if the API server is not asked.
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
                        @if events.all == 0 { "There are no Events. " }
                        @if events.all > events.newest.len() {
                            "The last " (events.newest.len()) " of " (events.all) " Events. "
                        }
                        "A cluster keeps Events for an hour, unless its API server has another --event-ttl."
                    }
                    @if events.all > 0 { (self.events_listed(events, zone)) }
                }
            }
        };
        section("events", "What happened", &content)
    }

    fn events_listed(&self, events: &ShownEvents, zone: Zone) -> Markup {
        let rows = html! {
            @for event in &*events.newest {
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
