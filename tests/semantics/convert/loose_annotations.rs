//! Annotations of other tools outside of objects, for example in the values of a chart.

use dayshift_manifest::{Severity, convert::ConversionFinding};

use super::converted::{annotated, convert};

const OFFICE: &str = "Mon-Fri 08:00-20:00 Europe/Berlin";
const EQUAL: &str = "dayshift/hours: \"Mon-Fri 08:00-20:00\", dayshift/timezone: \"Europe/Berlin\"";

/// The findings of a file in which nothing is converted.
fn findings_of(text: &str) -> Vec<ConversionFinding> {
    let conversion = convert(text);
    assert!(conversion.changes.is_empty(), "{conversion:?}");
    assert_eq!(conversion.texts, [None], "the file is unchanged");
    conversion.findings
}

#[test]
fn reports_annotations_outside_of_objects_with_replacements() {
    let line = format!("downscaler/uptime: {OFFICE}");
    for (case, text) in [
        (
            "the values of a chart",
            format!("replicaCount: 2\nweb:\n  annotations:\n    {line} # HERE\n"),
        ),
        (
            "the values of a HelmRelease",
            format!(
                "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: web}}\nspec:\n  values:\n    deploymentAnnotations:\n      {line} # HERE\n"
            ),
        ),
        (
            "an Application's values",
            format!(
                "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web}}\nspec:\n  source:\n    helm:\n      valuesObject:\n        annotations:\n          {line} # HERE\n"
            ),
        ),
        (
            "managedNamespaceMetadata",
            format!(
                "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web}}\nspec:\n  syncPolicy:\n    managedNamespaceMetadata:\n      annotations:\n        {line} # HERE\n"
            ),
        ),
        (
            "commonAnnotations",
            format!(
                "kind: Kustomization\nresources: [web.yaml]\ncommonAnnotations:\n  {line} # HERE\n"
            ),
        ),
        (
            "a patch of a kustomization",
            format!(
                "patches:\n- target: {{kind: Deployment}}\n  options: {{}}\n  annotations:\n    {line} # HERE\n"
            ),
        ),
        (
            "an OpenShift Template",
            format!(
                "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {{name: web}}\nobjects:\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata:\n    name: ${{NAME}}\n    annotations:\n      {line} # HERE\n"
            ),
        ),
        (
            "an object without a name",
            format!(
                "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  generateName: web-\n  annotations:\n    {line} # HERE\n"
            ),
        ),
        (
            "a JSON patch",
            format!(
                "- op: add\n  path: /metadata/annotations/downscaler~1uptime # HERE\n  value: {OFFICE}\n"
            ),
        ),
    ] {
        let findings = findings_of(&text);
        let [finding] = &findings[..] else {
            panic!("{case}: {findings:?}");
        };
        assert_eq!(finding.rule.id(), "by-hand", "{case}");
        assert_eq!(finding.rule.severity(), Severity::Warning);
        assert!(finding.help.contains(EQUAL), "{case}: {finding:?}");
        let expected = text.lines().position(|it| it.contains("HERE")).unwrap() + 1;
        assert_eq!(finding.place.as_ref().unwrap().1.line, expected, "{case}");
    }
}

/// Several annotations in one map form one schedule.
#[test]
fn reports_adjacent_annotations_once() {
    let text = format!(
        "web:\n  annotations:\n    downscaler/uptime: {OFFICE}\n    downscaler/downtime-replicas: '1'\n    downscaler/uptiem: x\n"
    );
    let findings = findings_of(&text);
    assert_eq!(findings.len(), 1, "{findings:?}");
    let ConversionFinding { message, help, .. } = &findings[0];
    assert!(
        help.contains(EQUAL) && help.contains("dayshift/stop-replicas: \"1\""),
        "{help}"
    );
    assert!(
        message.contains("`downscaler/uptiem`") && message.contains("web.annotations"),
        "{message}"
    );
}

#[test]
fn reports_annotations_within_any_text() {
    for text in [
        "patches:\n- patch: |-\n    - op: add\n      path: /metadata/annotations/downscaler~1uptime\n      value: always\n",
        "web:\n  annotations: |\n    downscaler/uptime: always\n",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  values.yaml: \"podAnnotations: {downscaler/exclude: 'true'}\"\n",
    ] {
        let ids: Vec<_> = findings_of(text).iter().map(|it| it.rule.id()).collect();
        assert_eq!(ids, ["by-hand"], "{text}");
    }
    for text in [
        "image: ghcr.io/caas-team/gokubedownscaler/downscaler:1.2\n",
        "image: registry/downscaler/uptimes\n",
        "downscaler:\n  uptime: always\n",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: '{\"downscaler/uptime\": \"always\"}'\n",
    ] {
        assert!(findings_of(text).is_empty(), "{text}");
    }
}

#[test]
fn reports_a_nested_object_of_another_tool() {
    let in_template = |object: &str| {
        let object = object.replace('\n', "\n  ");
        format!(
            "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {{name: web}}\nobjects:\n- {object}\n"
        )
    };
    let scaled = "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec: {triggers: [{type: cron}]}";
    for (object, expected) in [
        (
            "apiVersion: kube-green.com/v1alpha1\nkind: SleepInfo\nmetadata: {name: a}",
            1,
        ),
        (
            "apiVersion: autoscaling.alibabacloud.com/v1beta1\nkind: CronHorizontalPodAutoscaler",
            1,
        ),
        (scaled, 1),
        (&scaled.replace("cron", "cpu"), 0),
        (
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}",
            0,
        ),
    ] {
        assert_eq!(
            findings_of(&in_template(object)).len(),
            expected,
            "{object}"
        );
    }
}

/// An object's own annotations are converted or reported at the object. An alias is reported once.
#[test]
fn reports_an_objects_own_annotations_once() {
    let own = annotated("Deployment", &[("uptime", OFFICE)]);
    let in_list = own.replace('\n', "\n  ");
    for text in [
        own.clone(),
        format!("apiVersion: v1\nkind: List\nitems:\n- {in_list}"),
        own.replace("uptime", "uptiem"),
        format!("x: &a {{downscaler/uptime: {OFFICE}}}\ny: *a\nz: [*a, *a]\n"),
    ] {
        let ids = convert(&text)
            .findings
            .iter()
            .filter(|it| it.rule.id() == "by-hand")
            .count();
        assert_eq!(ids, usize::from(text.starts_with('x')), "{text}");
    }
}
