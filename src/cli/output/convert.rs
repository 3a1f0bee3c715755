//! The output of `dayshift convert`: findings, the list of changes, converted documents, and kubectl
//! commands.

use std::io::{self, Write};

use dayshift_manifest::{
    Severity, SourceFile,
    convert::{ChangeTarget, Conversion, ObjectChange},
};
use dayshift_text::{counted, printable, shell_word};
use dayshift_workload::{Key, Prefix};
use serde_json::{Map, Value, json};

use crate::cli::output::{
    findings::{Fold, printable_line, write_findings},
    terminal::{Paint, Style},
};

/// Writes findings, the commands for objects outside the files, and a summary.
pub(crate) fn write_conversion(
    out: &mut impl Write,
    conversion: &Conversion,
    sources: &[SourceFile],
    fold: Option<Fold>,
    style: Style,
) -> io::Result<()> {
    write_findings(out, &conversion.findings, sources, fold, style)?;
    let changes = conversion.changes.iter();
    let elsewhere = changes.filter(|change| change.place.is_none());
    let elsewhere: Vec<_> = elsewhere.filter_map(kubectl_command).collect();
    if !elsewhere.is_empty() && !sources.is_empty() {
        writeln!(out, "Objects that are not in the files:")?;
        for command in elsewhere {
            writeln!(out, "  {}", printable_line(&command))?;
        }
        writeln!(out)?;
    }
    writeln!(out, "{}", summary(conversion))
}

/// The maximum number of proposed named schedules.
const MAX_PROPOSED: usize = 3;

/// Proposes named schedules if many objects share one.
pub(crate) fn write_shared_schedules(
    out: &mut impl Write,
    conversion: &Conversion,
    prefix: &Prefix,
) -> io::Result<()> {
    let shared = conversion.shared_schedules(prefix);
    if shared.is_empty() {
        return Ok(());
    }
    let key = prefix.annotation(Key::NamedSchedule);
    writeln!(
        out,
        "\nMany objects have the same schedule. You can define it once in a file for --schedules, and \
         write\n{key}: NAME on the objects instead (docs/guides/named-schedules.md):"
    )?;
    for (number, shared) in (1..).zip(shared.iter().take(MAX_PROPOSED)) {
        let texts = shared.texts.iter();
        let texts = texts.map(|(key, text)| format!("{key}: {}", Value::from(text.as_str())));
        let texts = texts.collect::<Vec<_>>().join(", ");
        let objects = counted(shared.objects, "object");
        let line = format!("  schedule-{number}: {{{texts}}}  # {objects}");
        writeln!(out, "{}", printable_line(&line))?;
    }
    match shared.len().saturating_sub(MAX_PROPOSED) {
        0 => Ok(()),
        more => writeln!(out, "  ({})", counted(more, "more schedule")),
    }
}

/// Writes each change, with its removed and added annotations.
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
        let place = format!("{}:{}:{}", printable_line(name), place.line, place.column);
        writeln!(
            out,
            "{}: {}",
            style.paint(Paint::Bold, &place),
            printable_line(&target_name(change))
        )?;
        let line = |sign: &str, paint, name: &str, text: &str| {
            style.paint(paint, &printable_line(&format!("  {sign} {name}{text}")))
        };
        for name in &change.remove {
            writeln!(out, "{}", line("-", Paint::Red, name, ""))?;
        }
        for (name, text) in &change.set {
            let text = format!(": \"{text}\"");
            writeln!(out, "{}", line("+", Paint::Green, name, &text))?;
        }
        for (name, text) in &change.labels {
            let text = format!(": \"{text}\" (a label)");
            writeln!(out, "{}", line("+", Paint::Green, name, &text))?;
        }
    }
    Ok(())
}

fn target_name(change: &ObjectChange) -> String {
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

/// How control characters are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ControlCharacters {
    Verbatim,
    /// Escaped, as a terminal needs it.
    Escaped,
}

/// Writes each file, separated by `---`.
pub(crate) fn write_documents(
    out: &mut impl Write,
    sources: &[SourceFile],
    texts: &[Option<String>],
    control_characters: ControlCharacters,
) -> io::Result<()> {
    let mut ends_line = true;
    for (at, source) in sources.iter().enumerate() {
        let text = texts.get(at).and_then(Option::as_deref);
        let text = text.unwrap_or_else(|| source.text());
        if at > 0 && !begins_document(text) {
            writeln!(out, "{}---", if ends_line { "" } else { "\n" })?;
        }
        ends_line = text.ends_with('\n');
        if control_characters == ControlCharacters::Verbatim {
            out.write_all(text.as_bytes())?;
            continue;
        }
        for line in text.split_inclusive('\n') {
            let content = line.trim_end_matches(['\r', '\n']);
            let end = if content == line { "" } else { "\n" };
            write!(out, "{}{end}", printable(&content.replace('\t', "    ")))?;
        }
    }
    Ok(())
}

/// Whether a text needs no separator before it.
fn begins_document(text: &str) -> bool {
    let mut lines = text
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let is_json = text.trim_start().starts_with('{');
    is_json
        || lines
            .next()
            .is_some_and(|line| line.starts_with("---") || line.starts_with('%'))
}

/// The command for a change: `kubectl annotate`, or one patch if labels change too, so that the
/// saved count and the schedule change together. `None` for an object that no cluster can have,
/// because the output may be piped into a shell.
pub(crate) fn kubectl_command(change: &ObjectChange) -> Option<String> {
    let what = match &change.target {
        ChangeTarget::Object(object) if !object.is_possible() => return None,
        ChangeTarget::Object(object) => {
            let namespace = match &*object.namespace {
                "" => String::new(),
                namespace => format!(" -n {}", shell_word(namespace)),
            };
            format!(
                "{} {}{namespace}",
                shell_word(&object.resource()),
                shell_word(&object.name)
            )
        }
        ChangeTarget::All {
            kinds,
            namespace,
            selector,
            field_selector,
        } => {
            let by = [("-l", selector), ("--field-selector", field_selector)];
            let by = by.iter().filter_map(|(flag, text)| {
                Some(format!("{flag} {}", shell_word(text.as_deref()?)))
            });
            let which = match &*by.collect::<Vec<_>>().join(" ") {
                "" => "--all".to_owned(),
                which => which.to_owned(),
            };
            format!("{} {which} -n {}", shell_word(kinds), shell_word(namespace))
        }
    };
    if !change.labels.is_empty() {
        let patch = patch(change).to_string();
        let patch = shell_word(&patch);
        return Some(format!("kubectl patch {what} --type merge -p {patch}"));
    }
    let set = change.set.iter();
    let set = set.map(|(name, text)| format!(" {}={}", shell_word(name), shell_word(text)));
    let taken = |name: &&String| !change.set.iter().any(|entry| entry.0 == **name);
    let remove = change.remove.iter().filter(taken);
    let remove = remove.map(|name| format!(" {}", shell_word(&format!("{name}-"))));
    let words: String = set.chain(remove).collect();
    Some(format!("kubectl annotate {what}{words}"))
}

fn patch(change: &ObjectChange) -> Value {
    let mut annotations = Map::new();
    for name in &change.remove {
        annotations.insert(name.clone(), Value::Null);
    }
    let pair = |(name, text): &(String, String)| (name.clone(), Value::from(text.as_str()));
    annotations.extend(change.set.iter().map(pair));
    let labels: Map<_, _> = change.labels.iter().map(pair).collect();
    let mut metadata = json!({"labels": labels});
    if !annotations.is_empty() {
        metadata["annotations"] = annotations.into();
    }
    json!({"metadata": metadata})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents(texts: &[&str], control_characters: ControlCharacters) -> String {
        let sources: Vec<_> = texts
            .iter()
            .map(|text| SourceFile::new("a.yaml", *text))
            .collect();
        let mut out = Vec::new();
        write_documents(&mut out, &sources, &[None, None], control_characters).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn separates_several_files() {
        for (texts, expected) in [
            (&["a: 1\n", "b: 2\n"][..], "a: 1\n---\nb: 2\n"),
            (&["a: 1", "b: 2"], "a: 1\n---\nb: 2"),
            (
                &["a: 1\n", "# why\n---\nb: 2\n"],
                "a: 1\n# why\n---\nb: 2\n",
            ),
            (&["{}\n", "{\"b\": 2}\n"], "{}\n{\"b\": 2}\n"),
        ] {
            assert_eq!(documents(texts, ControlCharacters::Verbatim), expected);
        }
    }

    #[test]
    fn escapes_control_characters() {
        let text = "a: \"\u{1b}[31m\u{9b}\"\r\n\tb: 日\n";
        assert_eq!(documents(&[text], ControlCharacters::Verbatim), text);
        assert_eq!(
            documents(&[text], ControlCharacters::Escaped),
            "a: \"\\u{1b}[31m\\u{9b}\"\n    b: 日\n"
        );
    }
}
