//! JUnit's XML, which most build servers read: a suite for each file, a case for each finding.

use std::io::{self, Write};

use super::{region::Region, text::printable};
use crate::{lint::Report, manifest::Source};

/// The report as XML. A file without a finding is a case that passes.
pub(in crate::cli) fn write(
    out: &mut impl Write,
    report: &Report,
    sources: &[Source],
) -> io::Result<()> {
    let failures = report.findings.len();
    let clean = |at: usize| report.findings.iter().all(|it| it.source != at);
    let passed = (0..sources.len()).filter(|at| clean(*at)).count();
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(
        out,
        "<testsuites name=\"dayshift lint\" tests=\"{}\" failures=\"{failures}\">",
        failures + passed
    )?;
    let mut findings = report.findings.iter().peekable();
    for (at, source) in sources.iter().enumerate() {
        let name = escaped(source.name());
        let mut cases = Vec::new();
        while let Some(finding) = findings.next_if(|it| it.source == at) {
            let region = Region::of(finding, source);
            let object = finding
                .object
                .as_ref()
                .map_or_else(String::new, ToString::to_string);
            cases.push(format!(
                "    <testcase classname=\"{name}\" name=\"{} {} line {}\">\n      \
                 <failure type=\"{}\" message=\"{}\">{name}:{}:{}: {}\n{}</failure>\n    </testcase>",
                finding.rule,
                escaped(&object),
                region.line,
                finding.rule.severity(),
                escaped(&finding.message),
                region.line,
                region.column,
                escaped(&finding.message),
                escaped(&finding.help),
            ));
        }
        let failures = cases.len();
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
