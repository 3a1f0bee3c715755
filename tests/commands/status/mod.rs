//! `dayshift status` with the in-memory API, whose clock does not advance.
//!
//! The output is compared with the files in `golden/`. With `UPDATE_GOLDEN=1` in the environment
//! they are updated.

mod columns;
mod enforced;
mod forbidden;
mod notes;
mod nothing_saved;
mod on_request;
mod others_counts;
mod screen;
mod stop_after;
mod stop_notice;
mod waits;
mod watch;

use std::{env, fs, path::Path};

use dayshift_schedule::Tzdata;
use k8s_openapi::api::apps::v1::Deployment;
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use serde_json::{Value, json};

use crate::{
    fake_server::Cluster,
    program::{Ended, without_colors},
};

const OFFICE: &[(&str, &str)] = &[("hours", "Mon-Fri 09:00-19:00"), ("timezone", "Asia/Tokyo")];

/// Friday, 20:00 in Tokyo.
fn evening() -> Cluster {
    let now = "2026-11-20T11:00:00Z".parse().unwrap();
    Cluster::at(move || now)
}

pub(crate) fn state(cluster: &Cluster, name: &str, labels: &[(&str, &str)]) {
    for (label, text) in labels {
        let label = format!("dayshift/{label}");
        cluster.api.label("dev", name, &label, Some(text)).unwrap();
    }
}

const STOPPED: &[(&str, &str)] = &[
    ("state", "stopped"),
    ("last", "2026-11-20T10.00.00Z"),
    ("next", "2026-11-23T00.00.00Z"),
    ("saved-replicas", "3"),
];

/// A cluster with a workload in each state.
fn busy() -> Cluster {
    let cluster = evening();
    cluster.deployment("api", 0, OFFICE);
    state(&cluster, "api", STOPPED);
    cluster.deployment("bad", 2, &[("start", "Mon-Fry 09:00"), ("stpo", "19:00")]);
    cluster.deployment("left", 0, &[]);
    state(&cluster, "left", &[("saved-replicas", "5")]);
    cluster.deployment("new", 1, OFFICE);
    cluster.deployment("plain", 1, &[]);
    let woken = [OFFICE, &[("wake-until", "2026-11-20 22:00")]].concat();
    cluster.deployment("woken", 4, &woken);
    state(
        &cluster,
        "woken",
        &[
            ("state", "woken"),
            ("last", "2026-11-20T10.30.00Z"),
            ("next", "2026-11-20T13.00.00Z"),
        ],
    );
    cluster
}

fn compare(file: &str, written: &str) {
    let written = written.replace(Tzdata::bundled().version(), "TZDATA");
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/commands/status/golden")
        .join(file);
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, &written).unwrap();
    }
    assert_eq!(written, fs::read_to_string(&path).unwrap(), "{file}");
}

#[test]
fn a_table_shows_problems_first() {
    let ran = busy().dayshift(&["status"]);
    assert_eq!(ran.err, "");
    compare("table.txt", &ran.out);
    assert_eq!(ran.status, 1);

    let shown = format!("```console\n$ dayshift status\n{}```\n", ran.out);
    let page = include_str!("../../../docs/reference/status.md");
    assert!(
        page.contains(&shown),
        "docs/reference/status.md shows another table"
    );
}

#[test]
fn color_follows_the_flag_and_the_environment() {
    let cluster = busy();
    let forced = ("CLICOLOR_FORCE", "1");
    let coloured = cluster.dayshift_with(&[forced], &["status"]);
    compare("colour.txt", &coloured.out);
    let table = cluster.dayshift(&["status"]).out;
    assert_eq!(without_colors(&coloured.out), table);
    let plain = cluster.dayshift_with(&[forced, ("NO_COLOR", "1")], &["status"]);
    assert_eq!(plain.out, table);
}

#[test]
fn a_wide_table_and_json_agree() {
    let cluster = busy();
    let wide = cluster.dayshift(&["status", "-A", "-o", "wide"]);
    compare("wide.txt", &wide.out);
    assert_eq!((wide.status, &*wide.err), (1, ""));
    let ran = cluster.dayshift(&["status", "-n", "dev", "-o", "json"]);
    compare("status.json", &ran.out);
    assert_eq!((ran.status, &*ran.err), (1, ""));
}

#[test]
fn without_an_error_the_status_is_0() {
    let cluster = evening();
    cluster.deployment("web", 0, OFFICE);
    state(&cluster, "web", STOPPED);
    for arguments in [
        &["status"][..],
        &["status", "web"],
        &["status", "-l", "app=web"],
    ] {
        let ran = cluster.dayshift(arguments);
        ran.assert_out("Mon 09:00 JST (in 2 d 13 h)");
        assert_eq!((ran.status, &*ran.err), (0, ""), "{arguments:?}");
    }
}

#[test]
fn suggests_similar_names_and_other_namespaces() {
    let cluster = evening();
    for namespace in ["shop", "prod"] {
        cluster.api.namespace(namespace);
    }
    cluster.deployment("web", 3, OFFICE);
    let cart = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {
            "namespace": "shop", "name": "cart", "annotations": {"dayshift/hours": OFFICE[0].1},
        },
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "cart"}},
            "template": {
                "metadata": {"labels": {"app": "cart"}},
                "spec": {"containers": [{"name": "cart", "image": "cart"}]},
            },
        },
    });
    cluster.api.create(cart).unwrap();
    let not_here = "is not in namespace dev";
    for (arguments, expected_text) in [
        (
            &["deploy/wbe"][..],
            format!("deployment.apps/wbe {not_here}; did you mean `web`?"),
        ),
        (
            &["deploy/cart"],
            format!("deployment.apps/cart {not_here}; it is in shop: use -n shop"),
        ),
        (
            &["deploy/other"],
            format!("deployment.apps/other {not_here}"),
        ),
        (
            &["deploy/cart", "-n", "shpo"],
            "namespace shpo does not exist; did you mean `shop`?".into(),
        ),
        (
            &["depoly/web"],
            "namespace depoly does not exist; did you mean `deploy`?".into(),
        ),
    ] {
        for command in [
            &["status"][..],
            &["plan"],
            &["sleep", "--for", "1h", "--no-wait"],
            &["sync", "--no-wait"],
            &["restore"],
        ] {
            let ran = cluster.dayshift(&[command, arguments].concat());
            let errors = format!("error: {expected_text}\n");
            assert_eq!(
                (ran.status, ran.err),
                (3, errors),
                "{command:?} {arguments:?}"
            );
        }
    }
    let ran = cluster.dayshift(&["status", "depoly/web"]);
    ran.assert_err("did you mean `deploy`?");
    let ran = cluster.dayshift(&["status", "-n", "prod"]);
    assert_eq!(
        ran.err,
        "No workload has a schedule in namespace prod.\n2 workloads in other namespaces: use -A.\n"
    );
}

#[test]
fn missing_and_unscheduled_objects_are_distinguished() {
    let cluster = evening();
    for (arguments, status, expected_text) in [
        (&[][..], 0, "No workload has a schedule in namespace dev."),
        (&["-A"], 0, "No workload has a schedule in any namespace."),
        (
            &["-l", "x=1"],
            0,
            "No scheduled workload in namespace dev matches x=1.",
        ),
        (
            &["sts", "-l", "x=1"],
            0,
            "No scheduled StatefulSet in namespace dev matches x=1.",
        ),
        (&["-n", "lab"], 3, "error: namespace lab does not exist"),
        (
            &["web", "-n", "lab"],
            3,
            "error: namespace lab does not exist",
        ),
    ] {
        let ran = cluster.dayshift(&[&["status"], arguments].concat());
        let expected = (status, "", format!("{expected_text}\n"));
        assert_eq!((ran.status, &*ran.out, ran.err), expected, "{arguments:?}");
    }
    cluster.deployment("plain", 1, &[]);
    let ran = cluster.dayshift(&["status", "plain"]);
    let expected = (1, "error: deployment.apps/plain has no schedule\n");
    assert_eq!((ran.status, &*ran.err), expected);
    let ran = cluster.dayshift(&["status", "gone"]);
    assert_eq!(ran.status, 3);
    assert_eq!(
        ran.err,
        "error: deployment.apps/gone is not in namespace dev\n"
    );
    let ran = cluster.dayshift(&["status", "-o", "json"]);
    let document = ran.json();
    let tzdata = json!({"version": Tzdata::bundled().version(), "from": "bundled"});
    assert_eq!(
        document,
        json!({"apiVersion": "dayshift/v1", "workloads": [], "unread": [], "tzdata": tzdata})
    );
}

#[test]
fn shows_an_hpa_that_has_not_scaled_yet() {
    let cluster = evening();
    let one = [OFFICE, &[("replicas", "1")]].concat();
    for (name, annotations) in [("api", &one[..]), ("free", OFFICE), ("web", OFFICE)] {
        cluster.deployment(name, 3, annotations);
    }
    let owners = |ran: &Ended| -> Vec<Value> {
        let document = ran.json();
        let workloads = document["workloads"].as_array().unwrap().clone();
        workloads.iter().map(|it| it["owners"].clone()).collect()
    };
    cluster.autoscaler("api", ("apps/v1", "Deployment", "api"));
    cluster.refuse(&["list"], "horizontalpodautoscalers");
    let ran = cluster.dayshift(&["status", "-o", "json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(owners(&ran), [json!([]), json!([]), json!([])]);

    cluster.api.clear_fault();
    cluster.autoscaler("set", ("apps/v1", "StatefulSet", "free"));
    cluster.autoscaler("other", ("example.com/v1", "Deployment", "free"));
    let advice =
        "An HPA does nothing while a Deployment is at 0. So that a start leaves the count to the";
    let ran = cluster.dayshift(&["status", "-o", "wide"]);
    ran.assert_out("Asia/Tokyo   HPA ");
    assert!(
        !ran.out.contains(advice),
        "the status is followed: {}",
        ran.out
    );

    // More than one page of autoscalers, with this one on the last.
    for at in 0..500 {
        cluster.autoscaler(&format!("page-{at}"), ("apps/v1", "StatefulSet", "set"));
    }
    cluster.autoscaler("web", ("apps/v1", "Deployment", "web"));
    for arguments in [
        &["status"][..],
        &["status", "-A"],
        &["status", "api", "free", "web"],
    ] {
        let ran = cluster.dayshift(&[arguments, &["-o", "json"]].concat());
        assert_eq!(
            owners(&ran),
            [json!(["HPA"]), json!([]), json!(["HPA"])],
            "{arguments:?}"
        );
        let ran = cluster.dayshift(arguments);
        assert_eq!(ran.out.matches(advice).count(), 1, "{}", ran.out);
    }
}

#[test]
fn names_other_controllers_with_their_settings() {
    let cluster = evening();
    cluster.deployment("web", 3, OFFICE);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let api: Api<Deployment> = Api::namespaced(cluster.api.client(), "dev");
        let params = PatchParams {
            field_manager: Some("argocd-controller".to_owned()),
            ..PatchParams::default()
        };
        let patch = Patch::Merge(json!({"spec": {"replicas": 2}}));
        api.patch("web", &params, &patch).await.unwrap();
    });
    let ran = cluster.dayshift(&["status", "-o", "wide"]);
    compare("owners.txt", &ran.out);
}

#[test]
fn a_table_fits_the_terminal_and_has_no_empty_columns() {
    let cluster = busy();
    let command = ["status", "--sort-by", "name"];
    for columns in [200, 80, 60] {
        let variable = columns.to_string();
        let ran = cluster.dayshift_with(&[("DAYSHIFT_COLUMNS", &variable)], &command);
        if columns == 60 {
            compare("table-60-columns.txt", &ran.out);
        }
        if columns == 200 {
            assert_eq!(
                ran.out,
                cluster.dayshift(&command).out,
                "no column is truncated"
            );
        }
        for row in ran.out.lines() {
            assert!(row.chars().count() <= columns, "{columns}: {row}");
        }
    }
    // A wide table contains all columns at any width, with the names in each part.
    let wide = ["status", "-A", "-o", "wide", "--sort-by", "name"];
    let whole = cluster.dayshift(&wide).out;
    let [broad, narrow] = ["200", "80"].map(|columns| {
        cluster
            .dayshift_with(&[("DAYSHIFT_COLUMNS", columns)], &wide)
            .out
    });
    assert_eq!(broad, whole, "no column is truncated");
    compare("wide-80-columns.txt", &narrow);
    for row in narrow.lines() {
        assert!(row.chars().count() <= 80, "{row}");
    }
    // Notes and advice are wrapped at spaces only.
    cluster.autoscaler("new", ("apps/v1", "Deployment", "new"));
    let whole = cluster.dayshift(&["status", "--sort-by", "name"]).out;
    let narrow = cluster.dayshift_with(
        &[("DAYSHIFT_COLUMNS", "80")],
        &["status", "--sort-by", "name"],
    );
    let notes = |text: &str| {
        let (_, notes) = text.split_once("\n\n").unwrap();
        notes.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(notes(&narrow.out), notes(&whole));
    assert!(
        narrow.out.lines().all(|it| it.len() <= 80),
        "{}",
        narrow.out
    );
    let cluster = evening();
    cluster.deployment("new", 1, OFFICE);
    let ran = cluster.dayshift(&["status"]);
    assert_starts_with!(ran.out, "NAMESPACE   NAME   REPLICAS   STATE    NEXT\n");
}

#[test]
fn rows_can_be_sorted_and_left_out() {
    let cluster = busy();
    let names = |arguments: &[&str]| {
        let ran = cluster.dayshift(&[&["status"], arguments].concat());
        let rows = ran.out.lines().skip(1).take_while(|line| !line.is_empty());
        let names = rows.map(|row| row.split_whitespace().nth(1).unwrap().to_owned());
        names.collect::<Vec<_>>().join(" ")
    };
    for (arguments, expected) in [
        (&[][..], "bad left new api woken"),
        (&["--sort-by", "name"], "api bad left new woken"),
        (&["--sort-by", "next"], "woken api new bad left"),
        (&["--sort-by", "replicas"], "woken bad new api left"),
        (&["--problems"], "bad left"),
    ] {
        assert_eq!(names(arguments), expected, "{arguments:?}");
    }
    let cluster = evening();
    cluster.deployment("web", 0, OFFICE);
    state(&cluster, "web", STOPPED);
    let ran = cluster.dayshift(&["status", "--problems"]);
    assert_eq!(
        (ran.status, &*ran.out, &*ran.err),
        (0, "", "No problem among 1 workload.\n")
    );
}

#[test]
fn names_a_stateful_set_as_commands_accept_it() {
    let cluster = evening();
    let labels = json!({"app": "db"});
    cluster
        .api
        .create(json!({
            "apiVersion": "apps/v1", "kind": "StatefulSet",
            "metadata": {"namespace": "dev", "name": "db", "annotations": {"dayshift/hours": "9-5"}},
            "spec": {
                "replicas": 1, "serviceName": "db", "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {"containers": [{"name": "db", "image": "db"}]},
                },
            },
        }))
        .unwrap();
    let ran = cluster.dayshift(&["status"]);
    ran.assert_out("\ndev         sts/db ");
    ran.assert_out("error: dev/sts/db: ");
    assert_eq!(cluster.dayshift(&["status", "dev/sts/db"]).out, ran.out);
}
