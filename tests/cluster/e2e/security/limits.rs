//! `manifests/policy/limits.yaml` limits the changes of users and allows all writes of dayshift.

use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;
use serde_json::json;
use tempfile::NamedTempFile;

use crate::e2e::test_namespace::TestNamespace;
use crate::rows::words;
use crate::support::{
    ControlPlane, Output, Parts, Scenario, block_on, deployment, eventually, scenarios, soon,
    wait_until,
};

const LIMITS: &str = include_str!("../../../../manifests/policy/limits.yaml");

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Server;
        a_wake_or_pause_ends_within_its_limit,
        a_wake_that_is_prolonged_ends_within_the_limit_of_its_total,
        limits_apply_with_each_whitespace_that_the_parser_accepts,
        limits_apply_to_subresources_and_later_changes,
        limits_apply_to_the_config_map_of_a_team,
        zone_of_a_namespace_moves_no_override_if_ends_need_an_offset,
        limits_restrict_who_excludes_and_which_namespaces_are_scheduled,
        limits_allow_everything_that_dayshift_writes,
    ]
}

/// A team under the limits of the file, only in its namespace.
struct Limited<'a> {
    team: TestNamespace<'a>,
}

impl<'a> Limited<'a> {
    fn new(team: TestNamespace<'a>, changes: &[(&str, &str)]) -> Self {
        let limited = Self { team };
        limited.apply(changes);
        limited.team.create(deployment("probe"));
        // The value differs each time, because an unchanged annotation is not checked.
        let mut year = 2100;
        wait_until("the limits are in force", || {
            year += 1;
            let text = format!("dayshift/wake-until={year}-01-01 00:00");
            let answer = limited.annotate("jane", "deploy/probe", &text);
            !answer.ok
        });
        limited
    }

    fn apply(&self, changes: &[(&str, &str)]) {
        let name = self.team.name();
        let own = format!(
            "parameterNotFoundAction: Allow\n  matchResources: {{namespaceSelector: {{matchLabels: \
             {{kubernetes.io/metadata.name: {name}}}}}}}"
        );
        let mut text = LIMITS
            .replace("parameterNotFoundAction: Allow", &own)
            .replace("name: dayshift-limits", &format!("name: limits-{name}"))
            .replace(
                "policyName: dayshift-limits",
                &format!("policyName: limits-{name}"),
            );
        assert_contains!(text, own);
        text = text.replace("namespace: dayshift\n", &format!("namespace: {name}\n"));
        for (from, to) in changes {
            assert_contains!(text, from);
            text = text.replace(from, to);
        }
        self.team.plane().apply(&text);
    }

    /// Annotates an object as this user, with all RBAC permissions, like `kubectl annotate`, which takes 0.1 s
    /// of CPU time.
    fn annotate(&self, user: &str, object: &str, text: &str) -> Output {
        let path = match object.split_once('/').unwrap() {
            ("deploy", name) => {
                let namespace = self.team.name();
                format!("/apis/apps/v1/namespaces/{namespace}/deployments/{name}")
            }
            (_, name) => format!("/api/v1/namespaces/{name}"),
        };
        let (key, value) = match text.split_once('=') {
            Some((key, value)) => (key, Some(value)),
            None => (text.strip_suffix('-').unwrap(), None),
        };
        let patch = json!({"metadata": {"annotations": {key: value}}});
        let request = http::Request::patch(format!("{path}?fieldManager=kubectl-annotate"))
            .header("content-type", "application/merge-patch+json")
            .header("impersonate-user", user)
            .header("impersonate-group", "system:masters")
            .body(patch.to_string().into_bytes())
            .unwrap();
        let answer = block_on(self.team.plane().client().request_text(request));
        Output {
            command: format!("annotate {object} {text}"),
            ok: answer.is_ok(),
            code: None,
            stderr: answer
                .as_ref()
                .err()
                .map(ToString::to_string)
                .unwrap_or_default(),
            stdout: answer.unwrap_or_default(),
        }
    }

    fn refused(&self, text: &str, with: &str) {
        let answer = self.annotate("jane", "deploy/web", text);
        assert!(
            !answer.ok && answer.stderr.contains(with),
            "{text}: {answer:?}"
        );
    }

    fn allowed(&self, text: &str) {
        self.annotate("jane", "deploy/web", text).success();
    }
}

/// The local time this long after now in that zone.
fn local(zone: Tz, after: TimeDelta) -> String {
    let at: DateTime<Utc> = Utc::now() + after;
    at.with_timezone(&zone).format("%Y-%m-%d %H:%M").to_string()
}

fn a_wake_or_pause_ends_within_its_limit(plane: &ControlPlane) {
    let limited = Limited::new(TestNamespace::without_controller(plane, "limits"), &[]);
    let team = &limited.team;
    team.create(deployment("web").stop("Mon-Fri 19:00"));
    let hours = TimeDelta::hours;
    let short = TimeDelta::minutes(12 * 60 - 3);
    let long = TimeDelta::minutes(12 * 60 + 3);

    // In each zone, on the object and on its Namespace, and at times before and after midnight.
    for zone in [
        "UTC",
        "America/Los_Angeles",
        "Asia/Kolkata",
        "Pacific/Kiritimati",
        "Pacific/Pago_Pago",
        "Asia/Kathmandu",
        "Pacific/Auckland",
        "Europe/Berlin",
    ] {
        let at: Tz = zone.parse().unwrap();
        limited.allowed("dayshift/wake-until-");
        limited.allowed(&format!("dayshift/timezone={zone}"));
        limited.allowed(&format!("dayshift/wake-until={}", local(at, short)));
        limited.refused(
            &format!("dayshift/wake-until={}", local(at, long)),
            "dayshift/wake-until ends later than 12h from now",
        );
    }
    limited.allowed("dayshift/wake-until-");
    limited.allowed("dayshift/timezone-");
    let namespace = format!("namespace/{}", team.name());
    limited
        .annotate("jane", &namespace, "dayshift/timezone=Asia/Tokyo")
        .success();
    let tokyo: Tz = "Asia/Tokyo".parse().unwrap();
    wait_until("the policy knows the zone of the Namespace", || {
        let text = format!("dayshift/wake-until={}", local(tokyo, short));
        limited.annotate("jane", "deploy/web", &text).ok
    });
    limited.refused(
        &format!("dayshift/wake-until={}", local(tokyo, long)),
        "ends later than 12h",
    );

    // With a UTC offset, and on the Namespace itself.
    let offset = |after: TimeDelta| {
        (Utc::now() + after)
            .format("%Y-%m-%dT%H:%M:%SZ")
            .to_string()
    };
    limited.allowed(&format!("dayshift/wake-until={}", offset(short)));
    limited.refused(
        &format!("dayshift/wake-until={}", offset(long)),
        "12h from now",
    );
    let east = |after: TimeDelta| {
        let at = (Utc::now() + after + hours(9)).format("%Y-%m-%d %H:%M");
        format!("dayshift/wake-until={at}+09:00")
    };
    limited.allowed(&east(short));
    limited.refused(&east(long), "12h from now");
    let answer = limited.annotate("jane", &namespace, &east(long));
    assert!(!answer.ok, "{answer:?}");
    limited.annotate("jane", &namespace, &east(short)).success();

    // An end in the past is permitted. A value that is not a time is denied, because its length is unknown.
    limited.allowed("dayshift/wake-until=2020-01-01 00:00");
    limited.refused("dayshift/wake-until=soon", "must be a time");
    limited.allowed("dayshift/wake-until-");

    let days = TimeDelta::days;
    limited.allowed(&format!("dayshift/pause={}", offset(days(13))));
    limited.refused(
        &format!("dayshift/pause={}", offset(days(15))),
        "dayshift/pause ends later than 336h from now",
    );
    limited.refused(
        "dayshift/pause=True",
        "dayshift/pause without an end needs dayshift/reason",
    );
    limited.allowed("dayshift/reason=migration of the database");
    limited.allowed("dayshift/pause=true");
    limited.allowed("dayshift/pause=false");

    // The command prints the server's message.
    let wake = |length: &str| {
        let namespace = team.name();
        plane.shell(&format!(
            "dayshift wake deploy/web --no-wait -n {namespace} --for {length}"
        ))
    };
    wake("11h").success();
    let refused = wake("13h");
    assert!(
        !refused.ok && refused.stderr.contains("ends later than 12h"),
        "{refused:?}"
    );

    limited.apply(&[
        ("longest-wake: 12h", "longest-wake: 30m"),
        ("  endless-pause: with-reason", "  endless-pause: denied"),
    ]);
    wait_until("the new limits are in force", || {
        let text = format!("dayshift/wake-until={}", offset(hours(1)));
        !limited.annotate("jane", "deploy/web", &text).ok
    });
    limited.refused(
        "dayshift/pause=true",
        "dayshift/pause without an end is not allowed here",
    );

    // An unreadable limit denies the annotations that it limits, and names the ConfigMap.
    limited.apply(&[("longest-wake: 12h", "longest-wake: 14d")]);
    wait_until("the invalid limit is reported", || {
        let answer = limited.annotate("jane", "deploy/web", &east(short));
        answer
            .stderr
            .contains("the ConfigMap of the limits is wrong")
    });
}

fn a_wake_that_is_prolonged_ends_within_the_limit_of_its_total(plane: &ControlPlane) {
    let team = TestNamespace::without_controller(plane, "total");
    let limited = Limited::new(team, &[]);
    limited.apply(&[("longest-wake: 12h", "unlimited-wake: 12h")]);
    wait_until("a wake has no limit from now", || {
        let text = format!(
            "dayshift/wake-until={}",
            Utc::now().format("2100-01-01 %H:%M:%S")
        );
        let answer = limited.annotate("jane", "deploy/probe", &text);
        answer.ok
    });
    let label = |after: TimeDelta| {
        (Utc::now() + after)
            .format("%Y-%m-%dT%H.%M.%SZ")
            .to_string()
    };
    let until = |after| {
        let end: DateTime<Utc> = Utc::now() + after;
        format!("dayshift/wake-until={}", end.format("%Y-%m-%dT%H:%M:%SZ"))
    };
    let (shorter, longer) = (TimeDelta::minutes(57), TimeDelta::minutes(63));
    let why = "dayshift/wake-until ends later than 24h after the wake began";
    // It began 23 hours ago.
    for (state, is_limited) in [("woken", true), ("stopped", false)] {
        let web = deployment("web")
            .stop("Mon-Fri 19:00")
            .label("dayshift/state", state);
        limited
            .team
            .create(web.label("dayshift/last", label(TimeDelta::hours(-23))));
        limited.allowed(&until(shorter));
        if is_limited {
            limited.refused(&until(longer), why);
        } else {
            limited.allowed(&until(longer));
        }
        let name = limited.team.name();
        let delete = ["delete", "deploy/web", "-n", name];
        limited.team.plane().kubectl(&delete).success();
    }
}

fn limits_apply_with_each_whitespace_that_the_parser_accepts(plane: &ControlPlane) {
    let limited = Limited::new(TestNamespace::without_controller(plane, "blanks"), &[]);
    limited.team.create(deployment("web").stop("Mon-Fri 19:00"));
    let blanks = (char::MIN..=char::MAX).filter(|character| character.is_whitespace());
    let blanks: Vec<_> = blanks.collect();
    assert!(blanks.len() >= 25, "{}", blanks.len());
    for blank in blanks {
        let long = "2099-01-01 00:00";
        for text in [
            format!("{blank}{long}"),
            format!("{long}{blank}"),
            long.replace(' ', &blank.to_string()),
            format!("{long}{blank}Z"),
        ] {
            let annotation = format!("dayshift/wake-until={text}");
            let answer = limited.annotate("jane", "deploy/web", &annotation);
            let is_denied = answer.stderr.contains("ends later than 12h from now")
                || answer.stderr.contains("must be a time");
            assert!(!answer.ok && is_denied, "{text:?}: {answer:?}");
        }
    }
}

fn limits_apply_to_subresources_and_later_changes(plane: &ControlPlane) {
    let limited = Limited::new(
        TestNamespace::without_controller(plane, "later-changes"),
        &[],
    );
    let team = &limited.team;
    team.create(deployment("web").stop("Mon-Fri 19:00"));
    let patched = |object: &str, subresource: &str, annotations: serde_json::Value| {
        let patch = serde_json::json!({"metadata": {"annotations": annotations}}).to_string();
        let subresource = format!("--subresource={subresource}");
        let arguments = ["patch", object, &subresource, "--type=merge", "-p", &patch];
        team.kubectl(&arguments)
    };
    let long = serde_json::json!({"dayshift/wake-until": "2099-01-01 00:00"});
    let through_status = patched("deploy/web", "status", long.clone());
    let denial = "ends later than 12h from now";
    assert_contains!(through_status.stderr, denial);
    let namespace = format!("namespace/{}", team.name());
    let through_status = patched(&namespace, "status", long);
    assert_contains!(through_status.stderr, denial);

    let through_finalize = finalized(team, "2099-01-01 00:00");
    assert_contains!(through_finalize.stderr, denial);
    let soon = (Utc::now() + TimeDelta::hours(1)).format("%Y-%m-%d %H:%MZ");
    finalized(team, &soon.to_string()).success();

    // In another time zone, the same local end makes a short wake long.
    limited.allowed("dayshift/timezone=Pacific/Kiritimati");
    let kiritimati: Tz = "Pacific/Kiritimati".parse().unwrap();
    let short = local(kiritimati, TimeDelta::hours(11));
    limited.allowed(&format!("dayshift/wake-until={short}"));
    limited.refused(
        "dayshift/timezone=Pacific/Pago_Pago",
        "another dayshift/timezone moves",
    );
    limited.refused("dayshift/timezone-", "another dayshift/timezone moves");
    limited.allowed("dayshift/wake-until-");
    limited.allowed("dayshift/timezone-");
    // The same on a Namespace, for its own override.
    let on_namespace = |text: &str| limited.annotate("jane", &namespace, text);
    on_namespace("dayshift/timezone=Pacific/Kiritimati").success();
    on_namespace(&format!("dayshift/wake-until={short}")).success();
    for text in ["dayshift/timezone=Pacific/Pago_Pago", "dayshift/timezone-"] {
        let answer = on_namespace(text);
        let denial = "another dayshift/timezone moves";
        assert!(
            !answer.ok && answer.stderr.contains(denial),
            "{text}: {answer:?}"
        );
    }
    on_namespace("dayshift/wake-until-").success();
    on_namespace("dayshift/timezone-").success();

    // A required reason stays required.
    limited.allowed("dayshift/reason=migration of the database");
    limited.allowed("dayshift/pause=true");
    limited.refused(
        "dayshift/reason-",
        "dayshift/pause without an end needs dayshift/reason",
    );
    limited.refused(
        "dayshift/reason= ",
        "dayshift/pause without an end needs dayshift/reason",
    );
    limited.allowed("dayshift/pause-");
    limited.allowed("dayshift/reason-");

    // Without managedFields the policy knows only the time of creation, and the message explains that.
    let reset = [
        "patch",
        "deploy/web",
        "--type=merge",
        "-p",
        r#"{"metadata": {"managedFields": [{}]}}"#,
    ];
    team.kubectl(&reset).success();
    let after = |hours| (Utc::now() + TimeDelta::hours(hours)).format("%Y-%m-%d %H:%MZ");
    limited.refused(
        &format!("dayshift/wake-until={}", after(13)),
        "has no managedFields",
    );
    limited.allowed(&format!("dayshift/wake-until={}", after(1)));
}

fn limits_apply_to_the_config_map_of_a_team(plane: &ControlPlane) {
    let team = TestNamespace::without_controller(plane, "limits-team");
    let groups = ("exclude-groups: system:masters", "exclude-groups: platform");
    let limited = Limited::new(team, &[groups]);
    let team = &limited.team;
    let run = |arguments: &[&str]| {
        let user = ["--as=jane", "--as-group=system:masters"];
        team.kubectl(&[arguments, &user].concat())
    };
    let create = |name: &str| {
        let text = "--from-literal=wake-until=2199-01-01 00:00";
        run(&["create", "configmap", name, text])
    };
    let refused = create("dayshift");
    let denial = "denied request: wake-until ends later than 12h from now";
    assert_contains!(refused.stderr, denial);
    create("other").success();
    // The API server records no managedFields for a ConfigMap that is created empty, and none for later changes of it.
    run(&["create", "configmap", "dayshift"]).success();
    let wake = |hours| {
        let until = (Utc::now() + TimeDelta::hours(hours))
            .format("%Y-%m-%d %H:%MZ")
            .to_string();
        let patch = serde_json::json!({"data": {"wake-until": until}}).to_string();
        run(&[
            "patch",
            "configmap",
            "dayshift",
            "--type=merge",
            "-p",
            &patch,
        ])
    };
    let refused = wake(13);
    assert_contains!(refused.stderr, "has no managedFields");
    wake(1).success();
    run(&["delete", "configmap", "dayshift"]).success();
    let hours = "--from-literal=hours=09:00-18:00";
    run(&["create", "configmap", "dayshift", hours]).success();
    let write = |data: serde_json::Value| {
        let patch = serde_json::json!({"data": data}).to_string();
        run(&[
            "patch",
            "configmap",
            "dayshift",
            "--type=merge",
            "-p",
            &patch,
        ])
    };
    let kiritimati: Tz = "Pacific/Kiritimati".parse().unwrap();
    let (short, long) = (TimeDelta::hours(11), TimeDelta::hours(13));
    let utc = |after: TimeDelta| (Utc::now() + after).format("%Y-%m-%d %H:%MZ").to_string();
    let moves = "another timezone moves the end of the override; write wake-until or pause again";
    for (data, denial) in [
        (
            serde_json::json!({"hours": "09:00-19:00", "stop-after": "30d"}),
            "",
        ),
        (serde_json::json!({"wake-until": utc(long)}), denial),
        (serde_json::json!({"wake-until": utc(short)}), ""),
        (
            serde_json::json!({"timezone": "Pacific/Kiritimati", "wake-until": local(kiritimati, long)}),
            denial,
        ),
        (
            serde_json::json!({"timezone": "Pacific/Kiritimati", "wake-until": local(kiritimati, short)}),
            "",
        ),
        (serde_json::json!({"timezone": null}), moves),
        (
            serde_json::json!({"wake-until": "tonight"}),
            "must be a time",
        ),
        (
            serde_json::json!({"wake-until": null, "timezone": null}),
            "",
        ),
        (
            serde_json::json!({"pause": "true"}),
            "pause without an end needs reason, or a time",
        ),
        (
            serde_json::json!({"pause": "true", "reason": "a migration"}),
            "",
        ),
        (serde_json::json!({"reason": null}), "needs reason"),
        (
            serde_json::json!({"exclude": "true"}),
            "jane may not write exclude here",
        ),
    ] {
        let answer = write(data.clone());
        assert_eq!(answer.ok, denial.is_empty(), "{data}: {answer:?}");
        assert!(answer.stderr.contains(denial), "{data}: {answer:?}");
    }
    let here = format!("unscheduled-namespaces: {}", team.name());
    limited.apply(&[("unscheduled-namespaces: kube-system,dayshift", &here)]);
    let mut minute = 10;
    wait_until("no schedule may be written", || {
        minute += 1;
        let answer = write(serde_json::json!({"stop-after": format!("{minute}m")}));
        let words = format!("nothing may be scheduled in the namespace {}", team.name());
        answer.stderr.contains(&words)
    });
}

/// Replaces the Namespace through its subresource `finalize`, with a wake until this time.
fn finalized(team: &TestNamespace<'_>, until: &str) -> Output {
    let get = ["get", "namespace", team.name(), "-o", "json"];
    let found = team.plane().kubectl(&get).success();
    let mut object: serde_json::Value = serde_json::from_str(&found).unwrap();
    object["metadata"]["annotations"]["dayshift/wake-until"] = until.into();
    let file = NamedTempFile::with_suffix(".json").unwrap();
    std::fs::write(file.path(), object.to_string()).unwrap();
    let path = format!("/api/v1/namespaces/{}/finalize", team.name());
    let file = file.path().to_str().unwrap();
    let replace = [
        "replace",
        "--raw",
        &path,
        "-f",
        file,
        "--as=jane",
        "--as-group=system:masters",
    ];
    team.plane().kubectl(&replace)
}

/// The policy for the Namespace cannot see the overrides of its workloads.
fn zone_of_a_namespace_moves_no_override_if_ends_need_an_offset(plane: &ControlPlane) {
    let team = TestNamespace::without_controller(plane, "limits-offset");
    team.create(deployment("web").hours("09:00-19:00"));
    let changes = [("local-ends: allowed", "local-ends: denied")];
    let limited = Limited::new(team, &changes);
    let utc: Tz = "UTC".parse().unwrap();
    let short = local(utc, TimeDelta::hours(11));
    for key in ["wake-until", "pause"] {
        limited.refused(&format!("dayshift/{key}={short}"), "needs an offset here");
        limited.allowed(&format!("dayshift/{key}={short}+00:00"));
        limited.allowed(&format!("dayshift/{key}={short}Z"));
        limited.allowed(&format!("dayshift/{key}-"));
    }
    // A change of the zone of the object itself is checked.
    limited.allowed("dayshift/timezone=UTC");
    limited.allowed(&format!("dayshift/wake-until={short}"));
    limited.refused("dayshift/timezone-", "another dayshift/timezone moves");
}

fn limits_restrict_who_excludes_and_which_namespaces_are_scheduled(plane: &ControlPlane) {
    let team = TestNamespace::without_controller(plane, "excluding");
    let here = format!("unscheduled-namespaces: kube-system,{}", team.name());
    let limited = Limited::new(
        team,
        &[
            (
                "exclude-groups: system:masters",
                "exclude-groups: platform, sre\n  exclude-users: kim",
            ),
            ("unscheduled-namespaces: kube-system,dayshift", &here),
        ],
    );
    let team = &limited.team;
    team.create(deployment("web"));
    limited.refused(
        "dayshift/exclude=true",
        "jane may not write dayshift/exclude here",
    );
    limited
        .annotate("kim", "deploy/web", "dayshift/exclude=true")
        .success();
    let sre = ["--as=lee", "--as-group=system:masters", "--as-group=sre"];
    let exclude = words("annotate --overwrite deploy/web dayshift/exclude=false");
    team.kubectl(&[&exclude[..], &sre].concat()).success();
    // Removing the annotation is no exclusion.
    limited.allowed("dayshift/exclude-");

    let words = format!("nothing may be scheduled in the namespace {}", team.name());
    for text in [
        "dayshift/start=09:00",
        "dayshift/stop=19:00",
        "dayshift/hours=09:00-19:00",
        "dayshift/scale=09:00 = 1",
        "dayshift/schedule=office",
    ] {
        limited.refused(text, &words);
        let namespace = format!("namespace/{}", team.name());
        let answer = limited.annotate("jane", &namespace, text);
        assert!(!answer.ok && answer.stderr.contains(&words), "{answer:?}");
    }
    limited.allowed("example.com/start=09:00");
}

/// All writes of dayshift, under limits that permit users nothing. Existing annotations were permitted
/// before.
fn limits_allow_everything_that_dayshift_writes(plane: &ControlPlane) {
    let team = TestNamespace::without_controller(plane, "under-limits");
    let stop = soon(12);
    let start = stop.plus(4);
    for name in ["web", "taken-back"] {
        let web = deployment(name).replicas(3);
        team.create(web.stop(stop.text()).start(start.text()));
    }
    let woken = deployment("woken").replicas(2).stop(stop.text());
    team.create(woken.annotation("dayshift/wake-until", start.until()));
    team.create(deployment("wrong").annotation("dayshift/start", "never"));
    let here = format!("unscheduled-namespaces: {}", team.name());
    let mut limited = Limited::new(
        team,
        &[
            ("longest-wake: 12h", "longest-wake: 1m"),
            ("exclude-groups: system:masters", "exclude-groups: nobody"),
            ("unscheduled-namespaces: kube-system,dayshift", &here),
        ],
    );
    limited.team.run(&[]);
    let team = &limited.team;
    team.await_adopted("web", stop);
    team.await_stopped("web", start);
    team.assert_punctual("web", 1, stop);
    team.await_replicas("web", 3);
    team.assert_punctual("web", 2, start);
    team.await_replicas("woken", 0);
    wait_until("the wake is removed", || {
        team.annotation("woken", "dayshift/wake-until").is_none()
    });
    eventually("the error is reported", || {
        team.annotation("wrong", "dayshift/error")
    });

    // This also applies without the ConfigMap.
    let config = format!("limits-{}", team.name());
    plane
        .kubectl(&["-n", team.name(), "delete", "configmap", &config])
        .success();
    wait_until("the limits are removed", || {
        let text = "dayshift/wake-until=2199-01-01 00:00";
        limited.annotate("jane", "deploy/probe", text).ok
    });
    limited.team.stop_controllers();
}
