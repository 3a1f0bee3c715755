//! The other tools act at their next poll, but dayshift acts at the next boundary.

use chrono::{DateTime, Utc};

use crate::convert::converted::{Planned, annotated, change, convert};
use crate::convert::texts::Text;
use crate::object::Object;

const HOURS: &str = "Mon-Fri 08:00-20:00 UTC";

/// From Monday to Friday.
const PERIOD: (&str, &str) = ("2027-07-05T00:00:00Z", "2027-07-10T00:00:00Z");

/// A converted object with these annotations that dayshift observes for the first time.
fn object(annotations: &[(&str, &str)], now: &str, replicas: u32) -> Object {
    let conversion = convert(&annotated("Deployment", annotations));
    let mut object = Object::new(now, replicas);
    for (name, text) in &change(&conversion).set {
        object.edit(name.strip_prefix("dayshift/").unwrap(), Some(text));
    }
    object.apply();
    object
}

/// Whether the other tool's rules start it, and whether the last planned boundary was a start.
fn up(at: DateTime<Utc>) -> (bool, Option<bool>) {
    let (theirs, conversion) = (
        Text::new(HOURS),
        convert(&annotated("Deployment", &[("uptime", HOURS)])),
    );
    let all = crate::convert::clocks::minutes(theirs.zone, PERIOD.0, PERIOD.1);
    let minute = all.iter().find(|it| it.at == at).unwrap();
    let planned = Planned::of(change(&conversion), PERIOD);
    (theirs.go(minute), planned.runs(at))
}

#[test]
pub(super) fn keeps_a_manual_count_until_the_next_boundary() {
    let mut web = object(&[("uptime", HOURS)], "2027-07-05 12:00", 3);
    web.until("2027-07-05 22:00");
    assert_eq!(web.replicas(), 0);
    // At their next poll the other tools revert it, because both rules require it to be stopped.
    web.scale(2);
    assert_eq!(up(web.now), (false, Some(false)));
    web.until("2027-07-06 07:59");
    assert_eq!(web.replicas(), 2);
    web.until("2027-07-06 20:00");
    assert_eq!(web.replicas(), 0);
    web.edit("enforce", Some("true")).scale(2).apply();
    assert_eq!(web.replicas(), 0);
    // The other tools also start it in office hours after a manual stop.
    web.until("2027-07-07 10:00").scale(0);
    assert_eq!(up(web.now), (true, Some(true)));
    web.until("2027-07-07 19:00");
    assert_eq!(web.replicas(), 0);
}

#[test]
pub(super) fn changes_nothing_at_the_first_observation() {
    let mut web = object(&[("uptime", HOURS)], "2027-07-05 22:00", 3);
    assert_eq!(up(web.now), (false, Some(false)));
    assert_eq!(web.replicas(), 3);
    web.until("2027-07-06 19:59");
    assert_eq!(web.replicas(), 3);
    web.until("2027-07-06 20:00");
    assert_eq!(web.replicas(), 0);
}

#[test]
pub(super) fn leaves_a_new_object_until_the_next_stop() {
    // GoKubeDownscaler stops a new object in a downtime 15 minutes after its creation, or after its
    // own grace period.
    let created = "2027-07-05 22:00";
    let mut web = object(&[("uptime", HOURS)], created, 3);
    assert!(!up(web.now).0);
    for later in ["2027-07-05 22:15", "2027-07-06 07:59"] {
        web.until(later);
        assert_eq!(web.replicas(), 3, "{later}");
    }
    let mut web = object(&[("uptime", HOURS), ("grace-period", "15m")], created, 3);
    web.until("2027-07-05 22:14");
    assert_eq!(web.replicas(), 3);
    web.until("2027-07-05 22:15");
    assert_eq!((web.replicas(), web.saved()), (0, Some(3)));
    web.until("2027-07-06 08:00");
    assert_eq!(web.replicas(), 3);
}
