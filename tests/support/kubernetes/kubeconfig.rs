//! Kubeconfig files.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

/// Writes a kubeconfig with a token. `ca` is a PEM file. The file is JSON, which is valid YAML.
pub(crate) fn write(path: &Path, url: &str, ca: &Path, token: &str) {
    write_for(path, &cluster(url, ca), &json!({"token": token}));
}

/// Writes a kubeconfig that reads its token from a file, which can change.
pub(crate) fn write_with_token_file(path: &Path, url: &str, ca: &Path, token_file: &Path) {
    write_for(path, &cluster(url, ca), &json!({"tokenFile": token_file}));
}

fn cluster(url: &str, ca: &Path) -> Value {
    json!({"server": url, "certificate-authority": ca})
}

/// Writes a kubeconfig with these sections for cluster and user.
pub(super) fn write_for(path: &Path, cluster: &Value, user: &Value) {
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "tests",
        "contexts": [{"name": "tests", "context": {"cluster": "tests", "user": "tests"}}],
        "clusters": [{"name": "tests", "cluster": cluster}],
        "users": [{"name": "tests", "user": user}],
    });
    fs::write(path, config.to_string()).unwrap();
}
