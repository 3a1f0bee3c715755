//! Reads the annotations and flags of GoKubeDownscaler and py-kube-downscaler, on objects,
//! Namespaces and pods.

pub(super) mod annotation;
mod schedule;
pub(super) mod timespan;

use std::collections::HashSet;

use dayshift_workload::Label;

use crate::{
    convert::{
        conversion::{ChangeTarget, ConversionFinding, ObjectRef, Topic},
        desired::KeyTexts,
        document::{DOWNSCALER, Document},
        downscaler::{
            annotation::{
                ConvertContext, ConvertedAnnotation, ConvertedAnnotations, EXCLUDE, OldAnnotation,
                PermanentForce, Remark, is_force, is_same, is_schedule, one, timed_forces,
            },
            schedule::DownscalerSchedule,
        },
        edit::{NamePairs, ObjectEdits},
        work::{ConversionRun, KindOf, ReplicasField, kind_of},
    },
    source::SourceFile,
    yaml::node::{Location, Node},
};

/// Converts all annotations of an object.
pub(crate) fn convert(
    olds: &[OldAnnotation<'_>],
    context: ConvertContext<'_>,
) -> ConvertedAnnotations {
    let mut outcome = ConvertedAnnotations::default();
    let schedule = DownscalerSchedule::read(olds, context);
    match schedule.and_then(|schedule| schedule.texts(&mut outcome.remarks)) {
        Ok(texts) => replace_schedule(olds, texts, &mut outcome),
        Err(remark) => {
            // If the schedule cannot be converted, all annotations stay.
            outcome.remarks = vec![remark];
            return outcome;
        }
    }
    for (at, (key, text)) in olds.iter().enumerate() {
        match one(at, key, text, context) {
            Ok(None) => {}
            Ok(Some(ConvertedAnnotation {
                texts,
                saved,
                remarks,
            })) => {
                outcome.replaced.push((at, texts));
                outcome.saved = outcome.saved.or(saved);
                outcome.remarks.extend(remarks);
            }
            Err(remark) => outcome.remarks.push(remark),
        }
    }
    let holds = |replacement: &(usize, Vec<(&str, String)>)| {
        replacement.1.iter().any(|pair| pair.0 == EXCLUDE)
    };
    if outcome.saved.is_some() && outcome.replaced.iter().any(holds) {
        outcome
            .remarks
            .retain(|remark| remark.rule != Topic::SavedCount);
        if let Some(at) = olds.iter().position(|old| old.0 == "original-replicas") {
            outcome.remarks.push(Remark::new(
                Topic::SavedCount,
                (at, 0..olds[at].1.len()),
                "the object is stopped and excluded, so that nothing starts it",
                "dayshift restore restores the saved count",
            ));
        }
    }
    outcome.replaced.sort_by_key(|replacement| replacement.0);
    outcome
}

fn replace_schedule(
    olds: &[OldAnnotation<'_>],
    texts: KeyTexts,
    outcome: &mut ConvertedAnnotations,
) {
    let mut texts = Some(texts);
    for (at, (key, _)) in olds.iter().enumerate() {
        if is_schedule(key) {
            let texts = texts.take().unwrap_or_default();
            let texts = texts.into_iter().map(|(key, text)| (key.name(), text));
            outcome.replaced.push((at, texts.collect()));
        }
    }
}

impl ConversionRun<'_, '_> {
    /// Converts the annotations of every object.
    pub(crate) fn annotations(&mut self) {
        for at in 0..self.documents.len() {
            self.annotations_of(at);
            self.pod_annotations(at);
        }
    }

    pub(crate) fn annotations_of(&mut self, at: usize) {
        let document = self.documents[at].clone();
        let annotations = document.annotations();
        let Some(first) = annotations.first() else {
            return;
        };
        let whole = first.entry.key.place.clone();
        let replicas = match document.node.at(&["spec", "replicas"]) {
            Some(_) => ReplicasField::Present,
            None => ReplicasField::Absent,
        };
        match kind_of(&document.object, replicas) {
            KindOf::Scaled => {}
            KindOf::OptIn(resource) => {
                self.opt_in(at, &document.object.kind, &resource, &whole);
            }
            KindOf::Other => {
                let kind = &document.object.kind;
                let message =
                    format!("dayshift does not scale a {kind}; its annotations stay as they are");
                let help = "annotate the workload that it belongs to, and remove these";
                self.report(at, Topic::OtherKind, message, help, &whole);
                return;
            }
        }
        let kind = document.kind();
        let context = ConvertContext {
            kind: kind.as_ref(),
            ..ConvertContext::without_object(self.converter, PermanentForce::Schedule)
        };
        let mut olds: Vec<_> = annotations
            .iter()
            .map(|annotation| (annotation.key(), annotation.text()))
            .collect();
        let namespace = self.namespace_of(at).map(|at| self.documents[at].clone());
        let forces = self.forces_of(at, &olds, namespace.as_ref(), context, &whole);
        let context = if document.object.kind == "Namespace" || !forces.is_empty() {
            ConvertContext {
                permanent_force: PermanentForce::Override,
                ..context
            }
        } else {
            context
        };
        let forces: Vec<_> = forces.iter().map(|(key, text)| (&**key, &**text)).collect();
        olds.extend(timed_forces(&olds, &forces, context));
        let outcome = convert(&olds, context);
        let source = self
            .sources
            .get(document.source)
            .map_or("", SourceFile::text);
        for remark in outcome.remarks {
            let (which, span) = remark.place;
            let place = annotations.get(which).map_or_else(
                || whole.clone(),
                |annotation| annotation.locate(&span, source),
            );
            let name = olds.get(which).map_or("", |old| old.0);
            let message = match remark.rule {
                _ if remark.message.starts_with('`') => remark.message,
                _ => format!(
                    "{DOWNSCALER}{}: {}",
                    dayshift_text::quote(name),
                    remark.message
                ),
            };
            self.report(at, remark.rule, message, remark.help, &place);
        }
        if let Some(namespace) = &namespace {
            self.both_levels(at, &olds, namespace, &whole);
        }
        let prefix = &self.converter.prefix;
        let mut changes = ObjectEdits::default();
        for (which, texts) in outcome.replaced {
            let Some(own) = annotations.get(which) else {
                continue;
            };
            let name = own.entry.name().to_owned();
            let pairs = texts
                .into_iter()
                .map(|(key, text)| (prefix.full(key), text));
            changes.replaced.push((name, pairs.collect()));
        }
        if let Some(count) = outcome.saved {
            let label = prefix.label(Label::SavedReplicas);
            changes.labels.push((label, count.to_string()));
        }
        self.take(at, changes, &whole);
    }

    /// The force-uptime and force-downtime of an object's Namespace. In GoKubeDownscaler the object
    /// can override them with its own; in py-kube-downscaler it cannot.
    fn forces_of(
        &mut self,
        at: usize,
        own: &[(&str, &str)],
        namespace: Option<&Document<'_>>,
        context: ConvertContext<'_>,
        place: &Location,
    ) -> Vec<(String, String)> {
        let all = namespace.map(Document::annotations).unwrap_or_default();
        let forces = all.iter().filter(|annotation| is_force(annotation.key()));
        let forces: Vec<_> = forces
            .map(|annotation| (annotation.key().to_owned(), annotation.text().to_owned()))
            .collect();
        let is_always = |text: &str| context.spans(text).is_ok_and(|spans| spans.is_always());
        let is_own = own.iter().any(|old| is_force(old.0));
        let is_forced = own.iter().any(|old| is_force(old.0) && is_always(old.1));
        if is_own && !is_forced && forces.iter().any(|force| is_always(&force.1)) {
            self.report(
                at,
                Topic::BothLevels,
                "force-uptime or force-downtime is on its Namespace: in GoKubeDownscaler that of the \
                object overrides it; in py-kube-downscaler and dayshift it does not",
                "check it with dayshift plan",
                place,
            );
        }
        forces
    }

    /// Reports an object with an uptime whose Namespace has a downtime, or the other way around.
    pub(crate) fn both_levels(
        &mut self,
        at: usize,
        olds: &[(&str, &str)],
        of: &Document<'_>,
        place: &Location,
    ) {
        let has = |name: &str| olds.iter().any(|old| old.0 == name);
        let over = |own: &str, other: &str| {
            has(own) && !has(other) && of.has(&format!("{DOWNSCALER}{other}"))
        };
        if over("uptime", "downtime") || over("downtime", "uptime") {
            self.report(
                at,
                Topic::BothLevels,
                "py-kube-downscaler combines this with the times of the Namespace; \
                    GoKubeDownscaler and dayshift use only the object's",
                "check it with dayshift plan, and write the whole schedule on this object",
                place,
            );
        }
    }

    /// Reports a pod that forces uptime, which applies to the whole cluster.
    pub(crate) fn pod_annotations(&mut self, at: usize) {
        let document = self.documents[at].clone();
        let map = document
            .node
            .at(&["spec", "template", "metadata", "annotations"]);
        for entry in map.map_or(&[][..], Node::entries) {
            if entry.name().starts_with(DOWNSCALER) {
                let name = dayshift_text::quote(entry.name());
                self.report(
                    at,
                    Topic::NoEquivalent,
                    format!("{name} is on the pods, where dayshift does not read it"),
                    "force-uptime on a pod keeps the whole cluster running in \
                        py-kube-downscaler: use dayshift wake --all -A, and remove it",
                    &entry.key.place,
                );
            }
        }
    }

    /// Converts the other tool's flags for every Namespace, without those that it overrides.
    pub(crate) fn flags(&mut self) {
        let converter = self.converter;
        if converter.flags.is_empty() {
            return;
        }
        let flags = converter.flags.iter();
        let olds: Vec<_> = flags.map(|(key, text)| (&**key, &**text)).collect();
        let outcome = convert(
            &olds,
            ConvertContext::without_object(converter, PermanentForce::Override),
        );
        for remark in outcome.remarks {
            let name = olds.get(remark.place.0).map_or("", |old| old.0);
            let message = format!("{}: {}", flag_name(name), remark.message);
            let finding = ConversionFinding::new(remark.rule, None, message, remark.help);
            self.conversion.findings.push(finding);
        }
        let replaced: Vec<_> = outcome
            .replaced
            .into_iter()
            .map(|(which, texts)| {
                let texts = texts.into_iter();
                let pairs = texts.map(|(key, text)| (converter.prefix.full(key), text));
                (olds[which].0, pairs.collect::<NamePairs>())
            })
            .collect();
        let pairs_without = |is_own: &dyn Fn(&str) -> bool| -> NamePairs {
            let kept = replaced.iter().filter(|replacement| !is_own(replacement.0));
            kept.flat_map(|replacement| replacement.1.iter().cloned())
                .collect()
        };
        let mut names: HashSet<String> = HashSet::new();
        for at in 0..self.documents.len() {
            let object = self.documents[at].object.clone();
            let is_namespace = object.kind == "Namespace" && !is_of_system(&object.name);
            if !is_namespace || !names.insert(object.name.clone()) {
                continue;
            }
            let own = self.documents[at].annotations();
            let added =
                pairs_without(&|flag| own.iter().any(|annotation| is_same(annotation.key(), flag)));
            let place = self.documents[at].node.place.clone();
            self.take(at, ObjectEdits::adding(added), &place);
        }
        let pairs = pairs_without(&|_| false);
        for name in &converter.flagged {
            if !pairs.is_empty() && names.insert(name.clone()) {
                let object = ObjectRef::namespace(name);
                self.command(ChangeTarget::Object(object), pairs.clone());
            }
        }
    }
}

fn is_of_system(name: &str) -> bool {
    name.starts_with("kube-")
}

fn flag_name(key: &str) -> String {
    match key {
        "uptime" | "downtime" => format!("--default-{key}"),
        key => format!("--{key}"),
    }
}
