//! GoKubeDownscaler and py-kube-downscaler.

use crate::convert::clocks::{minutes, utc};
use crate::convert::converted::{Planned, annotated, change, convert, rule_ids};
use crate::convert::texts::Text;

const WEEK: (&str, &str) = ("2027-07-05T00:00:00Z", "2027-07-12T00:00:00Z");

const NIGHT: &str = "Mon-Fri 20:00-08:00 Europe/Berlin";

#[test]
pub(super) fn keeps_reversed_times_after_the_last_day() {
    let text = Text::new(NIGHT);
    let conversion = convert(&annotated("Deployment", &[("downtime", NIGHT)]));
    assert_eq!(rule_ids(&conversion), ["whole-nights"]);
    let period = ("2027-07-05T00:00:00Z", "2027-07-12T00:00:00Z");
    let planned = Planned::of(change(&conversion), period);
    let all = minutes(text.zone, period.0, period.1);
    let differ: Vec<_> = all
        .iter()
        .filter(|it| planned.runs(it.at).unwrap() == text.go(it))
        .collect();
    // Saturday from midnight to 08:00.
    assert_eq!(differ.len(), 8 * 60);
    assert!(
        differ
            .iter()
            .all(|it| it.weekday() == 5 && it.of_day() < 8 * 60)
    );
    // py-kube-downscaler never stopped it.
    assert!(all.iter().all(|it| !text.py(it)));
}

#[test]
pub(super) fn ignores_the_second_hour_of_a_dst_overlap() {
    // The other tools check the clock, which shows 02:45 twice, and stop it again.
    let text = Text::new("Mon-Sun 02:30-12:00 Europe/Berlin");
    let conversion = convert(&annotated("Deployment", &[("uptime", &text.text)]));
    let period = ("2027-10-30T00:00:00Z", "2027-11-01T00:00:00Z");
    let planned = Planned::of(change(&conversion), period);
    let all = minutes(text.zone, period.0, period.1);
    let differ: Vec<_> = all
        .iter()
        .filter(|it| planned.runs(it.at).unwrap() != text.go(it))
        .collect();
    assert_eq!(differ.len(), 30);
    assert!(differ.iter().all(|it| it.is_repeated));
    assert_eq!(differ[0].at, utc("2027-10-31T01:00:00Z"));
}

#[test]
pub(super) fn follows_py_kube_downscaler_for_uptime_with_downtime() {
    let (up, down) = (
        Text::new("Mon-Fri 08:00-20:00 Europe/Berlin"),
        Text::new("Fri-Fri 12:00-24:00 Europe/Berlin"),
    );
    let annotations = [("uptime", &*up.text), ("downtime", &*down.text)];
    // GoKubeDownscaler rejects the two together, and leaves the object as it is.
    assert!(Text::go_refuses(&annotations));
    let conversion = convert(&annotated("Deployment", &annotations));
    assert_eq!(rule_ids(&conversion), ["both-times"]);
    let planned = Planned::of(change(&conversion), WEEK);
    for minute in minutes(up.zone, WEEK.0, WEEK.1) {
        let py = up.py(&minute) && !down.py(&minute);
        assert_eq!(planned.runs(minute.at), Some(py), "{minute:?}");
    }
}

#[test]
pub(super) fn prefers_the_objects_schedule_over_its_namespace() {
    let (up, down) = (
        Text::new("Mon-Fri 08:00-20:00 Europe/Berlin"),
        Text::new("Fri-Fri 12:00-24:00 Europe/Berlin"),
    );
    let namespace = annotated("Namespace", &[("downtime", &down.text)]);
    let object = annotated("Deployment", &[("uptime", &up.text)]);
    let object = object.replace("  name: web\n", "  name: api\n  namespace: web\n");
    let conversion = convert(&format!("{namespace}---\n{object}"));
    assert!(rule_ids(&conversion).contains(&"both-levels"));
    let [of_namespace, of_object] = &conversion.changes[..] else {
        panic!("{conversion:?}");
    };
    let planned = Planned::within(of_object, of_namespace, WEEK);
    let mut differ = Vec::new();
    for minute in minutes(up.zone, WEEK.0, WEEK.1) {
        // GoKubeDownscaler uses the first level that has either of the two.
        assert_eq!(planned.runs(minute.at), Some(up.go(&minute)), "{minute:?}");
        let py = up.py(&minute) && !down.py(&minute);
        if planned.runs(minute.at) != Some(py) {
            differ.push((minute.weekday(), minute.of_day()));
        }
    }
    let friday = (12 * 60..20 * 60).map(|it| (4, it));
    assert_eq!(differ, friday.collect::<Vec<_>>());
}

#[test]
pub(super) fn stops_a_never_running_object_each_midnight() {
    for annotations in [
        &[("uptime", "never")][..],
        &[("downtime", "always")],
        &[("force-downtime", "true")],
    ] {
        let conversion = convert(&annotated("Deployment", annotations));
        let planned = Planned::of(change(&conversion), WEEK);
        let boundaries = planned.boundaries();
        let clocks: Vec<_> = boundaries.iter().map(|it| it.0.time()).collect();
        assert!(clocks.len() > 7 && clocks.iter().all(|it| *it == chrono::NaiveTime::MIN));
        assert!(
            boundaries.iter().all(|it| it.1 == "stop"),
            "{annotations:?}"
        );
        // The other tools stop it at the next poll. Here, if a user starts it at noon, it runs for twelve
        // hours.
        let noon = utc("2027-07-06T12:00:00Z");
        let next = boundaries.iter().find(|it| it.0 > noon).unwrap();
        assert_eq!(next.0, utc("2027-07-07T00:00:00Z"));
    }
}

#[test]
fn leaves_contradictions_to_the_other_tool() {
    for (annotations, id) in [
        (
            &[("uptime", "Mon-Fri 08:00-20:00 UTC, Sat-Sat 08:00-20:00 CET")][..],
            "two-zones",
        ),
        (
            &[
                ("uptime", "Mon-Fri 08:00-20:00 UTC"),
                ("force-uptime", "Sat-Sat 08:00-20:00 CET"),
            ],
            "two-zones",
        ),
        (&[("uptime", "08:00-20:00 UTC")], "needs-default"),
        (&[("uptime", "Mon-Fri 08:00-20:00")], "needs-default"),
        (&[("uptime", "Mon-Fri 8-20 UTC")], "not-read"),
        (&[("downtime-replicas", "10%")], "not-a-count"),
        (&[("grace-period", "15 min")], "not-read"),
        (&[("grace-period", "25h")], "no-equivalent"),
        (&[("exclude", "Mon-Fri 08:00-20:00 UTC")], "partial-exclude"),
        (
            &[("force-uptime", "Mon-Fri 08:00-20:00 UTC")],
            "force-elsewhere",
        ),
        (&[("scale-children", "true")], "no-equivalent"),
        (&[("uptiem", "always")], "unknown-key"),
        (&[("upscale-period", "never")], "no-equivalent"),
        (
            &[
                ("uptime", "Mon-Fri 08:00-20:00 UTC"),
                ("force-uptime", "always"),
                ("force-downtime", "always"),
            ],
            "contradiction",
        ),
    ] {
        let conversion = convert(&annotated("Deployment", annotations));
        assert!(
            conversion.changes.is_empty(),
            "{annotations:?}: {conversion:?}"
        );
        assert_eq!(rule_ids(&conversion), [id], "{annotations:?}");
    }
}

#[test]
fn converts_children_of_a_cron_job_to_its_jobs() {
    let up = ("uptime", "Mon-Fri 08:00-20:00 UTC");
    let cron_job = |text| {
        let text = annotated("CronJob", &[up, ("scale-children", text)]);
        convert(&text.replace("apps/v1", "batch/v1"))
    };
    for (text, expected) in [("true", "true"), ("False", "false")] {
        let conversion = cron_job(text);
        assert_eq!(rule_ids(&conversion), [""; 0], "{text}");
        let set = &change(&conversion).set;
        let mut jobs = set.iter().filter(|it| &*it.0 == "dayshift/stop-jobs");
        assert_eq!(jobs.next().map(|it| &*it.1), Some(expected));
    }
    assert_eq!(rule_ids(&cron_job("yes")), ["not-read"]);
    for kind in ["Namespace", "Deployment"] {
        let conversion = convert(&annotated(kind, &[("scale-children", "true")]));
        assert_eq!(rule_ids(&conversion), ["no-equivalent"], "{kind}");
        let help = &conversion.findings[0].help;
        assert_contains!(help, "on each CronJob");
    }
}
