//! Findings in files, printed as compilers do: the line, and carets under the faulty part.

use std::{
    collections::HashMap,
    io::{self, Write},
};

use dayshift_manifest::{Finding, Location, Quoted, Rule, Severity, SourceFile};
use dayshift_text::{counted, cut_bytes, cut_chars, last_bytes};
use unicode_width::UnicodeWidthChar;

use crate::cli::output::terminal::{self, Paint, Style};

/// In characters.
const MAX_SHOWN: usize = 100;

pub(crate) fn has_errors<R: Rule>(findings: &[Finding<R>]) -> bool {
    let mut findings = findings.iter();
    findings.any(|finding| finding.rule.severity() == Severity::Error)
}

/// Findings with the same message are shown once, because a directory of manifests can have
/// hundreds of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fold {
    /// The most severe findings that are folded.
    pub(crate) from: Severity,
    /// How to list all of them.
    pub(crate) hint: &'static str,
}

/// Writes findings to standard error.
pub(crate) fn print_findings<R: Rule>(findings: &[Finding<R>], sources: &[SourceFile]) {
    let stderr = io::stderr();
    let style = terminal::style(&stderr);
    // Errors are ignored, because there is no reader.
    let fold = Fold {
        from: Severity::Info,
        hint: "dayshift lint -o json lists each",
    };
    let _ = write_findings(&mut stderr.lock(), findings, sources, Some(fold), style);
}

/// Writes each finding. Findings with the same message are folded if `fold` is set.
pub(crate) fn write_findings<R: Rule>(
    out: &mut impl Write,
    findings: &[Finding<R>],
    sources: &[SourceFile],
    fold: Option<Fold>,
    style: Style,
) -> io::Result<()> {
    let mut shown: Vec<(&Finding<R>, usize)> = Vec::with_capacity(findings.len());
    let mut firsts = HashMap::new();
    for finding in findings {
        if fold.is_some_and(|fold| finding.rule.severity() >= fold.from) {
            let first = firsts.entry((finding.rule, &*finding.message));
            let first = *first.or_insert(shown.len());
            if let Some((_, more)) = shown.get_mut(first) {
                *more += 1;
                continue;
            }
        }
        shown.push((finding, 0));
    }
    for (finding, more) in shown {
        let more = fold.filter(|_| more > 0).map(|fold| (more, fold.hint));
        write_finding(out, finding, more, sources, style)?;
    }
    Ok(())
}

/// Writes one finding, and the number of other findings with the same message.
fn write_finding<R: Rule>(
    out: &mut impl Write,
    finding: &Finding<R>,
    more: Option<(usize, &str)>,
    sources: &[SourceFile],
    style: Style,
) -> io::Result<()> {
    let severity = finding.rule.severity();
    let paint = match severity {
        Severity::Error => Paint::Red,
        Severity::Warning => Paint::Yellow,
        Severity::Info => Paint::Blue,
    };
    let title = style.paint(paint, &format!("{severity}[{}]", finding.rule.id()));
    let message = format!(": {}", printable_line(&finding.message));
    let message = style.paint(Paint::Bold, &message);
    writeln!(out, "{title}{message}")?;
    let gutter = match Region::locate(finding, sources) {
        Some((source, region)) => located(out, source, &region, paint, style)?,
        None => " ".to_owned(),
    };
    let margin = format!("{gutter} {}", style.paint(Paint::Blue, "="));
    let cut = style.either("…", "...");
    if let Some(quoted) = finding.quoted.as_ref().filter(|quoted| !quoted.verbatim) {
        let (before, fault, after) = decoded(quoted, cut);
        writeln!(out, "{margin} text: {before}{fault}{after}")?;
        let carets = carets(&before, &fault, paint, style);
        writeln!(out, "{gutter}         {carets}")?;
    }
    writeln!(out, "{margin} help: {}", printable_line(&finding.help))?;
    if let Some(object) = &finding.object {
        writeln!(out, "{margin} in: {}", printable_line(&object.to_string()))?;
    }
    if let Some((more, hint)) = more {
        let what = match finding.object {
            Some(_) => "more object",
            None => "more place",
        };
        let what = counted(more, what);
        writeln!(out, "{margin} and: {what}; {hint}")?;
    }
    writeln!(out)
}

/// Writes the position and the line with carets below the faulty part. Returns spaces as wide as
/// the line number.
fn located(
    out: &mut impl Write,
    source: &SourceFile,
    region: &Region<'_>,
    paint: Paint,
    style: Style,
) -> io::Result<String> {
    let gutter = " ".repeat(region.line.to_string().len());
    let bar = style.paint(Paint::Blue, "|");
    writeln!(
        out,
        "{gutter}{} {}:{}:{}",
        style.paint(Paint::Blue, "-->"),
        printable_line(source.name()),
        region.line,
        region.column
    )?;
    writeln!(out, "{gutter} {bar}")?;
    let cut = style.either("…", "...");
    let fault = printable_up_to(region.fault, cut);
    let cut_if = |is_cut| if is_cut { cut } else { "" };
    let before = cut_if(region.cut_before).to_owned() + &printable_line(region.before);
    let after = printable_line(region.after) + cut_if(region.cut_after);
    let number = style.paint(Paint::Blue, &region.line.to_string());
    let line = format!("{before}{fault}{after}");
    writeln!(out, "{number} {bar} {}", line.trim_end())?;
    let carets = carets(&before, &fault, paint, style);
    writeln!(out, "{gutter} {bar} {carets}")?;
    Ok(gutter)
}

/// Carets below the faulty part of a line.
fn carets(before: &str, fault: &str, paint: Paint, style: Style) -> String {
    let carets = "^".repeat(width(fault).max(1));
    " ".repeat(width(before)) + &style.paint(paint, &carets)
}

/// The decoded text, split before and after the faulty part.
fn decoded(quoted: &Quoted, cut: &str) -> (String, String, String) {
    let part = |range| quoted.text.get(range).unwrap_or_default();
    let before: Vec<char> = part(0..quoted.span.start).chars().collect();
    let near: String = before[before.len().saturating_sub(MAX_SHOWN)..]
        .iter()
        .collect();
    let begin = if before.len() > MAX_SHOWN { cut } else { "" };
    (
        format!("{begin}{}", printable_line(&near)),
        printable_up_to(part(quoted.span.clone()), cut),
        printable_up_to(part(quoted.span.end..quoted.text.len()), cut),
    )
}

/// The text with control and bidirectional characters escaped and tabs expanded.
pub(crate) fn printable_line(text: &str) -> String {
    dayshift_text::printable(&text.replace('\t', "    "))
}

/// Shortens a text to [`MAX_SHOWN`] characters.
fn printable_up_to(text: &str, cut: &str) -> String {
    let shown = cut_chars(text, MAX_SHOWN);
    let cut = if shown.len() < text.len() { cut } else { "" };
    format!("{}{cut}", printable_line(shown))
}

fn width(shown: &str) -> usize {
    let widths = shown.chars().map(UnicodeWidthChar::width);
    widths.map(Option::unwrap_or_default).sum()
}

/// The faulty part of the first line of a finding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region<'s> {
    pub(crate) line: usize,
    /// From 1, in characters.
    pub(crate) column: usize,
    pub(crate) end_column: usize,
    /// The end of the text before it on the line.
    pub(crate) before: &'s str,
    pub(crate) fault: &'s str,
    /// The beginning of the text after it on the line.
    pub(crate) after: &'s str,
    pub(crate) cut_before: bool,
    pub(crate) cut_after: bool,
}

/// The bytes shown on each side, because a whole file can be one line.
const AROUND: usize = 90;

impl<'s> Region<'s> {
    /// The source and the region of a finding, or `None` if it is not about a file.
    pub(crate) fn locate<R>(
        finding: &Finding<R>,
        sources: &'s [SourceFile],
    ) -> Option<(&'s SourceFile, Self)> {
        let (source, place) = finding.place.as_ref()?;
        let source = sources.get(*source)?;
        Some((source, Self::at(place, source)))
    }

    fn at(place: &Location, source: &'s SourceFile) -> Self {
        let text = source.text();
        let parts = text.split_at_checked(place.span.start);
        let (head, rest) = parts.unwrap_or((text, ""));
        let length = place.span.end.saturating_sub(place.span.start);
        let fault = first_line(rest.get(..length).unwrap_or(rest));
        let near = last_bytes(head, AROUND);
        let before = near.rsplit('\n').next().unwrap_or_default();
        // One more character shows whether the text was cut.
        let more = rest.get(fault.len()..).unwrap_or_default();
        let more = first_line(cut_bytes(more, AROUND + 4));
        let after = cut_bytes(more, AROUND);
        Self {
            line: place.line,
            column: place.column,
            end_column: place.column + fault.chars().count(),
            before,
            fault,
            after,
            cut_before: before.len() == near.len() && near.len() < head.len(),
            cut_after: after.len() < more.len(),
        }
    }
}

fn first_line(text: &str) -> &str {
    let line = text.split('\n').next().unwrap_or_default();
    line.trim_end_matches('\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_control_characters() {
        assert_eq!(
            printable_line("a\tb\u{1b}[31m\u{202e}\u{9b}é"),
            "a    b\\u{1b}[31m\\u{202e}\\u{9b}é"
        );
        assert_eq!((width("日本"), width("é")), (4, 1));
    }

    #[test]
    fn cuts_long_text_with_an_ellipsis() {
        let long = "é".repeat(MAX_SHOWN);
        assert_eq!(printable_up_to(&long, "…"), long);
        for cut in ["…", "..."] {
            let shown = printable_up_to(&format!("{long}x"), cut);
            assert_eq!(shown, format!("{long}{cut}"));
        }
    }
}
