//! A replica count, and the rules for the count after a start, a stop and a wake.

use std::fmt;

use dayshift_schedule::{Diagnostic, Proposal, normalize_characters};
use dayshift_text::number;

/// A count from 0 to 2147483647, the range of `spec.replicas` (an int32).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Replicas(u32);

impl Replicas {
    /// No replicas.
    pub const ZERO: Self = Self(0);
    /// The count of a Deployment without `spec.replicas`, and the count after a start if none is
    /// saved.
    pub const ONE: Self = Self(1);

    /// Limits the count to the range of `spec.replicas`.
    pub const fn new(count: u32) -> Self {
        Self(if count > i32::MAX as u32 {
            i32::MAX as u32
        } else {
            count
        })
    }

    /// The count as an integer.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Parses decimal digits, without a sign or blanks.
    ///
    /// # Errors
    /// If the string is anything else, or above 2147483647.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        let read = |text: &str| number(text).filter(|count| *count <= i32::MAX as u32);
        read(text).map(Self).ok_or_else(|| {
            let wrong = match read(text.trim()) {
                Some(_) => "has blanks around it",
                None => "is not a number of replicas",
            };
            let error =
                Diagnostic::new(0..text.len(), text, wrong, "write a whole number such as 3");
            // ` 3`, `+3`, `3.0`, `３`
            let plain = normalize_characters(text);
            let digits = plain.strip_prefix('+').unwrap_or(&plain);
            let meant = read(digits.strip_suffix(".0").unwrap_or(digits));
            error.with_proposal(meant.map(|count| Proposal::replace_all(text, &count.to_string())))
        })
    }
}

impl fmt::Display for Replicas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The count and the saved count after a stop. A stop never raises the count. It saves the larger
/// of the remembered and the observed count, and saves a 0 only if one is remembered.
pub fn count_after_stop(
    seen: Replicas,
    remembered: Option<Replicas>,
    stop_replicas: Replicas,
) -> (Replicas, Option<Replicas>) {
    let worth_saving = (seen > Replicas::ZERO).then_some(seen);
    (seen.min(stop_replicas), remembered.max(worth_saving))
}

/// The count after a start: the exact count if there is one. Otherwise the remembered count, but
/// never less than the observed one. If nothing is remembered, 0 becomes 1.
pub fn count_after_start(
    seen: Replicas,
    remembered: Option<Replicas>,
    exact: Option<Replicas>,
) -> Replicas {
    exact.unwrap_or_else(|| seen.max(remembered.unwrap_or(Replicas::ONE)))
}

/// The count when `wake-until` begins: as after a start, but at least 1 unless an exact count is
/// given. A user wants the workload now.
pub fn count_after_wake(
    seen: Replicas,
    remembered: Option<Replicas>,
    exact: Option<Replicas>,
) -> Replicas {
    exact.unwrap_or_else(|| count_after_start(seen, remembered, None).max(Replicas::ONE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_only_whole_numbers() {
        assert_eq!(Replicas::parse("0"), Ok(Replicas::ZERO));
        assert_eq!(Replicas::parse("2147483647"), Ok(Replicas::new(u32::MAX)));
        for bad in [
            "",
            " 1",
            "+1",
            "-1",
            "1.0",
            "two",
            "2147483648",
            "99999999999",
            "１",
        ] {
            assert!(Replicas::parse(bad).is_err(), "{bad}");
        }
    }

    const fn some(count: u32) -> Option<Replicas> {
        Some(Replicas::new(count))
    }

    #[test]
    fn a_stop_saves_the_larger_count_and_never_raises() {
        for (seen, remembered, stop_replicas, expected) in [
            (3, None, 0, (0, some(3))),
            (3, some(0), 0, (0, some(3))), // raised since a manual 0
            (3, some(5), 0, (0, some(5))), // raised manually while stopped, to less than was saved
            (6, some(5), 0, (0, some(6))),
            (0, some(0), 0, (0, some(0))), // a manual 0 since our start
            (0, None, 0, (0, None)),       // a 0 from a manifest is not saved
            (3, None, 1, (1, some(3))),
            (1, None, 2, (1, some(1))), // not raised
            (0, some(0), 2, (0, some(0))),
        ] {
            let (count, kept) = count_after_stop(
                Replicas::new(seen),
                remembered,
                Replicas::new(stop_replicas),
            );
            assert_eq!(
                (count.get(), kept),
                expected,
                "{seen} {remembered:?} {stop_replicas}"
            );
        }
    }

    #[test]
    fn a_start_raises_to_the_remembered_count_and_never_lowers() {
        for (seen, remembered, exact, expected) in [
            (0, some(5), None, 5),
            (1, some(5), None, 5), // a manual 1 while stopped: the next start restores 5
            (6, some(5), None, 6), // a manual 6 is kept
            (0, some(0), None, 0), // a manual 0
            (0, None, None, 1),    // a manifest's 0
            (4, None, None, 4),
            (6, some(5), some(2), 2), // exact, even lower
            (0, some(0), some(2), 2),
        ] {
            let count = count_after_start(Replicas::new(seen), remembered, exact);
            assert_eq!(count.get(), expected, "{seen} {remembered:?} {exact:?}");
        }
    }

    #[test]
    fn a_wake_raises_even_a_manual_0() {
        for (seen, remembered, exact, expected) in [
            (0, some(5), None, 5),
            (0, some(0), None, 1),
            (0, None, None, 1),
            (6, some(5), None, 6),
            (6, None, some(2), 2),
        ] {
            let count = count_after_wake(Replicas::new(seen), remembered, exact);
            assert_eq!(count.get(), expected, "{seen} {remembered:?} {exact:?}");
        }
    }
}
