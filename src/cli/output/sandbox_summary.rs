//! What a run comes to, as a table.

use chrono::TimeDelta;
use dayshift_operations::status::span;
use dayshift_text::counted;
use dayshift_workload::savings::{Bill, Price, Saved};

use super::{sandbox_page::Page, style::Paint};
use crate::sandbox::{Requests, Summary, Usage};

impl Page {
    /// What it all came to: a table of the workloads and what the scaler asked for.
    pub fn summary(&self, summary: &Summary, price: Option<&Price>) -> String {
        let Summary {
            from,
            until,
            usages,
            ..
        } = summary;
        let whole = *until - *from;
        let mut text = format!(
            "{} from {} to {}\n",
            span(whole),
            self.moment(*from),
            self.moment(*until)
        );
        if !usages.is_empty() {
            text += &self.table(usages, whole);
            text += &saved(usages, price);
        }
        text + &footnotes(summary)
    }

    fn table(&self, usages: &[(String, Usage)], whole: TimeDelta) -> String {
        let names = usages
            .iter()
            .map(|(name, _)| name.chars().count())
            .max()
            .unwrap_or_default();
        let heading = format!(
            "{:names$}  starts  stops     hours running  replica-hours    without  saved",
            ""
        );
        let whole = format!("{:.1}", hours(whole));
        let whole = whole.trim_end_matches(".0");
        let mut text = format!("\n{}\n", self.paint(Paint::Faint, &heading));
        let (mut starts, mut stops, mut used, mut without, mut saved) = (0, 0, 0.0, 0.0, 0.0);
        for (name, usage) in usages {
            let up = format!("{:.1} of {whole}", hours(usage.up()));
            let (of_starts, of_stops) = (usage.starts, usage.stops);
            text += &format!("{name:names$}  {of_starts:>6}  {of_stops:>5}  {up:>16}");
            starts += of_starts;
            stops += of_stops;
            if !usage.has_replicas() {
                text += &format!("  {:>13}  {:>9}  {:>5}\n", "-", "-", "-");
                continue;
            }
            text += &format!(
                "  {:>13.1}  {:>9.1}  {:>5}\n",
                usage.replica_hours(),
                usage.without(),
                percent(usage.saved().replica_hours, usage.without()),
            );
            used += usage.replica_hours();
            without += usage.without();
            saved += usage.saved().replica_hours;
        }
        let saved = percent(saved, without);
        let total = format!(
            "{:names$}  {starts:>6}  {stops:>5}  {:>16}  {used:>13.1}  {without:>9.1}  {saved:>5}",
            "all", ""
        );
        text += &self.paint(Paint::Bold, &total);
        text + "\n"
    }
}

/// What was saved, where that is more than the table says.
fn saved(usages: &[(String, Usage)], price: Option<&Price>) -> String {
    let counted = usages
        .iter()
        .map(|(_, it)| it)
        .filter(|it| it.has_replicas());
    let saved: Saved = counted.clone().map(Usage::saved).sum();
    if !saved.requests_any() && price.is_none() {
        return String::new();
    }
    let complete = counted.map(Usage::has_requests);
    let bill = Bill::new(saved, price).with_incomplete(complete);
    format!("\nSaved: {bill}.\n")
}

fn footnotes(summary: &Summary) -> String {
    let transitions: u64 = summary
        .usages
        .iter()
        .map(|(_, usage)| usage.starts + usage.stops)
        .sum();
    let lateness = summary.lateness.num_milliseconds();
    let Requests {
        lists,
        gets,
        patches,
        events,
    } = summary.requests;
    let asked = [
        counted(lists, "list"),
        counted(gets, "read"),
        counted(patches, "patch"),
        counted(events, "Event"),
    ];
    format!(
        "\n{}, the latest {lateness} ms after its instant. \
         Without: what would have run without the schedules.\n\
         Requests besides the watch: {}.\n",
        counted(transitions, "transition"),
        asked.join(", ")
    )
}

fn hours(time: TimeDelta) -> f64 {
    time.as_seconds_f64() / 3600.0
}

fn percent(part: f64, whole: f64) -> String {
    if whole > 0.0 {
        format!("{:.0}%", 100.0 * part / whole)
    } else {
        "-".to_owned()
    }
}
