//! What a request's headers and body say, and which forms of them are taken.

use http::header::{CONTENT_TYPE, HeaderMap, USER_AGENT};
use serde_json::{Value, json};

use crate::cause::Cause;
use crate::objects::Resource;
use crate::request::Call;
use crate::status::Status;
use crate::write::PatchForm;

const OBJECT_TYPES: &str =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf";
const PATCH_TYPES: &str = "application/json-patch+json, application/merge-patch+json, \
                           application/strategic-merge-patch+json, application/apply-patch+yaml";
/// The server knows too little of a custom kind to merge its lists.
const CUSTOM_PATCH_TYPES: &str =
    "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";

/// The program's name: what stands before the slash in the User-Agent.
pub(super) fn agent<'a>(headers: &'a HeaderMap, who: &'a str) -> &'a str {
    let agent = headers
        .get(USER_AGENT)
        .and_then(|agent| agent.to_str().ok());
    agent
        .and_then(|agent| agent.split('/').next())
        .unwrap_or(who)
}

pub(super) fn content_type(headers: &HeaderMap) -> &str {
    let text = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    text.split(';').next().unwrap_or_default().trim()
}

pub(super) fn patch_form(
    resource: &Resource,
    content: &str,
    body: &[u8],
) -> Result<PatchForm, Status> {
    match content {
        "application/json-patch+json" => Ok(PatchForm::Json),
        "application/merge-patch+json" => Ok(PatchForm::Merge),
        "application/strategic-merge-patch+json" if resource.custom => {
            Err(Status::unsupported_media_type(CUSTOM_PATCH_TYPES))
        }
        "application/strategic-merge-patch+json" if is_plain(body) => Ok(PatchForm::Strategic),
        _ if content.split(',').any(is_patch_type) => {
            Err(Status::unsupported_media_type(PATCH_TYPES))
        }
        _ => Err(Status::unsupported_patch()),
    }
}

pub(super) fn is_patch_type(content: &str) -> bool {
    PATCH_TYPES.split(", ").any(|known| known == content)
}

/// Whether a strategic merge patch is no more than a merge patch: no lists, no directives.
pub(super) fn is_plain(body: &[u8]) -> bool {
    !body.contains(&b'[') && !body.windows(2).any(|pair| pair == b"\"$")
}

/// Whether nothing is to be stored: by the query or, of a deletion with options, by these.
pub(super) fn dry_run(call: &Call, options: &Value) -> Result<bool, Status> {
    let asked: Vec<&str> = match options {
        Value::Null => call.query.all("dryRun").collect(),
        options => {
            let asked = options["dryRun"].as_array().into_iter().flatten();
            asked.map(|it| it.as_str().unwrap_or_default()).collect()
        }
    };
    if asked.iter().all(|it| *it == "All") {
        return Ok(!asked.is_empty());
    }
    let kind = match call.verb {
        "create" => "CreateOptions",
        "update" => "UpdateOptions",
        "patch" => "PatchOptions",
        _ => "DeleteOptions",
    };
    let cause = Cause::not_supported("dryRun", &json!(asked).to_string(), &["All"]);
    Err(Status::invalid("meta.k8s.io", kind, "", vec![cause]))
}

pub(super) fn object(resource: &Resource, content: &str, body: &[u8]) -> Result<Value, Status> {
    if !matches!(content, "application/json" | "") {
        return Err(Status::unsupported_media_type(OBJECT_TYPES));
    }
    let not_an_object = || Status::bad_request(format!("the body is not a {}", resource.kind));
    let mut object: Value = serde_json::from_slice(body).map_err(|_| not_an_object())?;
    let Value::Object(members) = &mut object else {
        return Err(not_an_object());
    };
    let (kind, version) = (resource.kind, resource.api_version());
    let mut take = |key: &str, own: &str| {
        let given = members.remove(key);
        given
            .and_then(|given| given.as_str().map(str::to_owned))
            .filter(|given| resource.custom || !given.is_empty())
            .unwrap_or_else(|| own.to_owned())
    };
    let (given_kind, given_version) = (take("kind", kind), take("apiVersion", &version));
    if given_version != version {
        return Err(Status::bad_request(format!(
            "the API version in the data ({given_version}) does not match the expected API version ({version})"
        )));
    }
    if given_kind != kind && resource.custom {
        let cause = Cause::invalid(
            "kind",
            &format!("{given_kind:?}"),
            &format!("must be {kind}"),
        );
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        return Err(Status::invalid(
            resource.group,
            &given_kind,
            name,
            vec![cause],
        ));
    }
    if given_kind != kind {
        let short = resource.version;
        return Err(Status::bad_request(format!(
            "{given_kind} in version {short:?} cannot be handled as a {kind}: converting \
             ({short}.{given_kind}) to ({}.{kind}): unknown conversion",
            resource.group
        )));
    }
    Ok(object)
}
