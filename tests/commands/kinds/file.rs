//! `--kind-file`: user-defined kinds, and errors in their definitions.

use std::fs;

use tempfile::TempDir;

use crate::program::{Ended, dayshift_with};
use crate::rows::{rows, words};

const ROWS: &str = r#"
- resource: widgets.example.com
  kind: Widget
  field: spec.paused
  stopped: true
  running: false
- resource: gadgets.example.com
  kind: Gadget
  annotation: example.com/mode
  stopped: "off"
- {resource: gizmos.example.com, kind: Gizmo, field: spec.size, holds: replicas}
"#;

const OBJECTS: &str = r#"
apiVersion: example.com/v1
kind: Widget
metadata: {name: one, annotations: {dayshift/hours: "Mon-Fri 09:00-19:00"}}
spec: {paused: false}
---
apiVersion: example.com/v2
kind: Gadget
metadata: {name: two, annotations: {dayshift/hours: "Mon-Fri 09:00-19:00"}}
---
apiVersion: example.com/v1
kind: Gizmo
metadata: {name: three, annotations: {dayshift/hours: "Mon-Fri 09:00-19:00"}}
spec: {size: 3}
"#;

const THING: &str = r#"
apiVersion: example.com/v1
kind: Thing
metadata: {name: four, annotations: {dayshift/hours: "Mon-Fri 09:00-19:00"}}
spec: {replicas: 3}
"#;

const KINDS: &str = "widgets.example.com,gadgets.example.com,gizmos.example.com";

fn dayshift(rows: &str, args: &[&str], input: &str) -> Ended {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("kinds.yaml");
    fs::write(&file, rows).unwrap();
    let file = file.to_str().unwrap();
    let args: Vec<&str> = args
        .iter()
        .map(|it| if *it == "KINDS.yaml" { file } else { it })
        .collect();
    let ended = dayshift_with(&[], &args, input);
    let tidy = |text: &str| text.replace(file, "KINDS.yaml");
    Ended {
        status: ended.status,
        out: tidy(&ended.out),
        err: tidy(&ended.err),
    }
}

#[test]
fn plans_a_user_defined_kind() {
    // `--kinds` can come before the file that defines the kinds.
    for flags in [
        ["--kinds", KINDS, "--kind-file", "KINDS.yaml"],
        ["--kind-file", "KINDS.yaml", "--kinds", KINDS],
    ] {
        let plan = words("plan -f - -o table --from 2026-11-23 --days 1");
        let ended = dayshift(ROWS, &[&plan[..], &flags[..]].concat(), OBJECTS);
        assert_eq!((ended.status, &*ended.err), (0, ""), "{}", ended.out);
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let shown: Vec<_> = ended.out.lines().skip(1).map(words).collect();
        let row = |name: &str, time: &str, text: &str| {
            format!("default {name} Mon 2026-11-23 {time} UTC {text}")
        };
        let expected = [
            row("widgets.example.com/one", "09:00", "start running"),
            row("widgets.example.com/one", "19:00", "stop stopped"),
            row("gadgets.example.com/two", "09:00", "start running"),
            row("gadgets.example.com/two", "19:00", "stop stopped"),
            row("gizmos.example.com/three", "09:00", "start <saved>"),
            row("gizmos.example.com/three", "19:00", "stop 0"),
        ];
        assert_eq!(shown, expected);
    }
}

/// The kind is known by the same names as a built-in kind whose group is given.
#[test]
fn a_definition_makes_a_kind_known_by_its_names() {
    for (name, status) in [("widget", 3), ("Widgets", 3), ("wodget", 2)] {
        let workload = format!("{name}/one");
        let of_one = ["wake", &workload, "-n", "dev", "--for", "1h"];
        let flags = ["--kind-file", "KINDS.yaml", "--kubeconfig", "no-such-file"];
        let ended = dayshift(ROWS, &[&of_one[..], &flags[..]].concat(), "");
        assert_eq!(ended.status, status, "{name}: {}", ended.err);
    }
}

#[test]
fn lint_reports_an_unexpected_value_in_the_field_of_a_user_defined_kind() {
    let flags = ["lint", "--kind-file", "KINDS.yaml", "--kinds", KINDS, "-"];
    let ended = dayshift(ROWS, &flags, OBJECTS);
    assert_eq!(ended.status, 0, "{}{}", ended.out, ended.err);
    let odd = OBJECTS.replace("paused: false", "paused: soon");
    let ended = dayshift(ROWS, &flags, &odd);
    assert_eq!(ended.status, 1);
    let output = "spec.paused is `soon`, not true or false";
    ended.assert_out(output);
    // Without other files, the kind file itself is checked.
    let ended = dayshift(ROWS, &["lint", "--kind-file", "KINDS.yaml"], "");
    assert_eq!((ended.status, &*ended.err), (0, ""), "{}", ended.out);
}

/// Each invalid definition, the line and column of the fault, and the error.
#[test]
fn reports_an_invalid_definition_and_uses_the_others() {
    let with = |row: &str| format!("{ROWS}- {{{row}}}\n");
    let thing = "resource: things.example.com, kind: Thing";
    for [row, at, output] in rows(
        r#"
            kind: Thing, field: spec.off, stopped: true =>  => `resource` is missing
            resource: things, kind: Thing, field: spec.off => things => `things` is not the resource of a custom kind
            resource: things.example.com, field: spec.off =>  => `kind` is missing
            THING, stopped: true =>  => `field` is missing
            THING, field: status.off => status => `status.off` is not a field of spec
            THING, field: spec.template.off => spec => a kind definition cannot name `spec.template.off`
            THING, field: spec.off =>  => `stopped` is missing
            THING, field: spec.off, stopped: 3 => 3} => `3` is not true, false or a text
            THING, field: spec.off, stopped: true, running: true => true} => `true` is not another value like that of `stopped`
            THING, field: spec.off, stopped: true, running: "no" => "no => `no` is not another value like that of `stopped`
            THING, field: spec.on, stopped: false, absent: stopped => stopped} => so its value while running is unknown
            THING, field: spec.on, stopped: false, absent: off => off} => `off` is not running or stopped
            THING, field: spec.replicas, stopped: true => spec => spec.replicas is a count
            THING, annotation: e.com/off, stopped: on => on} => `on` is true or false to YAML, and an annotation is a text; write stopped: "on"
            THING, annotation: e.com/n, field: spec.n => e.com => `field` cannot be combined with `annotation`
            THING, annotation: e.com/n, holds: replicas => replicas => only a field directly below spec can hold a count
            THING, field: spec.at, holds: time => time => only an annotation can hold a time
            THING, field: spec.n, holds: exact, stopped: 0 => 0} => a definition with holds: exact has no on/off values
            THING, field: spec.off, holds: lights => lights => `lights` is not switch, replicas, exact or time
            THING, feild: spec.off => feild => did you mean `field`?
            THING, field: spec.off, stopped: true, instances: size => size => `size` is not a field of spec
            THING, field: spec.off, stopped: true, resources: spec.template.cpu => spec => a kind definition cannot name `spec.template.cpu`
            THING, field: spec.n, holds: exact, instances: spec.size => spec => the count of this definition is already the number of its instances
            resource: mariadbs.k8s.mariadb.com, kind: MariaDB, field: spec.suspend, stopped: true =>  => dayshift cannot stop a MariaDB: its spec.suspend only keeps
            resource: widgets.example.com, kind: Widget, field: spec.off, stopped: true =>  => already has a definition of this resource
            resource: clusters.postgresql.cnpg.io, kind: Cluster, field: spec.off, stopped: true =>  => already has a definition of this resource
        "#,
    ) {
        let row = &row.replace("THING", thing);
        let line = format!("- {{{row}}}");
        let column = if at.is_empty() {
            3
        } else {
            line.rfind(at).unwrap() + 1
        };
        let ended = dayshift(&with(row), &["lint", "--kind-file", "KINDS.yaml"], "");
        assert_eq!(ended.status, 1, "{row}: {}", ended.err);
        let place = format!("error: KINDS.yaml:12:{column}: ");
        assert!(ended.err.starts_with(&place), "{row}: {}", ended.err);
        assert!(ended.err.contains(output), "{row}: {}", ended.err);
        assert_eq!(ended.err.lines().count(), 1, "{row}: {}", ended.err);
        // The other definitions are used, and the invalid one is not treated as a kind with
        // `spec.replicas`.
        let kinds = format!("{KINDS},things.example.com");
        let flags = [
            "plan",
            "-f",
            "-",
            "-o",
            "table",
            "--kind-file",
            "KINDS.yaml",
            "--kinds",
            &kinds,
        ];
        let things = format!("{OBJECTS}---\n{THING}");
        let ended = dayshift(&with(row), &flags, &things);
        assert_eq!(ended.status, 0, "{row}: {}", ended.err);
        // If the definition does not name its resource, the kind is unknown.
        let is_refused = row.contains("things.example.com");
        assert_ne!(
            ended.out.contains("things.example.com/four"),
            is_refused,
            "{row}: {}",
            ended.out
        );
        assert_contains!(ended.out, "widgets.example.com/one", "{row}");
        assert_starts_with!(ended.err, "warning: KINDS.yaml:12:", "{row}");
    }
}

/// Definitions beyond the limit are reported, and their kinds are not treated as kinds with
/// `spec.replicas`.
#[test]
fn reports_definitions_beyond_the_limit() {
    let rows = (0..202).map(|at| {
        format!("- {{resource: k{at}s.example.com, kind: K{at}, field: spec.off, stopped: true}}\n")
    });
    let rows: String = rows.collect();
    let ended = dayshift(&rows, &["lint", "--kind-file", "KINDS.yaml"], "");
    assert_eq!(ended.status, 1, "{}", ended.out);
    let wrong = "there are more than 200 definitions";
    let expected = format!(
        "error: KINDS.yaml:201:3: k200s.example.com: {wrong}\n\
         error: KINDS.yaml:202:3: k201s.example.com: {wrong}\n"
    );
    assert_eq!(ended.err, expected);
    let objects = [199, 200, 201].map(|at| {
        format!(
            "---\napiVersion: example.com/v1\nkind: K{at}\nmetadata: {{name: one, annotations: \
             {{dayshift/stop: \"19:00\"}}}}\nspec: {{replicas: 3}}\n"
        )
    });
    let kinds = "k199s.example.com,k200s.example.com,k201s.example.com";
    let plan = [
        "plan",
        "-f",
        "-",
        "-o",
        "table",
        "--kinds",
        kinds,
        "--kind-file",
        "KINDS.yaml",
    ];
    let ended = dayshift(&rows, &plan, &objects.concat());
    assert_eq!(ended.status, 0, "{}", ended.err);
    ended.assert_out("k199s.example.com/one");
    for none in ["k200s", "k201s"] {
        ended.assert_out_lacks(none);
        ended.assert_err(none);
    }
}

#[test]
fn a_missing_or_invalid_kind_file_is_wrong_usage() {
    for (rows, file, output) in [
        (
            ROWS,
            "/nowhere/kinds.yaml",
            "--kind-file: cannot read /nowhere/kinds.yaml",
        ),
        ("- {resource: [", "KINDS.yaml", "--kind-file: KINDS.yaml:"),
    ] {
        let ended = dayshift(rows, &["lint", "--kind-file", file], "");
        assert_eq!(ended.status, 2, "{}", ended.err);
        ended.assert_err(output);
    }
}

/// Without this entry, the policy would reject the stops of dayshift.
#[test]
fn the_role_of_a_user_defined_kind_includes_its_policy_entry() {
    let kinds = format!("clusters.postgresql.cnpg.io,rollouts.argoproj.io,{KINDS}");
    let flags = ["--kind-file", "KINDS.yaml", "--kinds", &kinds];
    let ended = dayshift(ROWS, &[&["kinds", "-o", "yaml"], &flags[..]].concat(), "");
    assert_eq!((ended.status, &*ended.err), (0, ""));
    let comments: Vec<&str> = ended.out.lines().filter(|it| it.starts_with('#')).collect();
    assert_contains!(comments[0], "manifests/policy/scaler.yaml");
    assert_eq!(
        comments[1],
        "#   'widgets.example.com': ['spec', 'paused'],"
    );
    assert_lacks!(comments.concat(), "cnpg");
    assert_lacks!(comments.concat(), "rollouts");
}

/// A word before a slash that is no kind is taken for a namespace, and can be a misspelled kind.
#[test]
fn a_misspelled_kind_of_a_file_has_a_hint() {
    let cluster = crate::fake_server::Cluster::new();
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("kinds.yaml");
    fs::write(&file, ROWS).unwrap();
    let flag = format!("--kind-file={}", file.display());
    for command in [
        &["status"][..],
        &["plan"],
        &["wake", "--for", "1h"],
        &["restore"],
    ] {
        let ran = cluster.dayshift(&[command, &["wigdets/one", &flag]].concat());
        let said = "namespace wigdets does not exist; did you mean `widgets`?";
        assert!(ran.err.contains(said), "{command:?}: {}", ran.err);
        assert_eq!(ran.status, 3, "{command:?}");
    }
}
