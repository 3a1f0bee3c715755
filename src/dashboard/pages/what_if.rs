//! The page that tries another schedule for all workloads of a namespace.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_operations::{annotations_yaml, kubectl_annotate};
use dayshift_text::{counted, shell_word};
use dayshift_workload::{AnnotationChange, Inputs, Key, Observed, ParsedInputs, read};
use maud::{Markup, html};

use crate::dashboard::{
    form::ScheduleFields,
    pages::{
        page::{
            Kind, Page, first_of, namespace_crumbs, namespace_path, others, safe, said, section,
        },
        schedule::{DrawnPlan, figures_table},
        sentence::schedule_text,
    },
    trial::{MAX_NAMES, Trial, TrialContext},
    view::Row,
    week_figures::seven_days,
};

/// The maximum length of all tried values in bytes. They are parsed for each distinct workload.
const MAX_TRIED: usize = 1_000;
/// The maximum number of present schedules that are drawn.
const MAX_DRAWN: usize = 6;

impl Page<'_> {
    /// Renders the page of a namespace on which another schedule is tried.
    pub(crate) fn what_if(&self, name: &str, fields: &ScheduleFields) -> String {
        let rows = self.view.rows_of(name);
        let own_path = format!("{}/what-if", namespace_path(name));
        let query = fields.query();
        let path = match &*query {
            "" => own_path.clone(),
            query => format!("{own_path}?{query}"),
        };
        let kind = Kind {
            title: "What if?",
            path: &path,
            refreshes: false,
            crumbs: &namespace_crumbs(name),
        };
        let form = html! {
            form method="get" action=(own_path) {
                @for (name, value) in self.params.common().pairs() {
                    input type="hidden" name=(name) value=(value);
                }
                (self.schedule_inputs(fields, |_| None))
                div.decide {
                    button.primary type="submit" { "Compare" }
                    span.far { "Nothing is written. An empty field keeps the values of the workloads." }
                }
            }
        };
        let content = html! {
            h1 { "What if namespace/" (safe(name)) " had another schedule?" }
            p.lead {
                "Try a schedule for " (counted(rows.len(), "workload"))
                ": its costs, its starts, and the workloads that it would stop now."
            }
            (section("try", "Try a schedule", &form))
            @if fields.has_values() { (self.tried(name, &rows, fields)) }
        };
        self.shell(&kind, &content)
    }

    /// The result of a trial, or why the tried schedule is rejected.
    fn tried(&self, name: &str, rows: &[&Row], fields: &ScheduleFields) -> Markup {
        let (Some(period), Some(planner), true) = (
            seven_days(self.view.now),
            self.planner(self.end_of_week()),
            fields.length() <= MAX_TRIED,
        ) else {
            return html! {
                p.banner.bad role="alert" {
                    "The schedule is too long to try: it can have " (MAX_TRIED) " bytes."
                }
            };
        };
        let context = TrialContext {
            planner,
            schedules: self.view.named_schedules(),
            fields,
            period,
        };
        let mut probe = Inputs::default();
        for (key, text) in fields.annotations() {
            if let Some(text) = text {
                probe = probe.with(key, &text);
            }
        }
        let probe = probe.with_schedules(&context.schedules);
        if probe.names_unknown_schedule() {
            return html! {
                p.banner.bad role="alert" {
                    "The times of this named schedule are not known here, because no workload that you \
                        see follows it."
                }
            };
        }
        let probe = probe.or_always_on();
        if let ParsedInputs::Invalid(refusal) = read(&probe, &self.view.context) {
            return self.problems_of(&refusal, &probe);
        }
        let trial = context.run(rows);
        html! {
            (self.conclusion(&trial))
            (figures_table("Tried", &(trial.now, trial.tried), self.price))
            (self.drawn_trial(&context, &trial))
            (self.effect_now(&trial))
            (self.to_use_it(name, fields, &trial))
        }
    }

    /// An end after the drawn days.
    fn end_of_week(&self) -> DateTime<Utc> {
        self.view.now + TimeDelta::days(8)
    }

    /// `44 % fewer replica-hours than now, in seven days`
    fn conclusion(&self, trial: &Trial<'_>) -> Markup {
        let [now, tried] = [&trial.now, &trial.tried].map(|week| week.share.used.replica_hours);
        let percent = 100.0 * (tried - now) / now;
        html! {
            @if now > 0.0 {
                p.large role="status" {
                    strong {
                        (format!("{:.0} %", percent.abs()))
                        @if percent > 0.0 { " more" } @else { " fewer" }
                    }
                    " " span { "replica-hours than now, in seven days, with the change below" }
                }
            }
            @if trial.left_out > 0 {
                p.far {
                    "Left out: " (counted(trial.left_out, "workload"))
                    ", whose present schedule is rejected or unknown, or which have too many different \
                        schedules."
                }
            }
            @if !trial.rejected.is_empty() {
                details.banner.warn {
                    summary {
                        "The tried schedule would be rejected for " (counted(trial.rejected.len(), "workload"))
                    }
                    ul {
                        @for (row, error) in trial.rejected.iter().take(MAX_NAMES) {
                            li { (self.link_to(row)) ": " (said(error)) }
                        }
                    }
                    (others(trial.rejected.len(), MAX_NAMES))
                }
            }
        }
    }

    /// The tried schedule above the present ones.
    fn drawn_trial(&self, context: &TrialContext<'_>, trial: &Trial<'_>) -> Markup {
        let Some((first, _)) = trial.present.first() else {
            return html! {};
        };
        let tried = context.planner.plan_live(&Observed {
            inputs: context.tried(&first.observed.inputs),
            ..Observed::clone(&first.observed)
        });
        let shown = trial.present.iter().take(MAX_DRAWN);
        let present: Vec<_> = shown
            .map(|(row, count)| {
                let text = schedule_text(row);
                let heading = html! {
                    span.count { (counted(*count, "workload")) } code { (safe(&text)) }
                };
                (heading, text, self.plan_of(row, self.end_of_week()))
            })
            .collect();
        let mut plans = vec![DrawnPlan {
            heading: html! { strong { "Tried" } },
            name: "tried".to_owned(),
            plan: tried.as_ref(),
            edited: None,
        }];
        plans.extend(present.iter().map(|(heading, text, plan)| DrawnPlan {
            heading: heading.clone(),
            name: text.clone(),
            plan: plan.as_ref(),
            edited: None,
        }));
        let more = trial.present.len().saturating_sub(MAX_DRAWN);
        html! {
            (self.weeks(&plans, self.zone()))
            @if more > 0 { p.far { "And " (counted(more, "other schedule")) " now." } }
        }
    }

    /// The workloads that the tried schedule would start or stop now.
    fn effect_now(&self, trial: &Trial<'_>) -> Markup {
        let list = |rows: &[&Row]| first_of(rows, MAX_NAMES, |row| self.link_to(row));
        let content = html! {
            @if trial.outside.is_empty() {
                p { "No running workload would be interrupted." }
            } @else {
                p {
                    strong { (counted(trial.outside.len(), "workload")) }
                    " would be outside of the tried hours now. Each runs until its next stop; "
                    code { "dayshift sync" } " would interrupt it at once: " (list(&trial.outside)) "."
                }
            }
            @if !trial.started.is_empty() {
                p {
                    strong { (counted(trial.started.len(), "stopped workload")) }
                    " would start at once: " (list(&trial.started)) "."
                }
            }
        };
        section("interrupted", "If it took effect now", &content)
    }

    /// The change as commands, and as YAML.
    fn to_use_it(&self, name: &str, fields: &ScheduleFields, trial: &Trial<'_>) -> Markup {
        let change = &trial.change;
        let with = |replaced: &BTreeSet<Key>| {
            let given = fields.annotations().into_iter();
            let given = given.filter(|(_, text)| text.is_some());
            let replaced = replaced.iter().map(|key| (*key, None));
            given.chain(replaced).collect::<Vec<AnnotationChange>>()
        };
        let own = change
            .own
            .iter()
            .map(|row| row.status.object.kind_and_name());
        let own: Vec<_> = own.map(|name| shell_word(&name).into_owned()).collect();
        let own_arguments = format!("{} -n {}", own.join(" "), shell_word(name));
        let content = html! {
            @if change.inheriting > 0 {
                p {
                    "Annotate the Namespace: " (counted(change.inheriting, "workload"))
                    @if change.inheriting == 1 { " inherits" } @else { " inherit" }
                    " its schedule."
                }
                (self.annotated(&format!("namespace/{name}"), &with(&change.replaced_on_namespace)))
            }
            @if !own.is_empty() {
                p {
                    "Annotate " (counted(own.len(), "workload"))
                    " with a schedule of " @if own.len() == 1 { "its" } @else { "their" }
                    " own, which has priority over that of the Namespace."
                }
                (self.annotated(&own_arguments, &with(&change.replaced_on_workloads)))
            }
        };
        html! {
            @if change.inheriting > 0 || !own.is_empty() { (section("use", "To use it", &content)) }
        }
    }

    /// The command that annotates these objects, and the annotations as YAML.
    fn annotated(&self, arguments: &str, changes: &[AnnotationChange]) -> Markup {
        let prefix = &self.settings.prefix;
        let yaml = annotations_yaml(changes, prefix);
        let yaml: Vec<_> = yaml.iter().map(|line| safe(line)).collect();
        html! {
            pre.command tabindex="0" { (safe(&kubectl_annotate(arguments, changes, prefix))) }
            h3 { "As YAML, for Git" }
            pre tabindex="0" { (yaml.join("\n")) }
        }
    }
}
