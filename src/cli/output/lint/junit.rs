//! JUnit's XML, which most build servers read: a suite for each file, a case for each finding.

use std::io::{self, Write};

use dayshift_manifest::{
    OpenError, Severity, SourceFile,
    lint::{LintFinding, LintReport},
};

use crate::cli::output::findings::{region::Region, text::printable};

/// The report as XML. A file without a finding is a case that passes.
pub(crate) fn write(
    out: &mut impl Write,
    report: &LintReport,
    sources: &[SourceFile],
    errors: &[OpenError],
) -> io::Result<()> {
    let infos = report.count(Severity::Info);
    let failures = report.findings.len() - infos;
    let is_in = |it: &LintFinding, at: usize| it.place.as_ref().is_some_and(|it| it.0 == at);
    let clean = |at: &usize| !report.findings.iter().any(|it| is_in(it, *at));
    let passed = (0..sources.len()).filter(clean).count();
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(
        out,
        "<testsuites name=\"dayshift lint\" tests=\"{}\" failures=\"{failures}\" errors=\"{}\">",
        failures + infos + passed + errors.len(),
        errors.len()
    )?;
    let mut findings = report.findings.iter().peekable();
    for (at, source) in sources.iter().enumerate() {
        let name = escaped(source.name());
        let mut cases = Vec::new();
        let mut failures = 0;
        while let Some(finding) = findings.next_if(|it| is_in(it, at)) {
            let Some((_, region)) = Region::of(finding, sources) else {
                continue;
            };
            let object = finding
                .object
                .as_ref()
                .map_or_else(String::new, ToString::to_string);
            let severity = finding.rule.severity();
            if severity == Severity::Info {
                cases.push(format!(
                    "    <testcase classname=\"{name}\" name=\"{} {} line {}\">\n      \
                     <system-out>{name}:{}:{}: {}\n{}</system-out>\n    </testcase>",
                    finding.rule,
                    escaped(&object),
                    region.line,
                    region.line,
                    region.column,
                    escaped(&finding.message),
                    escaped(&finding.help),
                ));
                continue;
            }
            failures += 1;
            cases.push(format!(
                "    <testcase classname=\"{name}\" name=\"{} {} line {}\">\n      \
                 <failure type=\"{}\" message=\"{}\">{name}:{}:{}: {}\n{}</failure>\n    </testcase>",
                finding.rule,
                escaped(&object),
                region.line,
                severity,
                escaped(&finding.message),
                region.line,
                region.column,
                escaped(&finding.message),
                escaped(&finding.help),
            ));
        }
        if cases.is_empty() {
            cases.push(format!(
                "    <testcase classname=\"{name}\" name=\"lint\"/>"
            ));
        }
        writeln!(
            out,
            "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{failures}\">",
            cases.len()
        )?;
        for case in cases {
            writeln!(out, "{case}")?;
        }
        writeln!(out, "  </testsuite>")?;
    }
    for error in errors {
        let (name, text) = (escaped(error.name()), escaped(&error.to_string()));
        writeln!(
            out,
            "  <testsuite name=\"{name}\" tests=\"1\" failures=\"0\" errors=\"1\">\n    \
             <testcase classname=\"{name}\" name=\"read\">\n      \
             <error message=\"{text}\"/>\n    </testcase>\n  </testsuite>"
        )?;
    }
    writeln!(out, "</testsuites>")
}

/// XML has no way to write most control characters, so they are made visible first.
fn escaped(text: &str) -> String {
    printable(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}
