//! In which form an answer is wanted: whole objects, or their metadata alone.

use http::header::{ACCEPT, HeaderMap};

use crate::read::Form;
use crate::request::Call;
use crate::status::Status;

/// The media types of JSON that a client may name.
const JSON: [&str; 2] = ["application/json", "*/*"];
/// The group of the forms.
const META: &str = "meta.k8s.io";

/// The form of the answer to a call.
pub(super) fn form(headers: &HeaderMap, call: &Call) -> Result<Form, Status> {
    let collection = call.name.is_empty();
    let accept = headers.get(ACCEPT).map(|value| value.to_str());
    let Some(Ok(accept)) = accept else {
        return Ok(Form::Whole);
    };
    let mut clauses: Vec<_> = accept
        .split(',')
        .map(Clause::read)
        .filter(|clause| JSON.contains(&clause.media_type))
        .collect();
    if clauses.is_empty() {
        return Err(Status::not_acceptable(collection));
    }
    clauses.sort_by(|left, right| right.quality.total_cmp(&left.quality));
    let form = clauses.iter().find_map(Clause::form);
    let form = form.ok_or_else(Status::no_such_form)?;
    match (call.verb, form) {
        ("list", Form::Metadata(_)) => Err(Status::form_of_a_list(call.resource)),
        // A watch in the form of a list ends without a word.
        ("list" | "watch", _) => Ok(form),
        (_, Form::MetadataList(_)) => Err(Status::form_of_an_object(call.resource)),
        _ => Ok(form),
    }
}

/// One of the forms that a client takes.
struct Clause<'a> {
    media_type: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
    /// How much it is preferred, from 0 to 1.
    quality: f32,
}

impl<'a> Clause<'a> {
    fn read(text: &'a str) -> Self {
        let mut parts = text.split(';').map(str::trim);
        let media_type = parts.next().unwrap_or_default();
        let parameters: Vec<_> = parts.filter_map(|part| part.split_once('=')).collect();
        let quality = parameters.iter().find(|(key, _)| *key == "q");
        Self {
            media_type,
            quality: quality.map_or(1.0, |(_, text)| text.parse().unwrap_or(1.0)),
            parameters,
        }
    }

    fn form(&self) -> Option<Form> {
        let get = |wanted: &str| {
            let found = self.parameters.iter().find(|(key, _)| *key == wanted);
            found.map(|(_, value)| *value)
        };
        let version = match (get("g"), get("v")) {
            (None, None) if get("as").is_none() => return Some(Form::Whole),
            (Some(META), Some("v1")) => "v1",
            (Some(META), Some("v1beta1")) => "v1beta1",
            _ => return None,
        };
        match get("as") {
            Some("PartialObjectMetadata") => Some(Form::Metadata(version)),
            Some("PartialObjectMetadataList") => Some(Form::MetadataList(version)),
            _ => None,
        }
    }
}
