//! The first page: whether dayshift works, what runs now, what happens next, and what it saves.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use dayshift_manifest::plan::CountedWith;
use dayshift_operations::status::{ScheduleStatus, distance, short_time};
use dayshift_text::counted;
use dayshift_workload::{Key, Phase};
use maud::{Markup, html};

use crate::dashboard::pages::{
    page::{Kind, Page, first_of, key, safe, section, table, time},
    savings::stopped_now,
};
use crate::dashboard::{
    outlook::Outlook,
    params::Params,
    view::{Row, SavingsSummary, Situation},
};

/// The maximum number of times with boundaries.
const MAX_NEXT: usize = 6;
/// The maximum number of workloads that are named for one time.
const MAX_NAMES: usize = 4;
/// The width of the bar in its own units.
const WIDTH: usize = 1_000;

impl Page<'_> {
    /// Renders the overview.
    pub(crate) fn overview(&self, savings: &SavingsSummary) -> String {
        let kind = Kind {
            refreshes: true,
            ..Kind::new("Overview", "/")
        };
        let content = html! {
            div.toolbar {
                h1 { "Overview" }
                p {
                    "dayshift starts and stops workloads at the times in their annotations, so that they use \
                        no resources while they are not needed."
                }
            }
            @if self.view.rows.is_empty() {
                (self.empty())
            } @else {
                @let rows: Vec<&Row> = self.view.rows.iter().map(|row| &**row).collect();
                @let outlook = self.outlook(&rows);
                @let findings = self.view.findings(&rows, &self.settings.prefix);
                (self.working(&rows))
                div.columns.pair {
                    (self.counts(&rows, None))
                    (self.attention(&rows, &findings, None))
                }
                div.columns {
                    (self.saved(savings, &outlook))
                    (self.coming(&rows, &outlook))
                }
                (self.notes(&findings))
            }
        };
        self.shell(&kind, &content)
    }

    /// How to give a workload a schedule.
    pub(super) fn empty(&self) -> Markup {
        let content = html! {
            p { "Give one to a Deployment:" }
            pre tabindex="0" {
                "kubectl annotate deploy/api "
                (self.settings.prefix.annotation(Key::Hours)) "=\"Mon-Fri 09:00-19:00\""
            }
            @if self.view.is_partial {
                p.far { "You see only the workloads that your permissions let you list." }
            }
        };
        section("empty", "No workload has a schedule here.", &content)
    }

    /// The expected future of these rows.
    pub(super) fn outlook<'r>(&self, rows: &[&'r Row]) -> Outlook<'r> {
        let counted = rows
            .iter()
            .filter(|row| row.status.counted_with == CountedWith::Itself);
        let forecasts = counted.map(|row| (*row, row.forecast(self.view)));
        Outlook::new(forecasts, self.view.now, self.zone())
    }

    /// Whether a controller acts.
    fn working(&self, rows: &[&Row]) -> Markup {
        let now = self.view.now;
        let last = rows
            .iter()
            .filter_map(|row| Some((row.status.since.filter(|since| *since <= now)?, *row)));
        let last = last.max_by_key(|(since, _)| *since);
        let has_acted = rows.iter().any(|row| row.status.phase.is_some());
        let is_overdue = |row: &&&Row| row.status.condition == ScheduleStatus::Overdue;
        let overdue = rows.iter().filter(is_overdue).count();
        let problems = rows.iter().filter(|row| row.status.has_problem()).count();
        let (class, verdict) = match (has_acted, overdue, self.view.outage.is_some()) {
            (_, _, true) => ("verdict warn", "The cluster cannot be read".to_owned()),
            (false, ..) => ("verdict bad", "No controller has acted yet".to_owned()),
            (true, 0, _) if problems == 0 => ("verdict fine", "dayshift is working".to_owned()),
            (true, 0, _) => {
                let workloads = counted(problems, "workload");
                let need = Situation::NeedsAttention.name_for(problems);
                let verdict = format!("dayshift is working; {workloads} {need}");
                ("verdict warn", verdict)
            }
            (true, _, _) => {
                let late = format!("{} overdue", counted(overdue, "workload"));
                ("verdict bad", late)
            }
        };
        html! {
            section.working aria-labelledby="working" {
                h2.hidden id="working" { "Is it working?" }
                p class=(class) role="status" {
                    span.dot aria-hidden="true" {}
                    strong { (verdict) }
                }
                @if !has_acted {
                    p.banner.bad {
                        "No controller has acted on any of the "
                        (counted(rows.len(), "workload"))
                        ". Is it running? "
                        code { "kubectl get pods -A -l app.kubernetes.io/name=dayshift" }
                    }
                }
                dl.facts {
                    @if let Some(controller) = &self.settings.controller {
                        div { dt { "Controller" } dd { (safe(controller)) } }
                        div { dt { "Version" } dd { (env!("CARGO_PKG_VERSION")) } }
                    }
                    div {
                        dt { "Last action" }
                        dd {
                            @if let Some((at, row)) = last {
                                (last_action(row.status.phase)) " " (self.link_to(row)) ", "
                                time datetime=(at.to_rfc3339()) { (distance(at, now)) }
                            } @else { "none yet" }
                        }
                    }
                    div { dt { "Clock" } dd { (short_time(now, self.zone(), now)) } }
                    div { dt { "Workloads" } dd { (rows.len()) } }
                }
            }
        }
    }

    /// One bar with the number of rows in each situation.
    pub(super) fn counts(&self, rows: &[&Row], namespace: Option<&str>) -> Markup {
        let shown = Situation::count(rows.iter().copied());
        let by_users = [Situation::Awake, Situation::Asleep, Situation::Paused];
        let has_overrides = by_users
            .iter()
            .any(|situation| shown.contains_key(situation));
        let all = rows.len().max(1);
        let mut before = 0;
        let segments = shown.iter().map(|(situation, count)| {
            let from = before * WIDTH / all;
            before += count;
            (
                *situation,
                *count,
                from,
                (before * WIDTH / all).max(from + 1),
            )
        });
        let segments: Vec<_> = segments.collect();
        let reverted = rows.iter().filter(|row| row.is_reverted()).count();
        html! {
            section.now aria-labelledby="states" {
                h2 id="states" { "What runs now" }
                svg.stack viewBox="0 0 1000 24" preserveAspectRatio="none" aria-hidden="true" focusable="false" {
                    @for (situation, count, from, until) in &segments {
                        // The links below the bar are those for the keyboard.
                        a href=(self.of_state(situation.slug(), namespace)) tabindex="-1" {
                            path class=(situation.slug()) d={ "M" (from) " 0H" (until) "V24H" (from) "z" } {
                                title { (count) " " (situation.name_for(*count)) ": " (situation.explanation()) }
                            }
                        }
                    }
                }
                ul.counts {
                    @for (situation, count) in &shown {
                        li {
                            a href=(self.of_state(situation.slug(), namespace)) title=(situation.explanation()) {
                                (key(*situation))
                                span.number { (count) } " " (situation.name_for(*count))
                            }
                        }
                    }
                    @if reverted > 0 {
                        li {
                            a href=(self.of_state("reverted", namespace)) title="Another \
                                controller reverted the count." {
                                span.number { (reverted) } " reverted"
                            }
                        }
                    }
                }
                @if has_overrides {
                    p.far {
                        "Schedules run and stop workloads. Users override them: awake, asleep and paused \
                            workloads do not follow their schedules."
                    }
                }
                @if namespace.is_some() { (stopped_now(rows.iter().copied(), self.price)) }
            }
        }
    }

    /// The address of the timeline, filtered by a state.
    pub(super) fn of_state(&self, state: &str, namespace: Option<&str>) -> String {
        let params = Params {
            state: Some(state.to_owned()),
            namespace: namespace.map(str::to_owned),
            ..self.params.common()
        };
        params.link("/timeline")
    }

    /// The next 24 hours and the next boundaries of these rows.
    pub(super) fn coming(&self, rows: &[&Row], outlook: &Outlook<'_>) -> Markup {
        let now = self.view.now;
        let mut coming: BTreeMap<(DateTime<Utc>, String), Vec<&Row>> = BTreeMap::new();
        for &row in rows {
            if let Some(at) = row.status.next.filter(|at| *at > now) {
                let action = match (row.status.next_action, row.status.phase) {
                    (Some(action), _) => action.text_from(row.status.replicas.get()),
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
        let next = html! {
            @for ((at, action), rows) in coming.iter().take(MAX_NEXT) {
                tr {
                    td.when { (time(*at, self.zone(), now)) " " span.far { (distance(*at, now)) } }
                    td { span.boundary { (action) } }
                    td { (first_of(rows, MAX_NAMES, |row| self.link_to(row))) (self.keep_running(rows)) }
                }
            }
        };
        let content = html! {
            (self.strip(outlook))
            @if coming.is_empty() {
                p { "No next start or stop is known." }
            } @else {
                p.far { "The next change of each workload:" }
                (table("next", &["When", "Change", "Workloads"], &next))
                @if coming.len() > MAX_NEXT {
                    p.far {
                        (counted(coming.len() - MAX_NEXT, "later time")) ": "
                        a href=(self.sorted_by_next()) { "all workloads by their next start or stop" }
                    }
                }
            }
        };
        section("next", "What happens next", &content)
    }

    fn sorted_by_next(&self) -> String {
        let params = Params {
            sort: crate::dashboard::params::Sort::Next,
            ..self.params.common()
        };
        params.link("/timeline")
    }
}

/// The action after which a workload has this state.
const fn last_action(phase: Option<Phase>) -> &'static str {
    match phase {
        None => "observed",
        Some(Phase::Adopted) => "adopted",
        Some(Phase::Running) => "started",
        Some(Phase::Stopped) => "stopped",
        Some(Phase::Woken) => "woke",
        Some(Phase::Slept) => "put to sleep",
        Some(Phase::Paused) => "paused",
    }
}
