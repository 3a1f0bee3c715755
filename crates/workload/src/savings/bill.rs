//! What is saved, in words that are the same wherever it is shown.

use std::fmt;

use dayshift_text::counted;

use super::{held_down::HeldDown, price::Price, saved::Saved};

/// What was saved or is held down, in words, and in money where a price is known.
#[derive(Clone, Copy, Debug)]
pub struct Bill<'p> {
    amounts: Saved,
    is_rate: bool,
    price: Option<&'p Price>,
}

impl<'p> Bill<'p> {
    /// `354 replica-hours, 88.5 CPU core-hours, 177 GiB-hours of memory (3.49 EUR)`
    pub const fn of(saved: Saved, price: Option<&'p Price>) -> Self {
        Self {
            amounts: saved,
            is_rate: false,
            price,
        }
    }

    /// `3 replicas, 1.5 CPU cores, 3 GiB of memory (0.06 EUR an hour)`
    pub fn now(held: HeldDown, price: Option<&'p Price>) -> Self {
        Self {
            amounts: Saved::of(held, chrono::TimeDelta::hours(1)),
            is_rate: true,
            price,
        }
    }
}

impl Bill<'_> {
    /// The same with how many workloads are not all in it, of those for which it is known whether
    /// their replicas request both CPU and memory:
    /// `354 replica-hours, 177 GiB-hours of memory; 1 of 2 workloads requests no CPU or no memory`.
    /// Nothing is said where nothing but replicas is counted.
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
        let number = amount(replica_hours);
        let plural = |number: &str| if number == "1" { "" } else { "s" };
        write!(f, "{number} {replicas}{}", plural(&number))?;
        if cpu_core_hours > 0.0 {
            let number = amount(cpu_core_hours);
            write!(f, ", {number} {cores}{}", plural(&number))?;
        }
        if memory_gib_hours > 0.0 {
            write!(f, ", {} {memory}", amount(memory_gib_hours))?;
        }
        if let Some(price) = self.price {
            let money = format!("{:.2} {}", price.of(&self.amounts), price.currency());
            write!(f, " ({}{an_hour})", money.trim_end())?;
        }
        Ok(())
    }
}

/// A number with as many decimals as it needs: three digits, and all of a larger one.
pub fn amount(number: f64) -> String {
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
    use chrono::TimeDelta;

    use super::*;
    use crate::{Footprint, Replicas, ResourceRequests};

    #[test]
    fn numbers_have_the_decimals_they_need() {
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
            assert_eq!(amount(number), expected);
        }
    }

    #[test]
    fn a_bill_says_what_is_known() {
        let price = Price::parse("cpu=0.031,memory=0.0042,currency=EUR").unwrap();
        let plain = Price::parse("cpu=0.031").unwrap();
        let requests = |cpu_nanos, memory_bytes| Footprint {
            replicas: 1,
            requests: ResourceRequests {
                cpu_nanos,
                memory_bytes,
            },
        };
        let held = |requests| HeldDown::of(Replicas::new(3), requests);
        let whole = held(requests(250_000_000, 512 << 20));
        let week = |held| Saved::of(held, TimeDelta::hours(118));
        for (bill, expected) in [
            (
                Bill::of(week(whole), Some(&price)),
                "354 replica-hours, 88.5 CPU core-hours, 177 GiB-hours of memory (3.49 EUR)",
            ),
            (
                Bill::of(week(whole), Some(&plain)),
                "354 replica-hours, 88.5 CPU core-hours, 177 GiB-hours of memory (2.74)",
            ),
            (
                Bill::of(week(held(requests(0, 0))), None),
                "354 replica-hours",
            ),
            (
                Bill::now(whole, Some(&price)),
                "3 replicas, 0.75 CPU cores, 1.5 GiB of memory (0.03 EUR an hour)",
            ),
            (
                Bill::now(
                    HeldDown::of(Replicas::ONE, requests(1_000_000_000, 0)),
                    None,
                ),
                "1 replica, 1 CPU core",
            ),
        ] {
            assert_eq!(bill.to_string(), expected);
        }
    }
}
