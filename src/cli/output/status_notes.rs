//! What is said of objects under their table. What is the same of several is said once.

use std::io::{self, Write};

use chrono::{DateTime, Utc};

use super::{
    style::{Paint, Style},
    terminal::wrapped,
    time_format::{clock, duration},
};
use crate::{
    schedule::Action,
    status::{Note, WorkloadStatus},
    text::{cut_chars, printable},
    workload::{Duty, Origin, Overdue, Override, Phase, Prefix},
};

/// So many objects are named where the same is said of more.
const MOST_NAMES: usize = 3;

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
pub(super) struct Notes<'a> {
    prefix: &'a Prefix,
    now: DateTime<Utc>,
    lines: Vec<Line>,
}

impl<'a> Notes<'a> {
    pub(super) const fn new(prefix: &'a Prefix, now: DateTime<Utc>) -> Self {
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
            let name = self.prefix.full(cut_chars(&problem.annotation, 60));
            let text = format!("{name}: {}", problem.message);
            let namespace = format!("Namespace {}", status.object.namespace);
            let object = match problem.origin {
                Origin::Own => &object,
                Origin::Namespace | Origin::Scaler => &namespace,
            };
            self.push("error", Paint::Red, object, text, String::new());
        }
        for note in &status.notes {
            let level = if note.is_warning() { "warning" } else { "note" };
            let (text, command) = self.words(status, *note);
            self.push(level, Paint::Yellow, &object, text, command);
        }
    }

    /// The texts alone, of one object: for JSON.
    pub(super) fn texts(&self, status: &WorkloadStatus) -> Vec<String> {
        let words = status.notes.iter().map(|note| self.words(status, *note));
        words.map(|(text, command)| text + &command).collect()
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

    /// What is said, without the object's name, and the command behind it.
    fn words(&self, status: &WorkloadStatus, note: Note) -> (String, String) {
        let at = |at: DateTime<Utc>| clock(at, status.zone, self.now);
        let until = |end: Option<DateTime<Utc>>| {
            end.map_or("for good".to_owned(), |it| format!("until {}", at(it)))
        };
        let sync = status.sync(self.prefix);
        let (replicas, object) = (status.replicas, &status.object);
        let counts = object.kind.counts();
        match note {
            Note::Overdue(overdue) => (
                self.overdue(status, overdue) + "; is the controller running?",
                format!(" kubectl events --for {}", object.argument()),
            ),
            Note::LeftDown { saved } => (
                "its schedule was removed, and fewer run than are saved".to_owned(),
                format!(
                    "; `{}` brings it back to {saved}",
                    status.restore(self.prefix)
                ),
            ),
            Note::Unseen => (
                "no controller has seen it yet; is `dayshift run` running in this cluster?"
                    .to_owned(),
                String::new(),
            ),
            Note::SetByHand { says, until: end } => (
                format!("held {} by hand {}", counts.held(replicas), until(end)),
                format!("; `{sync}` {} now", verb(says)),
            ),
            Note::Reverted { until: end, .. } => (
                format!(
                    "{}; that holds {}",
                    status.revert_words().unwrap_or_default(),
                    until(end)
                ),
                String::new(),
            ),
            Note::Contradicted { says, until: end } => (
                match says {
                    Action::Stop => {
                        format!("the schedule says stopped; it runs {}", until(end))
                    }
                    Action::Start => {
                        let stays = counts.it_stays(replicas);
                        format!("the schedule says running; {stays} {}", until(end))
                    }
                    Action::Scale(count) => {
                        format!(
                            "the schedule says {count}; it stays at {replicas} {}",
                            until(end)
                        )
                    }
                },
                format!("; `{sync}` {} now", verb(says)),
            ),
            Note::OfScaler => (
                "scheduled by the default of the scaler, as its labels say; with the \
                 --default-hours of the scaler, status says more"
                    .to_owned(),
                String::new(),
            ),
            Note::UnknownCalendars => (
                "its count may be as its schedule says or not: the calendars that it names are not \
                 known here"
                    .to_owned(),
                "; give them with --calendar NAME=FILE".to_owned(),
            ),
            Note::NoStart => (
                "nothing will start it again: its schedule has no start to come".to_owned(),
                format!("; `{}` does", status.restore(self.prefix)),
            ),
        }
    }

    fn overdue(&self, status: &WorkloadStatus, overdue: Overdue) -> String {
        let at = |at: DateTime<Utc>| clock(at, status.zone, self.now);
        let late = match overdue.since {
            Some(since) => format!("is {} overdue", duration(self.now - since)),
            None => "is overdue".to_owned(),
        };
        match overdue.duty {
            Duty::Boundary(it) => {
                let time = it.at.with_timezone(&status.zone.tz());
                let time = if self.now - it.at < chrono::TimeDelta::hours(24) {
                    time.format("%H:%M:%S").to_string()
                } else {
                    at(it.at)
                };
                format!("its {} of {time} {late}", it.action)
            }
            Duty::Begin(over) => format!("its `{}` {late}", self.key(over.phase())),
            Duty::End(phase) => format!("the end of its `{}` {late}", self.key(phase)),
            Duty::Adopt => {
                "its schedule is new or edited, and no controller has seen that".to_owned()
            }
        }
    }

    fn key(&self, phase: Phase) -> String {
        Override::key(phase).map_or_else(String::new, |key| self.prefix.annotation(key))
    }

    /// Writes the lines after an empty one, if there are any, broken at blanks where the screen has
    /// so many columns.
    pub(super) fn write(
        &self,
        out: &mut impl Write,
        style: Style,
        width: Option<usize>,
    ) -> io::Result<()> {
        if !self.lines.is_empty() {
            writeln!(out)?;
        }
        for line in &self.lines {
            let objects = match &line.objects[..] {
                few if few.len() <= MOST_NAMES + 1 => few.join(", "),
                [first @ .., _] => format!(
                    "{} and {} more",
                    first[..MOST_NAMES].join(", "),
                    line.objects.len() - MOST_NAMES
                ),
                [] => String::new(),
            };
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
            for text in lines {
                writeln!(out, "{}", style.paint(line.paint, &text))?;
            }
        }
        Ok(())
    }
}

const fn verb(says: Action) -> &'static str {
    match says {
        Action::Start => "starts it",
        Action::Stop => "stops it",
        Action::Scale(_) => "scales it",
    }
}
