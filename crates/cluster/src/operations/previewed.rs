//! What somebody has been shown before they confirm it, and what must not have changed by then.

use std::collections::HashSet;

use dayshift_text::quote;
use dayshift_workload::{Annotations, Inputs, Key, Observed, Prefix, WorkloadRef};

use super::namespace_override::AnnotatedNamespace;

/// Something is not what was previewed any more, and what of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("changed since your preview: {0}")]
pub struct Changed(String);

/// Whether what a preview of an object rests on is the same now: which object it is, and the
/// annotations that are in force for it, wherever they are written.
///
/// # Errors
/// What has changed.
pub fn changed_since(before: &Observed, now: &Observed, prefix: &Prefix) -> Result<(), Changed> {
    if before.object.uid != now.object.uid {
        return Err(Changed("it is another object of that name".to_owned()));
    }
    if now.deleting && !before.deleting {
        return Err(Changed("it is being deleted".to_owned()));
    }
    let place = |inputs: &Inputs, key| {
        inputs
            .origin(key)
            .map(|it| (it, inputs.text(key).map(str::to_owned)))
    };
    let differs = |key: &Key| place(&before.inputs, *key) != place(&now.inputs, *key);
    told(
        Key::ALL.into_iter().filter(differs),
        |key| now.inputs.text(key),
        prefix,
    )
}

/// The same of the annotations of a Namespace, and of the workloads that an override of it reaches.
///
/// # Errors
/// What has changed.
pub(super) fn namespace_changed_since(
    before: &AnnotatedNamespace,
    now: &AnnotatedNamespace,
    prefix: &Prefix,
) -> Result<(), Changed> {
    let text = |of: &Annotations, key| of.text(key).map(str::to_owned);
    let differs = |key: &Key| text(&before.own, *key) != text(&now.own, *key);
    told(
        Key::ALL.into_iter().filter(differs),
        |key| now.own.text(key),
        prefix,
    )?;
    let (before, now) = (reached(before), reached(now));
    let difference = |one: &HashSet<&WorkloadRef>, other: &HashSet<&WorkloadRef>| {
        one.difference(other).map(ToString::to_string).min()
    };
    match (difference(&now, &before), difference(&before, &now)) {
        (Some(more), _) => Err(Changed(format!("it would reach {more} too"))),
        (None, Some(less)) => Err(Changed(format!("it would not reach {less} any more"))),
        (None, None) => Ok(()),
    }
}

fn reached(namespace: &AnnotatedNamespace) -> HashSet<&WorkloadRef> {
    namespace.affected.iter().map(|it| &it.object).collect()
}

fn told<'t>(
    keys: impl Iterator<Item = Key>,
    text: impl Fn(Key) -> Option<&'t str>,
    prefix: &Prefix,
) -> Result<(), Changed> {
    let texts: Vec<_> = keys
        .map(|key| {
            let is = text(key).map_or_else(|| "gone".to_owned(), quote);
            format!("{} is {is} now", prefix.annotation(key))
        })
        .collect();
    if texts.is_empty() {
        Ok(())
    } else {
        Err(Changed(texts.join(", ")))
    }
}
