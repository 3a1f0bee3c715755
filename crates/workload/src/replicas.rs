//! A number of replicas, as `spec.replicas` holds it.

use std::fmt;

use dayshift_schedule::{Diagnostic, Meant, plain};
use dayshift_text::number;

/// A count from 0 to 2147483647, which is what `spec.replicas` (an int32) can hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Replicas(u32);

impl Replicas {
    /// Nothing runs.
    pub const ZERO: Self = Self(0);
    /// The count of a Deployment that names none, and the count after a start with nothing saved.
    pub const ONE: Self = Self(1);

    /// A count, cut to what `spec.replicas` can hold.
    pub const fn new(count: u32) -> Self {
        Self(if count > i32::MAX as u32 {
            i32::MAX as u32
        } else {
            count
        })
    }

    /// The plain number.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Reads decimal digits alone: no sign, no blank.
    ///
    /// # Errors
    /// The text is anything else, or above 2147483647.
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
            let plain = plain(text);
            let digits = plain.strip_prefix('+').unwrap_or(&plain);
            let meant = read(digits.strip_suffix(".0").unwrap_or(digits));
            error.meaning(meant.map(|count| Meant::all_of(text, &count.to_string())))
        })
    }
}

impl fmt::Display for Replicas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_whole_numbers_and_nothing_else() {
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
}
