//! Other controllers that set the counts of scheduled workloads, as far as the files show them.

use super::program::{found, lint_of};
use crate::program::dayshift_with;
use crate::rows::rows;

const WEB: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  annotations: {dayshift/hours: 'Mon-Fri 09:00-19:00', dayshift/replicas: '1', lint.dayshift/replicas-in-manifest: tried}
spec: {replicas: 2}
---
";

/// The findings for an object beside the workload.
fn beside(object: &str) -> Vec<String> {
    let all = found(&format!("{WEB}{object}")).into_iter();
    all.map(|it| it.split(' ').next().unwrap().to_owned())
        .collect()
}

fn application(more: &str) -> String {
    format!(
        "{{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {{name: shop}}, spec: {{{more}}}}}"
    )
}

fn flux(kind: &str, more: &str) -> String {
    let group = kind
        .to_lowercase()
        .replace("ization", "ize")
        .replace("release", "");
    format!(
        "{{apiVersion: {group}.toolkit.fluxcd.io/v1, kind: {kind}, metadata: {{name: shop}}, spec: {{{more}}}}}"
    )
}

#[test]
fn finds_tools_that_revert_a_count() {
    let respects = "syncPolicy: {syncOptions: [RespectIgnoreDifferences=true]}";
    let argo = |rule: &str| application(&format!("ignoreDifferences: [{{{rule}}}], {respects}"));
    for [tool, spec, expected] in rows(
        "
            application => destination: {namespace: default} => finding
            application => destination: {namespace: elsewhere} => none
            argo => group: apps, kind: Deployment, jsonPointers: [/spec/replicas] => none
            argo => group: '*', kind: '*', jsonPointers: [/spec] => none
            argo => group: apps, kind: Deployment, jqPathExpressions: [.spec.replicas] => none
            argo => group: apps, kind: Deployment, managedFieldsManagers: [dayshift] => none
            # Without a group the entry does not apply to Deployments (argo-cd#28590).
            argo => kind: Deployment, jsonPointers: [/spec/replicas] => finding
            argo => group: apps, kind: StatefulSet, jsonPointers: [/spec/replicas] => finding
            argo => group: apps, kind: Deployment, name: other, jsonPointers: [/spec/replicas] => finding
            argo => group: apps, kind: Deployment, jsonPointers: [/spec/rep] => finding
            # Without RespectIgnoreDifferences a sync still sets the count (argo-cd#6520).
            application => ignoreDifferences: [{group: apps, kind: Deployment, jsonPointers: [/spec/replicas]}] => finding
            Kustomization => path: ./web => finding
            Kustomization => path: ./web, suspend: true => none
            Kustomization => targetNamespace: elsewhere => none
            Kustomization => ignore: [{paths: [/spec/replicas], target: {kind: Deployment}}] => none
            Kustomization => ignore: [{paths: [/spec/replicas]}] => none
            Kustomization => ignore: [{paths: [/spec/replicas], target: {kind: StatefulSet}}] => finding
            HelmRelease => interval: 5m => none
            HelmRelease => driftDetection: {mode: enabled} => finding
            HelmRelease => driftDetection: {mode: enabled, ignore: [{paths: [/spec/replicas]}]} => none
            # A file for kustomize is not an object of Flux, and an object of another API group is
            # ignored.
            object => {apiVersion: example.com/v1, kind: Application, metadata: {name: shop}, spec: {}} => none
            # Malformed objects.
            application => ignoreDifferences: 3, syncPolicy: [x] => finding
            application => destination: {namespace: 7}, ignoreDifferences: [a, null, {jsonPointers: {}}] => finding
        ",
    ) {
        let object = match tool {
            "application" => application(spec),
            "argo" => argo(spec),
            "object" => spec.to_owned(),
            _ => flux(tool, spec),
        };
        let expected = expected.replace("finding", "conflicting-manager").replace("none", "");
        assert_eq!(beside(&object).concat(), expected, "{object}");
    }
}

/// `resource.customizations.ignoreDifferences` in `argocd-cm` applies to each Application that
/// respects ignored differences in a sync.
#[test]
fn fields_that_argo_cd_ignores_globally_are_not_reported() {
    let config = |name: &str, key: &str, rule: &str| {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: argocd}}\ndata:\n  resource.customizations.ignoreDifferences.{key}: |\n    {rule}\n"
        )
    };
    let replicas = "jsonPointers: [/spec/replicas]";
    let destination = "destination: {namespace: default}";
    let respects = "destination: {namespace: default}, syncPolicy: {syncOptions: [RespectIgnoreDifferences=true]}";
    for (spec, name, key, rule, is_found) in [
        (respects, "argocd-cm", "apps_Deployment", replicas, false),
        (respects, "argocd-cm", "all", replicas, false),
        (
            respects,
            "argocd-cm",
            "all",
            "jqPathExpressions: [.spec.replicas]",
            false,
        ),
        (
            respects,
            "argocd-cm",
            "all",
            "managedFieldsManagers: [dayshift]",
            false,
        ),
        (respects, "argocd-cm", "apps_StatefulSet", replicas, true),
        (
            respects,
            "argocd-cm",
            "all",
            "jsonPointers: [/spec/paused]",
            true,
        ),
        (respects, "argocd-cm", "all", "[", true),
        (respects, "another", "all", replicas, true),
        // It hides the difference, but a sync still sets the count.
        (destination, "argocd-cm", "all", replicas, true),
    ] {
        let files = format!("{}\n{}", application(spec), config(name, key, rule));
        let expected: &[&str] = if is_found {
            &["conflicting-manager"]
        } else {
            &[]
        };
        assert_eq!(beside(&files), expected, "{files}");
    }
}

#[test]
fn workloads_without_count_or_schedule_have_no_conflicting_manager() {
    let application = application("destination: {namespace: default}");
    for text in [
        WEB.replace("spec: {replicas: 2}\n", "")
            .replace(", lint.dayshift/replicas-in-manifest: tried", ""),
        WEB.lines()
            .filter(|it| !it.contains("annotations"))
            .collect::<Vec<_>>()
            .join("\n")
            + "\n",
    ] {
        assert_eq!(found(&format!("{text}{application}")), [""; 0], "{text}");
    }
}

#[test]
fn finds_other_autoscalers() {
    let keda = |more: &str| {
        format!(
            "{{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {{name: so}}, spec: {{scaleTargetRef: {{name: web}}{more}}}}}"
        )
    };
    let rollout = |name: &str| {
        format!(
            "{{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {{name: ro}}, spec: {{workloadRef: {{apiVersion: apps/v1, kind: Deployment, name: {name}}}}}}}"
        )
    };
    assert_eq!(beside(&keda("")), ["autoscaler"]);
    assert_eq!(beside(&keda(", minReplicaCount: 2")), ["autoscaler"]);
    assert_eq!(beside(&rollout("web")), ["autoscaler"]);
    assert_eq!(beside(&rollout("other")), [""; 0]);
    let (_, out, _) = lint_of(&["-"], &format!("{WEB}{}", keda(", minReplicaCount: 2")));
    assert_contains!(
        out,
        "ScaledObject so raises Deployment default/web to 2 after each stop"
    );
    assert_contains!(out, "move the schedule to the ScaledObject");
}

/// The first three are named.
#[test]
fn reports_many_workloads_once() {
    let web: String = (0..5)
        .map(|at| WEB.replace("name: web", &format!("name: web-{at}")))
        .collect();
    let text = format!("{web}{}", application("destination: {namespace: default}"));
    let (status, out, _) = lint_of(&["-"], &text);
    assert_eq!(status, 1);
    let message = "Application default/shop reverts the count of default/web-0, default/web-1, default/web-2 and 2 more at each sync";
    assert_eq!(out.matches(message).count(), 1, "{out}");
    assert_contains!(
        out,
        "[RespectIgnoreDifferences=true], or leave the count out of the files"
    );
}

#[test]
fn plan_reports_conflicting_managers() {
    let text = format!("{WEB}{}", application("destination: {namespace: default}"));
    let ran = dayshift_with(
        &[],
        &["plan", "--from", "2026-11-20", "-o", "json", "-f", "-"],
        &text,
    );
    assert_eq!(ran.status, 0, "{}", ran.err);
    let output = "warning[conflicting-manager]: Application default/shop reverts the count of default/web at each sync\n";
    assert_starts_with!(ran.err, output);
    let help = "help: in the Application, set spec.ignoreDifferences";
    ran.assert_err(help);
    assert!(serde_json::from_str::<serde_json::Value>(&ran.out).is_ok());
}

/// The schedule of a Namespace keeps a 0 in a manifest, so there is no conflict.
#[test]
fn a_workload_kept_at_0_gets_no_autoscaler_finding() {
    let team = "\
apiVersion: v1
kind: Namespace
metadata: {name: default, annotations: {dayshift/hours: 'Mon-Fri 09:00-19:00'}}
---
";
    let web = |count: u32, annotations: &str| {
        format!(
            "{team}{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web, annotations: {{{annotations}}}}}, spec: {{replicas: {count}}}}}\n---\n"
        )
    };
    let hpa = "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, maxReplicas: 5}}";
    let rollout = "{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: ro}, spec: {workloadRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}";
    let keda = "{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {name: so}, spec: {scaleTargetRef: {name: web}}}";
    let moves = "move the schedule";
    let excludes = "write dayshift/exclude: \"true\" on the Deployment";
    let own = "dayshift/hours: '09:00-18:00'";
    for (count, annotations, beside, found, help) in [
        (0, "", hpa, false, ""),
        (0, "", rollout, false, ""),
        (0, "", keda, true, excludes),
        (2, "", rollout, true, excludes),
        (2, "", hpa, true, "dayshift/replicas: \"1\""),
        (0, own, rollout, true, moves),
        (0, own, hpa, true, "dayshift/replicas: \"1\""),
    ] {
        let (_, out, _) = lint_of(&["-"], &(web(count, annotations) + beside));
        assert_eq!(
            out.contains("warning[autoscaler]"),
            found,
            "{count} {annotations}: {out}"
        );
        assert!(out.contains(help), "{count} {annotations}: {out}");
        assert!(help == moves || !out.contains(moves), "{out}");
        if count == 0 && annotations.is_empty() {
            assert_lacks!(out, "dayshift/replicas: ");
        }
    }
}
