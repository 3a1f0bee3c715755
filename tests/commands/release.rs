//! The manifest for krew that `.ci/krew` writes, checked by the rules of krew, whose validator is
//! not available as a Go module.

use std::{fs, process::Command};

use crate::program::dayshift;

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn krew(directory: &str, repository: Option<&str>) -> std::process::Output {
    let mut command = Command::new(".ci/krew");
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .arg(directory);
    command.env_remove("KREW_REPOSITORY");
    if let Some(repository) = repository {
        command.env("KREW_REPOSITORY", repository);
    }
    command.output().unwrap()
}

/// The values of `key: ` in any line.
fn values<'m>(manifest: &'m str, key: &str) -> Vec<&'m str> {
    let lines = manifest
        .lines()
        .map(|line| line.trim_start_matches([' ', '-']));
    lines.filter_map(|line| line.strip_prefix(key)).collect()
}

#[test]
fn the_krew_manifest_lists_each_archive() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    for target in ["x86_64-unknown-linux-gnu", "aarch64-apple-darwin"] {
        let archive = format!("dayshift-{VERSION}-{target}.tar.gz");
        fs::write(directory.path().join(archive), target).unwrap();
    }
    let ran = krew(path, Some("https://example.com/team/dayshift"));
    assert!(ran.status.success(), "{ran:?}");
    let file = directory.path().join("dayshift.yaml");
    let manifest = fs::read_to_string(&file).unwrap();

    // The file is valid YAML, because lint would report errors.
    let linted = dayshift(&["lint", file.to_str().unwrap()]);
    assert_eq!(linted.status, 0, "{}{}", linted.out, linted.err);
    assert_eq!(values(&manifest, "version: "), [format!("v{VERSION}")]);
    assert_eq!(values(&manifest, "name: "), ["dayshift"]);
    let short = values(&manifest, "shortDescription: ")[0];
    assert!(short.len() <= 50 && !short.ends_with('.'), "{short}");
    assert_eq!(
        values(&manifest, "selector: "),
        [
            "{matchLabels: {os: linux, arch: amd64}}",
            "{matchLabels: {os: darwin, arch: arm64}}"
        ]
    );
    let place = format!("https://example.com/team/dayshift/releases/download/v{VERSION}/");
    let uris = values(&manifest, "uri: ");
    assert_eq!(uris.len(), 2);
    assert!(uris.iter().all(|uri| uri.starts_with(&place)), "{uris:?}");
    // The checksum of the first archive, as sha256sum prints it.
    let sums = values(&manifest, "sha256: ");
    assert_eq!(sums.len(), 2);
    let hex = |sum: &str| sum.len() == 64 && sum.bytes().all(|it| it.is_ascii_hexdigit());
    assert!(sums.iter().all(|sum| hex(sum)), "{sums:?}");
    assert_ne!(sums[0], sums[1]);
    assert_eq!(values(&manifest, "bin: "), ["dayshift", "dayshift"]);
}

#[test]
fn a_release_without_a_repository_is_an_error() {
    if include_str!("../../Cargo.toml").contains("\nrepository = ") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let ran = krew(directory.path().to_str().unwrap(), None);
    assert!(!ran.status.success());
    let message = String::from_utf8(ran.stderr).unwrap();
    assert_contains!(message, "Cargo.toml has no repository");
}
