//! The annotations of GoKubeDownscaler and py-kube-downscaler, on each object of the files.

use dayshift_workload::Label;

use super::state::{KindOf, Work, kind_of};
use crate::{
    convert::{
        document::{
            edit::Changes,
            objects::{DOWNSCALER, Document, known_kind},
        },
        downscaler::{self, Context},
        finding::Topic,
        times::timespan::Spans,
    },
    manifest::{Location, Node, Source},
};

impl Work<'_, '_> {
    /// The annotations of GoKubeDownscaler and py-kube-downscaler.
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
        let spec = document.node.get("spec");
        let has_count = spec.is_some_and(|it| it.get("replicas").is_some());
        match kind_of(&document.object, has_count) {
            KindOf::Scaled => {}
            KindOf::OptIn(resource) => {
                self.opt_in(at, &document.object.kind, &resource, whole.clone());
            }
            KindOf::Other => {
                let kind = &document.object.kind;
                self.say(
                    at,
                    Topic::OtherKind,
                    format!("dayshift does not scale a {kind}; its annotations stay as they are"),
                    "annotate the workload that it belongs to, and remove these".to_owned(),
                    whole,
                );
                return;
            }
        }
        let context = Context {
            now: self.converter.now,
            defaults: self.converter.defaults,
            prefix: &self.converter.prefix,
            kind: known_kind(document.group(), &document.object.kind),
            overrides: false,
        };
        let mut olds: Vec<_> = annotations.iter().map(|it| (it.key(), it.text())).collect();
        let namespace = self.namespace_of(at).map(|at| self.documents[at].clone());
        let forces = self.forces_of(at, &olds, namespace.as_ref(), context, &whole);
        let context = Context {
            overrides: document.object.kind == "Namespace" || !forces.is_empty(),
            ..context
        };
        let forces: Vec<_> = forces.iter().map(|(key, text)| (&**key, &**text)).collect();
        olds.extend(downscaler::laid_over(&olds, &forces, context));
        let outcome = downscaler::convert(&olds, context);
        let source = self.sources.get(document.source).map_or("", Source::text);
        for remark in outcome.remarks {
            let (which, span) = remark.place;
            let place = annotations
                .get(which)
                .map_or_else(|| whole.clone(), |it| it.locate(&span, source));
            let name = olds.get(which).map_or("", |it| it.0);
            let message = match remark.rule {
                _ if remark.message.starts_with('`') => remark.message,
                _ => format!(
                    "{DOWNSCALER}{}: {}",
                    dayshift_text::quote(name),
                    remark.message
                ),
            };
            self.say(at, remark.rule, message, remark.help, place);
        }
        if let Some(namespace) = &namespace {
            self.both_levels(at, &olds, namespace, &whole);
        }
        let prefix = &self.converter.prefix;
        let mut changes = Changes::default();
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

    /// What the Namespace of an object forces. In GoKubeDownscaler the object's own comes before it, and
    /// in py-kube-downscaler nothing does.
    fn forces_of(
        &mut self,
        at: usize,
        own: &[(&str, &str)],
        namespace: Option<&Document<'_>>,
        context: Context<'_>,
        place: &Location,
    ) -> Vec<(String, String)> {
        let all = namespace.map(Document::annotations).unwrap_or_default();
        let forces = all.iter().filter(|it| downscaler::is_force(it.key()));
        let forces: Vec<_> = forces
            .map(|it| (it.key().to_owned(), it.text().to_owned()))
            .collect();
        let is_always = |text: &str| {
            let spans = Spans::parse(text, context.defaults);
            spans.is_ok_and(|it| it.is_always())
        };
        let is_own = own.iter().any(|it| downscaler::is_force(it.0));
        let is_forced = own
            .iter()
            .any(|it| downscaler::is_force(it.0) && is_always(it.1));
        if is_own && !is_forced && forces.iter().any(|it| is_always(&it.1)) {
            self.say(
                at,
                Topic::BothLevels,
                "its Namespace is forced, which this object's own force undoes in GoKubeDownscaler; in py-kube-downscaler and here the Namespace's counts".to_owned(),
                "look at it with dayshift plan".to_owned(),
                place.clone(),
            );
        }
        forces
    }

    /// Whether an object has an uptime and its Namespace a downtime, or the other way around.
    pub(crate) fn both_levels(
        &mut self,
        at: usize,
        olds: &[(&str, &str)],
        of: &Document<'_>,
        place: &Location,
    ) {
        let has = |name: &str| olds.iter().any(|it| it.0 == name);
        let over = |own: &str, other: &str| {
            has(own) && !has(other) && of.has(&format!("{DOWNSCALER}{other}"))
        };
        if over("uptime", "downtime") || over("downtime", "uptime") {
            self.say(
                at,
                Topic::BothLevels,
                "py-kube-downscaler lays this over the times of the Namespace; GoKubeDownscaler and dayshift take the object's alone".to_owned(),
                "look at it with dayshift plan, and write the whole schedule on this object".to_owned(),
                place.clone(),
            );
        }
    }

    /// A pod that forces uptime does so for the whole cluster.
    pub(crate) fn pod_annotations(&mut self, at: usize) {
        let document = self.documents[at].clone();
        let path = ["spec", "template", "metadata", "annotations"];
        let map = path
            .iter()
            .try_fold(&*document.node, |node: &Node<'_>, name| node.get(name));
        for entry in map.map_or(&[][..], Node::entries) {
            if entry.name().starts_with(DOWNSCALER) {
                self.say(
                    at,
                    Topic::NoEquivalent,
                    format!("{} stands on the pods, which dayshift does not read", dayshift_text::quote(entry.name())),
                    "force-uptime on a pod keeps the whole cluster up in py-kube-downscaler: use dayshift wake --all -A, and remove it".to_owned(),
                    entry.key.place.clone(),
                );
            }
        }
    }
}
