//! The savings: one large number, the last days or this week, and the namespaces that save most.

use chrono::{Days, NaiveDate, TimeDelta};
use dayshift_operations::status::short_time;
use dayshift_workload::savings::{Bill, Price, Saved, SavedSoFar, StoppedCapacity, short_number};
use maud::{Markup, html};

use crate::dashboard::outlook::{Outlook, Share};
use crate::dashboard::pages::{
    page::{Page, scale, section},
    week::midnight,
};
use crate::dashboard::view::{Row, SavingsSummary};

/// The number of namespaces shown.
const TOP: usize = 5;
/// The height of the bars in the picture's own units.
const HEIGHT: f64 = 100.0;

/// The days of the chart.
struct Account {
    days: Vec<(NaiveDate, Share)>,
    /// Whether a controller counted the savings.
    is_counted: bool,
}

impl Account {
    /// The counted days, or else this week by the schedules.
    fn new(page: &Page<'_>, savings: &SavingsSummary, outlook: &Outlook<'_>) -> Self {
        let is_counted = !savings.days.is_empty();
        let days = if is_counted {
            let days = savings.days.iter();
            days.map(|(date, saved)| (*date, page.share_of(*date, *saved, savings, outlook)))
                .collect()
        } else {
            let dates = (0..7).map(|day| outlook.monday + Days::new(day));
            dates.zip(outlook.week).collect()
        };
        Self { days, is_counted }
    }

    fn total(&self) -> Share {
        Share::total(self.days.iter().map(|(_, share)| *share))
    }
}

impl Page<'_> {
    /// The counted savings of a day, and the rest of the capacity in that time.
    fn share_of(
        &self,
        date: NaiveDate,
        saved: Saved,
        savings: &SavingsSummary,
        outlook: &Outlook<'_>,
    ) -> Share {
        let zone = self.zone();
        let began = savings.so_far.as_ref();
        let began = began.map_or(self.view.now, |so_far| so_far.since);
        let from = midnight(date, zone).max(began);
        let until = midnight(date + Days::new(1), zone).min(self.view.now);
        let hours = (until - from).max(TimeDelta::zero()).as_seconds_f64() / 3600.0;
        let used = |capacity: f64, saved: f64| (capacity * hours - saved).max(0.0);
        let capacity = outlook.capacity;
        Share {
            used: Saved {
                replica_hours: used(capacity.replica_hours, saved.replica_hours),
                cpu_core_hours: used(capacity.cpu_core_hours, saved.cpu_core_hours),
                memory_gib_hours: used(capacity.memory_gib_hours, saved.memory_gib_hours),
            },
            saved,
        }
    }

    pub(super) fn saved(&self, savings: &SavingsSummary, outlook: &Outlook<'_>) -> Markup {
        let price = savings.price.as_deref();
        let account = Account::new(self, savings, outlook);
        let content = html! {
            (self.large_number(&account, price))
            (bars(&account, price))
            (self.top(outlook, price))
            (stopped_now(self.view.rows.iter().map(|row| &**row), price))
            (self.so_far(savings, price))
        };
        section("saved", "What it saves", &content)
    }

    fn large_number(&self, account: &Account, price: Option<&Price>) -> Markup {
        let total = account.total();
        let percent = total.percent().map(|percent| format!("{percent:.0} %"));
        let money =
            price.map(|price| format!("{:.2} {}", price.cost(&total.saved), price.currency()));
        let Some(number) = money.or_else(|| percent.clone()) else {
            return html! { p { "No workload here has replicas that can be counted." } };
        };
        let whose = if self.view.is_partial {
            "of your workloads"
        } else {
            "of all workloads"
        };
        html! {
            p.large {
                strong { (number.trim()) " saved" } " "
                span {
                    @if price.is_some() {
                        @if let Some(percent) = percent { (percent) " " }
                    }
                    "of the replica-hours " (whose) ", "
                    @if account.is_counted {
                        strong { "measured" }
                        @match &*account.days {
                            [(first, _), _, ..] => { " since " (first.format("%-d %b")) }
                            _ => " today",
                        }
                    } @else {
                        strong { "estimate" } " for this week from the schedules"
                        @if let [(first, _), .., (last, _)] = &*account.days {
                            ", " (first.format("%-d %b")) " to " (last.format("%-d %b"))
                        }
                    }
                }
            }
        }
    }

    fn top(&self, outlook: &Outlook<'_>, price: Option<&Price>) -> Markup {
        let saving = outlook.by_namespace.iter();
        let size = |share: &Share| match price {
            Some(price) => price.cost(&share.saved),
            None => share.saved.replica_hours,
        };
        let mut top: Vec<_> = saving.filter(|(_, share)| size(share) > 0.0).collect();
        top.sort_by(|(_, one), (_, other)| size(other).total_cmp(&size(one)));
        top.truncate(TOP);
        let largest = top.first().map_or(1.0, |(_, share)| size(share));
        html! {
            @if !top.is_empty() {
                h3 {
                    "This week by namespace, " strong { "estimated" } " from the schedules, "
                    (outlook.monday.format("%-d %b")) " to "
                    ((outlook.monday + Days::new(6)).format("%-d %b"))
                }
                table.top {
                    thead {
                        tr {
                            th scope="col" { "Namespace" }
                            th scope="colgroup" colspan="2" { "Saved" }
                            th scope="col" { "Of its replica-hours" }
                        }
                    }
                    tbody {
                        @for (name, share) in &top {
                            tr {
                                th scope="row" { (self.link_to_namespace(name)) }
                                td {
                                    svg.share viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" focusable="false" {
                                        path d={ "M0 0H" (format!("{:.0}", 100.0 * size(share) / largest)) "V10H0z" } {}
                                    }
                                }
                                td { (amount(&share.saved, price)) }
                                td { (format!("{:.0} %", share.percent().unwrap_or_default())) }
                            }
                        }
                    }
                }
            }
        }
    }

    fn so_far(&self, savings: &SavingsSummary, price: Option<&Price>) -> Markup {
        html! {
            @if let Some(SavedSoFar { all, since, since_each }) = &savings.so_far {
                details {
                    summary { "Since the controller started" }
                    dl {
                        @for (when, saved) in ["Today", "This week", "This month"].into_iter().zip(since_each) {
                            dt { (when) }
                            dd { (Bill::new(*saved, price)) }
                        }
                    }
                    p {
                        (Bill::new(*all, price)) " saved since the controller started to count, "
                        (short_time(*since, self.zone(), self.view.now)) "."
                    }
                }
            } @else if self.view.is_partial {
                p.far { "Savings until now are counted for all workloads together, and you see \
                    only some of them." }
            } @else {
                p.far {
                    "The controller counts what was saved: the metric "
                    code { "dayshift_saved_replica_seconds_total" } "."
                }
            }
        }
    }
}

/// Bars of used and saved replica-hours, one for each day.
fn bars(account: &Account, price: Option<&Price>) -> Markup {
    let sum = |share: &Share| share.used.replica_hours + share.saved.replica_hours;
    let days = account.days.iter();
    let largest = days.map(|(_, share)| sum(share)).fold(0.0, f64::max);
    let part = |hours: f64| {
        if largest > 0.0 {
            HEIGHT * hours / largest
        } else {
            0.0
        }
    };
    html! {
        @if largest > 0.0 {
            h3 { "Each day, in replica-hours: one replica for one hour" }
            div.chart {
                (scale(&[short_number(largest), "0".to_owned()]))
                div.days role="group" aria-label="Used and saved replica-hours by day" {
                    @for (date, share) in &account.days {
                        @let (used, saved) = (part(share.used.replica_hours), part(share.saved.replica_hours));
                        @let text = format!(
                            "{}: {} used, {} saved",
                            date.format("%a %-d %b"),
                            short_number(share.used.replica_hours),
                            amount(&share.saved, price)
                        );
                        span.day tabindex="0" role="img" aria-label=(text) {
                            svg viewBox="0 0 10 100" preserveAspectRatio="none" aria-hidden="true" focusable="false" {
                                path.used d=(format!("M0 100V{:.1}H10V100z", HEIGHT - used)) {}
                                path.saved d=(format!("M0 {:.1}V{:.1}H10V{:.1}z", HEIGHT - used, HEIGHT - used - saved, HEIGHT - used)) {}
                            }
                            span.tip { (text) }
                            span.name { span.weekday { (date.format("%a")) } " " (date.format("%-d")) }
                        }
                    }
                }
                p.key-line {
                    @let [saved, used] = match account.is_counted {
                        true => [" saved, measured ", " used, estimated from the current replica counts"],
                        false => [" saved, estimated ", " used, estimated"],
                    };
                    span.key.saved aria-hidden="true" {} (saved)
                    span.key.used aria-hidden="true" {} (used)
                }
            }
        }
    }
}

/// `354 replica-hours`, or `3.49 EUR` with a price.
fn amount(saved: &Saved, price: Option<&Price>) -> String {
    match price {
        Some(price) => {
            let text = format!("{:.2} {}", price.cost(saved), price.currency());
            text.trim_end().to_owned()
        }
        // The difference of two sums can be less than zero by a rounding error.
        None => {
            let hours = saved.replica_hours.max(0.0) + 0.0;
            format!("{} replica-hours", short_number(hours))
        }
    }
}

/// The heading of the stopped capacity, which includes workloads that users have put to sleep.
pub(super) const STOPPED_NOW: &str = "Stopped by schedules and overrides now";

/// `Stopped by schedules and overrides now: 13 replicas, 6.5 CPU cores.`
pub(super) fn stopped_now<'a>(
    rows: impl Iterator<Item = &'a Row> + Clone,
    price: Option<&Price>,
) -> Markup {
    html! { p { (STOPPED_NOW) ": " (stopped_capacity(rows, price)) "." } }
}

/// The capacity of these rows that is stopped now, as a text.
pub(super) fn stopped_capacity<'a>(
    rows: impl Iterator<Item = &'a Row> + Clone,
    price: Option<&Price>,
) -> String {
    let down = rows.map(|row| &row.status);
    let down = down.filter(|status| status.stopped_capacity.replicas > 0);
    let held: StoppedCapacity = down.clone().map(|status| status.stopped_capacity).sum();
    Bill::per_hour(held, price).with_incomplete(down.map(|status| status.requests.are_complete()))
}
