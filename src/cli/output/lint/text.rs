//! As compilers show it: the findings, and what they sum up to.

use std::io::{self, Write};

use dayshift_manifest::{Severity, SourceFile, lint::LintReport};
use dayshift_text::counted;

use crate::cli::output::{
    findings::{self, text::Fold},
    style::Style,
};

/// Writes a report, and what it sums up to.
pub(crate) fn write(
    out: &mut impl Write,
    report: &LintReport,
    sources: &[SourceFile],
    style: Style,
) -> io::Result<()> {
    let fold = Fold {
        from: Severity::Info,
        hint: "--output json lists each",
    };
    findings::text::write(out, &report.findings, sources, Some(fold), style)?;
    writeln!(out, "{}", summary(report))
}

fn summary(report: &LintReport) -> String {
    let suppressed = match report.suppressed {
        0 => String::new(),
        suppressed => format!(" ({suppressed} suppressed)"),
    };
    let infos = match report.count(Severity::Info) {
        0 => String::new(),
        infos => format!(", {}", counted(infos, "info")),
    };
    format!(
        "{}, {}{infos}{suppressed} in {} of {}",
        counted(report.count(Severity::Error), "error"),
        counted(report.count(Severity::Warning), "warning"),
        counted(report.workloads, "workload"),
        counted(report.files, "file")
    )
}
