//! Objects of any kind, as the API server sends them.

use http::Request;
use kube::{Client, Error};
use serde_json::Value;

use super::find::FindError;
use crate::cluster::connection::redact::{redacted, redacted_chain};

/// The result of a list.
#[derive(Clone, Debug)]
pub enum RawList {
    /// The objects.
    Items(Vec<Value>),
    /// The server has no such kind.
    Absent,
    /// The user may not list them; the words of the API server.
    Forbidden(String),
}

/// The objects of a collection such as `/apis/apps/v1/deployments`, in pages of 500.
///
/// # Errors
/// Where the server is absent or unwilling.
pub async fn list_raw(
    client: &Client,
    path: &str,
    selector: Option<&str>,
) -> Result<RawList, FindError> {
    let selector = selector.map(|it| ("labelSelector", it));
    list_raw_where(client, path, selector.as_slice()).await
}

/// The same with any parameters.
pub(super) async fn list_raw_where(
    client: &Client,
    path: &str,
    parameters: &[(&str, &str)],
) -> Result<RawList, FindError> {
    let mut all = Vec::new();
    let mut token = String::new();
    let mut limit = Some("500");
    loop {
        let query = {
            let mut query = form_urlencoded::Serializer::new(String::new());
            query.extend_pairs(limit.map(|it| ("limit", it)));
            query.extend_pairs(parameters);
            if !token.is_empty() {
                query.append_pair("continue", &token);
            }
            query.finish()
        };
        let mut page = match answer(client, &format!("{path}?{query}")).await {
            Ok(page) => page,
            Err(Error::Api(status)) if status.code == 404 => return Ok(RawList::Absent),
            Err(Error::Api(status)) if status.code == 403 => {
                return Ok(RawList::Forbidden(status.message));
            }
            // The server keeps the pages of a list for some minutes only: read all of it at once.
            Err(Error::Api(status)) if status.code == 410 && limit.is_some() => {
                all.clear();
                token.clear();
                limit = None;
                continue;
            }
            Err(error) => return Err(sort(error)),
        };
        if let Some(Value::Array(items)) = page.get_mut("items").map(Value::take) {
            all.extend(items);
        }
        match page["metadata"]["continue"].as_str() {
            Some(next) if !next.is_empty() => next.clone_into(&mut token),
            _ => return Ok(RawList::Items(all)),
        }
    }
}

/// One object, such as `/api/v1/namespaces/dev`; `None` if it does not exist.
///
/// # Errors
/// Where the server is absent or unwilling.
pub async fn get_raw(client: &Client, path: &str) -> Result<Option<Value>, FindError> {
    match answer(client, path).await {
        Ok(object) => Ok(Some(object)),
        Err(Error::Api(status)) if status.code == 404 => Ok(None),
        Err(error) => Err(sort(error)),
    }
}

async fn answer(client: &Client, path: &str) -> Result<Value, Error> {
    let request = Request::get(path)
        .body(Vec::new())
        .map_err(Error::HttpError)?;
    client.request(request).await
}

/// Why a request was not answered. The callers tell a missing object and a forbidden one apart
/// before.
pub(super) fn sort(error: Error) -> FindError {
    match error {
        Error::Api(status) if status.code == 401 => FindError::Unauthorized(status.message),
        Error::Api(status) => {
            let said = format!("{}: {}", status.code, status.message);
            if (400..500).contains(&status.code) && status.code != 429 {
                FindError::Refused(said)
            } else {
                FindError::Unavailable(said)
            }
        }
        Error::Auth(error) => FindError::Unauthorized(redacted(&error)),
        error => FindError::Unavailable(redacted_chain(&error)),
    }
}
