//! The file of named schedules (`--schedules`): a map from names to the keys of a schedule.
//!
//! A mistake in one entry rejects only the workloads that use it. A file that is not such a map has no
//! schedules at all; the controller then keeps those that it read before.

use std::collections::HashMap;

use dayshift_schedule::{Diagnostic, is_too_long, unread_bytes};
use dayshift_text::quote;
use dayshift_workload::{
    Inputs, Key, MAX_TEXTS, NamedSchedule, NamedSchedules, ParseContext, ParsedInputs, Prefix, read,
};

use crate::{
    annotations::Annotation,
    source::SourceFile,
    yaml::{
        SyntaxError,
        node::{Location, MapEntry, Node, NodeContent, Scalar},
    },
};

/// A file of named schedules that was read.
#[derive(Clone, Debug)]
pub struct ScheduleFile {
    source: SourceFile,
    entries: Vec<ScheduleEntry>,
    errors: Vec<SyntaxError>,
}

/// An entry of the file, with its places.
#[derive(Clone, Debug)]
pub struct ScheduleEntry {
    /// The schedule, with the mistakes in its form.
    pub schedule: NamedSchedule,
    /// The place of its name.
    pub place: Location,
    /// Its keys and values with their places.
    pub annotations: Vec<Annotation>,
}

/// The maximum number of mistakes in the form of one entry that are kept.
const MAX_PROBLEMS: usize = 8;

/// The maximum number of messages about mistakes in a file.
const MAX_MESSAGES: usize = 20;

impl ScheduleFile {
    /// The maximum size in bytes, the limit of a ConfigMap.
    pub const MAX_BYTES: usize = 1 << 20;

    /// The maximum number of schedules.
    pub const MAX_SCHEDULES: usize = 1_000;

    /// Reads the schedules of a file.
    pub fn parse(source: SourceFile) -> Self {
        let (entries, errors) = match entries(&source) {
            Ok(found) => found,
            Err(error) => (Vec::new(), vec![error]),
        };
        Self {
            source,
            entries,
            errors,
        }
    }

    /// The file.
    pub const fn source(&self) -> &SourceFile {
        &self.source
    }

    /// The entries in the order of the file, each name once.
    pub fn entries(&self) -> &[ScheduleEntry] {
        &self.entries
    }

    /// Why the file has no schedules, or else why some names are left out.
    pub fn errors(&self) -> &[SyntaxError] {
        &self.errors
    }

    /// The schedules.
    ///
    /// # Errors
    /// If the file is not a map of names, or is too large.
    pub fn schedules(&self) -> Result<NamedSchedules, &SyntaxError> {
        match self.errors.iter().find(|error| !error.in_object) {
            Some(error) => Err(error),
            None => {
                let schedules = self.entries.iter().map(|entry| entry.schedule.clone());
                Ok(NamedSchedules::from_file(schedules))
            }
        }
    }

    /// The mistakes in the entries, each as `FILE:LINE:COLUMN: …`: the first 20.
    pub fn mistakes(&self, context: &ParseContext) -> Vec<String> {
        let mut found: Vec<String> = self.errors.iter().map(SyntaxError::to_string).collect();
        let Ok(schedules) = self.schedules() else {
            return found;
        };
        for entry in &self.entries {
            if found.len() >= MAX_MESSAGES {
                break;
            }
            let inputs = Inputs::default().with(Key::NamedSchedule, entry.schedule.name());
            let inputs = inputs.with_schedules(&schedules).or_always_on();
            let ParsedInputs::Invalid(rejection) = read(&inputs, context) else {
                continue;
            };
            for problem in rejection.problems() {
                let place = entry.place_of(&problem.annotation);
                let message = format!(
                    "{}: {}",
                    problem.name(&Prefix::default()),
                    problem.diagnostic
                );
                found.push(self.source.error_at(&place, message).to_string());
            }
        }
        found.truncate(MAX_MESSAGES);
        found
    }
}

impl ScheduleEntry {
    /// The place of a key, or of the name if the entry has no such key.
    pub fn place_of(&self, key: &str) -> Location {
        let mut annotations = self.annotations.iter();
        let annotation = annotations.find(|annotation| &*annotation.name == key);
        annotation.map_or_else(|| self.place.clone(), |annotation| annotation.key.clone())
    }
}

type Entries = (Vec<ScheduleEntry>, Vec<SyntaxError>);

/// The entries of a file, and the errors of names that are left out.
fn entries(source: &SourceFile) -> Result<Entries, SyntaxError> {
    let start = Location {
        line: 1,
        column: 1,
        span: 0..0,
    };
    let broken = |place: &Location, message: String| SyntaxError {
        in_object: false,
        ..source.error_at(place, message)
    };
    if source.text().len() > ScheduleFile::MAX_BYTES {
        let limit = ScheduleFile::MAX_BYTES >> 20;
        let message = format!("the file is larger than {limit} MiB; use fewer schedules");
        return Err(broken(&start, message));
    }
    let (documents, error) = source.documents();
    if let Some(error) = error {
        return Err(error);
    }
    let is_empty = |document: &Node<'_>| document.scalar() == Some(Scalar::Null);
    let mut documents = documents.iter().filter(|document| !is_empty(document));
    let Some(document) = documents.next() else {
        return Ok(Entries::default());
    };
    if let Some(second) = documents.next() {
        let message = "the file has a second document; write all schedules in one map";
        return Err(broken(&second.place, message.to_owned()));
    }
    if !matches!(document.content, NodeContent::Map(_)) {
        let message = format!(
            "the file is {}, not a map of names; write office: {{hours: \"Mon-Fri 09:00-19:00\"}}",
            document.type_name()
        );
        return Err(broken(&document.place, message));
    }
    let named = document.entries();
    if named.len() > ScheduleFile::MAX_SCHEDULES {
        let message = format!(
            "the file has {} schedules; at most {} are read",
            named.len(),
            ScheduleFile::MAX_SCHEDULES
        );
        return Err(broken(
            &named[ScheduleFile::MAX_SCHEDULES].key.place,
            message,
        ));
    }
    let mut found: Vec<ScheduleEntry> = Vec::with_capacity(named.len());
    let mut by_name: HashMap<&str, usize> = HashMap::new();
    let mut errors = Vec::new();
    for one in named {
        let name = one.name();
        if !NamedSchedule::is_name(name) {
            let message = format!(
                "`{}` is not the name of a schedule; write 1 to 63 of the characters a-z, 0-9 and `-`, \
                 such as office-tokyo",
                quote(name)
            );
            errors.push(source.error_at(&one.key.place, message));
            continue;
        }
        let mut read = entry(name, one, source.text());
        match by_name.get(name).and_then(|at| found.get_mut(*at)) {
            Some(earlier) => {
                let wrong = format!(
                    "the schedule is defined twice, in lines {} and {}",
                    earlier.place.line, read.place.line
                );
                let twice = Diagnostic::new(0..0, "", wrong, "remove one");
                read.schedule = read.schedule.with_problems(vec![("".into(), twice)]);
                *earlier = read;
            }
            None => {
                by_name.insert(name, found.len());
                found.push(read);
            }
        }
    }
    Ok((found, errors))
}

fn entry(name: &str, entry: &MapEntry<'_>, source: &str) -> ScheduleEntry {
    let node = &*entry.value;
    let mut problems: Vec<(Box<str>, Diagnostic)> = Vec::new();
    let mut texts: Vec<(Key, String)> = Vec::new();
    let mut annotations: Vec<Annotation> = Vec::new();
    if node.entries().is_empty() {
        let wrong = format!("the schedule is {}, not a map of keys", node.type_name());
        let help = "write for example hours: \"Mon-Fri 09:00-19:00\"";
        problems.push(("".into(), Diagnostic::new(0..0, "", wrong, help)));
    }
    let mut bytes = 0;
    for value in node.entries() {
        let annotation = Annotation::read(value.name(), value, source);
        let checked = checked_value(value, &annotation.text);
        let mut earlier = annotations.iter();
        let earlier = earlier.position(|earlier| earlier.name == annotation.name);
        // A merged map (`<<`) may have other values.
        let twice = earlier.filter(|_| !value.merged).and_then(|at| {
            let is_merged = node.entries()[..]
                .iter()
                .any(|other| other.merged && *other.name() == *annotation.name);
            (!is_merged).then(|| twice(&annotations[at], &annotation))
        });
        match (checked, twice) {
            (Err(diagnostic), _) | (Ok(_), Some(diagnostic)) => {
                problems.push((annotation.name.clone(), diagnostic));
            }
            (Ok(key), None) => {
                bytes += annotation.text.len();
                texts.retain(|(known, _)| *known != key);
                texts.push((key, annotation.text.to_string()));
            }
        }
        match earlier {
            Some(at) => annotations[at] = annotation,
            None => annotations.push(annotation),
        }
    }
    if bytes > MAX_TEXTS {
        let wrong = format!("the schedule has more than the {MAX_TEXTS} bytes that are read");
        let diagnostic = Diagnostic::new(0..0, "", wrong, "shorten it");
        problems.insert(0, ("".into(), diagnostic));
        texts.clear();
    }
    problems.truncate(MAX_PROBLEMS);
    ScheduleEntry {
        schedule: NamedSchedule::new(name, texts).with_problems(problems),
        place: entry.key.place.clone(),
        annotations,
    }
}

/// The key of a value in an entry. Numbers, `true` and `false` are read as they are written.
fn checked_value(value: &MapEntry<'_>, text: &str) -> Result<Key, Diagnostic> {
    let name = value.name();
    let fails = |found: &str, wrong: &str, help: String| {
        Err(Diagnostic::new(
            0..text.len(),
            found,
            wrong.to_owned(),
            help,
        ))
    };
    let bare = name.rsplit('/').next().unwrap_or(name);
    match Key::from_name(name) {
        Some(key) if !key.describes_schedule() => {
            let help = "write it on the workload or on its Namespace";
            fails(name, "cannot be part of a named schedule", help.to_owned())
        }
        Some(_) if value.value.written().is_none() => {
            let wrong = format!("is {}, not a value", value.value.type_name());
            fails(name, &wrong, "write text in quotes".to_owned())
        }
        Some(_) if value.value.scalar() == Some(Scalar::Null) => fails(
            name,
            "has no value",
            "write text in quotes, or remove it".to_owned(),
        ),
        Some(_) if is_too_long(text) => Err(Diagnostic::too_long(unread_bytes(text))),
        Some(key) => Ok(key),
        None => {
            let meant = Key::from_name(bare).or_else(|| Key::nearest(name));
            let help = match meant.filter(|key| key.describes_schedule()) {
                Some(key) => format!("did you mean `{key}`?"),
                None => {
                    let keys = Key::ALL.into_iter().filter(|key| key.describes_schedule());
                    let names: Vec<_> = keys.map(Key::name).collect();
                    format!("the keys are {}", names.join(", "))
                }
            };
            fails(name, "is not a key of a schedule", help)
        }
    }
}

fn twice(earlier: &Annotation, later: &Annotation) -> Diagnostic {
    let wrong = format!(
        "is given twice, in lines {} and {}",
        earlier.key.line, later.key.line
    );
    Diagnostic::new(0..later.text.len(), &later.name, wrong, "remove one")
}

#[cfg(test)]
mod tests {
    use dayshift_schedule::MAX_TEXT;

    use super::*;

    fn parse(text: &str) -> ScheduleFile {
        ScheduleFile::parse(SourceFile::new("s.yaml", text))
    }

    fn mistakes(text: &str) -> Vec<String> {
        parse(text).mistakes(&ParseContext::default())
    }

    #[test]
    fn reads_the_values_of_each_name_as_they_are_written() {
        let file = parse(
            "office-tokyo: {hours: \"Mon-Fri 09:00-19:00\", timezone: Asia/Tokyo, replicas: 2}\n\
             night:\n  start: 22:00\n  stop: '06:00'\n  enforce: true\n",
        );
        let schedules = file.schedules().unwrap();
        let names: Vec<_> = schedules.iter().map(NamedSchedule::name).collect();
        assert_eq!(names, ["night", "office-tokyo"]);
        for (name, key, text) in [
            ("office-tokyo", Key::Hours, "Mon-Fri 09:00-19:00"),
            ("office-tokyo", Key::Timezone, "Asia/Tokyo"),
            ("office-tokyo", Key::Replicas, "2"),
            ("night", Key::Start, "22:00"),
            ("night", Key::Stop, "06:00"),
            ("night", Key::Enforce, "true"),
        ] {
            let texts = schedules.get(name).unwrap().texts();
            assert_eq!(texts.text(key), Some(text), "{name} {key}");
        }
        assert_eq!(mistakes(file.source().text()), [""; 0]);
    }

    #[test]
    fn a_mistake_in_an_entry_has_a_place_and_leaves_the_others() {
        const GOOD: &str = "good: {hours: 09:00-19:00}\n";
        for (entry, expected) in [
            (
                "bad: {hours: Mon-Fry 09:00-19:00}",
                "s.yaml:2:7: schedule `bad`, key `hours`: `Fry` is not a day; write `Mon-Fri 09:00-19:00`",
            ),
            (
                "bad: {huors: 09:00-19:00}",
                "s.yaml:2:7: schedule `bad`, key `huors`: `huors` is not a key of a schedule; did you \
                 mean `hours`?",
            ),
            (
                "bad: {dayshift/hours: 09:00-19:00}",
                "s.yaml:2:7: schedule `bad`, key `dayshift/hours`: `dayshift/hours` is not a key of a \
                 schedule; did you mean `hours`?",
            ),
            (
                "bad: {pause: true}",
                "s.yaml:2:7: schedule `bad`, key `pause`: `pause` cannot be part of a named schedule; \
                 write it on the workload or on its Namespace",
            ),
            (
                "bad: {hours: [a]}",
                "s.yaml:2:7: schedule `bad`, key `hours`: `hours` is a list, not a value; write text \
                 in quotes",
            ),
            (
                "bad: {hours: }",
                "s.yaml:2:7: schedule `bad`, key `hours`: `hours` has no value; write text in quotes, \
                 or remove it",
            ),
            (
                "bad: office",
                "s.yaml:2:1: schedule `bad`: the schedule is text, not a map of keys; write for example \
                 hours: \"Mon-Fri 09:00-19:00\"",
            ),
            (
                "bad: {hours: 09:00-10:00}\nbad: {hours: 09:00-11:00}",
                "s.yaml:3:1: schedule `bad`: the schedule is defined twice, in lines 2 and 3; remove one",
            ),
            (
                "bad: {hours: 09:00-10:00, hours: 09:00-11:00}",
                "s.yaml:2:27: schedule `bad`, key `hours`: `hours` is given twice, in lines 2 and 2; \
                 remove one",
            ),
            (
                "Bad: {hours: 09:00-10:00}",
                "s.yaml:2:1: `Bad` is not the name of a schedule; write 1 to 63 of the characters a-z, \
                 0-9 and `-`, such as office-tokyo",
            ),
        ] {
            let text = format!("{GOOD}{entry}\n");
            assert_eq!(mistakes(&text), [expected], "{entry}");
            let schedules = parse(&text).schedules().unwrap();
            let good = schedules.get("good").unwrap();
            assert_eq!(good.texts().text(Key::Hours), Some("09:00-19:00"));
            assert_eq!(good.problems().count(), 0);
        }
    }

    #[test]
    fn a_file_that_is_no_map_of_names_has_no_schedules() {
        let many: String = (0..=ScheduleFile::MAX_SCHEDULES)
            .map(|number| format!("s{number}: {{hours: 09:00-19:00}}\n"))
            .collect();
        let large = format!("office: {{hours: 09:00-19:00}}\n#{}", "x".repeat(1 << 20));
        for (text, expected) in [
            (
                "- office",
                "s.yaml:1:1: the file is a list, not a map of names",
            ),
            ("office", "s.yaml:1:1: the file is text, not a map of names"),
            (
                "a: {}\n---\nb: {}\n",
                "s.yaml:3:1: the file has a second document",
            ),
            ("a: {hours: \"", "s.yaml:"),
            (
                &many,
                "s.yaml:1001:1: the file has 1001 schedules; at most 1000 are read",
            ),
            (&large, "s.yaml:1:1: the file is larger than 1 MiB"),
        ] {
            let file = parse(text);
            let error = file.schedules().unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
            assert!(file.entries().is_empty());
        }
        for empty in ["", "# nothing\n", "---\n", "{}"] {
            assert_eq!(
                parse(empty).schedules().unwrap().iter().count(),
                0,
                "{empty}"
            );
        }
    }

    #[test]
    fn long_values_reject_only_their_schedule() {
        let long = "x".repeat(MAX_TEXT + 1);
        let most = "x".repeat(MAX_TEXT);
        let text = format!(
            "long: {{except: {long}}}\nall: {{except: {most}, treat-as: {most}, extra: {most}}}\n\
             good: {{hours: 09:00-19:00}}\n"
        );
        let schedules = parse(&text).schedules().unwrap();
        for (name, is_kept) in [("long", false), ("all", false), ("good", true)] {
            let schedule = schedules.get(name).unwrap();
            assert_eq!(schedule.texts().kept_bytes() > 0, is_kept, "{name}");
            assert_eq!(schedule.problems().count() == 0, is_kept, "{name}");
        }
    }

    #[test]
    fn merged_maps_share_values() {
        let text = "base: &base {hours: 09:00-19:00, notice: 15m}\n\
                    tokyo: {<<: *base, timezone: Asia/Tokyo, notice: 5m}\n";
        let schedules = parse(text).schedules().unwrap();
        let tokyo = schedules.get("tokyo").unwrap();
        assert_eq!(tokyo.problems().count(), 0);
        for (key, text) in [
            (Key::Hours, "09:00-19:00"),
            (Key::Timezone, "Asia/Tokyo"),
            (Key::Notice, "5m"),
        ] {
            assert_eq!(tokyo.texts().text(key), Some(text), "{key}");
        }
    }
}
