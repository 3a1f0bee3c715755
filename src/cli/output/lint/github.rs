//! Workflow commands, which GitHub shows beside the lines of a change.

use std::io::{self, Write};

use dayshift_manifest::{OpenError, Severity, SourceFile, lint::LintReport};

use crate::cli::output::findings::{region::Region, text::printable};

/// A line for each finding, and for what could not be read.
pub(crate) fn write(
    out: &mut impl Write,
    report: &LintReport,
    sources: &[SourceFile],
    errors: &[OpenError],
) -> io::Result<()> {
    for finding in &report.findings {
        let Some((source, region)) = Region::of(finding, sources) else {
            continue;
        };
        let object = finding
            .object
            .as_ref()
            .map_or_else(String::new, |it| format!(" ({it})"));
        writeln!(
            out,
            "::{} title={},file={},line={},col={},endLine={},endColumn={}::{}",
            level(finding.rule.severity()),
            finding.rule,
            property(source.name()),
            region.line,
            region.column,
            region.line,
            region.end_column,
            message(&format!("{}\n{}{object}", finding.message, finding.help)),
        )?;
    }
    for error in errors {
        let (file, text) = (property(error.name()), message(&error.to_string()));
        writeln!(out, "::error title=unread,file={file}::{text}")?;
    }
    Ok(())
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    }
}

/// Escaped as `@actions/core` does it, after what a terminal would obey is made visible.
fn message(text: &str) -> String {
    let lines = text.lines().map(printable).collect::<Vec<_>>().join("\n");
    lines.replace('%', "%25").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stays_within_its_command() {
        assert_eq!(message("100%\n::error::x"), "100%25%0A::error::x");
        assert_eq!(property("a:b,c"), "a%3Ab%2Cc");
    }
}
