//! What is known while files are converted.

use std::collections::{BTreeMap, HashMap};

use dayshift_schedule::Calendars;
use dayshift_text::quote;
use dayshift_workload::{Inputs, Key, Kind, ParseContext, ParsedInputs, read};

use crate::{
    convert::{
        conversion::{Change, Conversion, Target},
        document::{
            edit::{Changes, Pairs},
            objects::{Document, group, known_kind},
        },
        finding::{ObjectName, Topic},
        settings::Converter,
    },
    manifest::{Finding, Location, Source},
};

pub(crate) struct Work<'c, 'a> {
    pub(crate) converter: &'c Converter,
    pub(crate) sources: &'a [Source],
    pub(crate) documents: Vec<Document<'a>>,
    /// By group, kind, namespace and name.
    pub(crate) index: HashMap<Id, Vec<usize>>,
    /// What is to be changed on which document, and what of it makes a schedule.
    pub(crate) pending: BTreeMap<usize, Changes>,
    pub(crate) conversion: Conversion,
}

pub(super) type Id = (String, String, String, String);

pub(super) fn id(object: &ObjectName) -> Id {
    (
        group(&object.api_version).to_owned(),
        object.kind.clone(),
        object.namespace.clone(),
        object.name.clone(),
    )
}

/// What a kind is to dayshift.
pub(super) enum KindOf {
    Scaled,
    /// As `--kinds` takes it.
    OptIn(String),
    Other,
}

/// What the kind of an object is, of which is known whether it has a count.
pub(super) fn kind_of(object: &ObjectName, has_count: bool) -> KindOf {
    let ObjectName {
        api_version, kind, ..
    } = object;
    let group = group(api_version);
    match known_kind(group, kind) {
        Some(known) if Kind::DEFAULT.contains(&known) => KindOf::Scaled,
        Some(known) => KindOf::OptIn(known.argument().to_owned()),
        None if group.is_empty() && kind == "Namespace" => KindOf::Scaled,
        None => Kind::guessed_resource(api_version, kind)
            .filter(|_| has_count)
            .map_or(KindOf::Other, KindOf::OptIn),
    }
}

impl<'a> Work<'_, 'a> {
    pub(crate) fn make_index(&mut self) {
        for (at, document) in self.documents.iter().enumerate() {
            self.index.entry(id(&document.object)).or_default().push(at);
        }
    }

    pub(crate) fn say(
        &mut self,
        document: usize,
        topic: Topic,
        message: String,
        help: String,
        at: Location,
    ) {
        self.tell(document, Finding::new(topic, at, message, help));
    }

    /// Says something of a document at a place in its file.
    pub(crate) fn tell(&mut self, document: usize, finding: Finding<Topic, Location>) {
        let document = &self.documents[document];
        let place = Some((document.source, finding.place.clone()));
        let finding = finding.at(place).of(Some((&document.object).into()));
        self.conversion.findings.push(finding);
    }

    /// Takes changes for a document, unless it has a schedule already or dayshift would refuse them;
    /// whether the document has them, or will.
    pub(crate) fn take(&mut self, at: usize, mut changes: Changes, place: &Location) -> bool {
        // Several ask for the same where several references leave an object out.
        let is_asked = |pair: &(String, String)| {
            let pending = self.pending.get(&at);
            pending.is_some_and(|it| it.added.contains(pair))
        };
        changes.added.retain(|pair| !is_asked(pair));
        if changes.replaced.is_empty() && changes.added.is_empty() && changes.labels.is_empty() {
            return true;
        }
        let prefix = &self.converter.prefix;
        let schedule = Key::SCHEDULE.map(|key| prefix.annotation(key));
        let document = &self.documents[at];
        let pending = self.pending.get(&at);
        let old = pending.into_iter().flat_map(|it| it.replaced.iter());
        let old = old
            .flat_map(|it| &it.1)
            .chain(pending.into_iter().flat_map(|it| &it.added));
        let new = changes
            .replaced
            .iter()
            .flat_map(|it| &it.1)
            .chain(&changes.added);
        let is_schedule = |it: &&(String, String)| schedule.contains(&it.0);
        let has_schedule =
            schedule.iter().any(|it| document.has(it)) || old.clone().any(|it| is_schedule(&it));
        let taken: Vec<_> = new.clone().map(|it| &it.0).collect();
        let is_taken = taken.iter().any(|it| document.has(it));
        if is_taken || has_schedule && new.clone().any(|it| is_schedule(&it)) {
            let is_same = changes.replaced.is_empty()
                && changes.added.iter().all(|(name, text)| {
                    let value = document
                        .metadata()
                        .and_then(|it| it.get("annotations")?.get(name)?.written());
                    value == Some(text)
                });
            if !is_same {
                self.say(
                    at,
                    Topic::AlreadyScheduled,
                    "the object has annotations of dayshift's for the same thing already, and stays as it is".to_owned(),
                    "decide which count, and remove the others".to_owned(),
                    place.clone(),
                );
            }
            return is_same;
        }
        let all: Pairs = old.chain(new).cloned().collect();
        if !self.accept(at, &all, place) {
            return false;
        }
        if self.converter.keeps {
            let replaced = std::mem::take(&mut changes.replaced);
            let pairs = replaced.into_iter().flat_map(|it| it.1);
            changes.added.splice(0..0, pairs);
        }
        let pending = self.pending.entry(at).or_default();
        pending.replaced.append(&mut changes.replaced);
        pending.added.append(&mut changes.added);
        pending.labels.append(&mut changes.labels);
        true
    }

    /// Whether dayshift takes these annotations; else says so of a document.
    pub(super) fn accept(&mut self, at: usize, pairs: &Pairs, place: &Location) -> bool {
        let prefix = &self.converter.prefix;
        let all = pairs.iter().map(|(name, text)| (&**name, &**text));
        let document = &self.documents[at];
        let kind = known_kind(document.group(), &document.object.kind);
        // What another count means was told of each annotation.
        let counts = kind.map(Kind::counts).filter(|it| it.has(Key::StopJobs));
        let inputs = Inputs::from_annotations(prefix, all).with_counts(counts.unwrap_or_default());
        let ParsedInputs::Invalid(refusal) = read(&inputs, &any_calendar()) else {
            return true;
        };
        let message = format!("dayshift would refuse it: {}", refusal.text(prefix));
        let help = "write the schedule by hand".to_owned();
        self.say(at, Topic::NoEquivalent, message, help, place.clone());
        false
    }

    /// Says which kind has to be turned on.
    pub(super) fn opt_in(&mut self, at: usize, kind: &str, resource: &str, place: Location) {
        let message = format!("dayshift scales a {} only where it is told to", quote(kind));
        let help = format!(
            "run it with --kinds deployments,statefulsets,cronjobs,{}",
            quote(resource)
        );
        self.say(at, Topic::OptIn, message, help, place);
    }

    pub(crate) fn command(&mut self, target: Target, set: Pairs) {
        self.conversion.changes.push(Change {
            target,
            place: None,
            set,
            remove: Vec::new(),
            labels: Vec::new(),
        });
    }
}

/// Converting changes no excepted dates that are there: a calendar is as good as it was.
fn any_calendar() -> ParseContext {
    ParseContext {
        calendars: Calendars::default().accepting_any(),
        ..ParseContext::default()
    }
}
