//! The count that a manifest asks for.

use dayshift_text::quote;
use dayshift_workload::{CountForm, Kind, Replicas, Switch, SwitchConstant, SwitchValue};

use crate::manifest::tree::{location::Location, node::Node, parse::ParseError, scalar::Scalar};

/// The count of an object of this kind, and where it stands.
///
/// # Errors
/// Where something else stands there, which the API server would refuse.
pub(crate) fn count(
    kind: Kind,
    node: &Node<'_>,
) -> Result<Option<(Replicas, Location)>, ParseError> {
    let path = kind.path();
    let Some(field) = path.iter().try_fold(node, |it, name| it.get(name)) else {
        return Ok(None);
    };
    match kind.form() {
        CountForm::Number(_) => number(path, field),
        CountForm::Suspended => suspend(path, field),
        CountForm::RestsAt => Ok(Some((Replicas::ZERO, field.place.clone()))),
        CountForm::Switch(wanted) => switch(wanted, path, field),
    }
}

type Count = Option<(Replicas, Location)>;

fn number(path: &[&str], field: &Node<'_>) -> Result<Count, ParseError> {
    let count = match field.scalar() {
        Some(Scalar::Number(number)) => number.as_u64().and_then(|it| u32::try_from(it).ok()),
        _ => None,
    };
    match count.filter(|count| i32::try_from(*count).is_ok()) {
        Some(count) => Ok(Some((Replicas::new(count), field.place.clone()))),
        None => Err(not(path, field, "a whole number such as 3")),
    }
}

fn suspend(path: &[&str], field: &Node<'_>) -> Result<Count, ParseError> {
    match field.scalar() {
        Some(Scalar::Bool(is_suspended)) => {
            let count = Replicas::new(u32::from(!is_suspended));
            Ok(Some((count, field.place.clone())))
        }
        _ => Err(not(path, field, "true or false")),
    }
}

fn switch(switch: &Switch, path: &[&str], field: &Node<'_>) -> Result<Count, ParseError> {
    let value = match (field.scalar(), switch.stopped) {
        (Some(Scalar::Null), _) => return Ok(None),
        (Some(Scalar::Bool(flag)), SwitchConstant::Flag(_)) => SwitchValue::Flag(flag),
        (Some(Scalar::Text), SwitchConstant::Text(_) | SwitchConstant::Instant) => {
            SwitchValue::Text(field.written().unwrap_or_default().into())
        }
        _ => return Err(not(path, field, switch.wanted())),
    };
    let count = Replicas::new(u32::from(!switch.is_stopped(&value)));
    Ok(Some((count, field.place.clone())))
}

fn not(path: &[&str], field: &Node<'_>, wanted: &str) -> ParseError {
    let written = field.written().map(|it| format!("`{}`", quote(it)));
    let found = written.unwrap_or_else(|| field.what().to_owned());
    ParseError::at(
        &field.place,
        format!("{} is {found}, not {wanted}", path.join(".")),
    )
}
