//! The pages for actions: the form, the preview, and the result.

use dayshift_operations::status::Note;
use dayshift_text::counted;
use dayshift_workload::WorkloadRef;
use maud::{Markup, html};

use crate::dashboard::pages::page::{Kind, Page, safe, said};
use crate::dashboard::{
    carry_out::verb,
    form::{ActionForm, FormFields},
    params::Params,
    plan::{ActionPlan, PlanPhase, PlanProgress},
    view::Row,
};

/// The actions with their descriptions.
const ACTIONS: [(&str, &str); 4] = [
    ("wake", "start now, and keep running"),
    ("sleep", "stop now, and keep stopped"),
    ("pause", "leave as it is"),
    ("resume", "follow the schedule again"),
];

/// The maximum number of selected names that are shown.
const MAX_CHOSEN: usize = 20;
/// The maximum number of workloads that are shown for a Namespace.
const MAX_REACHED: usize = 100;

impl Page<'_> {
    /// The form for `chosen`, a field name and value, on the page at `path`. A page that reloads has no form,
    /// because input would be lost.
    pub(super) fn actions(&self, heading: &str, chosen: (&str, &str), path: &str) -> Markup {
        let still = Params {
            still: true,
            ..self.params.common()
        };
        html! {
            @if self.token.is_some() {
                section aria-labelledby="do" {
                    h2 id="do" { (heading) }
                    @if self.params.still {
                        (self.form(&hidden(chosen), &FormFields::prefilled()))
                    } @else {
                        p {
                            a href={ (still.link(path)) "#do" } { "Wake, sleep, pause or resume" }
                            " (the page then stops reloading)"
                        }
                    }
                }
            }
        }
    }

    /// The form for the selected objects, if actions are allowed.
    pub(super) fn form(&self, chosen: &Markup, filled_in: &FormFields) -> Markup {
        html! {
            @if let Some(token) = self.token {
                form method="post" action=(self.params.common().link("/confirm")) {
                    (chosen)
                    (hidden(("token", token)))
                    (fields(filled_in))
                }
            }
        }
    }

    /// The button that wakes workloads that are about to stop.
    pub(super) fn keep_running(&self, rows: &[&Row]) -> Markup {
        let is_told = |row: &&&Row| {
            let mut notes = row.status.notes.iter();
            notes.any(|note| matches!(note, Note::StopNotice { .. }))
        };
        let told: Vec<_> = rows
            .iter()
            .filter(is_told)
            .map(|row| row.form_name())
            .collect();
        let fields = FormFields::prefilled();
        html! {
            @if let Some(token) = self.token.filter(|_| !told.is_empty()) {
                form.moves method="post" action=(self.params.common().link("/confirm")) {
                    (hidden(("token", token)))
                    @for object in &told { (hidden(("object", object))) }
                    (hidden(("do", "wake")))
                    (hidden(("for", &fields.length)))
                    button type="submit" { "Keep running for " (fields.length) }
                }
            }
        }
    }

    /// The form with an error message.
    pub(crate) fn asked_again(&self, form: &ActionForm, error: &str) -> String {
        let chosen = form.chosen();
        let content = html! {
            h1 { "Not yet" }
            p.banner.bad role="alert" { (said(error)) }
            @if chosen > 0 && !form.is_too_much() {
                (self.form(&chosen_in(form), &form.fields))
            }
            (self.back())
        };
        self.shell(&asking("Not yet"), &content)
    }

    /// The preview, to be confirmed.
    pub(crate) fn confirmation(&self, plan: &ActionPlan) -> String {
        let (planned, verb) = (&plan.planned, verb(plan.requested()));
        let (changes, others) = (&planned.changes, &planned.others);
        let content = html! {
            h1 { (verb) "?" }
            @if changes.is_empty() {
                p { "Nothing would change." }
            } @else {
                p { "With your permissions, this will happen:" }
                div.scroll tabindex="0" role="group" aria-label="What will change" {
                    table.stacked {
                        thead {
                            tr {
                                th scope="col" { "What" }
                                th scope="col" { "Will be" }
                                th scope="col" { "By" }
                            }
                        }
                        tbody {
                            @for change in changes {
                                tr {
                                    th scope="row" { (safe(&change.object)) }
                                    td {
                                        (safe(&change.outcome))
                                        (reached(&change.reaches))
                                    }
                                    td { code { (safe(&change.written)) } }
                                }
                            }
                        }
                    }
                }
            }
            @if !others.is_empty() {
                h2 { "These stay as they are" }
                ul.findings { @for other in others { li.finding.note { (said(other)) } } }
            }
            @if let Some(token) = self.token.filter(|_| !changes.is_empty()) {
                form.moves method="post" action=(self.params.common().link("/act")) {
                    (hidden(("token", token)))
                    (hidden(("plan", &plan.id.to_string())))
                    button type="submit" { (verb) " " (counted(planned.reached(), "workload")) }
                }
            }
            (self.back())
        };
        self.shell(&asking("Confirm"), &content)
    }

    /// The result, complete or in progress.
    pub(crate) fn result(&self, plan: &ActionPlan) -> String {
        let progress = plan.progress();
        let errors = progress.errors();
        let of = |is_error: bool| {
            progress
                .lines
                .iter()
                .filter(move |line| line.is_error == is_error)
        };
        let lines = of(true).chain(of(false));
        let content = html! {
            h1 { (verb(plan.requested())) ": " (outcome(&progress)) }
            p role="status" {
                @if let PlanPhase::UnderWay { done, all } = progress.phase {
                    "Waiting for the controller"
                    @if all > 0 { ": " (done) " of " (all) " done" }
                    ". This page reloads by itself."
                } @else {
                    (counted(progress.lines.len(), "line")) ", as the command prints them"
                    @if errors > 0 { ", " (counted(errors, "error")) " first" }
                    "."
                }
            }
            ul.findings {
                @for line in lines {
                    li class={ "finding " (if line.is_error { "error" } else { "note" }) } {
                        @if line.is_error { strong { "error" } " " }
                        (said(&line.text))
                    }
                }
            }
            (self.back())
        };
        self.shell(&asking("Result"), &content)
    }

    fn back(&self) -> Markup {
        let to = self.params.common().link("/timeline");
        html! { p { a href=(to) { "To the timeline" } } }
    }
}

fn fields(filled_in: &FormFields) -> Markup {
    html! {
        div.filter role="group" aria-label="What is to be done" {
            label {
                "Do"
                select name="do" {
                    @for (value, text) in ACTIONS {
                        option value=(value) selected[filled_in.action == value] {
                            (value) ": " (text)
                        }
                    }
                }
            }
            label {
                "For; empty for a pause without an end"
                input type="text" name="for" value=(filled_in.length);
            }
            label {
                "or until, such as 22:00 or Mon 09:00"
                input type="text" name="until" value=(filled_in.until);
            }
            label { "Reason" input type="text" name="reason" value=(filled_in.reason); }
            button type="submit" { "See what will change" }
        }
    }
}

fn hidden((name, value): (&str, &str)) -> Markup {
    html! { input type="hidden" name=(name) value=(value); }
}

/// The selection of a form, as hidden fields.
fn chosen_in(form: &ActionForm) -> Markup {
    let more = form.chosen().saturating_sub(MAX_CHOSEN);
    let names = form.namespaces.iter().chain(&form.objects);
    html! {
        @for object in &form.objects { (hidden(("object", object))) }
        @for namespace in &form.namespaces { (hidden(("namespace", namespace))) }
        p {
            "Chosen: "
            @for (at, name) in names.take(MAX_CHOSEN).enumerate() {
                @if at > 0 { ", " }
                (safe(name))
            }
            @if more > 0 { " and " (more) " more" }
        }
    }
}

/// The workloads that a Namespace change affects.
fn reached(objects: &[WorkloadRef]) -> Markup {
    let more = objects.len().saturating_sub(MAX_REACHED);
    html! {
        @if !objects.is_empty() {
            details {
                summary { "Which" }
                ul {
                    @for object in objects.iter().take(MAX_REACHED) {
                        li { (safe(&object.full_name())) }
                    }
                }
                @if more > 0 { p { "And " (more) " more." } }
            }
        }
    }
}

fn outcome(progress: &PlanProgress) -> &'static str {
    match (progress.phase, progress.errors()) {
        (PlanPhase::Preview | PlanPhase::UnderWay { .. }, _) => "under way",
        (PlanPhase::Done, 0) => "done",
        (PlanPhase::Done, errors) if errors == progress.lines.len() => "failed",
        (PlanPhase::Done, _) => "done in part",
    }
}

fn asking(title: &str) -> Kind<'_> {
    Kind {
        title,
        path: "/timeline",
        refreshes: false,
    }
}
