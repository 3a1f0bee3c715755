//! Kubeconfig files: who a client is, and where the server is.

use std::fs;
use std::path::Path;

use serde_json::json;

/// Writes a kubeconfig for the bearer of `token`. `ca` is a PEM file. It is JSON, which is YAML.
pub(crate) fn write(path: &Path, url: &str, ca: &Path, token: &str) {
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "tests",
        "contexts": [{"name": "tests", "context": {"cluster": "tests", "user": "tests"}}],
        "clusters": [{
            "name": "tests",
            "cluster": {"server": url, "certificate-authority": ca},
        }],
        "users": [{"name": "tests", "user": {"token": token}}],
    });
    fs::write(path, config.to_string()).unwrap();
}
