//! What differs, as `docs/migrate.md` lists it: each shown once to differ.

use super::clocks::{minutes, utc};
use super::converted::{Planned, annotated, change, convert, said};
use super::texts::Text;

const NIGHT: &str = "Mon-Fri 20:00-08:00 Europe/Berlin";

#[test]
fn a_night_that_was_cut_off_at_midnight_is_whole() {
    let text = Text::new(NIGHT);
    let conversion = convert(&annotated("Deployment", &[("downtime", NIGHT)]));
    assert_eq!(said(&conversion), ["whole-nights"]);
    let period = ("2027-07-05T00:00:00Z", "2027-07-12T00:00:00Z");
    let planned = Planned::of(change(&conversion), period);
    let all = minutes(text.zone, period.0, period.1);
    let differ: Vec<_> = all
        .iter()
        .filter(|it| planned.runs(it.at).unwrap() == text.go(it))
        .collect();
    // Saturday from midnight to eight.
    assert_eq!(differ.len(), 8 * 60);
    assert!(
        differ
            .iter()
            .all(|it| it.weekday() == 5 && it.of_day() < 8 * 60)
    );
    // py-kube-downscaler never took it down.
    assert!(all.iter().all(|it| !text.py(it)));
}

#[test]
fn an_hour_that_clocks_repeat_is_not_lived_twice() {
    // The peers look at the clock, which shows 02:45 twice: they stop it again.
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
fn what_never_runs_is_stopped_each_midnight() {
    for (annotations, stop) in [
        (&[("uptime", "never")][..], "00:00"),
        (&[("downtime", "always")], "00:00"),
        (&[("force-downtime", "true")], "00:00"),
    ] {
        let conversion = convert(&annotated("Deployment", annotations));
        let set = &change(&conversion).set;
        assert!(
            set.contains(&("dayshift/stop".to_owned(), stop.to_owned())),
            "{set:?}"
        );
    }
}

#[test]
fn what_contradicts_itself_stays_with_the_other_tool() {
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
        (&[("exclude", "Mon-Fri 08:00-20:00 UTC")], "partial-exclude"),
        (
            &[("force-uptime", "Mon-Fri 08:00-20:00 UTC")],
            "force-elsewhere",
        ),
        (&[("scale-children", "true")], "no-equal"),
        (&[("uptiem", "always")], "unknown-key"),
        (&[("upscale-period", "never")], "no-equal"),
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
        assert_eq!(said(&conversion), [id], "{annotations:?}");
    }
}
