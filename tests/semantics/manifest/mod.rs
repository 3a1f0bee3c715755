//! Files of manifests: the Deployments in them, the places of annotations, and rejected input.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod directories;
mod files;
mod hostile;
mod quoted;
mod requests;

use std::path::Path;

use dayshift::examples::EXAMPLES;
use dayshift_manifest::{FileSearch, SourceFile, inherit};
use dayshift_schedule::Zone;
use dayshift_workload::{Inheritance, Key, KindTable, ParsedInputs, Prefix, Replicas, read};
use files::{annotated, refusal, workloads};

use crate::rows::{rows, unescaped};

#[test]
fn finds_deployments_in_documents_and_lists() {
    let web = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}}";
    let json = r#"{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web"}}"#;
    let list = |items: &str| format!("{{apiVersion: v1, kind: List, items: [{items}]}}");
    for (text, expected) in [
        (web.to_owned(), 1),
        (format!("---\n{web}\n---\n{web}\n...\n"), 2),
        (format!("# only a comment\n---\n---\n{web}"), 1),
        (list(&format!("{web}, {web}")), 2),
        (list(&format!("{{apiVersion: v1, kind: Pod}}, {web}")), 1),
        (list(&format!("{web}, {}", list(web))), 2),
        ("{apiVersion: v1, kind: List, items: null}".to_owned(), 0),
        (
            "{apiVersion: apps/v1, kind: DeploymentList, items: [{metadata: {name: a}}]}"
                .to_owned(),
            1,
        ),
        (json.to_owned(), 1),
        (format!("{json}\n---\n{json}"), 2),
        (format!("{json}\n{json}\n{json}{json}\n"), 4),
        (format!("\u{feff}{web}"), 1),
        (
            "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}}".to_owned(),
            1,
        ),
        (
            "{apiVersion: apps/v1, kind: StatefulSetList, items: [{metadata: {name: web}}]}"
                .to_owned(),
            1,
        ),
        (
            "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: web}}".to_owned(),
            0,
        ),
        (
            "{apiVersion: extensions/v1beta1, kind: Deployment, metadata: {}}".to_owned(),
            0,
        ),
        (String::new(), 0),
    ] {
        assert_eq!(workloads(&text).len(), expected, "{text}");
    }
}

#[test]
fn reads_a_workload_as_kubectl_sends_it() {
    let text = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: dev
  annotations: {dayshift/stop: '19:00', team: a}
spec:
  replicas: 3
  paused: off
";
    let (web, manifest) = &SourceFile::new("file.yaml", text)
        .manifests(&Prefix::default(), "default", &KindTable::default())
        .workloads[0];
    assert_eq!(web.object.to_string(), "dev/web");
    assert_eq!(web.replicas, Some(Replicas::new(3)));
    assert_eq!(web.inputs.text(Key::Stop), Some("19:00"));
    assert_eq!(
        *manifest,
        serde_json::json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "dev",
                "annotations": {"dayshift/stop": "19:00", "team": "a"}},
            "spec": {"replicas": 3, "paused": false},
        })
    );
    let bare = &workloads(&annotated("    dayshift/stop: '19:00'"))[0];
    assert_eq!(
        (bare.object.to_string().as_str(), bare.replicas),
        ("default/web", None)
    );
}

/// The place of the value, the place of bytes 4 to 7 of its text, and the text there.
fn places(text: &str) -> (String, String) {
    let web = &workloads(text)[0];
    let stop = web
        .annotations
        .iter()
        .find(|it| &*it.name == "stop")
        .unwrap();
    assert_eq!(&*stop.text, "Mon-Fry 09:00", "{text}");
    let fault = stop.locate(&(4..7));
    let show = |place: &dayshift_manifest::Location| {
        format!(
            "{}:{} {}",
            place.line,
            place.column,
            &text[place.span.clone()]
        )
    };
    (show(&stop.value), show(&fault))
}

#[test]
fn locates_an_error_within_a_verbatim_text() {
    for (lines, value, fault) in [
        (
            "    dayshift/stop: Mon-Fry 09:00",
            "6:20 Mon-Fry 09:00",
            "6:24 Fry",
        ),
        (
            "    dayshift/stop: \"Mon-Fry 09:00\"",
            "6:20 \"Mon-Fry 09:00\"",
            "6:25 Fry",
        ),
        (
            "    dayshift/stop: 'Mon-Fry 09:00' # why",
            "6:20 'Mon-Fry 09:00'",
            "6:25 Fry",
        ),
        (
            "    dayshift/stop:\t\"Mon-Fry 09:00\"",
            "6:20 \"Mon-Fry 09:00\"",
            "6:25 Fry",
        ),
        (
            "    été: ｆ\r\n    dayshift/stop: 'Mon-Fry 09:00'\r",
            "7:20 'Mon-Fry 09:00'",
            "7:25 Fry",
        ),
        (
            "    {é: é, dayshift/stop: 'Mon-Fry 09:00'}",
            "6:27 'Mon-Fry 09:00'",
            "6:32 Fry",
        ),
        (
            "    x: &x 'Mon-Fry 09:00'\n    dayshift/stop: *x",
            "6:11 'Mon-Fry 09:00'",
            "6:16 Fry",
        ),
        (
            "    <<: {dayshift/stop: Mon-Fry 09:00}",
            "6:25 Mon-Fry 09:00",
            "6:29 Fry",
        ),
    ] {
        let text = annotated(lines);
        assert_eq!(
            places(&text),
            (value.to_owned(), fault.to_owned()),
            "{lines}"
        );
    }
}

#[test]
fn locates_an_error_in_a_folded_text_at_the_whole_text() {
    for (lines, value) in [
        (
            "    dayshift/stop: \"Mon\\u002dFry 09:00\"",
            "6:20 \"Mon\\u002dFry 09:00\"",
        ),
        (
            "    dayshift/stop: Mon-Fry\n      09:00",
            "6:20 Mon-Fry\n      09:00",
        ),
        (
            "    dayshift/stop: 'Mon-Fry\n      09:00'",
            "6:20 'Mon-Fry\n      09:00'",
        ),
    ] {
        let text = annotated(lines);
        assert_eq!(
            places(&text),
            (value.to_owned(), value.to_owned()),
            "{lines}"
        );
    }
    for indicator in [">-", "|-"] {
        let (value, fault) = places(&annotated(&format!(
            "    dayshift/stop: {indicator}\n      Mon-Fry 09:00"
        )));
        assert_eq!(value, fault);
        assert_contains!(value, "Mon-Fry 09:00");
    }
}

#[test]
fn values_that_are_not_text_must_be_quoted() {
    for [line, expected] in rows(
        r#"
            dayshift/pause: true => `true` is true or false in YAML, but the API server accepts only text; write "true"
            dayshift/pause: on => `on` is true or false in YAML, but the API server accepts only text; write "on"
            dayshift/replicas: 2 => `2` is a number in YAML, but the API server accepts only text; write "2"
            dayshift/start: [9] => is a list, but the API server accepts only text; write text in quotes
            dayshift/start: {a: b} => is a map, but the API server accepts only text; write text in quotes
            dayshift/error: 1 => `1` is a number in YAML, but the API server accepts only text; write "1"
            dayshift/stop: '9:00'\n    dayshift/stop: '19:00' => is given twice, in lines 6 and 7, and only the last one applies; remove one
            # kubectl 1.36 and its API server accept it.
            dayshift/replicas: "2" => valid
            dayshift/replicas: !!str 2 => valid
            dayshift/start: 9:00 => valid
            dayshift/except: 2026-12-24 => valid
            dayshift/stop: => valid
            <<: {dayshift/stop: '9:00'}\n    dayshift/stop: '19:00' => valid
            other/pause: true => valid
        "#,
    ) {
        let web = &workloads(&annotated(&format!("    {}", unescaped(line))))[0];
        let problems = web.problems.iter().map(|it| it.diagnostic.to_string());
        let expected = Some(expected.to_owned()).filter(|it| it != "valid");
        assert!(problems.eq(expected), "{line}: {:?}", web.problems);
        for problem in &web.problems {
            let at_fault = web
                .annotations
                .iter()
                .find(|it| it.name == problem.annotation)
                .unwrap();
            assert_eq!(problem.diagnostic.span(), 0..at_fault.text.len(), "{line}");
        }
    }
}

#[test]
fn prefers_the_last_annotation_and_own_over_merged_ones() {
    let text = |lines: &str| {
        let web = workloads(&annotated(lines)).remove(0);
        assert_eq!(web.annotations.len(), 1, "{lines}");
        web.inputs.text(Key::Stop).unwrap().to_owned()
    };
    assert_eq!(text("    dayshift/stop: 'a'\n    dayshift/stop: 'b'"), "b");
    assert_eq!(
        text("    dayshift/stop: 'own'\n    <<: {dayshift/stop: 'merged'}"),
        "own"
    );
    assert_eq!(
        text("    <<: [{dayshift/stop: 'first'}, {dayshift/stop: 'second'}]"),
        "first"
    );
}

#[test]
fn reads_annotations_with_another_prefix() {
    let source = SourceFile::new(
        "file.yaml",
        annotated("    dayshift/stop: 'x'\n    night.example/stop: 'y'"),
    );
    let prefix = Prefix::parse("night.example").unwrap();
    let web = source
        .workloads(&prefix, "dev", &KindTable::default())
        .unwrap()
        .remove(0);
    assert_eq!(
        (web.inputs.text(Key::Stop), &*web.object.namespace),
        (Some("y"), "dev")
    );
}

#[test]
fn reports_broken_files_with_line_and_column() {
    for [text, expected] in rows(
        r#"
            a: [1, 2\nb: 3 => file.yaml:2:2:
            a: "never closed => file.yaml:1:4:
            é: 1\n\tb: 2 => file.yaml:1:4:
            a: *nobody => file.yaml:1:4:
            name: {{ .Values.name }} => file.yaml:1:8: a key must be text, but this is a map; render a chart first: `helm template CHART | dayshift lint -`
            a: &a [*a] => file.yaml:1:8: this alias is inside its own anchor
            ? [a, b]\n: c => file.yaml:1:3: a key must be text, but this is a list
            {apiVersion: apps/v1, kind: Deployment} => file.yaml:1:1: this Deployment has no metadata, and so no name
            {apiVersion: apps/v1, kind: Deployment, metadata: {namespace: a}} => file.yaml:1:51: this Deployment has no metadata.name
            {apiVersion: apps/v1, kind: Deployment, metadata: {name: 7}} => file.yaml:1:58: metadata.name is a number, not text; quote it
            {apiVersion: apps/v1, kind: Deployment, metadata: {name: a, annotations: b}} => file.yaml:1:74: metadata.annotations is text, not a map
            {apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: -1}} => file.yaml:1:79: spec.replicas is `-1`, not a whole number such as 3
            {apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: '3'}} => file.yaml:1:79: spec.replicas is `3`, not a whole number such as 3
            {}\n{"a": 1} {\n"é": [1} => file.yaml:3:6:
            {apiVersion: v1, kind: List, items: {a: b}} => file.yaml:1:37: items is a map, not a list
        "#,
    ) {
        assert_starts_with!(refusal(&unescaped(text)), expected, "{text}");
    }
}

#[test]
fn reads_megabytes_of_deployments() {
    let one =
        annotated("    dayshift/hours: \"Mon-Fri 09:00-19:00\"") + "spec: {replicas: 2}\n---\n";
    let text = one.repeat((2 << 20) / one.len());
    assert_eq!(workloads(&text).len(), (2 << 20) / one.len());
}

#[test]
fn lists_every_example_without_problems() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut listed: Vec<_> = EXAMPLES.iter().map(|(name, _)| *name).collect();
    listed.sort_unstable();
    let found = FileSearch::default().open(&directory).sources;
    let found = found
        .iter()
        .map(|it| Path::new(it.name()).file_name().unwrap().to_str().unwrap());
    assert_eq!(found.collect::<Vec<_>>(), listed);

    for (name, text) in EXAMPLES {
        assert!(text.starts_with("# "), "{name} does not name the effect");
        let found = workloads(text);
        assert_eq!(found.len(), 1, "{name}");
        assert_eq!(format!("{}.yaml", found[0].object.name), name);
        assert_eq!(found[0].problems, []);
        for annotation in &found[0].annotations {
            let written = &text[annotation.value.span.clone()];
            assert_eq!(written, format!("\"{}\"", annotation.text), "{name}");
        }
        // The schedule of one is on the Namespace in the same file.
        let mut contents = [SourceFile::new(name, text).contents(
            &Prefix::default(),
            "default",
            &KindTable::default(),
        )];
        inherit(&mut contents, &Inheritance::default());
        let parsed = read(&contents[0].workloads[0].inputs, &Zone::UTC.into());
        assert!(
            matches!(parsed, ParsedInputs::Scheduled(_)),
            "{name}: {parsed:?}"
        );
    }
}
