//! What whoever follows a cluster asks of it beside the watches, and how often.

use chrono::{DateTime, TimeDelta, Utc};

/// How often the Namespaces are read again, which are not watched.
pub const NAMESPACE_REFRESH: TimeDelta = TimeDelta::seconds(3);

/// How often the HPAs are read again, which are not watched.
pub const HPA_REFRESH: TimeDelta = TimeDelta::seconds(30);

/// How often a server that broke off is asked whether it is back.
pub const PROBE: TimeDelta = TimeDelta::seconds(3);

/// Where two clocks differ by less, they are taken to agree: the server tells its time to a second.
const SAME_TIME: TimeDelta = TimeDelta::seconds(2);

/// How far the API server's clock, by which schedules are followed, is ahead of this one; zero where
/// they agree.
pub fn clock_ahead(there: DateTime<Utc>, here: DateTime<Utc>) -> TimeDelta {
    let ahead = there - here;
    if ahead.abs() < SAME_TIME {
        TimeDelta::zero()
    } else {
        ahead
    }
}
