//! Findings as `dayshift lint` shows them, and what was changed.

use std::{
    collections::HashMap,
    io::{self, Write},
};

use super::commands::command;
use crate::{
    cli::output::{
        lint::text::{footed, headed, located, printable},
        style::{Paint, Style},
    },
    convert::{Change, Conversion, Finding, Severity, Target},
    manifest::Source,
    text::counted,
};

/// Writes what there is to say, the commands for what is not among the files, and a summary.
pub(in crate::cli) fn write_findings(
    out: &mut impl Write,
    conversion: &Conversion,
    sources: &[Source],
    style: Style,
) -> io::Result<()> {
    for (finding, more) in folded(&conversion.findings) {
        let source = finding.place.as_ref().and_then(|it| sources.get(it.0));
        one(out, finding, more, source, style)?;
    }
    let elsewhere: Vec<_> = conversion
        .changes
        .iter()
        .filter(|it| it.place.is_none())
        .collect();
    if !elsewhere.is_empty() && !sources.is_empty() {
        writeln!(out, "What is not among the files:")?;
        for change in elsewhere {
            writeln!(out, "  {}", printable(&command(change)))?;
        }
        writeln!(out)?;
    }
    writeln!(out, "{}", summary(conversion))
}

/// The findings, each with how many more it stands for: what is said in the same words of many
/// objects is said once.
fn folded(findings: &[Finding]) -> Vec<(&Finding, usize)> {
    let mut shown: Vec<(&Finding, usize)> = Vec::with_capacity(findings.len());
    let mut firsts = HashMap::new();
    for finding in findings {
        let first = *firsts
            .entry((finding.topic, &*finding.message))
            .or_insert(shown.len());
        match shown.get_mut(first) {
            Some((_, more)) if finding.topic.severity() != Severity::Error => *more += 1,
            _ => shown.push((finding, 0)),
        }
    }
    shown
}

fn one(
    out: &mut impl Write,
    finding: &Finding,
    more: usize,
    source: Option<&Source>,
    style: Style,
) -> io::Result<()> {
    let severity = finding.topic.severity();
    let paint = match severity {
        Severity::Error => Paint::Red,
        Severity::Warning => Paint::Yellow,
        Severity::Note => Paint::Blue,
    };
    let title = format!("{severity}[{}]", finding.topic.id());
    let place = finding.place.as_ref().map(|it| &it.1).zip(source);
    let gutter = headed(
        out,
        &title,
        &finding.message,
        paint,
        style,
        |out| match place {
            Some((place, source)) => located(out, place, source, paint, style),
            None => Ok(" ".to_owned()),
        },
    )?;
    let sign = style.paint(Paint::Blue, "=");
    let object = finding.object.as_ref().map(ToString::to_string);
    let margin = format!("{gutter} {sign}");
    footed(out, &margin, &finding.help, object, more, "more object")
}

/// Writes each change in a line, and what comes and goes below.
pub(in crate::cli) fn write_changes(
    out: &mut impl Write,
    conversion: &Conversion,
    sources: &[Source],
    style: Style,
) -> io::Result<()> {
    for change in &conversion.changes {
        let Some((at, place)) = &change.place else {
            continue;
        };
        let name = sources.get(*at).map_or("", Source::name);
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

fn name_of(change: &Change) -> String {
    match &change.target {
        Target::Object(object) => object.to_string(),
        Target::All {
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
        count(Severity::Note, "note")
    )
}
