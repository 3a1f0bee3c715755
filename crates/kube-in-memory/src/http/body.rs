//! What a request's headers and body say, and which forms of them are taken.

use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, USER_AGENT};
use serde_json::Value;

use crate::objects::Resource;
use crate::status::Status;
use crate::write::{PatchForm, go_error};

const OBJECT_TYPES: &str =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf";
const PATCH_TYPES: &str = "application/json-patch+json, application/merge-patch+json, \
                           application/strategic-merge-patch+json, application/apply-patch+yaml";
/// How much of a body that is no object an error shows.
const SUMMARY: usize = 30;

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

pub(super) fn accepts_json(headers: &HeaderMap) -> bool {
    let text = headers
        .get(ACCEPT)
        .and_then(|value| value.to_str().ok())
        .unwrap_or("*/*");
    let known = |kind: &str| matches!(kind.split(";q=").next(), Some("application/json" | "*/*"));
    text.split(',').any(|kind| known(kind.trim()))
}

pub(super) fn patch_form(content: &str, body: &[u8]) -> Result<PatchForm, Status> {
    match content {
        "application/json-patch+json" => Ok(PatchForm::Json),
        "application/merge-patch+json" => Ok(PatchForm::Merge),
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

pub(super) fn object(resource: &Resource, content: &str, body: &[u8]) -> Result<Value, Status> {
    if !matches!(content, "application/json" | "") {
        return Err(Status::unsupported_media_type(OBJECT_TYPES));
    }
    let unrecognized = |why: &str| {
        Status::bad_request(format!(
            "the object provided is unrecognized (must be of type {}): couldn't get version/kind; \
             json parse error: {why} ({})",
            resource.kind,
            summary(body)
        ))
    };
    let mut object: Value =
        serde_json::from_slice(body).map_err(|error| unrecognized(&go_error(&error)))?;
    let Value::Object(members) = &mut object else {
        return Err(unrecognized(
            r#"json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#,
        ));
    };
    let (kind, version) = (resource.kind, resource.api_version());
    let mut take = |key: &str, own: &str| {
        let given = members.remove(key);
        given
            .and_then(|given| given.as_str().map(str::to_owned))
            .unwrap_or_else(|| own.to_owned())
    };
    let (given_kind, given_version) = (take("kind", kind), take("apiVersion", &version));
    if given_version != version {
        return Err(Status::bad_request(format!(
            "the API version in the data ({given_version}) does not match the expected API version ({version})"
        )));
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

/// What is shown of a body that is no object.
pub(super) fn summary(body: &[u8]) -> String {
    let more = if body.len() > SUMMARY { " ..." } else { "" };
    let head = &body[..body.len().min(SUMMARY)];
    match head.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => format!("{}{more}", String::from_utf8_lossy(head)),
        Some(_) => {
            let hex: String = head.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{hex}{more}")
        }
    }
}
