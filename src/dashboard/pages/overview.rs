//! The first page: problems, next boundaries, and savings.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use dayshift_operations::status::{distance, short_time};
use dayshift_text::counted;
use dayshift_workload::{
    Key, Phase,
    savings::{Bill, Price, SavedSoFar, StoppedCapacity},
};
use maud::{Markup, html};

use crate::dashboard::pages::page::{Kind, Page, section, table, time};
use crate::dashboard::{
    params::Params,
    view::{Level, Row, SavingsSummary},
};

/// The maximum number of findings of a level. The timeline shows the others.
const MAX_FINDINGS: usize = 20;
/// The maximum number of times with boundaries.
const MAX_NEXT: usize = 10;
/// The maximum number of workloads that are named for one time.
const MAX_NAMES: usize = 5;

/// The states that are always counted, in this order, and those that are counted only if a workload has them.
const ALWAYS: [&str; 5] = ["running", "stopped", "woken", "slept", "paused"];
const SOMETIMES: [&str; 4] = ["adopted", "unseen", "left down", "error"];

impl Page<'_> {
    /// Renders the overview.
    pub(crate) fn overview(&self, savings: &SavingsSummary) -> String {
        let kind = Kind {
            title: "Overview",
            path: "/",
            refreshes: true,
        };
        let content = html! {
            h1 { "Overview" }
            @if self.view.rows.is_empty() {
                p { "No workload has a schedule here." }
                p {
                    "Give one to a Deployment: "
                    code {
                        "kubectl annotate deploy/web "
                        (self.settings.prefix.annotation(Key::Hours))
                        "=\"Mon-Fri 09:00-19:00\""
                    }
                }
            } @else {
                @let rows: Vec<&Row> = self.view.rows.iter().map(|row| &**row).collect();
                (self.attention(&rows, None))
                (self.counts(&rows, None))
                div.columns {
                    (self.coming(&rows))
                    (self.saved(savings))
                }
                (self.namespaces())
                (self.notes(&rows))
            }
        };
        self.shell(&kind, &content)
    }

    /// The problems of these rows, of all namespaces or of one.
    pub(super) fn attention(&self, rows: &[&Row], namespace: Option<&str>) -> Markup {
        let findings = self.view.findings(rows, &self.settings.prefix);
        let wrong = || {
            findings
                .iter()
                .filter(|finding| finding.level != Level::Note)
        };
        let all = wrong().count();
        let workloads = rows.len();
        html! {
            section aria-labelledby="wrong" {
                h2 id="wrong" { "What is wrong" }
                @if all == 0 {
                    p.fine { "Nothing. " (counted(workloads, "workload")) " looked at." }
                } @else {
                    ul.findings {
                        @for finding in wrong().take(MAX_FINDINGS) { (self.finding(finding)) }
                    }
                    p {
                        @if all > MAX_FINDINGS { "And " (all - MAX_FINDINGS) " more. " }
                        a href=(self.of_state("problem", namespace)) { "All workloads with a problem" }
                    }
                }
            }
        }
    }

    /// The number of rows in each state.
    pub(super) fn counts(&self, rows: &[&Row], namespace: Option<&str>) -> Markup {
        let by_state = by_state(rows.iter().copied());
        let of = |state: &str| by_state.get(state).copied().unwrap_or_default();
        let reverted = rows.iter().filter(|row| row.is_reverted()).count();
        let sometimes = SOMETIMES.iter().copied().filter(|state| of(state) > 0);
        let states = ALWAYS.iter().copied().chain(sometimes);
        let counts = states
            .map(|state| (state, of(state)))
            .chain(self.view.asks.then_some(("reverted", reverted)));
        html! {
            section aria-labelledby="states" {
                h2 id="states" { "States" }
                ul.counts {
                    @for (state, count) in counts {
                        li {
                            a href=(self.of_state(state, namespace)) {
                                span.number { (count) } " " (state)
                            }
                        }
                    }
                }
            }
        }
    }

    /// The address of the timeline, filtered by a state.
    fn of_state(&self, state: &str, namespace: Option<&str>) -> String {
        let params = Params {
            state: Some(state.to_owned()),
            namespace: namespace.map(str::to_owned),
            ..self.params.common()
        };
        params.link("/timeline")
    }

    /// The next boundaries of these rows.
    pub(super) fn coming(&self, rows: &[&Row]) -> Markup {
        let now = self.view.now;
        let mut coming: BTreeMap<(DateTime<Utc>, String), Vec<&Row>> = BTreeMap::new();
        for &row in rows {
            if let Some(at) = row.status.next.filter(|at| *at > now) {
                let action = match (row.status.next_action, row.status.phase) {
                    (Some(action), _) => action.to_string(),
                    (None, Some(Phase::Paused)) => "end of a pause".to_owned(),
                    (None, Some(Phase::Woken)) => "end of a wake".to_owned(),
                    (None, Some(Phase::Slept)) => "end of a sleep".to_owned(),
                    // If the boundary is unknown here, for example because of the controller's default
                    // schedule, show that.
                    (None, _) => "start or stop".to_owned(),
                };
                coming.entry((at, action)).or_default().push(row);
            }
        }
        let content = if coming.is_empty() {
            html! { p { "Nothing." } }
        } else {
            let rows = html! {
                @for ((at, action), rows) in coming.iter().take(MAX_NEXT) {
                    tr {
                        td.countdown { (distance(*at, now).trim_start_matches("in ")) }
                        td { (time(*at, self.zone(), now)) }
                        td { (action) }
                        td { (self.some(rows)) (self.keep_running(rows)) }
                    }
                }
            };
            table("next", &["In", "At", "What", "Workloads"], &rows)
        };
        section("next", "What comes next", &content)
    }

    fn some(&self, rows: &[&Row]) -> Markup {
        let more = rows.len().saturating_sub(MAX_NAMES);
        html! {
            @for (at, row) in rows.iter().take(MAX_NAMES).enumerate() {
                @if at > 0 { ", " }
                (self.link_to(row))
            }
            @if more > 0 { " and " (more) " more" }
        }
    }

    fn saved(&self, savings: &SavingsSummary) -> Markup {
        let price = savings.price.as_deref();
        let now = held_down(self.view.rows.iter().map(|row| &**row), price);
        html! {
            section aria-labelledby="saved" {
                h2 id="saved" { "What is saved" }
                p { "Stopped by schedules now: " (now) "." }
                @if let Some(SavedSoFar { all, since, since_each }) = savings.so_far {
                    dl {
                        @for (when, saved) in ["Today", "This week", "This month"].into_iter().zip(since_each) {
                            dt { (when) }
                            dd { (Bill::new(saved, price)) }
                        }
                    }
                    p {
                        (Bill::new(all, price)) " saved since the controller began to count, "
                        (short_time(since, self.zone(), self.view.now)) "."
                    }
                } @else if self.view.is_partial {
                    p.far { "What was saved until now is counted of all workloads together, of which you see a part." }
                } @else {
                    p.far {
                        "The controller counts what was saved: the metric "
                        code { "dayshift_saved_replica_seconds_total" } "."
                    }
                }
            }
        }
    }

    /// The notes about these rows.
    pub(super) fn notes(&self, rows: &[&Row]) -> Markup {
        let findings = self.view.findings(rows, &self.settings.prefix);
        let notes = || {
            findings
                .iter()
                .filter(|finding| finding.level == Level::Note)
        };
        let all = notes().count();
        html! {
            @if all > 0 {
                section aria-labelledby="notes" {
                    h2 id="notes" { "Good to know" }
                    ul.findings {
                        @for finding in notes().take(MAX_FINDINGS) { (self.finding(finding)) }
                    }
                    @if all > MAX_FINDINGS { p { "And " (all - MAX_FINDINGS) " more." } }
                }
            }
        }
    }
}

/// The number of rows in each state.
pub(super) fn by_state<'a>(rows: impl Iterator<Item = &'a Row>) -> BTreeMap<&'static str, usize> {
    let mut by_state = BTreeMap::new();
    for row in rows {
        *by_state.entry(row.status.state_name()).or_default() += 1;
    }
    by_state
}

/// The capacity of these rows that is stopped now.
pub(super) fn held_down<'a>(
    rows: impl Iterator<Item = &'a Row> + Clone,
    price: Option<&Price>,
) -> String {
    let down = rows.map(|row| &row.status);
    let down = down.filter(|status| status.stopped_capacity.replicas > 0);
    let held: StoppedCapacity = down.clone().map(|status| status.stopped_capacity).sum();
    Bill::per_hour(held, price).with_incomplete(down.map(|status| status.requests.are_complete()))
}
