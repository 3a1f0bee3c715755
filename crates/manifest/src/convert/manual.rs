//! Schedules of other tools outside of objects, which a user has to convert: in the values of a
//! chart, in patches and templates, and in the flags of GoKubeDownscaler and py-kube-downscaler.

use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
};

use dayshift_text::{quote, shell_word};

use crate::{
    convert::{
        conversion::{ConversionFinding, ObjectRef, Topic},
        document::DOWNSCALER,
        downscaler::{
            self,
            annotation::{ConvertContext, PermanentForce, is_known},
        },
        work::ConversionRun,
    },
    yaml::node::{Location, MapEntry, Node, NodeContent},
};

/// The annotation in which kubectl keeps a copy of the applied object. The copy is not applied again.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// A search through one source.
struct ForeignTextSearch<'s, 'a> {
    source: usize,
    /// The first bytes of keys that are an object's own annotations.
    own: HashSet<usize>,
    /// The objects by their nodes.
    objects: HashMap<*const Node<'a>, &'s ObjectRef>,
    /// Visited nodes. Nodes behind aliases are visited once.
    seen: HashSet<*const Node<'a>>,
    findings: Vec<ConversionFinding>,
}

impl<'a> ConversionRun<'_, 'a> {
    /// Reports each schedule of another tool that is not on an object, with its replacement.
    pub(crate) fn report_manual_conversions(&mut self, trees: &[Option<Vec<Rc<Node<'a>>>>]) {
        for (source, nodes) in trees.iter().enumerate() {
            let documents = || {
                self.documents
                    .iter()
                    .filter(|document| document.source == source)
            };
            let annotations = documents().flat_map(|document| {
                let of_pods = document
                    .node
                    .at(&["spec", "template", "metadata", "annotations"]);
                let of_pods = of_pods.map_or(&[][..], Node::entries);
                document.own_annotations().iter().chain(of_pods)
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

    /// The lines that replace downscaler annotations; empty if none do.
    fn equal(&self, olds: &[(&str, &str)], permanent_force: PermanentForce) -> String {
        let context = ConvertContext::without_object(self.converter, permanent_force);
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
                    let help = "replace them manually with dayshift's annotations; to see these, \
                        convert a file that contains the object";
                    self.report(&node.place, message.to_owned(), help.to_owned(), object);
                }
            }
            NodeContent::List(items) => {
                self.report_defaults(work, &node.place, &list_defaults(items), object);
                for item in items {
                    self.visit(work, item, path, object);
                }
            }
            NodeContent::Map(entries) => {
                if known.is_none() && is_of_other_tool(node) {
                    let kind = node.get("kind").and_then(Node::text).unwrap_or_default();
                    let message = format!(
                        "convert does not read a {} in this place, and does not convert it",
                        quote(kind)
                    );
                    let help =
                        "convert the output for this file, such as that of helm template or oc process"
                            .to_owned();
                    self.report(&node.place, message, help, object);
                }
                self.report_defaults(work, &node.place, &map_defaults(entries), object);
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

    /// Reports downscaler annotations in a map that is not an object's own.
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
            "{} {place} {} not on an object, and not changed",
            names.join(", "),
            if names.len() == 1 { "is" } else { "are" }
        );
        let permanent_force = if path.contains(&"managedNamespaceMetadata") {
            PermanentForce::Override
        } else {
            PermanentForce::Schedule
        };
        let equal = work.equal(&olds.collect::<Vec<_>>(), permanent_force);
        self.report(&first.key.place, message, manual_help(&equal), object);
    }

    /// Reports an operation of a JSON patch that sets a downscaler annotation. Returns whether it
    /// does.
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
        let equal = value.map(|value| work.equal(&[(key, value)], PermanentForce::Schedule));
        let message = format!("`{}` is a patch, and not changed", quote(pointer));
        let help = manual_help(&equal.unwrap_or_default());
        self.report(&path.place, message, help, object);
        true
    }

    /// Reports defaults of GoKubeDownscaler or py-kube-downscaler, with the command that converts them.
    fn report_defaults(
        &mut self,
        work: &ConversionRun<'_, 'a>,
        place: &Location,
        defaults: &[DownscalerDefault],
        object: Option<&ObjectRef>,
    ) {
        if work.converter.flags.is_empty()
            && let Some((message, help)) = defaults_finding(defaults)
        {
            self.report(place, message, help, object);
        }
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

/// A flag of GoKubeDownscaler or py-kube-downscaler for all Namespaces, and its value if the file
/// has it.
#[derive(Debug, PartialEq, Eq)]
struct DownscalerDefault {
    flag: &'static str,
    value: Option<String>,
}

/// The flags and variables that set a schedule for all Namespaces, and those that change its meaning.
const DEFAULTS: [(&str, &str); 6] = [
    ("--default-uptime", "DEFAULT_UPTIME"),
    ("--default-downtime", "DEFAULT_DOWNTIME"),
    ("--upscale-period", "UPSCALE_PERIOD"),
    ("--downscale-period", "DOWNSCALE_PERIOD"),
    ("--default-timezone", "DEFAULT_TIMEZONE"),
    ("--default-weekframe", "DEFAULT_WEEKFRAME"),
];

/// The number of [`DEFAULTS`] that set a schedule by themselves. They come first.
const SCHEDULES: usize = 4;

/// The message and help for defaults, if one of them sets a schedule.
fn defaults_finding(defaults: &[DownscalerDefault]) -> Option<(String, String)> {
    let is_schedule = |default: &&DownscalerDefault| {
        DEFAULTS[..SCHEDULES]
            .iter()
            .any(|(flag, _)| *flag == default.flag)
    };
    let first = defaults.iter().find(is_schedule)?;
    let words: Vec<_> = defaults
        .iter()
        .map(|default| {
            let value = default.value.as_deref().unwrap_or("VALUE");
            format!("{} {}", default.flag, shell_word(value))
        })
        .collect();
    let message = format!(
        "{} is a schedule of GoKubeDownscaler or py-kube-downscaler for every Namespace, and is not converted",
        first.flag
    );
    let help = format!(
        "convert it for each Namespace: dayshift convert {} -n NAMESPACE",
        words.join(" ")
    );
    Some((message, help))
}

/// Defaults among the arguments of a container, or among its variables.
fn list_defaults(items: &[Rc<Node<'_>>]) -> Vec<DownscalerDefault> {
    let mut found = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let text = |name| item.get(name).and_then(Node::written);
        if let Some(name) = text("name") {
            let value = text("value").map(str::to_owned);
            found.extend(variable_default(name, value));
        }
        let word = item.written().unwrap_or_default();
        match DEFAULTS.iter().find(|(flag, _)| *flag == word) {
            Some((flag, _)) => {
                let next = items.get(at + 1).and_then(|next| next.written());
                let value = next.map(str::to_owned);
                found.push(DownscalerDefault { flag, value });
            }
            None => found.extend(text_defaults(word)),
        }
    }
    found
}

/// Defaults in a ConfigMap, in the values of a chart, or in a text such as a patch.
fn map_defaults(entries: &[MapEntry<'_>]) -> Vec<DownscalerDefault> {
    let each = entries.iter().flat_map(|entry| {
        let text = entry.value.written().unwrap_or_default();
        let value = entry.value.written().map(str::to_owned);
        let variable = variable_default(entry.name(), value);
        variable.into_iter().chain(text_defaults(text))
    });
    each.collect()
}

fn variable_default(name: &str, value: Option<String>) -> Option<DownscalerDefault> {
    let (flag, _) = DEFAULTS.iter().find(|(_, variable)| *variable == name)?;
    Some(DownscalerDefault { flag, value })
}

/// Defaults in a text: `--default-uptime="Mon-Fri 08:00-20:00 UTC"` or `DEFAULT_UPTIME=…`. A value
/// ends at its quote or at the end of the line.
fn text_defaults(text: &str) -> Vec<DownscalerDefault> {
    let mut found = Vec::new();
    for (flag, variable) in DEFAULTS {
        for name in [flag, variable] {
            let Some((_, rest)) = text.split_once(name) else {
                continue;
            };
            if rest.starts_with(|letter: char| {
                letter.is_alphanumeric() || letter == '-' || letter == '_'
            }) {
                continue;
            }
            let rest = rest.trim_start_matches(['=', ':', ' ', ',', '\t', '"', '\'', ']', '\\']);
            let end = rest.find(['"', '\'', '\n', '\\']).unwrap_or(rest.len());
            let value = rest.get(..end).map(str::trim).unwrap_or_default();
            let value = Some(value.to_owned()).filter(|value| !value.is_empty());
            found.push(DownscalerDefault { flag, value });
            break;
        }
    }
    found
}

/// The finding of a file that is not read, such as one of Terraform, if its text has annotations or
/// defaults of another tool.
pub(crate) fn skipped_file_finding(name: &str, text: &str) -> Option<ConversionFinding> {
    let (message, help) = match defaults_finding(&text_defaults(text)) {
        Some((message, help)) => (format!("{}: {message}", quote(name)), help),
        None if names_one(text) || text.contains("kube-green.com/") => (
            format!(
                "{} has a schedule of another tool, and is not read",
                quote(name)
            ),
            "replace them manually with dayshift's annotations; to see these, convert the \
                object: kubectl get -o yaml … | dayshift convert -"
                .to_owned(),
        ),
        None => return None,
    };
    Some(ConversionFinding::new(Topic::ByHand, None, message, help))
}

fn manual_help(equal: &str) -> String {
    match equal {
        "" => "replace them manually with dayshift's annotations".to_owned(),
        equal => format!("replace them manually: {equal}"),
    }
}

/// Whether a text contains the name of a downscaler annotation, as it is or in a JSON pointer.
fn names_one(text: &str) -> bool {
    let mut at = text.match_indices("downscaler");
    at.any(|(at, _)| {
        let rest = text.get(at + "downscaler".len()..).unwrap_or_default();
        let key = rest.strip_prefix('/').or_else(|| rest.strip_prefix("~1"));
        let key = key.map(|rest| {
            let end = rest.find(|letter: char| !letter.is_ascii_lowercase() && letter != '-');
            rest.get(..end.unwrap_or(rest.len())).unwrap_or_default()
        });
        key.is_some_and(is_known)
    })
}

/// Whether a map is an object of another tool with a schedule.
fn is_of_other_tool(node: &Node<'_>) -> bool {
    let (version, kind) = (node.word("apiVersion"), node.word("kind"));
    let triggers = || node.at(&["spec", "triggers"]).map_or(&[][..], Node::items);
    match (version.split('/').next().unwrap_or_default(), kind) {
        ("kube-green.com", "SleepInfo")
        | ("autoscaling.alibabacloud.com", "CronHorizontalPodAutoscaler") => true,
        ("keda.sh", "ScaledObject" | "ScaledJob") => triggers()
            .iter()
            .any(|trigger| trigger.get("type").and_then(Node::text) == Some("cron")),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_defaults_in_texts() {
        for (text, expected) in [
            (
                "--default-uptime=Mon-Fri 08:00-20:00 UTC",
                &[("--default-uptime", Some("Mon-Fri 08:00-20:00 UTC"))][..],
            ),
            (
                "exec downscaler --default-downtime 'Sat-Sun 00:00-24:00 UTC' --interval 30",
                &[("--default-downtime", Some("Sat-Sun 00:00-24:00 UTC"))],
            ),
            (
                "DEFAULT_UPTIME: always\nDEFAULT_TIMEZONE: Europe/Berlin\n",
                &[
                    ("--default-uptime", Some("always")),
                    ("--default-timezone", Some("Europe/Berlin")),
                ],
            ),
            ("--upscale-period=", &[("--upscale-period", None)]),
            ("--default-uptimes=x MY_DEFAULT_UPTIMES", &[]),
        ] {
            let found = text_defaults(text);
            let found: Vec<_> = found
                .iter()
                .map(|default| (default.flag, default.value.as_deref()))
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
