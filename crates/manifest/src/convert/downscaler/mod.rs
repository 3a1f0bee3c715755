//! Reads the annotations and flags of GoKubeDownscaler and py-kube-downscaler, on objects,
//! Namespaces and pods.

pub(super) mod annotation;
mod schedule;
pub(super) mod timespan;

use std::collections::HashSet;

use dayshift_text::quote;
use dayshift_workload::{Key, Label};

use crate::{
    annotations::Annotation,
    convert::{
        conversion::{ChangeTarget, ConversionFinding, ObjectRef, Topic},
        document::DOWNSCALER,
        downscaler::{
            annotation::{
                ConvertContext, ConvertedAnnotations, OldAnnotation, PermanentForce,
                combines_times, is_force, is_same, is_schedule, one, overrides_force, timed_forces,
            },
            schedule::DownscalerSchedule,
        },
        edit::{NamePairs, ObjectEdits},
        work::{ConversionRun, KindOf, kind_of},
    },
};

/// Converts all annotations of an object.
pub(crate) fn convert(
    olds: &[OldAnnotation<'_>],
    context: ConvertContext<'_>,
) -> ConvertedAnnotations {
    let mut converted = ConvertedAnnotations::default();
    let schedule = DownscalerSchedule::read(olds, context);
    let mut texts = match schedule.and_then(|schedule| schedule.texts(&mut converted.remarks)) {
        Ok(texts) => Some(texts),
        Err(remark) => {
            // If the schedule cannot be converted, all annotations stay.
            converted.remarks = vec![remark];
            return converted;
        }
    };
    for (at, (key, text)) in olds.iter().enumerate() {
        if is_schedule(key) {
            // The first one is replaced by the whole schedule.
            let texts = texts.take().unwrap_or_default();
            converted.replaced.push((at, texts));
        } else if let Err(remark) = one(at, key, text, context, &mut converted) {
            converted.remarks.push(remark);
        }
    }
    let mut texts = converted.replaced.iter().flat_map(|(_, texts)| texts);
    let is_excluded = texts.any(|(key, _)| *key == Key::Exclude);
    if is_excluded && converted.saved.is_some() {
        let of_count = converted.remarks.iter_mut();
        for remark in of_count.filter(|remark| remark.rule == Topic::SavedCount) {
            "the object is stopped and excluded, so that nothing starts it"
                .clone_into(&mut remark.message);
            "dayshift restore restores the saved count".clone_into(&mut remark.help);
        }
    }
    converted
}

impl ConversionRun<'_, '_> {
    /// Converts the annotations of every object.
    pub(crate) fn annotations(&mut self) {
        for at in 0..self.documents.len() {
            self.annotations_of(at);
            self.pod_annotations(at);
        }
    }

    fn annotations_of(&mut self, at: usize) {
        let document = self.documents[at].clone();
        let annotations = document.downscaler_annotations(self.sources);
        let Some(first) = annotations.first() else {
            return;
        };
        let whole = first.key.clone();
        let has_replicas = document.node.at(&["spec", "replicas"]).is_some();
        match kind_of(&document.object, has_replicas) {
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
        let namespace = self.namespace_of(at).map(|at| &self.documents[at]);
        let namespace = namespace.map(|document| document.downscaler_annotations(self.sources));
        let namespace = namespace.unwrap_or_default();
        let of_namespace = old_annotations(&namespace);
        let mut olds = old_annotations(&annotations);
        let mut forces = of_namespace.clone();
        forces.retain(|old| is_force(old.0));
        let kind = document.kind();
        let context = ConvertContext {
            converter: self.converter,
            kind: kind.as_ref(),
            permanent_force: match document.object.kind == "Namespace" || !forces.is_empty() {
                true => PermanentForce::Override,
                false => PermanentForce::Schedule,
            },
        };
        if overrides_force(&olds, &forces, context) {
            self.report(
                at,
                Topic::BothLevels,
                "force-uptime or force-downtime is on its Namespace: in GoKubeDownscaler that of the \
                object overrides it; in py-kube-downscaler and dayshift it does not",
                "check it with dayshift plan",
                &whole,
            );
        }
        if combines_times(&olds, &of_namespace) {
            self.report(
                at,
                Topic::BothLevels,
                "py-kube-downscaler combines this with the times of the Namespace; \
                    GoKubeDownscaler and dayshift use only the object's",
                "check it with dayshift plan, and write the whole schedule on this object",
                &whole,
            );
        }
        olds.extend(timed_forces(&olds, &forces, context));
        let converted = convert(&olds, context);
        for remark in converted.remarks {
            let (which, span) = remark.place;
            let annotation = annotations.get(which);
            let place = annotation.map_or_else(|| whole.clone(), |own| own.locate(&span));
            let message = if remark.message.starts_with('`') {
                remark.message
            } else {
                format!("{DOWNSCALER}{}: {}", quote(olds[which].0), remark.message)
            };
            self.report(at, remark.rule, message, remark.help, &place);
        }
        let mut changes = ObjectEdits::default();
        for (which, texts) in converted.replaced {
            // The annotations of the Namespace stay.
            if let Some(own) = annotations.get(which) {
                let name = format!("{DOWNSCALER}{}", own.name);
                changes.replaced.push((name, self.full_names(texts)));
            }
        }
        if let Some(count) = converted.saved {
            let label = self.converter.prefix.label(Label::SavedReplicas);
            changes.labels.push((label, count.to_string()));
        }
        self.take(at, changes, &whole);
    }

    /// Reports a pod that forces uptime, which applies to the whole cluster.
    fn pod_annotations(&mut self, at: usize) {
        let document = self.documents[at].clone();
        for entry in document.pod_annotations() {
            if entry.name().starts_with(DOWNSCALER) {
                let name = quote(entry.name());
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
        let context = ConvertContext::without_object(converter, PermanentForce::Override);
        let converted = convert(&olds, context);
        for remark in converted.remarks {
            let message = format!("{}: {}", flag_name(olds[remark.place.0].0), remark.message);
            let finding = ConversionFinding::new(remark.rule, None, message, remark.help);
            self.conversion.findings.push(finding);
        }
        let replaced: Vec<_> = converted
            .replaced
            .into_iter()
            .map(|(which, texts)| (olds[which].0, self.full_names(texts)))
            .collect();
        let pairs_without = |own: &[Annotation]| -> NamePairs {
            let is_own = |flag| own.iter().any(|annotation| is_same(&annotation.name, flag));
            let kept = replaced.iter().filter(|(flag, _)| !is_own(flag));
            kept.flat_map(|(_, pairs)| pairs.iter().cloned()).collect()
        };
        let mut names: HashSet<String> = HashSet::new();
        for at in 0..self.documents.len() {
            let document = &self.documents[at];
            let object = &document.object;
            let is_namespace = object.kind == "Namespace" && !object.name.starts_with("kube-");
            if is_namespace && names.insert(object.name.clone()) {
                let added = pairs_without(&document.downscaler_annotations(self.sources));
                let place = document.node.place.clone();
                self.take(at, ObjectEdits::adding(added), &place);
            }
        }
        let pairs = pairs_without(&[]);
        for name in &converter.flagged {
            if !pairs.is_empty() && names.insert(name.clone()) {
                let object = ObjectRef::namespace(name);
                self.command(ChangeTarget::Object(object), pairs.clone());
            }
        }
    }
}

fn old_annotations(annotations: &[Annotation]) -> Vec<OldAnnotation<'_>> {
    let each = annotations.iter();
    each.map(|annotation| (&*annotation.name, &*annotation.text))
        .collect()
}

fn flag_name(key: &str) -> String {
    match key {
        "uptime" | "downtime" => format!("--default-{key}"),
        key => format!("--{key}"),
    }
}
