//! Manifests that the client of a test writes. Each call of kubectl needs 0.06 s of CPU time, so tests run it only for
//! its own behavior.

use std::path::Path;

use k8s_openapi::api::authorization::v1::SubjectAccessReview;
use kube::api::{Api, DynamicObject, PostParams};
use kube::core::GroupVersionKind;
use kube::discovery::{Scope, pinned_kind};
use kube::{Error, Resource as _};
use serde_json::{Value, json};

use super::control_plane::ControlPlane;
use super::namespace::Namespace;
use crate::support::blocking::block_on;

impl Namespace<'_> {
    /// Applies a manifest in JSON or YAML like `kubectl apply --server-side --force-conflicts`, in this Namespace if it
    /// specifies no other.
    pub(crate) fn apply(&self, manifest: &str) {
        self.plane().apply_in(self.name(), manifest);
    }

    /// Applies the manifest in a file of this repository.
    pub(crate) fn apply_file(&self, path: &str) {
        self.apply(&read_file(path));
    }

    /// Creates the objects of a manifest like `kubectl create`. Panics if one exists.
    pub(crate) fn create_all(&self, manifest: &str) {
        for document in documents(manifest) {
            let uri = Header::read(&document).uri(self.plane(), self.name());
            let uri = format!("{uri}?fieldManager=kubectl-create");
            self.plane()
                .send("POST", &uri, "application/yaml", document);
        }
    }

    /// Deletes the objects of a manifest, without waiting.
    pub(crate) fn remove_all(&self, manifest: &str) {
        for document in documents(manifest) {
            let header = Header::read(&document);
            let uri = header.uri(self.plane(), self.name());
            self.plane().remove(&format!("{uri}/{}", header.name));
        }
    }

    /// An object in this Namespace, such as `apis/apps/v1` and `deployments/web`. `None` if it does not exist.
    pub(crate) fn read(&self, api: &str, object: &str) -> Option<Value> {
        self.plane()
            .read(&format!("/{api}/namespaces/{}/{object}", self.name()))
    }

    /// Changes an object in this Namespace by a JSON merge patch.
    pub(crate) fn patch(&self, api: &str, object: &str, patch: &Value) {
        let uri = format!("/{api}/namespaces/{}/{object}", self.name());
        self.plane().patch(&uri, patch);
    }

    /// Changes annotations of this Namespace as `kubectl annotate` does: `key=value`, or `key-`.
    pub(crate) fn annotate_namespace(&self, changes: &[&str]) {
        let changes = changes.iter().map(|change| match change.split_once('=') {
            Some((key, value)) => (key.to_owned(), json!(value)),
            None => (change.trim_end_matches('-').to_owned(), Value::Null),
        });
        let changes = Value::Object(changes.collect());
        let uri = format!("/api/v1/namespaces/{}", self.name());
        self.plane()
            .patch(&uri, &json!({"metadata": {"annotations": changes}}));
    }

    /// Creates a ServiceAccount.
    pub(crate) fn create_account(&self, name: &str) {
        let account = json!({
            "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name},
        });
        self.create_all(&account.to_string());
    }

    /// Creates a Role with these rules, and binds it to a ServiceAccount of this Namespace.
    pub(crate) fn grant(&self, role: &str, account: &str, rules: &[Rule<'_>]) {
        self.create_all(&role_object("Role", role, rules).to_string());
        self.bind("Role", role, role, account);
    }

    /// Creates a ClusterRole with these rules, and binds it to a ServiceAccount of this Namespace in all Namespaces.
    pub(crate) fn grant_everywhere(&self, role: &str, account: &str, rules: &[Rule<'_>]) {
        self.create_all(&role_object("ClusterRole", role, rules).to_string());
        self.bind_everywhere(role, role, account);
    }

    /// Changes the rules of a Role.
    pub(crate) fn change_role(&self, role: &str, change: impl FnOnce(&mut Vec<Value>)) {
        let (api, role) = (format!("apis/{RBAC}"), format!("roles/{role}"));
        let mut object = self.read(&api, &role).unwrap();
        change(object["rules"].as_array_mut().unwrap());
        self.patch(&api, &role, &json!({"rules": object["rules"]}));
    }

    /// Binds a `Role` or `ClusterRole` to a ServiceAccount of this Namespace, in this Namespace.
    pub(crate) fn bind(&self, kind: &str, role: &str, binding: &str, account: &str) {
        self.create_binding("RoleBinding", binding, (kind, role), account);
    }

    /// Binds a ClusterRole to a ServiceAccount of this Namespace, in all Namespaces.
    pub(crate) fn bind_everywhere(&self, role: &str, binding: &str, account: &str) {
        self.create_binding(
            "ClusterRoleBinding",
            binding,
            ("ClusterRole", role),
            account,
        );
    }

    fn create_binding(&self, kind: &str, name: &str, role: (&str, &str), account: &str) {
        let binding = json!({
            "apiVersion": RBAC, "kind": kind, "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role.0, "name": role.1},
            "subjects": [
                {"kind": "ServiceAccount", "namespace": self.name(), "name": account},
            ],
        });
        self.create_all(&binding.to_string());
    }

    /// Like [`ControlPlane::can`], for a ServiceAccount of this Namespace, in this Namespace.
    pub(crate) fn can(&self, account: &str, verb: &str, resource: &str) -> bool {
        let account = (self.name(), account);
        self.plane().can(account, verb, resource, self.name())
    }
}

const RBAC: &str = "rbac.authorization.k8s.io/v1";

/// The verbs, and the resources with their group, such as `("get,list", "deployments.apps,configmaps")`. The third
/// element is the name of the only object, or empty.
pub(crate) type Rule<'a> = (&'a str, &'a str, &'a str);

fn role_object(kind: &str, name: &str, rules: &[Rule<'_>]) -> Value {
    let rules = rules.iter().flat_map(|(verbs, resources, object)| {
        resources.split(',').map(move |resource| {
            let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
            let (resource, group) = resource.split_once('.').unwrap_or((resource, ""));
            let resource = format!("{resource}/{subresource}");
            let names: Vec<_> = Some(*object)
                .filter(|it| !it.is_empty())
                .into_iter()
                .collect();
            json!({
                "apiGroups": [group],
                "resources": [resource.trim_end_matches('/')],
                "verbs": verbs.split(',').collect::<Vec<_>>(),
                "resourceNames": names,
            })
        })
    });
    json!({
        "apiVersion": RBAC, "kind": kind, "metadata": {"name": name},
        "rules": rules.collect::<Vec<_>>(),
    })
}

impl ControlPlane {
    /// Applies a manifest of cluster-wide objects, or of objects that specify their Namespace.
    pub(crate) fn apply(&self, manifest: &str) {
        self.apply_in("default", manifest);
    }

    /// Applies the manifest in a file of this repository.
    pub(crate) fn apply_file(&self, path: &str) {
        self.apply(&read_file(path));
    }

    fn apply_in(&self, namespace: &str, manifest: &str) {
        for document in documents(manifest) {
            let header = Header::read(&document);
            let uri = header.uri(self, namespace);
            let uri = format!("{uri}/{}?fieldManager=kubectl&force=true", header.name);
            self.send("PATCH", &uri, "application/apply-patch+yaml", document);
        }
    }

    /// Whether a ServiceAccount, of which this is the Namespace and the name, has a permission in a Namespace, for example
    /// to `get` the resource `deployments.apps/web`.
    pub(crate) fn can(
        &self,
        account: (&str, &str),
        verb: &str,
        resource: &str,
        namespace: &str,
    ) -> bool {
        let (resource, name) = resource.split_once('/').unwrap_or((resource, ""));
        let (resource, group) = resource.split_once('.').unwrap_or((resource, ""));
        let review = json!({"spec": {
            "user": format!("system:serviceaccount:{}:{}", account.0, account.1),
            "groups": [
                "system:serviceaccounts",
                format!("system:serviceaccounts:{}", account.0),
                "system:authenticated",
            ],
            "resourceAttributes": {
                "verb": verb, "group": group, "resource": resource, "name": name,
                "namespace": namespace,
            },
        }});
        let review: SubjectAccessReview = serde_json::from_value(review).unwrap();
        let reviews: Api<SubjectAccessReview> = Api::all(self.client().clone());
        let answer = block_on(reviews.create(&PostParams::default(), &review));
        answer.unwrap().status.unwrap().allowed
    }

    /// The JSON at a path, as admin. `None` if it does not exist.
    pub(crate) fn read(&self, uri: &str) -> Option<Value> {
        let request = http::Request::get(uri).body(Vec::new()).unwrap();
        match block_on(self.client().request(request)) {
            Ok(found) => Some(found),
            Err(Error::Api(status)) if status.code == 404 => None,
            Err(error) => panic!("{uri}: {error}"),
        }
    }

    /// Changes the object at a path by a JSON merge patch, as admin.
    pub(crate) fn patch(&self, uri: &str, patch: &Value) {
        self.send(
            "PATCH",
            uri,
            "application/merge-patch+json",
            patch.to_string(),
        );
    }

    /// Deletes the object at a path, as admin.
    pub(crate) fn remove(&self, uri: &str) {
        self.send("DELETE", uri, "application/json", String::new());
    }

    fn send(&self, method: &str, uri: &str, content_type: &str, body: String) {
        let answer = try_send(self.client(), method, uri, content_type, body);
        answer.unwrap_or_else(|error| panic!("{method} {uri}: {error}"));
    }
}

/// Changes the object at a path by a JSON merge patch, with this client. The error is the message of the server.
pub(crate) fn try_patch(client: &kube::Client, uri: &str, patch: &Value) -> Result<Value, String> {
    let patch = patch.to_string();
    try_send(client, "PATCH", uri, "application/merge-patch+json", patch)
}

/// Creates an object in the collection at a path, with this client. The error is the message of the server.
pub(crate) fn try_create(
    client: &kube::Client,
    uri: &str,
    object: &Value,
) -> Result<Value, String> {
    try_send(client, "POST", uri, "application/json", object.to_string())
}

fn try_send(
    client: &kube::Client,
    method: &str,
    uri: &str,
    content_type: &str,
    body: String,
) -> Result<Value, String> {
    let request = http::Request::builder()
        .method(method)
        .uri(uri)
        .header("content-type", content_type)
        .body(body.into_bytes())
        .unwrap();
    block_on(client.request(request)).map_err(|error| error.to_string())
}

fn read_file(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(path).unwrap()
}

/// The objects of a manifest: YAML documents, or an object or a `List` in JSON.
fn documents(manifest: &str) -> Vec<String> {
    match serde_json::from_str::<Value>(manifest) {
        Ok(object) => match object["items"].as_array() {
            Some(items) => items.iter().map(Value::to_string).collect(),
            None => vec![manifest.to_owned()],
        },
        Err(_) => {
            let documents = manifest.split("\n---\n");
            let has_object = |document: &&str| document.contains("kind: ");
            documents.filter(has_object).map(str::to_owned).collect()
        }
    }
}

/// The identity of an object.
struct Header {
    version: String,
    kind: String,
    namespace: Option<String>,
    name: String,
}

impl Header {
    /// Reads the identity of an object in JSON, or in YAML that is indented by two spaces, with `metadata` before other
    /// members that have a name.
    fn read(document: &str) -> Self {
        let json: Option<Value> = serde_json::from_str(document).ok();
        let find = |pointer: &str, line: &str| match &json {
            Some(object) => Some(object.pointer(pointer)?.as_str()?.to_owned()),
            None => document
                .lines()
                .find_map(|it| it.strip_prefix(line))
                .map(|text| text.trim_matches('"').to_owned()),
        };
        let required = |found: Option<String>| found.unwrap_or_else(|| panic!("{document}"));
        Self {
            version: required(find("/apiVersion", "apiVersion: ")),
            kind: required(find("/kind", "kind: ")),
            namespace: find("/metadata/namespace", "  namespace: "),
            name: required(find("/metadata/name", "  name: ")),
        }
    }

    /// The path of its collection, in this Namespace if it specifies no other.
    fn uri(&self, plane: &ControlPlane, namespace: &str) -> String {
        let (group, version) = self.version.split_once('/').unwrap_or(("", &self.version));
        let kind = GroupVersionKind::gvk(group, version, &self.kind);
        let (resource, capabilities) = block_on(pinned_kind(plane.client(), &kind)).unwrap();
        let namespace = self.namespace.as_deref().unwrap_or(namespace);
        let namespace = (capabilities.scope == Scope::Namespaced).then_some(namespace);
        DynamicObject::url_path(&resource, namespace)
    }
}
