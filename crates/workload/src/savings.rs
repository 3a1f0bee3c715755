//! The resources that schedules save: replicas, their requests, and the price of those. Nothing here
//! affects a decision.

use std::{fmt, iter::Sum, ops::Sub};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_text::{counted, quote};

use crate::{Footprint, Inputs, Label, NANOS, Observed, ParsedInputs, Phase, Replicas};

/// Resources that schedules keep from running now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoppedCapacity {
    /// The number of replicas.
    pub replicas: u64,
    /// The CPU requests of all of them, in billionths of a core.
    pub cpu_nanos: u64,
    /// The memory requests of all of them, in bytes.
    pub memory_bytes: u64,
}

impl StoppedCapacity {
    /// The resources of a count of replicas with this footprint, as far as the count is
    /// [countable](Footprint::countable).
    pub fn new(count: Replicas, footprint: Footprint) -> Self {
        let count = footprint.countable(count);
        let Footprint { replicas, requests } = footprint;
        let replicas = u64::from(count.get()) * u64::from(replicas);
        Self {
            replicas,
            cpu_nanos: requests.cpu_nanos.saturating_mul(replicas),
            memory_bytes: requests.memory_bytes.saturating_mul(replicas),
        }
    }
}

impl Sum for StoppedCapacity {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, stopped| Self {
            replicas: sum.replicas.saturating_add(stopped.replicas),
            cpu_nanos: sum.cpu_nanos.saturating_add(stopped.cpu_nanos),
            memory_bytes: sum.memory_bytes.saturating_add(stopped.memory_bytes),
        })
    }
}

/// Whether the schedule or `sleep-until` keeps an object stopped. If a user has raised its count
/// since, it is not. `None` without a schedule.
pub fn is_kept_stopped(
    inputs: &Inputs,
    replicas: Replicas,
    phase: Option<Phase>,
    parsed: &ParsedInputs,
) -> Option<bool> {
    let stop = match parsed {
        ParsedInputs::Scheduled(spec) => spec.stop_replicas,
        // If the schedule is rejected, the object keeps the state of the previous one.
        ParsedInputs::Invalid(_) => inputs.stop_replicas(),
        ParsedInputs::Unscheduled => return None,
    };
    let is_down = phase.is_some_and(Phase::follows_a_stop);
    Some(is_down && replicas <= stop)
}

/// The resources that do not run now because of the schedule: the replicas that would run without
/// it, minus the running ones, and their requests.
///
/// Without the schedule the saved count would run, or `replicas`, or the largest count of `scale`.
/// This counts only while the schedule or `sleep-until` stops the object: if a user scales it down,
/// dayshift saves nothing. It is 0 for kinds whose count is not a number of replicas: a CronJob, a
/// ScaledObject, the minimum of an autoscaler, or an on/off kind without pod groups in its
/// definition.
pub fn stopped_capacity(observed: &Observed, parsed: &ParsedInputs) -> StoppedCapacity {
    let label = observed.labels.text(Label::SavedReplicas);
    let saved = label.and_then(|text| Replicas::parse(text).ok());
    let count = stopped_count(observed.replicas, observed.phase(), saved, parsed);
    StoppedCapacity::new(count, observed.footprint)
}

/// The count of [`stopped_capacity`] for an object with this count, phase and saved count.
pub fn stopped_count(
    running: Replicas,
    phase: Option<Phase>,
    saved: Option<Replicas>,
    parsed: &ParsedInputs,
) -> Replicas {
    let spec = match parsed {
        ParsedInputs::Scheduled(spec) => Some(spec),
        // If the schedule is rejected, the object keeps the state of the previous one.
        ParsedInputs::Invalid(_) => None,
        ParsedInputs::Unscheduled => return Replicas::ZERO,
    };
    let is_down = phase.is_some_and(Phase::follows_a_stop);
    let largest = spec.and_then(|spec| spec.schedule.rule().largest_count());
    let without = match largest {
        // Between two steps of `scale` the count is below the largest one, whether the object is
        // stopped or not.
        Some(largest) if is_down || phase == Some(Phase::Running) => Some(Replicas::new(largest)),
        None if is_down => spec.and_then(|spec| spec.replicas).or(saved),
        _ => None,
    };
    let without = without.unwrap_or_default().get();
    Replicas::new(without.saturating_sub(running.get()))
}

/// Savings over some time, in the past or planned.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Saved {
    /// Hours of replicas that would have run.
    pub replica_hours: f64,
    /// Hours of the CPU cores that these replicas request.
    pub cpu_core_hours: f64,
    /// Hours of the GiB of memory that these replicas request.
    pub memory_gib_hours: f64,
}

/// The savings that a controller has counted since it started.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedSoFar {
    /// The total.
    pub all: Saved,
    /// The start of counting.
    pub since: DateTime<Utc>,
    /// The savings since each of the times that a caller asked for.
    pub since_each: Vec<Saved>,
}

const GIB: f64 = (1_u64 << 30) as f64;

impl Saved {
    /// The savings if these resources are stopped for this long.
    #[expect(
        clippy::cast_precision_loss,
        reason = "exact for more than any cluster has"
    )]
    pub fn new(held: StoppedCapacity, time: TimeDelta) -> Self {
        let hours = time.as_seconds_f64() / 3600.0;
        Self {
            replica_hours: held.replicas as f64 * hours,
            cpu_core_hours: held.cpu_nanos as f64 / NANOS as f64 * hours,
            memory_gib_hours: held.memory_bytes as f64 / GIB * hours,
        }
    }

    /// The savings if a [countable](Footprint::countable) count with this footprint is stopped for this
    /// many hours.
    pub fn from_hours(hours: f64, footprint: Footprint) -> Self {
        let one = StoppedCapacity::new(Replicas::ONE, footprint);
        let hour = Self::new(one, TimeDelta::hours(1));
        hour.combine(Self::default(), |amount, _| amount * hours)
    }

    /// Whether CPU or memory is included.
    pub fn requests_any(&self) -> bool {
        self.cpu_core_hours > 0.0 || self.memory_gib_hours > 0.0
    }

    fn combine(self, other: Self, of: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            replica_hours: of(self.replica_hours, other.replica_hours),
            cpu_core_hours: of(self.cpu_core_hours, other.cpu_core_hours),
            memory_gib_hours: of(self.memory_gib_hours, other.memory_gib_hours),
        }
    }
}

impl Sum for Saved {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, saved| {
            sum.combine(saved, |a, b| a + b)
        })
    }
}

impl Sub for Saved {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self.combine(other, |a, b| a - b)
    }
}

/// The price of an hour of one CPU core and of one GiB of memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Price {
    cpu: f64,
    memory: f64,
    currency: String,
}

/// Why a string is not a price.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0}; write what an hour of a CPU core and of a GiB of memory costs, such as \
     cpu=0.031,memory=0.0042,currency=EUR; each part may be left out"
)]
pub struct PriceError(String);

impl Price {
    /// Parses a price such as `cpu=0.031,memory=0.0042,currency=EUR`.
    ///
    /// # Errors
    /// If a part is unknown, is repeated or has an invalid value, or if neither CPU nor memory has
    /// a price.
    pub fn parse(text: &str) -> Result<Self, PriceError> {
        let (mut cpu, mut memory, mut currency) = (None, None, None);
        for part in text.split(',') {
            let wrong = |what: &str| PriceError(format!("`{}` {what}", quote(part)));
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let value = value.trim();
            let number = || {
                let number = value.parse().ok();
                number
                    .filter(|price: &f64| (0.0..1e9).contains(price))
                    .ok_or_else(|| wrong("is not a price"))
            };
            let is_new = match name.trim() {
                "cpu" => cpu.replace(number()?).is_none(),
                "memory" => memory.replace(number()?).is_none(),
                "currency" => {
                    let is_word = |c: char| !c.is_control() && !c.is_whitespace();
                    if value.is_empty() || value.chars().count() > 8 || !value.chars().all(is_word)
                    {
                        return Err(wrong("is not a currency"));
                    }
                    currency.replace(value.to_owned()).is_none()
                }
                _ => return Err(wrong("is not cpu=, memory= or currency=")),
            };
            if !is_new {
                return Err(wrong("is given twice"));
            }
        }
        if cpu.is_none() && memory.is_none() {
            return Err(PriceError("neither CPU nor memory has a price".to_owned()));
        }
        Ok(Self {
            cpu: cpu.unwrap_or_default(),
            memory: memory.unwrap_or_default(),
            currency: currency.unwrap_or_default(),
        })
    }

    /// The price of these savings.
    pub fn cost(&self, saved: &Saved) -> f64 {
        self.cpu * saved.cpu_core_hours + self.memory * saved.memory_gib_hours
    }

    /// The currency as given; empty if none was.
    pub fn currency(&self) -> &str {
        &self.currency
    }
}

/// Saved or stopped resources as text, with their price if one is known.
#[derive(Clone, Copy, Debug)]
pub struct Bill<'p> {
    amounts: Saved,
    is_rate: bool,
    price: Option<&'p Price>,
}

impl<'p> Bill<'p> {
    /// `354 replica-hours, 88.5 CPU core-hours, 177 GiB-hours of memory (3.49 EUR)`
    pub const fn new(saved: Saved, price: Option<&'p Price>) -> Self {
        Self {
            amounts: saved,
            is_rate: false,
            price,
        }
    }

    /// `3 replicas, 1.5 CPU cores, 3 GiB of memory (0.06 EUR an hour)`
    pub fn per_hour(held: StoppedCapacity, price: Option<&'p Price>) -> Self {
        Self {
            amounts: Saved::new(held, TimeDelta::hours(1)),
            is_rate: true,
            price,
        }
    }
}

impl Bill<'_> {
    /// The same text, with the number of workloads that are not fully included. `complete` has, for
    /// each workload, whether its replicas request both CPU and memory: `354 replica-hours, 177
    /// GiB-hours of memory; 1 of 2 workloads requests no CPU or no memory`. If only replicas are
    /// counted, nothing is added.
    pub fn with_incomplete(&self, complete: impl Iterator<Item = bool>) -> String {
        let (mut all, mut incomplete) = (0, 0);
        for is_complete in complete {
            all += 1;
            incomplete += usize::from(!is_complete);
        }
        let is_counted = self.amounts.requests_any() || self.price.is_some();
        if incomplete == 0 || !is_counted {
            return self.to_string();
        }
        let workloads = counted(all, "workload");
        let request = if incomplete == 1 {
            "requests"
        } else {
            "request"
        };
        format!("{self}; {incomplete} of {workloads} {request} no CPU or no memory")
    }
}

impl fmt::Display for Bill<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Saved {
            replica_hours,
            cpu_core_hours,
            memory_gib_hours,
        } = self.amounts;
        let [replicas, cores, memory, an_hour] = if self.is_rate {
            ["replica", "CPU core", "GiB of memory", " an hour"]
        } else {
            ["replica-hour", "CPU core-hour", "GiB-hours of memory", ""]
        };
        let number = short_number(replica_hours);
        let plural = |number: &str| if number == "1" { "" } else { "s" };
        write!(f, "{number} {replicas}{}", plural(&number))?;
        if cpu_core_hours > 0.0 {
            let number = short_number(cpu_core_hours);
            write!(f, ", {number} {cores}{}", plural(&number))?;
        }
        if memory_gib_hours > 0.0 {
            write!(f, ", {} {memory}", short_number(memory_gib_hours))?;
        }
        if let Some(price) = self.price {
            let money = format!("{:.2} {}", price.cost(&self.amounts), price.currency());
            write!(f, " ({}{an_hour})", money.trim_end())?;
        }
        Ok(())
    }
}

/// A number with three significant digits, or all digits before the decimal point.
pub fn short_number(number: f64) -> String {
    let decimals = match number.abs() {
        small if small < 9.995 => 2,
        middle if middle < 99.95 => 1,
        _ => return format!("{number:.0}"),
    };
    let text = format!("{number:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ResourceRequests;

    #[test]
    fn sums_of_stopped_capacity_saturate() {
        let most = StoppedCapacity {
            replicas: u64::MAX,
            cpu_nanos: u64::MAX,
            memory_bytes: u64::MAX,
        };
        let web = StoppedCapacity {
            replicas: 3,
            cpu_nanos: 1,
            memory_bytes: 1,
        };
        assert_eq!([web, most, web].into_iter().sum::<StoppedCapacity>(), most);
    }

    #[test]
    fn every_part_of_a_price_is_optional_except_one() {
        let saved = Saved {
            replica_hours: 1.0,
            cpu_core_hours: 100.0,
            memory_gib_hours: 1000.0,
        };
        for (text, expected, currency) in [
            ("cpu=0.031,memory=0.0042,currency=EUR", 7.3, "EUR"),
            ("currency=€, memory=0.0042 , cpu=0.031", 7.3, "€"),
            ("cpu=0.031", 3.1, ""),
            ("memory=1", 1000.0, ""),
            ("cpu=0,memory=0", 0.0, ""),
        ] {
            let price = Price::parse(text).unwrap();
            assert!((price.cost(&saved) - expected).abs() < 1e-9, "{text}");
            assert_eq!(price.currency(), currency);
        }
    }

    #[test]
    fn errors_contain_the_invalid_part_and_an_example() {
        for (text, expected) in [
            ("", "`` is not cpu=, memory= or currency="),
            ("0.031", "`0.031` is not cpu=, memory= or currency="),
            ("cpu=0,031", "`031` is not cpu=, memory= or currency="),
            ("gpu=1", "`gpu=1` is not cpu=, memory= or currency="),
            ("cpu=", "`cpu=` is not a price"),
            ("cpu=-1", "`cpu=-1` is not a price"),
            ("cpu=NaN", "`cpu=NaN` is not a price"),
            ("cpu=inf", "`cpu=inf` is not a price"),
            ("memory=3EUR", "`memory=3EUR` is not a price"),
            ("cpu=1,cpu=2", "`cpu=2` is given twice"),
            ("cpu=1,currency=", "`currency=` is not a currency"),
            (
                "cpu=1,currency=a\u{1b}b",
                "`currency=a\\u{1b}b` is not a currency",
            ),
            ("currency=EUR", "neither CPU nor memory has a price"),
        ] {
            let error = Price::parse(text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
            assert!(error.contains("such as cpu=0.031,memory=0.0042,currency=EUR"));
        }
    }

    #[test]
    fn numbers_have_three_significant_digits() {
        for (number, expected) in [
            (0.0, "0"),
            (0.004, "0"),
            (0.05, "0.05"),
            (1.0, "1"),
            (1.5, "1.5"),
            (9.996, "10"),
            (42.04, "42"),
            (88.5, "88.5"),
            (99.96, "100"),
            (354.2, "354"),
            (123_456.7, "123457"),
        ] {
            assert_eq!(short_number(number), expected);
        }
    }

    #[test]
    fn a_bill_contains_the_known_resources() {
        let price = Price::parse("cpu=0.031,memory=0.0042,currency=EUR").unwrap();
        let plain = Price::parse("cpu=0.031").unwrap();
        let requests = |cpu_nanos, memory_bytes| Footprint {
            replicas: 1,
            requests: ResourceRequests {
                cpu_nanos,
                memory_bytes,
            },
        };
        let held = |requests| StoppedCapacity::new(Replicas::new(3), requests);
        let whole = held(requests(250_000_000, 512 << 20));
        let week = |held| Saved::new(held, TimeDelta::hours(118));
        for (bill, expected) in [
            (
                Bill::new(week(whole), Some(&price)),
                "354 replica-hours, 88.5 CPU core-hours, 177 GiB-hours of memory (3.49 EUR)",
            ),
            (
                Bill::new(week(whole), Some(&plain)),
                "354 replica-hours, 88.5 CPU core-hours, 177 GiB-hours of memory (2.74)",
            ),
            (
                Bill::new(week(held(requests(0, 0))), None),
                "354 replica-hours",
            ),
            (
                Bill::per_hour(whole, Some(&price)),
                "3 replicas, 0.75 CPU cores, 1.5 GiB of memory (0.03 EUR an hour)",
            ),
            (
                Bill::per_hour(
                    StoppedCapacity::new(Replicas::ONE, requests(1_000_000_000, 0)),
                    None,
                ),
                "1 replica, 1 CPU core",
            ),
        ] {
            assert_eq!(bill.to_string(), expected);
        }
    }
}
