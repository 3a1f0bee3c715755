//! The problems and notes of several workloads, grouped by their cause.

use dayshift_text::counted;
use maud::{Markup, html};

use crate::dashboard::pages::page::{self, Page, first_of, said};
use crate::dashboard::view::{Level, Row, RowFinding, Situation};

/// The maximum number of causes, and of messages with the same cause.
const MAX_CAUSES: usize = 12;
const MAX_MESSAGES: usize = 20;
/// The maximum number of workloads that are named in a message.
const MAX_NAMES: usize = 3;

/// The findings with the same cause, most severe first.
struct Group<'f, 'v> {
    level: Level,
    cause: &'f str,
    findings: Vec<&'f RowFinding<'v>>,
}

impl<'f, 'v> Group<'f, 'v> {
    /// Groups these findings, which are sorted by level.
    fn all(findings: impl Iterator<Item = &'f RowFinding<'v>>) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for finding in findings {
            let is_same =
                |group: &&mut Self| group.level == finding.level && group.cause == finding.cause;
            match groups.iter_mut().find(is_same) {
                Some(group) => group.findings.push(finding),
                None => groups.push(Self {
                    level: finding.level,
                    cause: &finding.cause,
                    findings: vec![finding],
                }),
            }
        }
        groups
    }

    fn workloads(&self) -> usize {
        self.findings.iter().map(|finding| finding.rows.len()).sum()
    }
}

impl Page<'_> {
    /// The problems among the findings of these rows, of all namespaces or of one.
    pub(super) fn attention(
        &self,
        rows: &[&Row],
        findings: &[RowFinding<'_>],
        namespace: Option<&str>,
    ) -> Markup {
        let wrong = findings.iter();
        let groups = Group::all(wrong.filter(|finding| finding.level != Level::Note));
        let workloads = rows.iter().filter(|row| row.status.has_problem()).count();
        html! {
            section.problems aria-labelledby="wrong" {
                h2 id="wrong" { "Problems" }
                @if groups.is_empty() {
                    p.fine { "None in " (counted(rows.len(), "workload")) "." }
                } @else {
                    (self.causes(&groups))
                    p {
                        a href=(self.of_state(Situation::NeedsAttention.slug(), namespace)) {
                            @if workloads == 1 { "Show the workload" } @else { "Show all " (workloads) " workloads" }
                        }
                    }
                }
            }
        }
    }

    /// The notes among these findings, collapsed.
    pub(super) fn notes(&self, findings: &[RowFinding<'_>]) -> Markup {
        let notes = findings.iter();
        let groups = Group::all(notes.filter(|finding| finding.level == Level::Note));
        let workloads: usize = groups.iter().map(Group::workloads).sum();
        html! {
            @if !groups.is_empty() {
                section aria-labelledby="notes" {
                    details.notes {
                        summary {
                            h2 id="notes" { "Good to know" }
                            " " span.far { (counted(workloads, "note")) }
                        }
                        (self.causes(&groups))
                    }
                }
            }
        }
    }

    /// The first groups, and the number of the others.
    fn causes(&self, groups: &[Group<'_, '_>]) -> Markup {
        let more = groups.len().saturating_sub(MAX_CAUSES);
        html! {
            ul.causes {
                @for group in groups.iter().take(MAX_CAUSES) { li { (self.group(group)) } }
            }
            @if more > 0 { p { "And " (counted(more, "more cause")) "." } }
        }
    }

    /// The first message of a group with its fix, and the others behind it.
    fn group(&self, group: &Group<'_, '_>) -> Markup {
        let Some((first, others)) = group.findings.split_first() else {
            return html! {};
        };
        html! {
            div class={ "cause " (group.level.name()) } {
                p.what {
                    strong { (said(group.cause)) } " "
                    span.badge { (counted(group.workloads(), "workload")) }
                }
                ul.findings { (self.finding(first)) }
                @if !others.is_empty() {
                    details {
                        summary { (counted(others.len(), "more message")) }
                        ul.findings {
                            @for finding in others.iter().take(MAX_MESSAGES) { (self.finding(finding)) }
                        }
                        (page::others(others.len(), MAX_MESSAGES))
                    }
                }
            }
        }
    }

    /// One finding with the workloads that it concerns.
    fn finding(&self, finding: &RowFinding<'_>) -> Markup {
        html! {
            li class={ "finding " (finding.level.name()) } {
                strong { (finding.level.name()) }
                " "
                (first_of(&finding.rows, MAX_NAMES, |row| self.link_to(row)))
                ": "
                (said(&finding.message.to_string()))
            }
        }
    }
}
