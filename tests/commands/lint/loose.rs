//! Annotations that are not on an object, but in the sources from which objects are generated.

use super::program::found;
use crate::rows::rows;

const NONE: [&str; 0] = [];

/// The files with a mistake in the line that has a `#`, and its column.
fn files(annotation: &str) -> Vec<(&'static str, String)> {
    vec![
        (
            "values of a chart",
            format!("replicaCount: 2\nweb:\n  annotations:\n    {annotation} #\n"),
        ),
        (
            "values of a HelmRelease",
            format!(
                "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: web}}\nspec:\n  values:\n    annotations:\n      {annotation} #\n"
            ),
        ),
        (
            "values of an Application",
            format!(
                "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web}}\nspec:\n  source:\n    helm:\n      valuesObject:\n        annotations:\n          {annotation} #\n"
            ),
        ),
        (
            "managedNamespaceMetadata",
            format!(
                "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web}}\nspec:\n  syncPolicy:\n    managedNamespaceMetadata:\n      annotations:\n        {annotation} #\n"
            ),
        ),
        (
            "commonAnnotations",
            format!("resources: [web.yaml]\ncommonAnnotations:\n  {annotation} #\n"),
        ),
        (
            "Template",
            format!(
                "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {{name: web}}\nobjects:\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata:\n    name: ${{NAME}}\n    annotations:\n      {annotation} #\n"
            ),
        ),
    ]
}

#[test]
fn finds_an_invalid_schedule_outside_of_objects() {
    for [mistake, text, rule] in rows(
        "
            dayshift/hours: 'Mon-Fry 09:00-19:00' => Fry => bad-hours
            dayshift/strat: '09:00' => dayshift/strat => unknown-annotation
            dayshift/timezone: 'Asia/Tokio' => Asia/Tokio => bad-timezone
            dayshift/replicas: 2 => 2 => not-text
        ",
    ) {
        for (case, file) in files(mistake) {
            let line = file.lines().position(|it| it.ends_with('#')).unwrap();
            let column = file.lines().nth(line).unwrap().find(text).unwrap() + 1;
            let expected = format!("{rule} {}:{column}", line + 1);
            let all = found(&file);
            assert!(
                all.contains(&expected),
                "{case}: {all:?}, not {expected}\n{file}"
            );
            let errors = all.iter().filter(|it| !it.starts_with("not-rendered"));
            assert_eq!(errors.count(), 1, "{case}: {all:?}");
        }
    }
}

#[test]
fn valid_or_templated_texts_are_not_reported() {
    for right in [
        "dayshift/hours: 'Mon-Fri 09:00-19:00'",
        "dayshift/timezone: Asia/Tokyo",
        "dayshift/pause: 'true'",
        "dayshift/allow-volume-deletion: 'true'",
        "dayshift/hours: '{{ .Values.hours }}'",
        "dayshift/start: ${START}",
        "dayshift/state: running",
    ] {
        for (case, file) in files(right) {
            let all = found(&file);
            assert!(
                all.iter().all(|it| it.starts_with("not-rendered")),
                "{case} {right}: {all:?}"
            );
        }
    }
    // A policy may contain annotations for other objects.
    let policy = "apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: a}\nspec:\n  rules:\n  - validate: {pattern: {metadata: {annotations: {dayshift/hours: '?*'}}}}\n";
    assert_eq!(found(policy), NONE);
}

#[test]
fn reads_patches_in_files_and_in_text() {
    let operation = |text: &str| {
        format!("- op: add\n  path: /metadata/annotations/dayshift~1stop\n  value: \"{text}\"\n")
    };
    assert_eq!(found(&operation("25:00")), ["bad-times 3:11"]);
    // A stop without a start is a warning, as on an object.
    assert_eq!(found(&operation("19:00")), ["stop-without-start 3:11"]);
    let inline = |patch: &str| {
        let patch = patch.replace('\n', "\n    ");
        format!("patches:\n- target: {{kind: Deployment}}\n  patch: |-\n    {patch}\n")
    };
    let of_operation = found(&inline(&operation("25:00")));
    assert_eq!(of_operation, ["bad-times 4:5"]);
    let merged =
        "kind: Deployment\nmetadata:\n  annotations: {dayshift/hours: 'Mon-Fry 09:00-19:00'}";
    assert_eq!(found(&inline(merged)), ["bad-hours 4:5"]);
    assert_eq!(found(&inline(&merged.replace("Fry", "Fri"))), NONE);
    assert_eq!(found(&inline("no: [yaml dayshift/hours: '9-5'")), NONE);
}
