//! Quoted text that continues in another line with any indentation. It means the same as in
//! kubectl, which `tests/cluster` compares.

use dayshift_manifest::SourceFile;
use dayshift_workload::{Key, KindTable, Prefix};

use crate::quoted_text::QUOTED;

fn read(text: &str) -> Result<Vec<(String, String)>, String> {
    let source = SourceFile::new("file.yaml", text);
    let read = source
        .manifests(&Prefix::default(), "default", &KindTable::default())
        .workloads;
    let faults = source.workloads(&Prefix::default(), "default", &KindTable::default());
    faults.map_err(|error| error.to_string())?;
    let each = read.into_iter().map(|(workload, manifest)| {
        let annotation = &manifest["metadata"]["annotations"]["note"];
        (
            workload.object.name.to_string(),
            annotation.as_str().unwrap_or_default().to_owned(),
        )
    });
    Ok(each.collect())
}

#[test]
fn reads_unindented_quoted_lines_as_kubectl_does() {
    for (text, expected) in QUOTED {
        let expected = expected.map(|note| vec![("web".to_owned(), note.to_owned())]);
        assert_eq!(read(text).ok(), expected, "{text}");
    }
}

/// Values after such lines have their place in the file.
#[test]
fn locates_text_after_a_quoted_scalar() {
    let first = QUOTED[0].0;
    let text = format!(
        "{first}---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  annotations:\n    note: 'a\nb' # é\n    dayshift/hours: \"Mon-Fry 09:00-19:00\"\n"
    );
    let source = SourceFile::new("file.yaml", &text);
    let all = source
        .workloads(&Prefix::default(), "default", &KindTable::default())
        .unwrap();
    assert_eq!(all.len(), 2);
    let hours = &all[1].annotations[0];
    let (value, at) = (&hours.value, hours.locate(&(4..7)));
    assert_eq!(text[value.span.clone()], *"\"Mon-Fry 09:00-19:00\"");
    assert_eq!(text[at.span.clone()], *"Fry");
    let lines = text[..at.span.start].lines();
    assert_eq!(at.line, lines.clone().count());
    assert_eq!(at.column, lines.last().unwrap().chars().count() + 1);
    assert_eq!(all[1].inputs.text(Key::Hours), Some("Mon-Fry 09:00-19:00"));
}

/// An error after such lines has its place, and the documents before it are read once.
#[test]
fn locates_an_error_after_quoted_lines() {
    let text = format!("{}---\na: [1\n", QUOTED[0].0);
    let source = SourceFile::new("file.yaml", &text);
    let contents = source.contents(&Prefix::default(), "default", &KindTable::default());
    assert_eq!((contents.workloads.len(), contents.errors.len()), (1, 1));
    let line = text.lines().count();
    let place = &contents.errors[0].place;
    assert!(
        (line..=line + 1).contains(&place.line),
        "{}: {text}",
        contents.errors[0]
    );
}

/// Thousands of such lines, in one text and in many, are read or rejected in a short time.
#[test]
fn reads_many_unindented_lines_quickly() {
    let head = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  annotations:\n";
    let long = format!("{head}    note: \"{}\"\n", "word\n".repeat(50_000));
    let notes = read(&long).unwrap();
    assert_eq!(notes[0].1.len(), 50_000 * 5);
    let mut many = head.to_owned();
    for n in 0..100_000 {
        many += &format!("    n{n}: 'a\nb'\n");
    }
    let began = std::time::Instant::now();
    let _ = read(&many);
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
}
