//! The shipped manifests are consistent with each other and with the package.
#![allow(clippy::unwrap_used)]

use std::{fs, path::Path};

const CLUSTER: &str = include_str!("../../manifests/dayshift.yaml");
const NAMESPACED: &str = include_str!("../../manifests/namespaced.yaml");

const NAMESPACES_RULE: &str = r#"  # dayshift reads Namespaces because their annotations are defaults for workloads. It never writes to them.
  - apiGroups: [""]
    resources: ["namespaces"]
    verbs: ["list", "watch"]
"#;

/// Users read and apply the two files, so they are not generated. This test keeps them consistent.
#[test]
fn the_manifests_differ_only_in_their_role() {
    let (_head_and_namespace, rest) = CLUSTER.split_once("---\n").unwrap();
    // Admission policies are cluster-wide.
    let (rest, _policies) = rest.split_once("---\n# Restricts this").unwrap();
    let expected: String = rest
        .replace("kind: ClusterRole", "kind: Role")
        // A Role cannot grant permissions for Namespaces.
        .replace(NAMESPACES_RULE, "")
        .replace(
            r#"["run"]"#,
            r#"["run", "--namespace", "$(DAYSHIFT_POD_NAMESPACE)", "--namespace-defaults=false"]"#,
        )
        .split_inclusive('\n')
        .filter(|line| line.trim() != "namespace: dayshift")
        .collect();
    let head = NAMESPACED.find("apiVersion").unwrap();
    assert_eq!(&NAMESPACED[head..], expected);
}

#[test]
fn the_image_has_the_version_of_the_package() {
    let image = concat!("image: dayshift:", env!("CARGO_PKG_VERSION"), "\n");
    for manifest in [CLUSTER, NAMESPACED] {
        assert_contains!(manifest, image);
    }
}

/// Each patch that mounts a ConfigMap fits the Deployment, and its page has the commands.
#[test]
fn the_patches_of_the_deployment_mount_their_volumes() {
    for (name, text, variable, page) in [
        (
            "calendar.yaml",
            include_str!("../../manifests/calendar.yaml"),
            "DAYSHIFT_CALENDAR",
            include_str!("../../docs/guides/holidays.md"),
        ),
        (
            "schedules.yaml",
            include_str!("../../manifests/schedules.yaml"),
            "DAYSHIFT_SCHEDULES",
            include_str!("../../docs/guides/named-schedules.md"),
        ),
    ] {
        patch_mounts_its_volume(name, text, variable, page);
    }
}

fn patch_mounts_its_volume(patch_name: &str, text: &str, variable_name: &str, page: &str) {
    use dayshift_manifest::SourceFile;
    use dayshift_workload::{KindTable, Prefix};
    use k8s_openapi::api::apps::v1::Deployment;

    let read = |text: &str| -> Deployment {
        let source = SourceFile::new("manifest", text.to_owned());
        let contents = source.contents(&Prefix::default(), "default", &KindTable::default());
        assert!(contents.errors.is_empty(), "{:?}", contents.errors);
        let manifests = source
            .manifests(&Prefix::default(), "default", &KindTable::default())
            .workloads;
        serde_json::from_value(manifests.into_iter().next().unwrap().1).unwrap()
    };
    // Fields that the API server requires in addition, which a patch does not need.
    let whole = text.replace(
        "spec:\n  template:\n",
        "spec:\n  selector: {}\n  template:\n",
    );
    let (patch, shipped) = (read(&whole), read(CLUSTER));
    assert_eq!(patch.metadata.name, shipped.metadata.name);
    let pod = |it: &Deployment| it.spec.clone().unwrap().template.spec.unwrap();
    let (patch, shipped) = (pod(&patch), pod(&shipped));
    let container = &patch.containers[0];
    assert_eq!(container.name, shipped.containers[0].name);
    let mount = &container.volume_mounts.as_ref().unwrap()[0];
    assert_eq!(mount.sub_path, None);
    let volume = &patch.volumes.as_ref().unwrap()[0];
    assert_eq!(volume.name, mount.name);
    let config_map = volume.config_map.as_ref().unwrap();
    assert_eq!(config_map.optional, Some(true));
    let name = &config_map.name;
    let variable = &container.env.as_ref().unwrap()[0];
    assert_eq!(variable.name, variable_name);
    let value = variable.value.as_ref().unwrap();
    let path = value.split_once('=').map_or(&**value, |(_, path)| path);
    let file = path
        .strip_prefix(&format!("{}/", mount.mount_path))
        .unwrap();
    // The command on the page creates that file.
    let create = format!("kubectl create configmap {name} -n dayshift --from-file={file}");
    assert!(page.contains(&create) && text.contains(&create), "{create}");
    let apply = format!(
        "kubectl patch deployment dayshift -n dayshift --patch-file manifests/{patch_name}"
    );
    assert!(page.contains(&apply) && text.contains(&apply), "{apply}");
}

/// The chart renders its own copies, with another ServiceAccount and possibly another prefix.
#[test]
fn the_chart_has_the_policies_of_the_activator() {
    let manifest = [
        include_str!("../../manifests/activator.yaml"),
        include_str!("../../manifests/policy/activator-namespaces.yaml"),
    ]
    .join("---\n");
    for (name, copy) in [
        (
            "namespaces",
            include_str!("../../charts/dayshift/files/policy/activator-namespaces.yaml"),
        ),
        (
            "slices",
            include_str!("../../charts/dayshift/files/policy/activator-slices.yaml"),
        ),
        (
            "addresses",
            include_str!("../../charts/dayshift/files/policy/activator-addresses.yaml"),
        ),
        (
            "families",
            include_str!("../../charts/dayshift/files/policy/activator-families.yaml"),
        ),
        (
            "events",
            include_str!("../../charts/dayshift/files/policy/activator-events.yaml"),
        ),
        (
            "owner",
            include_str!("../../charts/dayshift/files/policy/activator-owner.yaml"),
        ),
        (
            "wakes",
            include_str!("../../charts/dayshift/files/policy/activator-wakes.yaml"),
        ),
    ] {
        let policy = manifest.split("\n---\n").find(|it| {
            it.contains("kind: ValidatingAdmissionPolicy\n")
                && it.contains(&format!("  name: dayshift-activator-{name}\n"))
        });
        let (_, spec) = policy.unwrap().split_once("\nspec:\n").unwrap();
        let spec: String = spec
            .lines()
            .map(|line| line.strip_prefix("  ").unwrap_or(line).to_owned() + "\n")
            .collect();
        let account = "system:serviceaccount:dayshift:dayshift-activator";
        let (_comment, copy) = copy.split_once('\n').unwrap();
        assert_eq!(copy, spec.replace(account, "ACCOUNT"), "{name}");
    }
}

/// The checks of a team's ConfigMap are those of annotations, for keys without a prefix.
#[test]
fn policies_of_team_defaults_and_annotations_have_the_same_checks() {
    let checks = |policy: &str| {
        let (_, checks) = policy.split_once("\n  variables:\n").unwrap();
        let (checks, _binding) = checks.split_once("\n---\n").unwrap();
        checks.to_owned()
    };
    let expected = checks(include_str!("../../manifests/policy/texts.yaml"))
        .replacen("object.metadata.?annotations", "object.?data", 1)
        .replace("dayshift/", "")
        .replace("such annotation of dayshift", "such key of dayshift")
        .replace("an annotation of dayshift is longer", "a value is longer");
    let manifest = include_str!("../../manifests/policy/team-defaults.yaml");
    let found = checks(manifest);
    let binary = found.lines().filter(|line| line.contains("binaryData"));
    assert_eq!(binary.count(), 2);
    let found: Vec<_> = found
        .lines()
        .filter(|line| !line.contains("binaryData"))
        .collect();
    assert_eq!(found, expected.lines().collect::<Vec<_>>());
    // The chart has a copy.
    let copy = include_str!("../../charts/dayshift/files/policy/team-defaults.yaml");
    let (_, spec) = manifest.split_once("\nspec:\n").unwrap();
    let (spec, _binding) = spec.split_once("\n---\n").unwrap();
    let spec: String = spec
        .lines()
        .map(|line| line.strip_prefix("  ").unwrap_or(line).to_owned() + "\n")
        .collect();
    let (_comment, copy) = copy.split_once('\n').unwrap();
    assert_eq!(copy, spec);
}

/// The bundle contains the policy that restricts dayshift's own ServiceAccount.
#[test]
fn bundle_contains_the_policy_of_its_service_account() {
    let policy = include_str!("../../manifests/policy/scaler.yaml");
    let (_comment, policy) = policy.split_at(policy.find("apiVersion").unwrap());
    assert_ends_with!(CLUSTER, policy);
}

/// The values of a list that is written in one line, such as `resources: [pods, "nodes/*"]`.
fn list<'t>(line: &'t str, key: &str) -> Option<Vec<&'t str>> {
    let line = line.trim().trim_start_matches("- ");
    let inner = line.strip_prefix(key)?.trim().strip_prefix('[')?;
    let values = inner.strip_suffix(']')?.split(',');
    Some(values.map(|value| value.trim().trim_matches('"')).collect())
}

/// The groups and resources of each rule in a text. A rule begins with its groups.
fn rules(text: &str) -> Vec<(Vec<&str>, Vec<&str>, Vec<&str>)> {
    let mut rules = Vec::new();
    for line in text.lines() {
        if let Some(groups) = list(line, "apiGroups:") {
            rules.push((groups, Vec::new(), Vec::new()));
        }
        let Some((_, resources, verbs)) = rules.last_mut() else {
            continue;
        };
        if let Some(values) = list(line, "resources:") {
            *resources = values;
        }
        if let Some(values) = list(line, "verbs:") {
            *verbs = values;
        }
    }
    rules
}

/// The policy skips only resources that none of dayshift's roles permits to change.
#[test]
fn the_policy_of_its_service_account_skips_nothing_that_it_may_change() {
    let policy = include_str!("../../manifests/policy/scaler.yaml");
    let (_, excluded) = policy.split_once("excludeResourceRules:\n").unwrap();
    let (excluded, _) = excluded.split_once("matchConditions:\n").unwrap();
    let updates = excluded.matches("operations: [UPDATE]\n").count();
    let excluded = rules(excluded);
    assert_eq!((excluded.len(), updates), (2, 2));
    let is_excluded = |group: &str, resource: &str| {
        excluded.iter().any(|(groups, resources, _)| {
            groups.contains(&group)
                && resources.iter().any(|excluded| {
                    let whole = excluded.strip_suffix("/*").unwrap_or(excluded);
                    whole == "*" || resource == "*" || resource.split('/').next() == Some(whole)
                })
        })
    };
    assert!(is_excluded("coordination.k8s.io", "leases"));
    assert!(is_excluded("", "nodes/status"));
    let manifests = Path::new(env!("CARGO_MANIFEST_DIR")).join("manifests");
    let files = fs::read_dir(manifests.join("kinds")).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let optional = files.chain([manifests.join("team-defaults.yaml")]);
    let optional = optional.map(|path| fs::read_to_string(path).unwrap());
    let roles: Vec<_> = optional
        .chain([CLUSTER, NAMESPACED].map(str::to_owned))
        .collect();
    assert!(roles.len() > 7, "{} roles", roles.len());
    let mut changed = 0;
    for (groups, resources, verbs) in roles.iter().flat_map(|role| rules(role)) {
        if !verbs
            .iter()
            .any(|verb| ["*", "patch", "update"].contains(verb))
        {
            continue;
        }
        for group in groups {
            for resource in &resources {
                assert!(
                    !is_excluded(group, resource),
                    "{resource} of the group {group:?}"
                );
                changed += 1;
            }
        }
    }
    assert!(
        changed > 4,
        "{changed}: the rules of the roles were not found"
    );
}
