//! The count that a manifest asks for.

use crate::manifest::tree::location::Location;
use crate::manifest::tree::node::Node;
use crate::manifest::tree::parse::ParseError;
use crate::manifest::tree::scalar::Scalar;
use crate::{
    text::quote,
    workload::{CountKind, Kind, PAUSED_REPLICAS, Replicas},
};

/// The count of an object of this kind, and where it stands.
///
/// # Errors
/// Where something else stands there, which the API server would refuse.
pub(in crate::manifest) fn count(
    kind: Kind,
    node: &Node<'_>,
) -> Result<Option<(Replicas, Location)>, ParseError> {
    let field = |name| node.get("spec")?.get(name);
    match kind.counts() {
        CountKind::Replicas => number("replicas", field("replicas")),
        CountKind::Minimum => number("minReplicas", field("minReplicas")),
        CountKind::Suspend => suspend(field("suspend")),
        CountKind::Pause => {
            let annotations = node.get("metadata").and_then(|it| it.get("annotations"));
            let paused = annotations.and_then(|it| it.get(PAUSED_REPLICAS));
            Ok(paused.map(|it| (Replicas::ZERO, it.place.clone())))
        }
    }
}

type Count = Option<(Replicas, Location)>;

fn number(name: &str, field: Option<&Node<'_>>) -> Result<Count, ParseError> {
    let Some(field) = field else {
        return Ok(None);
    };
    let count = match field.scalar() {
        Some(Scalar::Number(number)) => number.as_u64().and_then(|it| u32::try_from(it).ok()),
        _ => None,
    };
    match count.filter(|count| i32::try_from(*count).is_ok()) {
        Some(count) => Ok(Some((Replicas::new(count), field.place.clone()))),
        None => Err(not(name, field, "a whole number such as 3")),
    }
}

fn suspend(field: Option<&Node<'_>>) -> Result<Count, ParseError> {
    let Some(field) = field else {
        return Ok(None);
    };
    match field.scalar() {
        Some(Scalar::Bool(is_suspended)) => {
            let count = Replicas::new(u32::from(!is_suspended));
            Ok(Some((count, field.place.clone())))
        }
        _ => Err(not("suspend", field, "true or false")),
    }
}

fn not(name: &str, field: &Node<'_>, wanted: &str) -> ParseError {
    let written = field.written().map(|it| format!("`{}`", quote(it)));
    let found = written.unwrap_or_else(|| field.what().to_owned());
    ParseError::at(
        &field.place,
        format!("spec.{name} is {found}, not {wanted}"),
    )
}
