//! The next 24 hours: starts above a line, stops below it, by replicas.

use std::collections::BTreeMap;

use chrono::Timelike as _;
use dayshift_operations::status::short_time;
use dayshift_text::counted;
use maud::{Markup, html};

use crate::dashboard::outlook::{Moves, Outlook, Slot};
use crate::dashboard::pages::page::{Page, safe, scale};

/// The height of the largest bar in the picture's own units; the line is below it.
const HEIGHT: u64 = 40;
/// A single workload is visible beside hundreds.
const MIN_HEIGHT: u64 = 3;
/// The number of slots from one label to the next.
const HOURS: usize = 8;
/// The maximum number of namespaces that are named for one half hour.
const MAX_NAMESPACES: usize = 4;

impl Page<'_> {
    /// The strip, whose half hours can be focused to read their details.
    pub(super) fn strip(&self, outlook: &Outlook<'_>) -> Markup {
        let zone = self.zone();
        let size = |moves: &Moves<'_>| moves.replicas.max(moves.workloads as u64);
        let slots = outlook.slots.iter();
        let largest = slots
            .flat_map(|slot| [size(&slot.starts), size(&slot.stops)])
            .max()
            .unwrap_or_default()
            .max(1);
        let height = |moves: &Moves<'_>| match size(moves) {
            0 => 0,
            size => (size * HEIGHT / largest).max(MIN_HEIGHT),
        };
        if outlook.slots.iter().all(Slot::is_empty) {
            return html! { p { "Nothing starts or stops in the next 24 hours." } };
        }
        html! {
            div.chart {
                (scale(&[largest.to_string(), "0".to_owned(), largest.to_string()]))
                div.strip role="group" aria-label="Starts and stops in the next 24 hours" {
                    @for slot in &outlook.slots {
                        @if slot.is_empty() {
                            span.slot {}
                        } @else {
                            @let (up, down) = (height(&slot.starts), height(&slot.stops));
                            span.slot.some tabindex="0" role="img" aria-label=(self.slot_text(slot)) {
                                svg viewBox="0 0 10 84" preserveAspectRatio="none" aria-hidden="true" focusable="false" {
                                    @if up > 0 { path.up d={ "M1 41V" (41 - up) "H9V41z" } {} }
                                    @if down > 0 { path.down d={ "M1 43V" (43 + down) "H9V43z" } {} }
                                }
                                span.tip { (self.slot_text(slot)) }
                            }
                        }
                    }
                }
                div.hours aria-hidden="true" {
                    @for (at, slot) in outlook.slots.iter().enumerate() {
                        // Each fourth hour has a label, unless the strip ends below it.
                        @let is_named = at % HOURS == 0 && at + HOURS / 2 < outlook.slots.len();
                        @let at = slot.from.with_timezone(&zone);
                        span { @if is_named { (format!("{:02}:{:02}", at.hour(), at.minute())) } }
                    }
                }
                p.key-line {
                    span.key.up aria-hidden="true" {} " starts "
                    span.key.down aria-hidden="true" {} " stops, in replicas of each half hour"
                }
            }
        }
    }

    /// `06:00 CET to 06:30: 12 workloads start (36 replicas: 30 in shop, 6 in dev)`
    fn slot_text(&self, slot: &Slot<'_>) -> String {
        let (zone, now) = (self.zone(), self.view.now);
        let until = slot.until.with_timezone(&zone);
        let parts = [(&slot.starts, "start"), (&slot.stops, "stop")].into_iter();
        let parts = parts.filter(|(moves, _)| moves.workloads > 0);
        let parts: Vec<String> = parts
            .map(|(moves, action)| {
                let ending = if moves.workloads == 1 { "s" } else { "" };
                format!(
                    "{} {action}{ending} ({}: {})",
                    counted(moves.workloads, "workload"),
                    counted(
                        usize::try_from(moves.replicas).unwrap_or(usize::MAX),
                        "replica"
                    ),
                    namespaces(&moves.namespaces)
                )
            })
            .collect();
        let from = short_time(slot.from, zone, now);
        format!("{from} to {}: {}", until.format("%H:%M"), parts.join("; "))
    }
}

/// `30 in shop, 6 in dev`
fn namespaces(replicas: &BTreeMap<&str, u64>) -> String {
    let mut all: Vec<_> = replicas.iter().collect();
    all.sort_by(|(_, one), (_, other)| other.cmp(one));
    let more = all.len().saturating_sub(MAX_NAMESPACES);
    let shown = all.iter().take(MAX_NAMESPACES);
    let mut texts: Vec<_> = shown
        .map(|(name, count)| format!("{count} in {}", safe(name)))
        .collect();
    if more > 0 {
        texts.push(format!("and {}", counted(more, "more namespace")));
    }
    texts.join(", ")
}
