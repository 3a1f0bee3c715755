//! How fast simulated time is shown.

use std::{fmt, str::FromStr, time::Duration};

use chrono::TimeDelta;

/// How many times faster than real time simulated time is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Speed {
    /// As fast as it can be computed.
    Max,
    /// This many times faster; a positive number.
    Times(f64),
}

/// Why a text is not a speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write how many simulated seconds pass in one, such as 3600 or 86400, or max")]
pub struct SpeedError;

impl Speed {
    /// A day in a second.
    pub const DAY_A_SECOND: Self = Self::Times(86_400.0);

    /// How long after the beginning something is shown that happens so much simulated time after
    /// it.
    pub fn shown_after(self, simulated: TimeDelta) -> Duration {
        match self {
            Self::Max => Duration::ZERO,
            Self::Times(times) => {
                let seconds = simulated.as_seconds_f64().max(0.0) / times;
                Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
            }
        }
    }
}

impl FromStr for Speed {
    type Err = SpeedError;

    fn from_str(text: &str) -> Result<Self, SpeedError> {
        if text == "max" {
            return Ok(Self::Max);
        }
        let times: f64 = text.parse().map_err(|_| SpeedError)?;
        if times.is_finite() && times > 0.0 {
            Ok(Self::Times(times))
        } else {
            Err(SpeedError)
        }
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Max => f.write_str("max"),
            Self::Times(times) => times.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_a_factor_or_max() {
        for (text, hour) in [
            ("max", Duration::ZERO),
            ("3600", Duration::from_secs(1)),
            ("86400", Duration::from_micros(41_667)),
            ("1", Duration::from_secs(3600)),
            ("0.5", Duration::from_secs(7200)),
            ("1e-300", Duration::MAX),
        ] {
            let speed: Speed = text.parse().unwrap();
            let shown = speed.shown_after(TimeDelta::hours(1));
            assert!(shown.abs_diff(hour) < Duration::from_micros(1), "{text}");
        }
        for text in ["", "0", "-1", "inf", "NaN", "fast", "3600x", "Max"] {
            assert!(text.parse::<Speed>().is_err(), "{text}");
        }
    }
}
