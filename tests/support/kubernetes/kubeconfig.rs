//! Kubeconfig files: who a client is, and where the server is.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

/// Writes a kubeconfig for the bearer of `token`. `ca` is a PEM file. It is JSON, which is YAML.
pub(crate) fn write(path: &Path, url: &str, ca: &Path, token: &str) {
    write_for(path, &cluster(url, ca), &json!({"token": token}));
}

/// The same for the bearer of what a file holds, which may be written anew.
pub(crate) fn write_with_token_file(path: &Path, url: &str, ca: &Path, token_file: &Path) {
    write_for(path, &cluster(url, ca), &json!({"tokenFile": token_file}));
}

fn cluster(url: &str, ca: &Path) -> Value {
    json!({"server": url, "certificate-authority": ca})
}

/// The same, with what a kubeconfig says of the cluster and of the user.
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
