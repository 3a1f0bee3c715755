//! For other programs, which may rely on it.

use dayshift_manifest::{
    OpenError, Severity, SourceFile,
    lint::{LintFinding, LintReport},
};
use serde_json::{Value, json};

use crate::cli::output::{findings::region::Region, unread};

/// The report as JSON.
pub(crate) fn document(report: &LintReport, sources: &[SourceFile], errors: &[OpenError]) -> Value {
    let finding = |it: &LintFinding| {
        let (source, region) = Region::of(it, sources)?;
        Some(json!({
            "rule": it.rule.id(),
            "severity": it.rule.severity().to_string(),
            "message": it.message,
            "help": it.help,
            "place": {
                "file": source.name(),
                "line": region.line,
                "column": region.column,
                "endLine": region.line,
                "endColumn": region.end_column,
            },
            "object": it.object.as_ref().map(|object| json!({
                "kind": &*object.kind, "namespace": &*object.namespace, "name": &*object.name,
            })),
            "annotation": it.quoted.as_ref().map(|quoted| json!({
                "name": quoted.name,
                "text": quoted.text,
                "start": quoted.span.start,
                "end": quoted.span.end,
            })),
        }))
    };
    json!({
        "findings": report.findings.iter().filter_map(finding).collect::<Vec<_>>(),
        "unread": errors.iter().map(unread::of_file).collect::<Vec<_>>(),
        "files": report.files,
        "workloads": report.workloads,
        "errors": report.count(Severity::Error),
        "warnings": report.count(Severity::Warning),
        "infos": report.count(Severity::Info),
        "suppressed": report.suppressed,
    })
}
