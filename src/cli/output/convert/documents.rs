//! The converted files on standard output.

use std::io::{self, Write};

use dayshift_manifest::SourceFile;
use dayshift_text::printable;

/// Writes each file, changed or not, letter by letter; several come apart by `---`. Where somebody
/// looks at it, nothing in it acts on the terminal.
pub(crate) fn write(
    out: &mut impl Write,
    sources: &[SourceFile],
    texts: &[Option<String>],
    is_terminal: bool,
) -> io::Result<()> {
    let mut ends_line = true;
    for (at, source) in sources.iter().enumerate() {
        let text = texts.get(at).and_then(Option::as_deref);
        let text = text.unwrap_or_else(|| source.text());
        if at > 0 && !begins_document(text) {
            writeln!(out, "{}---", if ends_line { "" } else { "\n" })?;
        }
        ends_line = text.ends_with('\n');
        if !is_terminal {
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

/// Whether a text is told from what stands before it by itself.
fn begins_document(text: &str) -> bool {
    let mut lines = text
        .lines()
        .filter(|it| !it.trim().is_empty() && !it.starts_with('#'));
    let is_json = text.trim_start().starts_with('{');
    is_json
        || lines
            .next()
            .is_some_and(|it| it.starts_with("---") || it.starts_with('%'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(texts: &[&str], is_terminal: bool) -> String {
        let sources: Vec<_> = texts
            .iter()
            .map(|it| SourceFile::new("a.yaml", *it))
            .collect();
        let mut out = Vec::new();
        write(&mut out, &sources, &[None, None], is_terminal).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn several_files_come_apart() {
        for (texts, expected) in [
            (&["a: 1\n", "b: 2\n"][..], "a: 1\n---\nb: 2\n"),
            (&["a: 1", "b: 2"], "a: 1\n---\nb: 2"),
            (
                &["a: 1\n", "# why\n---\nb: 2\n"],
                "a: 1\n# why\n---\nb: 2\n",
            ),
            (&["{}\n", "{\"b\": 2}\n"], "{}\n{\"b\": 2}\n"),
        ] {
            assert_eq!(written(texts, false), expected);
        }
    }

    #[test]
    fn nothing_acts_on_a_terminal() {
        let text = "a: \"\u{1b}[31m\u{9b}\"\r\n\tb: 日\n";
        assert_eq!(written(&[text], false), text);
        assert_eq!(
            written(&[text], true),
            "a: \"\\u{1b}[31m\\u{9b}\"\n    b: 日\n"
        );
    }
}
