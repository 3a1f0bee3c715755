//! The two sizes of the matrix.

use std::env;

use crate::reliability::harness::scenario::Size;

/// A short form for each change, and the full one for the table in `docs/production/reliability.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    Short,
    Full,
}

impl Profile {
    /// `RELIABILITY=full`, or the short form. If the variable is set, the table is printed.
    pub(crate) fn read() -> Self {
        match env::var("RELIABILITY").as_deref() {
            Ok("full") => Self::Full,
            Ok("short") | Err(_) => Self::Short,
            Ok(other) => panic!("RELIABILITY={other}: write `short` or `full`"),
        }
    }

    pub(crate) fn pick<T>(self, short: T, full: T) -> T {
        match self {
            Self::Short => short,
            Self::Full => full,
        }
    }

    /// The permitted lateness in seconds of an event that is at most `seconds` late on an idle machine. The
    /// short form runs beside other tests, on machines that withhold processors, so it permits some seconds
    /// more. It relies on [`Turns`] for the order of requests.
    ///
    /// [`Turns`]: super::turns::Turns
    pub(crate) fn allows(self, seconds: f64) -> f64 {
        self.pick(seconds + 4.0, seconds)
    }

    /// 30 Deployments and a fault of 6 s, or 200 and 22 s.
    pub(crate) fn usual(self) -> Size {
        Size {
            fleet: self.pick(30, 200),
            lead: self.pick(9, 20),
            fault: self.pick(4, 20),
            recovery: self.pick(10, 20),
        }
    }
}
