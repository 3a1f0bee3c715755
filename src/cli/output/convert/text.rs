//! Findings as `dayshift lint` shows them, and what was changed.

use std::io::{self, Write};

use dayshift_manifest::{
    Severity, SourceFile,
    convert::{ChangeTarget, Conversion, ObjectChange},
};
use dayshift_text::counted;

use super::commands::command;
use crate::cli::output::{
    findings::{
        self,
        text::{Fold, printable},
    },
    style::{Paint, Style},
};

/// Writes what there is to say, the commands for what is not among the files, and a summary. Where `is_check`
/// nothing is folded.
pub(crate) fn write_findings(
    out: &mut impl Write,
    conversion: &Conversion,
    sources: &[SourceFile],
    is_check: bool,
    style: Style,
) -> io::Result<()> {
    let fold = Fold {
        from: Severity::Warning,
        hint: "--check lists each",
    };
    let fold = (!is_check).then_some(fold);
    findings::text::write(out, &conversion.findings, sources, fold, style)?;
    let elsewhere = conversion.changes.iter().filter(|it| it.place.is_none());
    let elsewhere: Vec<_> = elsewhere.filter_map(command).collect();
    if !elsewhere.is_empty() && !sources.is_empty() {
        writeln!(out, "What is not among the files:")?;
        for command in elsewhere {
            writeln!(out, "  {}", printable(&command))?;
        }
        writeln!(out)?;
    }
    writeln!(out, "{}", summary(conversion))
}

/// Writes each change in a line, and what comes and goes below.
pub(crate) fn write_changes(
    out: &mut impl Write,
    conversion: &Conversion,
    sources: &[SourceFile],
    style: Style,
) -> io::Result<()> {
    for change in &conversion.changes {
        let Some((at, place)) = &change.place else {
            continue;
        };
        let name = sources.get(*at).map_or("", SourceFile::name);
        let place = format!("{}:{}:{}", printable(name), place.line, place.column);
        writeln!(
            out,
            "{}: {}",
            style.paint(Paint::Bold, &place),
            printable(&name_of(change))
        )?;
        let line = |sign: &str, paint, name: &str, text: &str| {
            style.paint(paint, &printable(&format!("  {sign} {name}{text}")))
        };
        for name in &change.remove {
            writeln!(out, "{}", line("-", Paint::Red, name, ""))?;
        }
        for (name, text) in &change.set {
            writeln!(
                out,
                "{}",
                line("+", Paint::Green, name, &format!(": \"{text}\""))
            )?;
        }
        for (name, text) in &change.labels {
            let text = format!(": \"{text}\" (a label)");
            writeln!(out, "{}", line("+", Paint::Green, name, &text))?;
        }
    }
    Ok(())
}

fn name_of(change: &ObjectChange) -> String {
    match &change.target {
        ChangeTarget::Object(object) => object.to_string(),
        ChangeTarget::All {
            kinds, namespace, ..
        } => format!("{kinds} of {namespace}"),
    }
}

fn summary(conversion: &Conversion) -> String {
    let count = |severity, what| counted(conversion.count(severity), what);
    let errors = match conversion.count(Severity::Error) {
        0 => String::new(),
        errors => format!(", {}", counted(errors, "error")),
    };
    format!(
        "{} to convert{errors}, {}, {}",
        counted(conversion.changes.len(), "object"),
        count(Severity::Warning, "warning"),
        count(Severity::Info, "info")
    )
}
