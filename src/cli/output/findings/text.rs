//! As compilers show it: the line, and a caret under the part at fault.

use std::{
    collections::HashMap,
    io::{self, Write},
};

use dayshift_manifest::{Finding, Quoted, Rule, Severity, SourceFile};
use dayshift_text::{counted, cut_chars};
use unicode_width::UnicodeWidthChar;

use super::region::Region;
use crate::cli::output::{
    style::{Paint, Style},
    terminal,
};

/// How many characters of a part at fault, or of a decoded text on each side of it, are shown.
const MAX_SHOWN: usize = 100;

/// Whether any of them is an error.
pub(crate) fn has_errors<R: Rule>(findings: &[Finding<R>]) -> bool {
    let mut findings = findings.iter();
    findings.any(|it| it.rule.severity() == Severity::Error)
}

/// Findings that are said once for all objects of which the same is said: a folder of manifests may have
/// hundreds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fold {
    /// Those at least as mild as this.
    pub(crate) from: Severity,
    /// What shows each of them.
    pub(crate) hint: &'static str,
}

/// Writes findings to standard error, beside the result of a command.
pub(crate) fn print_findings<R: Rule>(findings: &[Finding<R>], sources: &[SourceFile]) {
    let stderr = io::stderr();
    let style = terminal::style(&stderr);
    // Where nobody reads, nobody misses it.
    let fold = Fold {
        from: Severity::Info,
        hint: "dayshift lint -o json lists each",
    };
    let _ = write(&mut stderr.lock(), findings, sources, Some(fold), style);
}

/// Writes each finding, or what is said in the same words of several objects once.
pub(crate) fn write<R: Rule>(
    out: &mut impl Write,
    findings: &[Finding<R>],
    sources: &[SourceFile],
    fold: Option<Fold>,
    style: Style,
) -> io::Result<()> {
    let mut shown: Vec<(&Finding<R>, usize)> = Vec::with_capacity(findings.len());
    let mut firsts = HashMap::new();
    for finding in findings {
        if fold.is_some_and(|it| finding.rule.severity() >= it.from) {
            let first = *firsts
                .entry((finding.rule, &*finding.message))
                .or_insert(shown.len());
            if let Some((_, more)) = shown.get_mut(first) {
                *more += 1;
                continue;
            }
        }
        shown.push((finding, 0));
    }
    for (finding, more) in shown {
        let more = fold.filter(|_| more > 0).map(|it| (more, it.hint));
        one(out, finding, more, sources, style)?;
    }
    Ok(())
}

/// Writes one finding, of how many more the same is said, and what shows them.
fn one<R: Rule>(
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
    let message = style.paint(Paint::Bold, &format!(": {}", printable(&finding.message)));
    writeln!(out, "{title}{message}")?;
    let gutter = match Region::of(finding, sources) {
        Some((source, region)) => located(out, source, &region, paint, style)?,
        None => " ".to_owned(),
    };
    let margin = format!("{gutter} {}", style.paint(Paint::Blue, "="));
    let cut = style.either("…", "...");
    if let Some(quoted) = finding.quoted.as_ref().filter(|it| !it.verbatim) {
        let (before, fault, after) = decoded(quoted, cut);
        writeln!(out, "{margin} text: {before}{fault}{after}")?;
        let carets = "^".repeat(width(&fault).max(1));
        let blank = " ".repeat(width(&before));
        writeln!(
            out,
            "{gutter}         {blank}{}",
            style.paint(paint, &carets)
        )?;
    }
    writeln!(out, "{margin} help: {}", printable(&finding.help))?;
    if let Some(object) = &finding.object {
        writeln!(out, "{margin} in: {}", printable(&object.to_string()))?;
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

/// Writes where a finding is, the line, and carets under the part at fault; gives the blanks that are
/// as wide as the number of the line.
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
        printable(source.name()),
        region.line,
        region.column
    )?;
    writeln!(out, "{gutter} {bar}")?;
    let cut = style.either("…", "...");
    let fault = printable_up_to(region.fault, cut);
    let before = format!(
        "{}{}",
        if region.cut_before { cut } else { "" },
        printable(region.before)
    );
    let after = format!(
        "{}{}",
        printable(region.after),
        if region.cut_after { cut } else { "" }
    );
    let line = format!("{before}{fault}{after}");
    writeln!(
        out,
        "{} {bar} {}",
        style.paint(Paint::Blue, &region.line.to_string()),
        line.trim_end()
    )?;
    let carets = "^".repeat(width(&fault).max(1));
    writeln!(
        out,
        "{gutter} {bar} {}{}",
        " ".repeat(width(&before)),
        style.paint(paint, &carets)
    )?;
    Ok(gutter)
}

/// The text that is read, in three parts of which the second is at fault.
fn decoded(quoted: &Quoted, cut: &str) -> (String, String, String) {
    let part = |range| quoted.text.get(range).unwrap_or_default();
    let before: Vec<char> = part(0..quoted.span.start).chars().collect();
    let near: String = before[before.len().saturating_sub(MAX_SHOWN)..]
        .iter()
        .collect();
    let begin = if before.len() > MAX_SHOWN { cut } else { "" };
    (
        format!("{begin}{}", printable(&near)),
        printable_up_to(part(quoted.span.clone()), cut),
        printable_up_to(part(quoted.span.end..quoted.text.len()), cut),
    )
}

/// `text` with nothing in it that acts on a terminal or reorders what is read.
pub(crate) fn printable(text: &str) -> String {
    dayshift_text::printable(&text.replace('\t', "    "))
}

/// At most so much of it as is shown, and what says that there is more.
fn printable_up_to(text: &str, cut: &str) -> String {
    let shown = cut_chars(text, MAX_SHOWN);
    let cut = if shown.len() < text.len() { cut } else { "" };
    format!("{}{cut}", printable(shown))
}

fn width(shown: &str) -> usize {
    shown.chars().map(|it| it.width().unwrap_or_default()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_acts_on_a_terminal() {
        assert_eq!(
            printable("a\tb\u{1b}[31m\u{202e}\u{9b}é"),
            "a    b\\u{1b}[31m\\u{202e}\\u{9b}é"
        );
        assert_eq!((width("日本"), width("é")), (4, 1));
    }

    #[test]
    fn what_is_long_is_cut_as_the_screen_can_show() {
        let long = "é".repeat(MAX_SHOWN);
        assert_eq!(printable_up_to(&long, "…"), long);
        for cut in ["…", "..."] {
            let shown = printable_up_to(&format!("{long}x"), cut);
            assert_eq!(shown, format!("{long}{cut}"));
        }
    }
}
