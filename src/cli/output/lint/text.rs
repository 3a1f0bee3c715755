//! As compilers show it: the line, and a caret under the part at fault.

use std::{
    collections::HashMap,
    io::{self, Write},
};

use unicode_width::UnicodeWidthChar;

use super::region::Region;
use crate::{
    cli::output::style::{Paint, Style},
    lint::{Finding, Quoted, Report, Severity},
    manifest::{Location, Source},
    text::{counted, cut_chars},
};

/// How many characters of a part at fault, or of a decoded text on each side of it, are shown.
const MOST: usize = 100;

/// Writes a report, and what it sums up to.
pub(in crate::cli) fn write(
    out: &mut impl Write,
    report: &Report,
    sources: &[Source],
    style: Style,
) -> io::Result<()> {
    for (finding, more) in folded(&report.findings) {
        if let Some(source) = sources.get(finding.source) {
            one(out, finding, more, source, style)?;
        }
    }
    writeln!(out, "{}", summary(report))
}

/// The findings, each with how many more it stands for. An info of the same rule in the same words
/// as one before is not shown again: a folder of manifests may have hundreds.
fn folded(findings: &[Finding]) -> Vec<(&Finding, usize)> {
    let mut shown: Vec<(&Finding, usize)> = Vec::with_capacity(findings.len());
    let mut firsts = HashMap::new();
    for finding in findings {
        if finding.rule.severity() == Severity::Info {
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
    shown
}

fn one(
    out: &mut impl Write,
    finding: &Finding,
    more: usize,
    source: &Source,
    style: Style,
) -> io::Result<()> {
    let severity = finding.rule.severity();
    let paint = match severity {
        Severity::Error => Paint::Red,
        Severity::Warning => Paint::Yellow,
        Severity::Info => Paint::Blue,
    };
    let title = format!("{severity}[{}]", finding.rule);
    let gutter = headed(out, &title, &finding.message, paint, style, |out| {
        located(out, &finding.place, source, paint, style)
    })?;
    let sign = style.paint(Paint::Blue, "=");
    let cut = style.either("…", "...");
    if let Some(quoted) = finding.quoted.as_ref().filter(|it| !it.verbatim) {
        let (before, fault, after) = decoded(quoted, cut);
        writeln!(out, "{gutter} {sign} text: {before}{fault}{after}")?;
        let carets = "^".repeat(width(&fault).max(1));
        writeln!(
            out,
            "{gutter}         {}{}",
            " ".repeat(width(&before)),
            style.paint(paint, &carets)
        )?;
    }
    let what = match finding.object {
        Some(_) => "more object",
        None => "more place",
    };
    let object = finding.object.as_ref().map(ToString::to_string);
    footed(
        out,
        &format!("{gutter} {sign}"),
        &finding.help,
        object,
        more,
        what,
    )
}

/// Writes what to do about a finding, which object it is of, and of how many more the same is
/// said; `margin` stands before each line.
pub(in crate::cli::output) fn footed(
    out: &mut impl Write,
    margin: &str,
    help: &str,
    object: Option<String>,
    more: usize,
    what: &str,
) -> io::Result<()> {
    writeln!(out, "{margin} help: {}", printable(help))?;
    if let Some(object) = object {
        writeln!(out, "{margin} in: {}", printable(&object))?;
    }
    if more > 0 {
        let what = counted(more, what);
        writeln!(out, "{margin} and: {what}; --output json lists each")?;
    }
    writeln!(out)
}

/// Writes the title of a finding, and where it is; gives the blanks that are as wide as the number
/// of its line.
pub(in crate::cli::output) fn headed<W: Write>(
    out: &mut W,
    title: &str,
    message: &str,
    paint: Paint,
    style: Style,
    place: impl FnOnce(&mut W) -> io::Result<String>,
) -> io::Result<String> {
    writeln!(
        out,
        "{}{}",
        style.paint(paint, title),
        style.paint(Paint::Bold, &format!(": {}", printable(message)))
    )?;
    place(out)
}

/// Writes the place of a finding, its line, and carets under the part at fault.
pub(in crate::cli::output) fn located(
    out: &mut impl Write,
    place: &Location,
    source: &Source,
    paint: Paint,
    style: Style,
) -> io::Result<String> {
    let region = Region::at(place, source);
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
    let near: String = before[before.len().saturating_sub(MOST)..].iter().collect();
    let begin = if before.len() > MOST { cut } else { "" };
    (
        format!("{begin}{}", printable(&near)),
        printable_up_to(part(quoted.span.clone()), cut),
        printable_up_to(part(quoted.span.end..quoted.text.len()), cut),
    )
}

fn summary(report: &Report) -> String {
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

/// `text` with nothing in it that acts on a terminal or reorders what is read.
pub(in crate::cli::output) fn printable(text: &str) -> String {
    crate::text::printable(&text.replace('\t', "    "))
}

/// At most so much of it as is shown, and what says that there is more.
fn printable_up_to(text: &str, cut: &str) -> String {
    let shown = cut_chars(text, MOST);
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
        let long = "é".repeat(MOST);
        assert_eq!(printable_up_to(&long, "…"), long);
        for cut in ["…", "..."] {
            let shown = printable_up_to(&format!("{long}x"), cut);
            assert_eq!(shown, format!("{long}{cut}"));
        }
    }
}
