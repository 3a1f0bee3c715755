//! What the shipped manifests have in common, and with the package.

const CLUSTER: &str = include_str!("../../manifests/dayshift.yaml");
const NAMESPACED: &str = include_str!("../../manifests/namespaced.yaml");

const NAMESPACES_RULE: &str = r#"  # Their annotations are defaults for what is in them; nothing is written there.
  - apiGroups: [""]
    resources: ["namespaces"]
    verbs: ["list", "watch"]
"#;

/// Two files that users read and apply as they are, so no generator; this keeps them together.
#[test]
fn the_manifests_differ_in_the_reach_of_their_role_and_in_nothing_else() {
    let (_head_and_namespace, rest) = CLUSTER.split_once("---\n").unwrap();
    let expected: String = rest
        .replace("kind: ClusterRole", "kind: Role")
        // A Role cannot allow anything about Namespaces.
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
        assert!(manifest.contains(image), "{image}");
    }
}
