//! The output of the sandbox: one time zone, and fields that a fragment lacks.

use super::{FRIDAY, deployment, sandbox};

#[test]
fn shows_all_times_in_one_zone_and_in_order() {
    let of =
        |name, zone: &str| deployment(name, &[("hours", "\"09:00-19:00\""), ("timezone", zone)]);
    let input = of("a", "Asia/Tokyo") + &of("b", "America/New_York");
    let times = |args: &[&str], input: &str| -> Vec<String> {
        let ended = sandbox(
            &[args, &["--from", FRIDAY, "--for", "2d", "-"]].concat(),
            input,
        );
        assert_eq!((ended.status, ended.err.as_str()), (0, ""));
        let reported = ended
            .out
            .lines()
            .filter(|line| line.contains(" default/") && line.contains(":00 "));
        reported
            .filter_map(|line| line.get(4..29))
            .map(str::to_owned)
            .collect()
    };
    for (args, input, zone) in [
        (&[][..], input.as_str(), "UTC"),
        (&["--timezone", "Europe/Berlin"], &input, "CET"),
        (&[], &of("a", "Asia/Tokyo"), "JST"),
        (
            &["--timezone", "Europe/Berlin"],
            &of("a", "Asia/Tokyo"),
            "CET",
        ),
    ] {
        let reported = times(args, input);
        assert!(reported.len() > 4, "{reported:?}");
        assert!(
            reported.iter().all(|time| time.trim_end().ends_with(zone)),
            "{reported:?}"
        );
        assert!(reported.is_sorted(), "{reported:?}");
    }
}

#[test]
fn simulates_the_fragment_of_the_readme_and_names_missing_fields() {
    let fragment = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  annotations:\n    dayshift/hours: \"09:00-19:00\"\n";
    let ended = sandbox(&["--from", FRIDAY, "--for", "2d", "-"], fragment);
    assert_eq!(ended.status, 0, "{}", ended.err);
    ended.assert_out("next stop 19:00");
    let expected =
        "default/web has no spec.selector and no spec.template, which a cluster requires";
    ended.assert_err(expected);
    // A label value is shorter than the longest name.
    let long = "a-".repeat(31) + "-web";
    let ended = sandbox(
        &["--from", FRIDAY, "--for", "2d", "-"],
        &fragment.replace("name: web", &format!("name: {long}")),
    );
    assert_eq!(ended.status, 0, "{}", ended.err);
    ended.assert_out(&long);
    // A fragment with half of a template is invalid.
    let half = format!("{fragment}spec: {{template: {{}}}}\n");
    let ended = sandbox(&["--from", FRIDAY, "--for", "2d", "-"], &half);
    assert_eq!(ended.status, 1, "{}", ended.out);
    ended.assert_err("spec.selector");
}

#[test]
fn simulates_namespace_schedules() {
    let plain = deployment("web", &[]);
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: default\n  annotations:\n    \
                     dayshift/hours: 'Mon-Fri 09:00-19:00'\n    dayshift/timezone: Asia/Tokyo\n";
    let args = [
        "--from",
        FRIDAY,
        "--for",
        "11h1s",
        "--timezone",
        "Asia/Tokyo",
        "-",
    ];
    let ended = sandbox(&args, &format!("{plain}{namespace}"));
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    assert_eq!(
        ended.of("web"),
        [
            "adopt default/web 3 adopted, nothing scaled; next start 09:00",
            "start default/web 3 no change; next stop 19:00",
            "stop default/web 3 -> 0 next start Mon 09:00",
        ]
    );
}
