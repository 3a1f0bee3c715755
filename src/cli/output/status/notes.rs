//! What is said of objects under their table. What is the same of several is said once.

use chrono::{DateTime, Utc};
use dayshift_operations::status::{Note, WorkloadStatus};
use dayshift_text::{first_of, printable};
use dayshift_workload::{Origin, Prefix};

use crate::cli::output::{
    style::{Paint, Style},
    terminal::wrapped,
};

/// A line to be, and what it is about.
struct Line {
    paint: Paint,
    level: &'static str,
    objects: Vec<String>,
    /// What is wrong; the same words for one object and for several.
    text: String,
    /// The command that helps or tells more, for the first of the objects.
    command: String,
}

/// What is to be said of objects, gathered.
pub(crate) struct Notes<'a> {
    prefix: &'a Prefix,
    now: DateTime<Utc>,
    lines: Vec<Line>,
}

impl<'a> Notes<'a> {
    pub(crate) const fn new(prefix: &'a Prefix, now: DateTime<Utc>) -> Self {
        let lines = Vec::new();
        Self { prefix, now, lines }
    }

    /// Adds all that is to be said of an object.
    pub(super) fn add(&mut self, status: &WorkloadStatus) {
        let object = status.object.full_name();
        let error = match &*status.problems {
            [] => status.error.as_deref(),
            _ => None,
        };
        for error in error.iter().flat_map(|error| error.lines()) {
            let text = error.to_owned();
            self.push("error", Paint::Red, &object, text, String::new());
        }
        for problem in &status.problems {
            let text = format!("{}: {}", problem.name(self.prefix), problem.diagnostic);
            let namespace = format!("Namespace {}", status.object.namespace);
            let object = match problem.origin {
                Origin::Own => &object,
                Origin::Namespace | Origin::Scaler => &namespace,
            };
            self.push("error", Paint::Red, object, text, String::new());
        }
        self.add_notes(status, |_| true);
    }

    /// Adds those of the notes on an object that are wanted.
    pub(crate) fn add_notes(&mut self, status: &WorkloadStatus, is_wanted: fn(Note) -> bool) {
        let object = status.object.full_name();
        for note in status.notes.iter().filter(|it| is_wanted(**it)) {
            let level = if note.is_warning() { "warning" } else { "note" };
            let said = status.note_text(*note, self.prefix, self.now);
            self.push(level, Paint::Yellow, &object, said.text, said.command);
        }
    }

    /// The texts alone, of one object: for JSON.
    pub(super) fn texts(&self, status: &WorkloadStatus) -> Vec<String> {
        let notes = status.notes.iter();
        notes
            .map(|note| status.note_text(*note, self.prefix, self.now).to_string())
            .collect()
    }

    fn push(
        &mut self,
        level: &'static str,
        paint: Paint,
        object: &str,
        text: String,
        command: String,
    ) {
        let same = self
            .lines
            .iter_mut()
            .find(|it| it.level == level && it.text == text);
        match same {
            // Of a Namespace each object in it tells.
            Some(line) if line.objects.last().is_some_and(|last| last == object) => {}
            Some(line) => line.objects.push(object.to_owned()),
            None => self.lines.push(Line {
                paint,
                level,
                objects: vec![object.to_owned()],
                text,
                command,
            }),
        }
    }

    /// The lines, broken at blanks where the screen has so many columns.
    pub(crate) fn lines(&self, style: Style, width: Option<usize>) -> Vec<String> {
        let lines = self.lines.iter().flat_map(|line| {
            let objects = first_of(&line.objects);
            let command = match line.command.strip_prefix("; ") {
                Some(command) if line.objects.len() > 1 => format!("; for the first, {command}"),
                _ => line.command.clone(),
            };
            let text = format!("{}: {objects}: {}{command}", line.level, line.text);
            let text = printable(&text);
            let lines = match width {
                Some(width) => wrapped(&text, width, 2),
                None => vec![text],
            };
            lines.into_iter().map(|text| style.paint(line.paint, &text))
        });
        lines.collect()
    }
}
