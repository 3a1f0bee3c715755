//! The pages for actions: the form, the preview, and the result.

use std::collections::{BTreeSet, HashMap, HashSet};

use chrono::{DateTime, Utc};
use dayshift_operations::{AnnotatedWorkload, Shorten, status::distance};
use dayshift_text::counted;
use dayshift_workload::{Key, Replicas, WorkloadRef, events::Condition, savings::Bill};
use maud::{Markup, html};

use crate::dashboard::pages::page::{Kind, Page, badge, first_of, others, safe, said, table, time};
use crate::dashboard::{
    form::{ActionForm, EDIT_SCHEDULE, FormFields, SHORTEN, UNDO},
    params::Params,
    plan::{
        ActionPlan, ChangeSubject, PlanPhase, PlanProgress, Preview, PreviewedChange, ResultLine,
    },
    view::Row,
};

/// The actions with their descriptions.
const ACTIONS: [(&str, &str); 6] = [
    ("wake", "start now, and keep running"),
    ("sleep", "stop now, and keep stopped"),
    ("pause", "leave as it is"),
    ("resume", "follow the schedule again"),
    ("sync", "apply the schedule now"),
    ("restore", "start with the saved count"),
];

/// The maximum number of selected names that are shown.
const MAX_CHOSEN: usize = 20;
/// The maximum number of workloads that are shown for a Namespace.
const MAX_REACHED: usize = 100;
/// The maximum number of rows in a preview and of errors in a result, and of names that a row shows without being
/// opened.
const MAX_GROUPS: usize = 300;
const MAX_ALIKE: usize = 3;

impl Page<'_> {
    /// The form for `chosen`, a field name and value, of these rows, on the page at `path`. A page that reloads
    /// has no form, because input would be lost.
    pub(super) fn actions(
        &self,
        heading: &str,
        rows: &[&Row],
        chosen: (&str, &str),
        path: &str,
    ) -> Markup {
        let still = Params {
            still: true,
            back: self.params.back.clone(),
            ..self.params.common()
        };
        html! {
            @if self.token.is_some() {
                section aria-labelledby="do" {
                    h2 id="do" { (heading) }
                    @if !rows.iter().any(|row| self.may_change(row)) {
                        (self.instead_of_form())
                    } @else if self.params.still {
                        (self.form(&hidden(chosen), &FormFields::prefilled()))
                    } @else {
                        p {
                            a href={ (still.link(path)) "#do" } {
                                "Wake, sleep, pause, resume, sync or restore"
                            }
                            " (the page then stops reloading)"
                        }
                    }
                }
            }
        }
    }

    /// The form for the selected objects, if actions are allowed.
    pub(super) fn form(&self, chosen: &Markup, filled_in: &FormFields) -> Markup {
        self.post(
            "/confirm",
            None,
            &[],
            &html! { (chosen) (fields(filled_in)) },
        )
    }

    /// A form with these hidden fields that is posted to `path`, if actions are allowed.
    pub(super) fn post(
        &self,
        path: &str,
        class: Option<&str>,
        fields: &[(&str, &str)],
        content: &Markup,
    ) -> Markup {
        html! {
            @if let Some(token) = self.token {
                form class=[class] method="post" action=(self.params.link(path)) {
                    (hidden(("token", token)))
                    @for field in fields { (hidden(*field)) }
                    (content)
                }
            }
        }
    }

    /// The button that wakes workloads that are about to stop.
    pub(super) fn keep_running(&self, rows: &[&Row]) -> Markup {
        let is_told = |row: &&&Row| {
            let mut notes = row.status.notes.iter();
            notes.any(|note| matches!(note, Condition::StopNotice { .. }))
        };
        let told: Vec<_> = rows
            .iter()
            .filter(|row| self.may_change(row))
            .filter(is_told)
            .map(|row| row.form_name())
            .collect();
        if told.is_empty() {
            return html! {};
        }
        let length = FormFields::prefilled().length;
        let content = html! {
            @for object in &told { (hidden(("object", object))) }
            button type="submit" { "Keep running for " (length) }
        };
        let fields = [("do", "wake"), ("for", &*length)];
        self.post("/confirm", Some("moves"), &fields, &content)
    }

    /// The form with an error message.
    pub(crate) fn asked_again(&self, form: &ActionForm, error: &str) -> String {
        let chosen = form.chosen();
        let mut rows = self.view.rows.iter();
        if form.fields.action == EDIT_SCHEDULE
            && let Some(row) = rows.find(|row| form.objects.contains(&row.form_name()))
        {
            let error = html! { p.banner.bad role="alert" { (said(error)) } };
            return self.schedule_asked_again(row, form, &error);
        }
        let content = html! {
            h1 { "Correct the form" }
            p.banner.bad role="alert" { (said(error)) }
            @if chosen > 0 && !form.is_too_much() {
                (self.form(&chosen_in(form), &form.fields))
            }
            (self.back())
        };
        self.shell(&Kind::new("Correct the form", "/timeline"), &content)
    }

    /// The preview, to be confirmed.
    pub(crate) fn confirmation(&self, plan: &ActionPlan) -> String {
        let (planned, verb) = (&plan.planned, plan.asked.operation.verb());
        if let Some(edit) = &planned.edit {
            return self.schedule_preview(plan, edit);
        }
        let changes = &planned.changes;
        let groups = AlikeChanges::group(changes);
        let all = planned.count(Shorten::Allowed);
        let (starts, stops) = planned.capacity();
        let content = html! {
            h1 { (verb) "?" }
            @if changes.is_empty() {
                p { "Nothing would change." }
            } @else {
                p.lead {
                    "With your permissions, " strong { (counted(all, "workload")) }
                    " will change."
                    @if starts.replicas > 0 {
                        " Starts " strong { (Bill::per_hour(starts, self.price)) } "."
                    }
                    @if stops.replicas > 0 {
                        " Stops " strong { (Bill::per_hour(stops, self.price)) } "."
                    }
                    @let unpriced = self.price.map_or(0, |_| planned.without_all_requests());
                    @if unpriced > 0 {
                        " The cost is not complete: " (counted(unpriced, "workload"))
                        @if unpriced == 1 { " requests" } @else { " request" } " no CPU or no memory."
                    }
                }
                section {
                div.scroll tabindex="0" role="group" aria-label="What will change" {
                    table.stacked {
                        thead {
                            tr {
                                th scope="col" { "Workload" }
                                th scope="col" { "Now → then" }
                                th scope="col" { "Effect" }
                                th scope="col" { "Details" }
                            }
                        }
                        tbody {
                            @for alike in groups.iter().take(MAX_GROUPS) {
                                @let change = alike.first;
                                tr {
                                    th scope="row" { (alike.names()) }
                                    td.countdown {
                                        @match change.counts {
                                            Some((before, after)) if before == after => { "stays at " (replicas(after)) }
                                            Some((before, after)) => { (before) " → " (replicas(after)) }
                                            None => {}
                                        }
                                    }
                                    td {
                                        (safe(&change.outcome))
                                        (reached(change.in_namespace()))
                                    }
                                    td {
                                        details {
                                            summary { "Annotations" }
                                            code { (safe(&change.written)) }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
                @let left: usize = groups.iter().skip(MAX_GROUPS).map(AlikeChanges::len).sum();
                @if left > 0 { p { "And " (left) " more." } }
                }
            }
            (unchanged(planned))
            (self.delays(plan))
            (denied(planned))
            (shortened(planned))
            @if changes.is_empty() { (self.back()) } @else {
                (self.post("/act", Some("decide"), &[("plan", &*plan.id.to_string())], &html! {
                    (decisions(planned, verb))
                    a.button href=(self.back_to_list().unwrap_or_else(|| self.params.link("/timeline"))) { "Cancel" }
                }))
            }
        };
        self.shell(&Kind::new("Confirm", "/timeline"), &content)
    }

    /// The reasons that delay the starts of a plan.
    fn delays(&self, plan: &ActionPlan) -> Markup {
        let delayed = plan.planned.delayed();
        let waiting = plan.asked.waiting_starts;
        let (starts, _) = plan.planned.capacity();
        html! {
            @if delayed > 0 {
                p.banner.warn {
                    (counted(delayed, "workload")) " can start later, because of "
                    code { (self.settings.prefix.annotation(Key::After)) }
                    ": the dependencies must be ready first."
                }
            }
            @if starts.replicas > 0 && waiting > 0 {
                p.banner.warn {
                    (counted(waiting, "other start")) @if waiting == 1 { " waits" } @else { " wait" }
                    " for a start slot ("
                    code { "--max-starting" } "), so these starts can be delayed too."
                }
            }
        }
    }

    /// The result, complete or in progress.
    pub(crate) fn result(&self, plan: &ActionPlan) -> String {
        let progress = plan.progress();
        let errors = progress.errors();
        let content = html! {
            h1 { (plan.asked.operation.verb()) ": " (outcome(&progress)) }
            p role="status" {
                @if let PlanPhase::UnderWay { done, all } = progress.phase {
                    "Waiting for the controller"
                    @if all > 0 { ": " (done) " of " (all) " done" }
                    ". This page reloads by itself."
                } @else if errors > 0 {
                    (counted(errors, "error")) "."
                } @else { "Without errors." }
            }
            (lines_of(progress.lines.iter().filter(|line| line.is_error), MAX_GROUPS))
            @if progress.phase == PlanPhase::Done {
                @if errors < progress.lines.len() { (self.holds(plan, progress.shorten)) }
                (self.readiness(plan))
                (unchanged(&plan.planned))
                (denied(&plan.planned))
                @if progress.shorten == Shorten::Forbidden {
                    (kept(&plan.planned))
                }
            }
            @if errors < progress.lines.len() {
                details {
                    summary {
                        (counted(progress.lines.len() - errors, "line")) " of output, as the command prints them"
                    }
                    (lines_of(progress.lines.iter().filter(|line| !line.is_error), MAX_REACHED))
                }
            }
            @if progress.phase == PlanPhase::Done {
                (self.undo(plan))
                (self.undo_schedule(plan))
            }
            (self.back())
        };
        self.shell(&Kind::new("Result", "/timeline"), &content)
    }

    /// Until when an action holds.
    fn holds(&self, plan: &ActionPlan, shorten: Shorten) -> Markup {
        let now = self.view.now;
        let ends = plan.planned.ends(shorten);
        let until = |end: DateTime<Utc>| html! { strong { (time(end, self.zone(), now)) } };
        html! {
            @match (ends.first(), ends.last()) {
                (Some(Some(first)), Some(Some(last))) if first == last => {
                    p.lead { "It holds until " (until(*first)) ", " (distance(*first, now)) "." }
                }
                (Some(Some(_)), Some(Some(last))) => {
                    p.lead { "It holds until different times, at the latest until " (until(*last)) "." }
                }
                (Some(None), Some(Some(_))) => {
                    p.lead { "It holds until different times, which the output below shows." }
                }
                (Some(None), _) if plan.asked.operation.begins_override() => {
                    p.lead { "It holds until you resume the schedule." }
                }
                _ => {}
            }
        }
    }

    /// The rows that an action has changed.
    fn changed(&self, plan: &ActionPlan) -> Vec<&Row> {
        let changed = plan.planned.workloads(plan.progress().shorten);
        let rows = self.view.rows.iter().map(|row| &**row);
        rows.filter(|row| changed.contains(&row.status.object))
            .collect()
    }

    /// Whether workloads that an action woke are not ready yet.
    pub(crate) fn is_becoming_ready(&self, plan: &ActionPlan) -> bool {
        let is_waiting = |row: &&Row| row.status.is_ready() == Some(false);
        plan.asked.operation.is_start() && self.changed(plan).iter().any(is_waiting)
    }

    /// The changed workloads with their readiness.
    fn readiness(&self, plan: &ActionPlan) -> Markup {
        let rows = self.changed(plan);
        let ready = rows
            .iter()
            .filter(|row| row.status.is_ready() == Some(true));
        let ready = ready.count();
        let are_known =
            rows.iter().any(|row| row.status.ready().is_some()) && plan.asked.operation.is_start();
        let listed = html! {
            @for row in rows.iter().take(MAX_REACHED) {
                tr {
                    th scope="row" { (self.link_to(row)) }
                    td { (badge(row)) " " span.far { (row.status.count()) } }
                    @if are_known { td { (row.status.ready().unwrap_or_default()) } }
                }
            }
        };
        let headings = match are_known {
            true => &["Workload", "State", "Ready"][..],
            false => &["Workload", "State"],
        };
        html! {
            @if !rows.is_empty() {
                section aria-labelledby="ready" {
                    h2 id="ready" {
                        @if are_known { (ready) " of " (rows.len()) " ready" }
                        @else { (counted(rows.len(), "workload")) " changed" }
                    }
                    (table("ready", headings, &listed))
                    (others(rows.len(), MAX_REACHED))
                }
            }
        }
    }

    /// A form that previews the former overrides, or else the end of the new ones.
    fn undo(&self, plan: &ActionPlan) -> Markup {
        let can_end = plan.asked.operation.begins_override();
        let former = plan.former_overrides();
        let former = former.workloads.len() + former.namespaces.len();
        if former > 0 {
            let id = plan.id.to_string();
            let fields = [("do", UNDO), ("plan", &*id)];
            let content = html! {
                button type="submit" { "Undo: " (counted(former, "former override")) " again" }
            };
            return self.post("/confirm", Some("decide"), &fields, &content);
        }
        if !can_end {
            return html! {};
        }
        let content = html! {
            @for object in self.changed_names(plan) { (hidden(("object", &object))) }
            @for namespace in changed_namespaces(plan) { (hidden(("namespace", namespace))) }
            button type="submit" { "Undo: follow the schedule again" }
        };
        self.post("/confirm", Some("decide"), &[("do", "resume")], &content)
    }

    /// A form that previews the former schedule.
    fn undo_schedule(&self, plan: &ActionPlan) -> Markup {
        let Some(edit) = plan.planned.edit.as_ref().map(|edit| &edit.workload) else {
            return html! {};
        };
        let own = edit.observed.inputs.own();
        let content = html! {
            @for (key, _) in &edit.changes {
                (hidden((key.name(), own.text(*key).unwrap_or_default())))
            }
            button type="submit" { "Undo: the former schedule" }
        };
        html! {
            @for object in self.changed_names(plan) {
                @let fields = [("do", EDIT_SCHEDULE), ("object", &*object)];
                (self.post("/confirm", Some("decide"), &fields, &content))
            }
        }
    }

    /// The form names of the workloads that were changed themselves, not by their Namespace.
    fn changed_names(&self, plan: &ActionPlan) -> Vec<String> {
        let changes = plan.planned.changes.iter();
        let own: HashSet<&WorkloadRef> = changes.filter_map(PreviewedChange::workload).collect();
        let rows = self.changed(plan).into_iter();
        rows.filter(|row| own.contains(&row.status.object))
            .map(Row::form_name)
            .collect()
    }

    /// The names of the workloads and of the Namespaces that an action has changed.
    pub(crate) fn changed_by(&self, plan: &ActionPlan) -> (BTreeSet<String>, BTreeSet<String>) {
        let namespaces = changed_namespaces(plan).map(str::to_owned);
        (
            self.changed_names(plan).into_iter().collect(),
            namespaces.collect(),
        )
    }

    fn back(&self) -> Markup {
        let to = self.back_to_list();
        let to = to.unwrap_or_else(|| self.params.link("/timeline"));
        html! { p { a href=(to) { "To the timeline" } } }
    }
}

/// `10 replicas`
fn replicas(count: Replicas) -> String {
    counted(
        usize::try_from(count.get()).unwrap_or(usize::MAX),
        "replica",
    )
}

/// The first lines of a result.
fn lines_of<'l>(lines: impl Iterator<Item = &'l ResultLine> + Clone, limit: usize) -> Markup {
    html! {
        ul.findings {
            @for line in lines.clone().take(limit) {
                li class={ "finding " (if line.is_error { "error" } else { "note" }) } {
                    @if line.is_error { strong { "error" } " " }
                    (said(&line.text))
                }
            }
        }
        (others(lines.count(), limit))
    }
}

/// Changes with the same effect, which share a row of the preview.
struct AlikeChanges<'c> {
    first: &'c PreviewedChange,
    others: Vec<&'c PreviewedChange>,
}

impl<'c> AlikeChanges<'c> {
    /// Groups the changes of workloads. Each change of a Namespace is a group of its own.
    fn group(changes: &'c [PreviewedChange]) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        let mut known = HashMap::new();
        for change in changes {
            let effect = (change.counts, &*change.outcome, &*change.written);
            let at = change
                .workload()
                .map(|_| *known.entry(effect).or_insert(groups.len()));
            match at.and_then(|at| groups.get_mut(at)) {
                Some(alike) => alike.others.push(change),
                None => groups.push(Self {
                    first: change,
                    others: Vec::new(),
                }),
            }
        }
        groups
    }

    const fn len(&self) -> usize {
        1 + self.others.len()
    }

    /// The names of the objects, behind their number if there are many.
    fn names(&self) -> Markup {
        let all = [self.first].into_iter().chain(self.others.iter().copied());
        html! {
            @if self.len() <= MAX_ALIKE {
                @for change in all { div { (safe(&change.full_name())) } }
            } @else {
                details {
                    summary { (counted(self.len(), "workload")) }
                    @for change in all { div { (safe(&change.full_name())) } }
                }
            }
        }
    }
}

fn fields(filled_in: &FormFields) -> Markup {
    html! {
        div.filter.acts role="group" aria-label="Action on the selected workloads" {
            label {
                "Action"
                select name="do" {
                    @for (value, text) in ACTIONS {
                        option value=(value) selected[filled_in.action == value] {
                            (value) ": " (text)
                        }
                    }
                }
            }
            label {
                "For (a pause needs no end)"
                input type="text" name="for" value=(filled_in.length);
            }
            label {
                "or until"
                input type="text" name="until" value=(filled_in.until) placeholder="22:00, Mon 09:00";
            }
            label { "Reason" input type="text" name="reason" value=(filled_in.reason); }
            button.primary type="submit" { "Preview" }
        }
    }
}

pub(super) fn hidden((name, value): (&str, &str)) -> Markup {
    html! { input type="hidden" name=(name) value=(value); }
}

/// The selection of a form, as hidden fields.
fn chosen_in(form: &ActionForm) -> Markup {
    let names: Vec<_> = form.namespaces.iter().chain(&form.objects).collect();
    html! {
        @for object in &form.objects { (hidden(("object", object))) }
        @for namespace in &form.namespaces { (hidden(("namespace", namespace))) }
        p {
            "Chosen: " (first_of(&names, MAX_CHOSEN, |name| html! { (safe(name)) }))
        }
    }
}

/// The workloads that a Namespace change affects.
fn reached(workloads: &[AnnotatedWorkload]) -> Markup {
    html! {
        @if !workloads.is_empty() {
            details {
                summary { "Which" }
                ul {
                    @for workload in workloads.iter().take(MAX_REACHED) {
                        li { (safe(&workload.object.full_name())) }
                    }
                }
                (others(workloads.len(), MAX_REACHED))
            }
        }
    }
}

/// The objects that the user may not change, by namespace.
pub(super) fn denied(planned: &Preview) -> Markup {
    let all: usize = planned.denied.values().map(Vec::len).sum();
    html! {
        @if all > 0 {
            section aria-labelledby="denied" {
                h2 id="denied" { (counted(all, "change")) " that your permissions do not allow" }
                p.far { "The API server would deny them, so they are left out." }
                ul.findings {
                    @for (namespace, names) in &planned.denied {
                        li.finding.error {
                            strong { "denied" } " in namespace " (safe(namespace)) ": "
                            (first_of(names, MAX_CHOSEN, |name| html! { (safe(name)) }))
                        }
                    }
                }
            }
        }
    }
}

/// The objects that stay as they are, with the reasons.
fn unchanged(planned: &Preview) -> Markup {
    html! {
        @if !planned.others.is_empty() {
            section aria-labelledby="unchanged" {
                h2 id="unchanged" { "Unchanged" }
                ul.findings {
                    @for other in planned.others.iter().take(MAX_REACHED) {
                        li.finding.note { (said(other)) }
                    }
                }
                (others(planned.others.len(), MAX_REACHED))
            }
        }
    }
}

/// The overrides that the user did not allow to end earlier.
fn kept(planned: &Preview) -> Markup {
    let changes = planned.changes.iter();
    let kept = changes.filter(|change| change.shortens());
    let kept: Vec<_> = kept
        .filter_map(|change| Some((change.name(), change.replaced.as_ref()?)))
        .collect();
    html! {
        @if !kept.is_empty() {
            section aria-labelledby="kept" {
                h2 id="kept" {
                    (counted(kept.len(), "override")) " kept, which this action would have ended earlier"
                }
                ul.findings {
                    @for (name, replaced) in kept.iter().take(MAX_REACHED) {
                        li.finding.note { (safe(name)) " " (said(&replaced.text)) }
                    }
                }
                (others(kept.len(), MAX_REACHED))
            }
        }
    }
}

/// The overrides that would end earlier, each with its author.
fn shortened(planned: &Preview) -> Markup {
    let changes = planned.changes.iter();
    let shortened: Vec<_> = changes.filter(|change| change.shortens()).collect();
    html! {
        @if !shortened.is_empty() {
            section aria-labelledby="earlier" {
                h2 id="earlier" { (counted(shortened.len(), "override")) " would end earlier" }
                ul.findings {
                    @for change in shortened.iter().take(MAX_REACHED) {
                        li.finding.warning {
                            strong { "warning" } " " (safe(&change.name()))
                            @if let Some(replaced) = &change.replaced { " " (said(&replaced.text)) }
                        }
                    }
                }
                (others(shortened.len(), MAX_REACHED))
            }
        }
    }
}

/// The buttons that confirm a plan. Only the second one ends active overrides earlier.
fn decisions(planned: &Preview, verb: &str) -> Markup {
    let shortened = planned.changes.iter().filter(|change| change.shortens());
    let shortened = shortened.count();
    let all = planned.count(Shorten::Allowed);
    let rest = planned.count(Shorten::Forbidden);
    html! {
        @if rest > 0 {
            button.primary type="submit" { (verb) " " (counted(rest, "workload")) }
        }
        @if shortened > 0 {
            button type="submit" name="shorten" value=(SHORTEN) {
                (verb) " " (counted(all, "workload")) " and end "
                (counted(shortened, "override")) " earlier"
            }
        }
    }
}

/// The Namespaces that an action has changed.
fn changed_namespaces(plan: &ActionPlan) -> impl Iterator<Item = &str> {
    let shorten = plan.progress().shorten;
    let changes = plan.planned.changes.iter();
    let changes = changes.filter(move |change| change.is_allowed(shorten));
    changes.filter_map(|change| match &change.subject {
        ChangeSubject::Workload(_) => None,
        ChangeSubject::Namespace(name, _) => Some(&**name),
    })
}

fn outcome(progress: &PlanProgress) -> &'static str {
    match (progress.phase, progress.errors()) {
        (PlanPhase::Preview | PlanPhase::UnderWay { .. }, _) => "under way",
        (PlanPhase::Done, 0) => "done",
        (PlanPhase::Done, errors) if errors == progress.lines.len() => "failed",
        (PlanPhase::Done, _) => "partly done",
    }
}
