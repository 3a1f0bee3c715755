//! The report for other programs.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::commands::command;
use crate::{
    convert::{Change, Conversion, Finding, Target},
    manifest::{Location, OpenError, Source},
};

/// All changes and findings, with their places. Each is made when it is written: there may be
/// thousands. Fields stand in the order of their names, as in every report.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct Report<'r> {
    pub(in crate::cli) conversion: &'r Conversion,
    pub(in crate::cli) sources: &'r [Source],
    pub(in crate::cli) errors: &'r [OpenError],
}

impl Serialize for Report<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields<C, F> {
            changes: C,
            findings: F,
            unread: Vec<String>,
        }
        let Self {
            conversion,
            sources,
            errors,
        } = *self;
        let fields = Fields {
            changes: Each(|| conversion.changes.iter().map(|it| of_change(it, sources))),
            findings: Each(|| conversion.findings.iter().map(|it| of_finding(it, sources))),
            unread: errors.iter().map(ToString::to_string).collect(),
        };
        fields.serialize(serializer)
    }
}

/// A list of what is made when it is written.
struct Each<F>(F);

impl<I: Iterator<Item: Serialize>, F: Fn() -> I> Serialize for Each<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

#[derive(Serialize)]
struct ChangeReport<'r> {
    command: Option<String>,
    labels: BTreeMap<&'r str, &'r str>,
    object: TargetReport<'r>,
    place: Option<Place<'r>>,
    remove: &'r [String],
    set: BTreeMap<&'r str, &'r str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum TargetReport<'r> {
    #[serde(rename_all = "camelCase")]
    Object {
        api_version: &'r str,
        kind: &'r str,
        name: &'r str,
        namespace: &'r str,
    },
    #[serde(rename_all = "camelCase")]
    All {
        field_selector: Option<&'r str>,
        kinds: &'r str,
        namespace: &'r str,
        selector: Option<&'r str>,
    },
}

#[derive(Serialize)]
struct FindingReport<'r> {
    help: &'r str,
    id: &'static str,
    message: &'r str,
    object: Option<String>,
    place: Option<Place<'r>>,
    severity: String,
}

#[derive(Serialize)]
struct Place<'r> {
    column: usize,
    file: Option<&'r str>,
    line: usize,
}

fn of_change<'r>(change: &'r Change, sources: &'r [Source]) -> ChangeReport<'r> {
    let map = |pairs: &'r [(String, String)]| {
        let pairs = pairs.iter();
        pairs.map(|(name, text)| (&**name, &**text)).collect()
    };
    ChangeReport {
        command: command(change),
        labels: map(&change.labels),
        object: match &change.target {
            Target::Object(object) => TargetReport::Object {
                api_version: &object.api_version,
                kind: &object.kind,
                name: &object.name,
                namespace: &object.namespace,
            },
            Target::All {
                kinds,
                namespace,
                selector,
                field_selector,
            } => TargetReport::All {
                field_selector: field_selector.as_deref(),
                kinds,
                namespace,
                selector: selector.as_deref(),
            },
        },
        place: change.place.as_ref().map(|it| place(it, sources)),
        remove: &change.remove,
        set: map(&change.set),
    }
}

fn of_finding<'r>(finding: &'r Finding, sources: &'r [Source]) -> FindingReport<'r> {
    FindingReport {
        help: &finding.help,
        id: finding.rule.id(),
        message: &finding.message,
        object: finding.object.as_ref().map(ToString::to_string),
        place: finding.place.as_ref().map(|it| place(it, sources)),
        severity: finding.rule.severity().to_string(),
    }
}

fn place<'r>((source, location): &(usize, Location), sources: &'r [Source]) -> Place<'r> {
    Place {
        column: location.column,
        file: sources.get(*source).map(Source::name),
        line: location.line,
    }
}
