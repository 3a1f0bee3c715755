//! Texts of other tools where no object stands: in the values of a chart, in patches and templates,
//! and in what a delivery tool makes Namespaces with.

use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
};

use dayshift_text::quote;

use super::state::Work;
use crate::{
    convert::{
        document::objects::{DOWNSCALER, group},
        downscaler::{self, Context},
        finding::{Finding, ObjectName, Topic},
    },
    manifest::{Content, Entry, Location, Node},
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
struct Search<'s, 'a> {
    source: usize,
    /// Where keys begin that are an object's own annotations.
    own: HashSet<usize>,
    /// The objects, by their nodes.
    objects: HashMap<*const Node<'a>, &'s ObjectName>,
    /// What was looked at already: an alias is the same node again.
    seen: HashSet<*const Node<'a>>,
    findings: Vec<Finding>,
}

impl<'a> Work<'_, 'a> {
    /// Says of each text of another tool that stands somewhere else than on an object what to write in
    /// its place.
    pub(crate) fn by_hand(&mut self, trees: &[Option<Vec<Rc<Node<'a>>>>]) {
        for (source, nodes) in trees.iter().enumerate() {
            let documents = || self.documents.iter().filter(|it| it.source == source);
            let annotations = documents().flat_map(|it| {
                let own = it.metadata().and_then(|it| it.get("annotations"));
                let template = ["spec", "template", "metadata", "annotations"];
                let of_pods = template
                    .iter()
                    .try_fold(&*it.node, |node: &Node<'_>, name| node.get(name));
                own.into_iter().chain(of_pods).flat_map(Node::entries)
            });
            let mut search = Search {
                source,
                own: annotations.map(|it| it.key.place.span.start).collect(),
                objects: documents()
                    .map(|it| (Rc::as_ptr(&it.node), &it.object))
                    .collect(),
                seen: HashSet::new(),
                findings: Vec::new(),
            };
            for node in nodes.iter().flatten() {
                search.look_at(self, node, &mut Vec::new(), None);
            }
            let findings = search.findings;
            self.conversion.findings.extend(findings);
        }
    }

    /// What takes the place of some of their annotations, as lines; none where nothing does.
    fn equal(&self, olds: &[(&str, &str)], is_of_namespace: bool) -> String {
        let context = Context {
            now: self.converter.now,
            defaults: self.converter.defaults,
            prefix: &self.converter.prefix,
            kind: None,
            overrides: is_of_namespace,
        };
        let replaced = downscaler::convert(olds, context).replaced;
        let pairs = replaced.into_iter().flat_map(|it| it.1);
        let lines = pairs.map(|(key, text)| {
            let name = self.converter.prefix.full(key);
            format!("{name}: \"{text}\"")
        });
        lines.collect::<Vec<_>>().join(", ")
    }
}

impl<'s, 'a> Search<'s, 'a> {
    fn look_at<'n>(
        &mut self,
        work: &'s Work<'_, 'a>,
        node: &'n Rc<Node<'a>>,
        path: &mut Vec<&'n str>,
        object: Option<&'s ObjectName>,
    ) {
        if !self.seen.insert(Rc::as_ptr(node)) {
            return;
        }
        let known = self.objects.get(&Rc::as_ptr(node)).copied();
        let object = known.or(object);
        match &node.content {
            Content::Scalar { text, .. } => {
                if names_one(text) {
                    let message = "this text has annotations of another tool, and is not changed";
                    let help = "write dayshift's in their place by hand; convert shows them of a file that has the object itself";
                    self.say(&node.place, message.to_owned(), help.to_owned(), object);
                }
            }
            Content::List(items) => {
                for item in items {
                    self.look_at(work, item, path, object);
                }
            }
            Content::Map(entries) => {
                if known.is_none() && is_of_other_tool(node) {
                    let kind = node.get("kind").and_then(Node::text).unwrap_or_default();
                    let message = format!(
                        "a {} stands where convert looks for no object, and is not converted",
                        quote(kind)
                    );
                    let help =
                        "convert what comes of this file, such as of helm template or oc process"
                            .to_owned();
                    self.say(&node.place, message, help, object);
                }
                self.map(work, entries, path, object);
                let is_patch = self.operation(work, node, object);
                for entry in entries {
                    if entry.name() == LAST_APPLIED || is_patch && entry.name() == "path" {
                        continue;
                    }
                    path.push(entry.name());
                    self.look_at(work, &entry.value, path, object);
                    path.pop();
                }
            }
        }
    }

    /// Says which annotations stand in a map that is not an object's own.
    fn map(
        &mut self,
        work: &Work<'_, 'a>,
        entries: &[Entry<'a>],
        path: &[&str],
        object: Option<&ObjectName>,
    ) {
        let is_theirs = |it: &&Entry<'_>| {
            let key = it.key.place.span.start;
            it.name().starts_with(DOWNSCALER) && !self.own.contains(&key)
        };
        let theirs: Vec<_> = entries.iter().filter(is_theirs).collect();
        let Some(first) = theirs.first() else {
            return;
        };
        let olds = theirs.iter().map(|it| {
            let key = it.name().strip_prefix(DOWNSCALER).unwrap_or_default();
            (key, it.value.written().unwrap_or_default())
        });
        let names: Vec<_> = theirs
            .iter()
            .map(|it| format!("`{}`", quote(it.name())))
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
        self.say(&first.key.place, message, by_hand(&equal), object);
    }

    /// Says what an operation of a JSON patch sets; whether it is one that sets such an annotation.
    fn operation(
        &mut self,
        work: &Work<'_, 'a>,
        node: &Node<'a>,
        object: Option<&ObjectName>,
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
        self.say(&path.place, message, help, object);
        true
    }

    fn say(
        &mut self,
        place: &Location,
        message: String,
        help: String,
        object: Option<&ObjectName>,
    ) {
        let place = Some((self.source, place.clone()));
        let finding = Finding::new(Topic::ByHand, place, message, help);
        self.findings.push(finding.of(object.map(Into::into)));
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
        let key = key.map(|it| {
            let end = it.find(|it: char| !it.is_ascii_lowercase() && it != '-');
            it.get(..end.unwrap_or(it.len())).unwrap_or_default()
        });
        key.is_some_and(|it| KEYS.contains(&it))
    })
}

/// Whether a map is an object of another tool that holds a schedule.
fn is_of_other_tool(node: &Node<'_>) -> bool {
    let text = |name| node.get(name).and_then(Node::text).unwrap_or_default();
    let triggers = || {
        let spec = node.get("spec");
        spec.and_then(|it| it.get("triggers"))
            .map_or(&[][..], Node::items)
    };
    match (group(text("apiVersion")), text("kind")) {
        ("kube-green.com", "SleepInfo")
        | ("autoscaling.alibabacloud.com", "CronHorizontalPodAutoscaler") => true,
        ("keda.sh", "ScaledObject" | "ScaledJob") => triggers()
            .iter()
            .any(|it| it.get("type").and_then(Node::text) == Some("cron")),
        _ => false,
    }
}
