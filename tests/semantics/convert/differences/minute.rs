//! Days that end a minute too early.

use crate::convert::converted::{annotated, change, convert, rule_ids};

#[test]
fn reports_a_day_that_ends_a_minute_early() {
    for (key, text, is_told) in [
        ("uptime", "Mon-Fri 00:00-23:59 UTC", true),
        ("downtime", "Mon-Sun 00:00-23:59 UTC", true),
        (
            "downtime",
            "Mon-Fri 20:00-23:59 UTC, Mon-Fri 00:00-08:00 UTC",
            true,
        ),
        ("uptime", "Mon-Sun 23:59-08:00 UTC", false),
        ("uptime", "Mon-Fri 00:00-24:00 UTC", false),
        (
            "downtime",
            "Mon-Fri 20:00-23:59 UTC, Mon-Fri 00:00-08:00 UTC, Mon-Fri 23:59-24:00 UTC",
            false,
        ),
        ("uptime", "Mon-Fri 08:00-20:00 UTC", false),
    ] {
        let conversion = convert(&annotated("Deployment", &[(key, text)]));
        let reported = rule_ids(&conversion).contains(&"one-minute");
        assert_eq!(reported, is_told, "{text}: {:?}", change(&conversion));
    }
}
