//! Texts of other tools where no object stands: in the values of a chart, in patches and templates,
//! and in what a delivery tool makes Namespaces with.

use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
};

use dayshift_text::quote;

use crate::{
    convert::{
        conversion::{ConversionFinding, ObjectRef, Topic},
        document::{DOWNSCALER, group},
        downscaler::{self, annotation::ConvertContext},
        work::ConversionRun,
    },
    yaml::node::{Location, MapEntry, Node, NodeContent},
};

/// Their annotations, by the names after the prefix.
const KEYS: [&str; 15] = [
    "uptime",
    "downtime",
    "upscale-period",
    "downscale-period",
    "force-uptime",
    "force-downtime",
    "exclude",
    "exclude-until",
    "downtime-replicas",
    "downscale-replicas",
    "original-replicas",
    "grace-period",
    "scale-children",
    "upscale-excluded",
    "deployment-time",
];

/// What kubectl has written of an object is not what is applied next.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The search of one source.
struct ForeignTextSearch<'s, 'a> {
    source: usize,
    /// Where keys begin that are an object's own annotations.
    own: HashSet<usize>,
    /// The objects, by their nodes.
    objects: HashMap<*const Node<'a>, &'s ObjectRef>,
    /// What was looked at already: an alias is the same node again.
    seen: HashSet<*const Node<'a>>,
    findings: Vec<ConversionFinding>,
}

impl<'a> ConversionRun<'_, 'a> {
    /// Says of each text of another tool that stands somewhere else than on an object what to write in
    /// its place.
    pub(crate) fn by_hand(&mut self, trees: &[Option<Vec<Rc<Node<'a>>>>]) {
        for (source, nodes) in trees.iter().enumerate() {
            let documents = || {
                self.documents
                    .iter()
                    .filter(|document| document.source == source)
            };
            let annotations = documents().flat_map(|document| {
                let own = document
                    .metadata()
                    .and_then(|metadata| metadata.get("annotations"));
                let template = ["spec", "template", "metadata", "annotations"];
                let of_pods = template
                    .iter()
                    .try_fold(&*document.node, |node: &Node<'_>, name| node.get(name));
                own.into_iter().chain(of_pods).flat_map(Node::entries)
            });
            let mut search = ForeignTextSearch {
                source,
                own: annotations
                    .map(|annotation| annotation.key.place.span.start)
                    .collect(),
                objects: documents()
                    .map(|document| (Rc::as_ptr(&document.node), &document.object))
                    .collect(),
                seen: HashSet::new(),
                findings: Vec::new(),
            };
            for node in nodes.iter().flatten() {
                search.visit(self, node, &mut Vec::new(), None);
            }
            let findings = search.findings;
            self.conversion.findings.extend(findings);
        }
    }

    /// What takes the place of some of their annotations, as lines; none where nothing does.
    fn equal(&self, olds: &[(&str, &str)], is_of_namespace: bool) -> String {
        let context = ConvertContext {
            now: self.converter.now,
            defaults: self.converter.defaults,
            prefix: &self.converter.prefix,
            kind: None,
            overrides: is_of_namespace,
        };
        let replaced = downscaler::convert(olds, context).replaced;
        let pairs = replaced.into_iter().flat_map(|replacement| replacement.1);
        let lines = pairs.map(|(key, text)| {
            let name = self.converter.prefix.full(key);
            format!("{name}: \"{text}\"")
        });
        lines.collect::<Vec<_>>().join(", ")
    }
}

impl<'s, 'a> ForeignTextSearch<'s, 'a> {
    fn visit<'n>(
        &mut self,
        work: &'s ConversionRun<'_, 'a>,
        node: &'n Rc<Node<'a>>,
        path: &mut Vec<&'n str>,
        object: Option<&'s ObjectRef>,
    ) {
        if !self.seen.insert(Rc::as_ptr(node)) {
            return;
        }
        let known = self.objects.get(&Rc::as_ptr(node)).copied();
        let object = known.or(object);
        match &node.content {
            NodeContent::Scalar { text, .. } => {
                if names_one(text) {
                    let message = "this text has annotations of another tool, and is not changed";
                    let help = "write dayshift's in their place by hand; convert shows them of a file that has the object itself";
                    self.report(&node.place, message.to_owned(), help.to_owned(), object);
                }
            }
            NodeContent::List(items) => {
                for item in items {
                    self.visit(work, item, path, object);
                }
            }
            NodeContent::Map(entries) => {
                if known.is_none() && is_of_other_tool(node) {
                    let kind = node.get("kind").and_then(Node::text).unwrap_or_default();
                    let message = format!(
                        "a {} stands where convert looks for no object, and is not converted",
                        quote(kind)
                    );
                    let help =
                        "convert what comes of this file, such as of helm template or oc process"
                            .to_owned();
                    self.report(&node.place, message, help, object);
                }
                self.map(work, entries, path, object);
                let is_patch = self.operation(work, node, object);
                for entry in entries {
                    if entry.name() == LAST_APPLIED || is_patch && entry.name() == "path" {
                        continue;
                    }
                    path.push(entry.name());
                    self.visit(work, &entry.value, path, object);
                    path.pop();
                }
            }
        }
    }

    /// Says which annotations stand in a map that is not an object's own.
    fn map(
        &mut self,
        work: &ConversionRun<'_, 'a>,
        entries: &[MapEntry<'a>],
        path: &[&str],
        object: Option<&ObjectRef>,
    ) {
        let is_theirs = |entry: &&MapEntry<'_>| {
            let key = entry.key.place.span.start;
            entry.name().starts_with(DOWNSCALER) && !self.own.contains(&key)
        };
        let theirs: Vec<_> = entries.iter().filter(is_theirs).collect();
        let Some(first) = theirs.first() else {
            return;
        };
        let olds = theirs.iter().map(|entry| {
            let key = entry.name().strip_prefix(DOWNSCALER).unwrap_or_default();
            (key, entry.value.written().unwrap_or_default())
        });
        let names: Vec<_> = theirs
            .iter()
            .map(|entry| format!("`{}`", quote(entry.name())))
            .collect();
        let place = match path {
            [] => "at the top of the file".to_owned(),
            path => format!("in {}", quote(&path.join("."))),
        };
        let message = format!(
            "{} {place} {} not an object's own, and not changed",
            names.join(", "),
            if names.len() == 1 { "is" } else { "are" }
        );
        let is_of_namespace = path.contains(&"managedNamespaceMetadata");
        let equal = work.equal(&olds.collect::<Vec<_>>(), is_of_namespace);
        self.report(&first.key.place, message, by_hand(&equal), object);
    }

    /// Says what an operation of a JSON patch sets; whether it is one that sets such an annotation.
    fn operation(
        &mut self,
        work: &ConversionRun<'_, 'a>,
        node: &Node<'a>,
        object: Option<&ObjectRef>,
    ) -> bool {
        let Some(path) = node.get("path").filter(|_| node.get("op").is_some()) else {
            return false;
        };
        let pointer = path.written().unwrap_or_default();
        let Some((_, key)) = pointer.rsplit_once("/downscaler~1") else {
            return false;
        };
        let value = node.get("value").and_then(Node::written);
        let equal = value.map(|value| work.equal(&[(key, value)], false));
        let message = format!("`{}` is a patch, and not changed", quote(pointer));
        let help = by_hand(&equal.unwrap_or_default());
        self.report(&path.place, message, help, object);
        true
    }

    fn report(
        &mut self,
        place: &Location,
        message: String,
        help: String,
        object: Option<&ObjectRef>,
    ) {
        let place = Some((self.source, place.clone()));
        let finding = ConversionFinding::new(Topic::ByHand, place, message, help);
        self.findings.push(finding.about(object.map(Into::into)));
    }
}

fn by_hand(equal: &str) -> String {
    match equal {
        "" => "write dayshift's annotations in their place by hand".to_owned(),
        equal => format!("write in their place by hand: {equal}"),
    }
}

/// Whether a text names an annotation of theirs, as it is or in a JSON pointer.
fn names_one(text: &str) -> bool {
    let mut at = text.match_indices("downscaler");
    at.any(|(at, _)| {
        let rest = text.get(at + "downscaler".len()..).unwrap_or_default();
        let key = rest.strip_prefix('/').or_else(|| rest.strip_prefix("~1"));
        let key = key.map(|rest| {
            let end = rest.find(|letter: char| !letter.is_ascii_lowercase() && letter != '-');
            rest.get(..end.unwrap_or(rest.len())).unwrap_or_default()
        });
        key.is_some_and(|key| KEYS.contains(&key))
    })
}

/// Whether a map is an object of another tool that holds a schedule.
fn is_of_other_tool(node: &Node<'_>) -> bool {
    let text = |name| node.get(name).and_then(Node::text).unwrap_or_default();
    let triggers = || {
        let spec = node.get("spec");
        spec.and_then(|spec| spec.get("triggers"))
            .map_or(&[][..], Node::items)
    };
    match (group(text("apiVersion")), text("kind")) {
        ("kube-green.com", "SleepInfo")
        | ("autoscaling.alibabacloud.com", "CronHorizontalPodAutoscaler") => true,
        ("keda.sh", "ScaledObject" | "ScaledJob") => triggers()
            .iter()
            .any(|trigger| trigger.get("type").and_then(Node::text) == Some("cron")),
        _ => false,
    }
}
