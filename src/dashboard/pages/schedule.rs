//! The pages that edit the schedule of a workload: the form, and the preview of another week beside the
//! present one.

use std::collections::BTreeSet;

use chrono::{DateTime, Days, Utc};
use dayshift_manifest::plan::{Period, WorkloadPlan};
use dayshift_operations::{EditedWorkload, ScheduleEdit, annotations_yaml};
use dayshift_schedule::Zone;
use dayshift_workload::{
    Inputs, InvalidSchedule, Key, Observed, ParsedInputs, Replicas,
    savings::{Bill, Price, Saved, short_number},
};
use maud::{Markup, PreEscaped, html};

use crate::dashboard::{
    form::{ActionForm, EDIT_SCHEDULE, EDITABLE, ScheduleFields},
    pages::{
        action::denied,
        edges::{SCRIPT, draggable_edges},
        object::caret,
        page::{Kind, MAX_ZONES, Page, namespace_crumbs, path, safe, said, section, table},
        week::{Week, axis, days, legend, midnight, patterns},
    },
    plan::{ActionPlan, PreviewedEdit},
    view::Row,
    week_figures::{PlannedWeek, WORKING_HOURS, WeekFigures, seven_days},
};

/// The number of days that are drawn.
const DAYS: u64 = 7;
/// The maximum number of suggested names of schedules. Users can enter others.
const MAX_NAMES: usize = 100;

/// The label of a field, and an example.
const fn label(key: Key) -> (&'static str, &'static str) {
    match key {
        Key::Hours => ("Running hours", "Mon-Fri 09:00-19:00"),
        Key::Start => ("or start times", "Mon-Fri 09:00"),
        Key::Stop => ("and stop times", "daily 19:00"),
        Key::NamedSchedule => ("or the name of a schedule", "office-tokyo"),
        Key::Timezone => ("Time zone", "Europe/Berlin"),
        Key::Except => ("Excluded dates", "2026-12-24..2027-01-03"),
        Key::Extra => ("Additional windows", "2026-12-05 09:00-18:00"),
        Key::StopAfter => ("Stop after each start", "8h"),
        _ => ("", ""),
    }
}

/// A row of drawn days.
pub(super) struct DrawnPlan<'p> {
    pub(super) heading: Markup,
    /// The name for screen readers.
    pub(super) name: String,
    pub(super) plan: Option<&'p WorkloadPlan>,
    /// The values in the form, if users can drag the edges of this row.
    pub(super) edited: Option<&'p Inputs>,
}

impl Page<'_> {
    /// Renders the page that edits the schedule of a workload.
    pub(crate) fn schedule_editor(&self, row: &Row) -> String {
        let now = ("Now", self.plan_of(row, self.end_of_drawing(row)));
        let week = self.drawn_weeks(&[now], row, &row.observed.inputs);
        let content = html! {
            h1 { "Schedule of " (safe(&row.status.object.full_name())) }
            p.lead { "Change it and see the new week. Nothing is written before you confirm it." }
            (week)
            (self.schedule_form(row, &ScheduleFields::from_inputs(&row.observed.inputs)))
        };
        self.about_schedule(row, "Schedule", &content)
    }

    /// The page with the form again, if the edited schedule is invalid; `None` if it is valid, or the
    /// workload is not visible.
    pub(crate) fn rejected_schedule(&self, form: &ActionForm) -> Option<String> {
        let name = form.objects.first()?;
        let mut rows = self.view.rows.iter();
        let row = rows.find(|row| row.form_name() == *name)?;
        let edit = ScheduleEdit {
            annotations: form.schedule.annotations(),
            schedules: self.view.named_schedules(),
        };
        let scheduled = edit.edited(&row.observed).scheduled;
        let error = match scheduled.read(&self.view.context) {
            ParsedInputs::Scheduled(_) => return None,
            // Only the controller has the file of schedules.
            ParsedInputs::Unscheduled if scheduled.inputs.names_unknown_schedule() => return None,
            ParsedInputs::Unscheduled => html! {
                p.banner.bad role="alert" {
                    "With these values it would have no schedule. Write running hours, start or stop \
                        times, the name of a schedule, or the time after which it stops."
                }
            },
            ParsedInputs::Invalid(refusal) => self.problems_of(&refusal, &scheduled.inputs),
        };
        Some(self.schedule_asked_again(row, form, &error))
    }

    /// The form of a schedule with an error.
    pub(super) fn schedule_asked_again(
        &self,
        row: &Row,
        form: &ActionForm,
        error: &Markup,
    ) -> String {
        let content = html! {
            h1 { "Schedule of " (safe(&row.status.object.full_name())) }
            (error)
            (self.schedule_form(row, &form.schedule))
        };
        self.about_schedule(row, "Schedule", &content)
    }

    /// The problems of a rejected schedule, in the words of `dayshift lint`.
    pub(super) fn problems_of(&self, refusal: &InvalidSchedule, inputs: &Inputs) -> Markup {
        html! {
            div role="alert" {
                ul.findings {
                    @for problem in refusal.problems() {
                        li.finding.error {
                            strong { "error" } " "
                            (said(&format!("{}: {}", problem.subject(&self.settings.prefix), problem.diagnostic)))
                        }
                    }
                }
                @for problem in refusal.problems() { (caret(problem, inputs)) }
            }
        }
    }

    /// The preview of an edited schedule.
    pub(super) fn schedule_preview(&self, plan: &ActionPlan, edit: &PreviewedEdit) -> String {
        let edited = &edit.workload;
        let object = &edited.observed.object;
        let mut rows = self.view.rows.iter();
        let Some(row) = rows.find(|row| row.status.object == *object) else {
            return self.gone();
        };
        let plan_of = |observed: &Observed| {
            let planner = self.planner(self.end_of_drawing(row))?;
            planner.plan_live(observed)
        };
        let plans = [
            ("Now", plan_of(&edited.observed)),
            ("New", plan_of(&edited.scheduled)),
        ];
        let figures = self.both_figures(edited, &plans);
        let fields = ScheduleFields::from_inputs(&edited.scheduled.inputs);
        let changes = html! {
            @for (key, text) in &edited.changes {
                tr {
                    th scope="row" { code { (self.settings.prefix.annotation(*key)) } }
                    td data-heading="Now" { (value(edited.observed.inputs.own().text(*key))) }
                    td data-heading="New" { (value(text.as_deref())) }
                }
            }
        };
        let content = html! {
            h1 { "New schedule for " (safe(&object.full_name())) "?" }
            @if edited.changes.is_empty() {
                p.lead { "Nothing would change: it has these annotations already." }
            } @else {
                (self.verdict(&figures))
                @if edited.scheduled.inputs.names_unknown_schedule() {
                    p.banner.warn {
                        "The times of this named schedule are not known here, because no workload that \
                            you see follows it. Only the controller has the file of schedules."
                    }
                }
                (self.when_applied(row, edit))
                (self.drawn_weeks(&plans, row, &edited.scheduled.inputs))
                (figures_table("New", &figures, self.price))
                (section("changes", "What is written", &html! {
                    (table("changes", &["Annotation", "Now", "New"], &changes))
                    h3 { "As a command" }
                    pre tabindex="0" { (safe(&edited.kubectl_command(&self.settings.prefix))) }
                    h3 { "As YAML, for Git" }
                    pre tabindex="0" {
                        (annotations_yaml(&edited.changes, &self.settings.prefix)
                            .iter().map(|line| safe(line)).collect::<Vec<_>>().join("\n"))
                    }
                }))
            }
            @for other in &plan.planned.others { p.banner.bad { (said(other)) } }
            (denied(&plan.planned))
            (self.apply(plan, row))
            (self.schedule_form(row, &fields))
        };
        self.about_schedule(row, "New schedule", &content)
    }

    /// The buttons below a preview.
    fn apply(&self, plan: &ActionPlan, row: &Row) -> Markup {
        let can_apply = self.token.is_some() && !plan.planned.changes.is_empty();
        let back = self.params.common().link(&path(row));
        html! {
            div.acts {
                @if can_apply {
                    (self.post("/act", Some("decide"), &[("plan", &*plan.id.to_string())], &html! {
                        button.primary type="submit" { "Apply the new schedule" }
                        a.button href=(back) { "Cancel" }
                        span.far { "With your permissions." }
                    }))
                } @else {
                    p { a.button href=(back) { "Back to the workload" } }
                }
            }
        }
    }

    /// When the new schedule takes effect, or who must write it.
    fn when_applied(&self, row: &Row, edit: &PreviewedEdit) -> Markup {
        let edited = &edit.workload;
        let runs_on = edited.runs_outside_hours(&self.view.context, self.view.now);
        html! {
            @if let Some(manager) = edit.managed_by {
                p.banner.warn {
                    (manager.name()) " manages this workload, so nothing can be written here: its next \
                        sync would remove the annotations. Commit the YAML below."
                }
            }
            @if runs_on {
                p.banner.warn {
                    "It runs now, outside of the new hours, and continues until its next stop. "
                    code {
                        "dayshift sync " (safe(&row.status.object.argument()))
                        (self.settings.prefix.flag())
                    }
                    " stops it now."
                }
            } @else {
                p.far { "A new schedule takes effect at its next start or stop." }
            }
        }
    }

    /// `It would run 45 h a week instead of 50 h: 15 replica-hours less.`
    fn verdict(&self, (now, new): &(WeekFigures, WeekFigures)) -> Markup {
        if now.workloads == 0 || new.workloads == 0 || now.uncounted + new.uncounted > 0 {
            return html! { p.lead { "Its hours cannot be compared." } };
        }
        let less = now.running - new.running;
        let used = now.share.used - new.share.used;
        let saves = if less > 0.0 { "saves" } else { "costs" };
        html! {
            p.lead {
                @if less.abs() < 0.01 {
                    "It would run " strong { (hours(new.running)) } " a week as now, at other times."
                } @else {
                    "It would run " strong { (hours(new.running)) } " a week instead of "
                    (hours(now.running)) ". That " (saves) " "
                    strong { (Bill::new(absolute(used), self.price)) } " a week."
                }
            }
        }
    }

    /// The figures of one week under both schedules.
    fn both_figures(
        &self,
        edited: &EditedWorkload,
        plans: &[(&str, Option<WorkloadPlan>); 2],
    ) -> (WeekFigures, WeekFigures) {
        let figures = |plan: &Option<WorkloadPlan>, observed: &Observed| {
            let mut figures = WeekFigures::default();
            if let Some(plan) = plan
                && let (Some(spec), Some(period)) = (plan.spec(), seven_days(self.view.now))
            {
                figures.add(spec, observed, &PlannedWeek::new(spec, period));
            }
            figures
        };
        let [(_, now), (_, new)] = plans;
        (
            figures(now, &edited.observed),
            figures(new, &edited.scheduled),
        )
    }

    /// The end of seven days from today.
    fn end_of_drawing(&self, row: &Row) -> DateTime<Utc> {
        let zone = self.zone_of(row);
        let today = self.view.now.with_timezone(&zone).date_naive();
        midnight(today + Days::new(DAYS), zone)
    }

    /// The drawn days from today, one row for each plan. The form has the values of the last one.
    fn drawn_weeks(
        &self,
        plans: &[(&str, Option<WorkloadPlan>)],
        row: &Row,
        edited: &Inputs,
    ) -> Markup {
        let last = plans.len().saturating_sub(1);
        let plans = plans.iter().enumerate();
        let rows = plans.map(|(at, (name, plan))| DrawnPlan {
            heading: html! { (name) },
            name: (*name).to_owned(),
            plan: plan.as_ref(),
            edited: (at == last && self.token.is_some()).then_some(edited),
        });
        self.weeks(&rows.collect::<Vec<_>>(), self.zone_of(row))
    }

    /// The section with the drawn days from today, one row for each plan.
    pub(super) fn weeks(&self, plans: &[DrawnPlan<'_>], zone: Zone) -> Markup {
        let today = self.view.now.with_timezone(&zone).date_naive();
        let period = Period::new(
            midnight(today, zone),
            midnight(today + Days::new(DAYS), zone),
        );
        let names = period.map_or_else(|_| Vec::new(), |period| days(period, zone));
        let weeks: Vec<_> = plans
            .iter()
            .map(|drawn| {
                let week = drawn
                    .plan
                    .and_then(|plan| self.week(plan, period.ok()?, zone));
                (drawn, week)
            })
            .collect();
        let largest = weeks.iter().map(|(drawn, week)| {
            let runs = drawn.plan.and_then(|plan| plan.runs);
            let runs = runs.map_or(1, Replicas::get);
            week.as_ref().map_or(1, Week::largest).max(runs)
        });
        let largest = largest.max().unwrap_or(1);
        let edges = |drawn: &DrawnPlan<'_>| {
            let spec = drawn.plan?.spec()?;
            draggable_edges(drawn.edited?, &spec.schedule, period.ok()?)
        };
        let minutes = period.map(|period| (period.until() - period.from()).num_minutes());
        let content = html! {
            (patterns())
            div.scroll tabindex="0" role="group" aria-labelledby="week" {
                table.timeline.weeks {
                    thead {
                        tr {
                            th scope="col" { "Schedule" }
                            th.week scope="col" {
                                (axis(&names))
                            }
                        }
                    }
                    tbody {
                        @for (drawn, week) in &weeks {
                            tr {
                                th scope="row" { (drawn.heading) }
                                td.week {
                                    @match week {
                                        Some(week) => {
                                            @let edges = edges(drawn);
                                            @let span = edges.as_ref().and(minutes.ok());
                                            div.edged data-edges=[edges] data-span=[span] {
                                                (week.picture(&format!("{}: {}", safe(&drawn.name), week.sum()), largest))
                                            }
                                        }
                                        None => { span.far { "unknown" } }
                                    }
                                }
                            }
                        }
                    }
                }
            }
            p.far { "In the time zone " (zone.name()) ", with the active overrides." }
            // Only the script can move an edge.
            p.far.drag hidden {
                "Drag an edge, or select it with the Tab key and press an arrow key. It moves in steps of 15 \
                    minutes, on all days of its item in the field."
            }
            details { summary { "Legend" } (legend()) }
        };
        section("week", "Seven days", &content)
    }

    /// The form that edits a schedule.
    fn schedule_form(&self, row: &Row, fields: &ScheduleFields) -> Markup {
        let inputs = &row.observed.inputs;
        let inherited = |key: Key| {
            let text = inputs.text(key).filter(|_| !inputs.is_own(key))?;
            let place = match inputs.source(key)?.schedule {
                Some(name) => format!("the schedule {name}"),
                None => format!("the {}", inputs.origin(key)?.name()),
            };
            Some((place, text.to_owned()))
        };
        let content = html! {
            @if inputs.text(Key::Scale).is_some() {
                p.far {
                    "It has exact counts (" code { (self.settings.prefix.annotation(Key::Scale)) }
                    "), which this form does not change."
                }
            }
            @if !self.may_change(row) {
                p.far {
                    "Your permissions do not allow you to change this workload. You can see the preview \
                        and copy the change."
                }
            }
            @if self.token.is_some() {
                @let name = row.form_name();
                @let of_row = [("do", EDIT_SCHEDULE), ("object", &*name)];
                (self.post("/confirm", None, &of_row, &html! {
                    (self.schedule_inputs(fields, inherited))
                    div.decide {
                        button.primary type="submit" { "Preview" }
                        span.far { "An empty field removes the annotation from the workload." }
                    }
                }))
                script { (PreEscaped(SCRIPT)) }
            }
        };
        section("edit", "Edit", &content)
    }

    /// A field for each editable annotation. `inherited` is the place and the text of the value that applies
    /// if the field is empty.
    pub(super) fn schedule_inputs(
        &self,
        fields: &ScheduleFields,
        inherited: impl Fn(Key) -> Option<(String, String)>,
    ) -> Markup {
        let names = self.schedule_names();
        let rows = self.view.rows.iter();
        let zones: BTreeSet<&str> = rows.map(|row| row.status.zone.name()).collect();
        let list = |key| match key {
            Key::NamedSchedule => Some("schedule-names"),
            Key::Timezone => Some("schedule-zones"),
            _ => None,
        };
        html! {
            div.fields {
                @for key in EDITABLE {
                    @let (name, example) = label(key);
                    @let inherited = inherited(key);
                    label {
                        span.label { (name) }
                        input type="text" name=(key.name()) value=(fields.text(key)) list=[list(key)]
                            data-inherited=[inherited.as_ref().map(|(_, text)| text)]
                            autocomplete="off" spellcheck="false";
                        span.far {
                            @match &inherited {
                                Some((place, text)) => { "now from " (safe(place)) ": " (safe(text)) }
                                None => { "such as " code { (example) } }
                            }
                        }
                    }
                }
            }
            datalist id="schedule-names" {
                @for name in names.into_iter().take(MAX_NAMES) { option value=(name) {} }
            }
            datalist id="schedule-zones" {
                @for zone in zones.into_iter().take(MAX_ZONES) { option value=(zone) {} }
            }
        }
    }

    fn about_schedule(&self, row: &Row, title: &str, content: &Markup) -> String {
        let object = &row.status.object;
        let [all, namespace] = namespace_crumbs(&object.namespace);
        let own_path = format!("{}/schedule", path(row));
        let kind = Kind {
            crumbs: &[all, namespace, (path(row), object.short_name())],
            ..Kind::new(title, &own_path)
        };
        self.shell(&kind, content)
    }

    /// The page for a workload that was deleted while its preview was made.
    fn gone(&self) -> String {
        let kind = Kind::new("New schedule", "/timeline");
        let content = html! {
            h1 { "New schedule" }
            p.banner.bad { "The workload no longer exists, or you may no longer see it." }
        };
        self.shell(&kind, &content)
    }
}

/// The value of an annotation, or that it has none.
fn value(text: Option<&str>) -> Markup {
    html! {
        @match text {
            Some(text) => { code { (safe(text)) } }
            None => { span.far { "none" } }
        }
    }
}

/// `45 h`
pub(super) fn hours(hours: f64) -> String {
    format!("{} h", short_number(hours))
}

fn absolute(saved: Saved) -> Saved {
    Saved {
        replica_hours: saved.replica_hours.abs(),
        cpu_core_hours: saved.cpu_core_hours.abs(),
        memory_gib_hours: saved.memory_gib_hours.abs(),
    }
}

/// The figures of two schedules side by side. `heading` is that of the second one.
pub(super) fn figures_table(
    heading: &str,
    (now, new): &(WeekFigures, WeekFigures),
    price: Option<&Price>,
) -> Markup {
    let line = |name: &str, now: String, new: String, difference: String| {
        html! {
            tr {
                th scope="row" { (name) }
                td data-heading="Now" { (now) }
                td.countdown data-heading=(heading) { (new) }
                td data-heading="Difference" { (difference) }
            }
        }
    };
    let number = |name: &str, now: f64, new: f64, unit: &str| {
        let text = |number: f64| format!("{}{unit}", short_number(number));
        line(name, text(now), text(new), signed(new - now, unit))
    };
    let (from, until) = WORKING_HOURS;
    let working = format!("Starts Mon-Fri {from:02}:00-{until}:00");
    let count = |name: &str, now: usize, new: usize| {
        let new_less_now = i64::try_from(new)
            .unwrap_or(i64::MAX)
            .saturating_sub(i64::try_from(now).unwrap_or(i64::MAX));
        let difference = match new_less_now {
            0 => "same".to_owned(),
            difference => format!("{difference:+}").replace('-', "−"),
        };
        line(name, now.to_string(), new.to_string(), difference)
    };
    let uncounted = now.uncounted.max(new.uncounted);
    let rows = html! {
        (number("Running", now.running, new.running, " h"))
        @let (used, will_use) = (now.share.used, new.share.used);
        (number("Used", used.replica_hours, will_use.replica_hours, " replica-hours"))
        @if let Some(price) = price {
            @let unit = format!(" {}", price.currency());
            @let difference = format!("{:+.2}", price.cost(&will_use) - price.cost(&used));
            (line(
                "Cost",
                format!("{:.2}{unit}", price.cost(&used)),
                format!("{:.2}{unit}", price.cost(&will_use)),
                match &*difference {
                    "+0.00" | "-0.00" => "same".to_owned(),
                    _ => format!("{difference}{unit}").replace('-', "−"),
                },
            ))
        }
        (count("Starts", now.starts, new.starts))
        (count(&working, now.working_starts, new.working_starts))
    };
    let content = html! {
        (table("figures", &["In seven days", "Now", heading, "Difference"], &rows))
        p.far {
            "Computed from the schedules, without overrides and jitter."
            @if uncounted > 0 {
                " Not counted, because they change too often: " (uncounted) "."
            }
        }
    };
    section("figures", "Comparison", &content)
}

/// `−5 h` or `same`
fn signed(difference: f64, unit: &str) -> String {
    match short_number(difference.abs()) {
        text if text == "0" => "same".to_owned(),
        text if difference > 0.0 => format!("+{text}{unit}"),
        text => format!("−{text}{unit}"),
    }
}
