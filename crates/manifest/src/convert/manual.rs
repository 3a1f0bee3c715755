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
            annotation::{ConvertContext, OldAnnotation, PermanentForce, is_known},
        },
        keda::is_cron,
        work::ConversionRun,
    },
    yaml::node::{Location, MapEntry, Node, NodeContent},
};

/// The annotation in which kubectl keeps a copy of the applied object. The copy is not applied again.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// A search through one source.
struct ForeignTextSearch<'s, 'a> {
    run: &'s ConversionRun<'s, 'a>,
    source: usize,
    /// The first bytes of keys that are an object's own annotations.
    own: HashSet<usize>,
    /// The objects by their nodes.
    objects: HashMap<*const Node<'a>, &'s ObjectRef>,
    /// The object that contains the visited node.
    object: Option<&'s ObjectRef>,
    /// Visited nodes. Nodes behind aliases are visited once.
    seen: HashSet<*const Node<'a>>,
    findings: Vec<ConversionFinding>,
}

impl<'a> ConversionRun<'_, 'a> {
    /// Reports each schedule of another tool that is not on an object, with its replacement.
    pub(crate) fn report_manual_conversions(&mut self, trees: &[Option<Vec<Rc<Node<'a>>>>]) {
        let mut findings = Vec::new();
        for (source, nodes) in trees.iter().enumerate() {
            let documents = || {
                let all = self.documents.iter();
                all.filter(|document| document.source == source)
            };
            let annotations = documents().flat_map(|document| {
                let of_pods = document.pod_annotations();
                document.own_annotations().iter().chain(of_pods)
            });
            let mut search = ForeignTextSearch {
                run: self,
                source,
                own: annotations
                    .map(|annotation| annotation.key.place.span.start)
                    .collect(),
                objects: documents()
                    .map(|document| (Rc::as_ptr(&document.node), &document.object))
                    .collect(),
                object: None,
                seen: HashSet::new(),
                findings: Vec::new(),
            };
            for node in nodes.iter().flatten() {
                search.visit(node, &mut Vec::new());
            }
            findings.extend(search.findings);
        }
        self.conversion.findings.extend(findings);
    }
}

impl<'a> ForeignTextSearch<'_, 'a> {
    fn visit<'n>(&mut self, node: &'n Rc<Node<'a>>, path: &mut Vec<&'n str>) {
        if !self.seen.insert(Rc::as_ptr(node)) {
            return;
        }
        let known = self.objects.get(&Rc::as_ptr(node)).copied();
        let outer = self.object;
        self.object = known.or(outer);
        match &node.content {
            NodeContent::Scalar { text, .. } => {
                if names_one(text) {
                    let message = "this text has annotations of another tool, and is not changed";
                    let help = "replace them manually with dayshift's annotations; to see these, \
                        convert a file that contains the object";
                    self.report(&node.place, message, help);
                }
            }
            NodeContent::List(items) => {
                self.report_defaults(&node.place, &list_text(items));
                for item in items {
                    self.visit(item, path);
                }
            }
            NodeContent::Map(entries) => {
                if known.is_none() && is_of_other_tool(node) {
                    let kind = node.get("kind").and_then(Node::text).unwrap_or_default();
                    let message = format!(
                        "convert does not read a {} in this place, and does not convert it",
                        quote(kind)
                    );
                    let help = "convert the output for this file, such as that of helm template or oc process";
                    self.report(&node.place, message, help);
                }
                self.report_defaults(&node.place, &map_text(entries));
                self.map(entries, path);
                let is_patch = self.operation(node);
                for entry in entries {
                    if entry.name() == LAST_APPLIED || is_patch && entry.name() == "path" {
                        continue;
                    }
                    path.push(entry.name());
                    self.visit(&entry.value, path);
                    path.pop();
                }
            }
        }
        self.object = outer;
    }

    /// Reports downscaler annotations in a map that is not an object's own.
    fn map(&mut self, entries: &[MapEntry<'a>], path: &[&str]) {
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
        let help = self.help(&olds.collect::<Vec<_>>(), permanent_force);
        self.report(&first.key.place, message, help);
    }

    /// Reports an operation of a JSON patch that sets a downscaler annotation. Returns whether it
    /// does.
    fn operation(&mut self, node: &Node<'a>) -> bool {
        let Some(path) = node.get("path").filter(|_| node.get("op").is_some()) else {
            return false;
        };
        let pointer = path.written().unwrap_or_default();
        let Some((_, key)) = pointer.rsplit_once("/downscaler~1") else {
            return false;
        };
        let value = node.get("value").and_then(Node::written);
        let olds: Vec<_> = value.map(|value| (key, value)).into_iter().collect();
        let message = format!("`{}` is a patch, and not changed", quote(pointer));
        let help = self.help(&olds, PermanentForce::Schedule);
        self.report(&path.place, message, help);
        true
    }

    /// How to replace downscaler annotations.
    fn help(&self, olds: &[OldAnnotation<'_>], permanent_force: PermanentForce) -> String {
        let context = ConvertContext::without_object(self.run.converter, permanent_force);
        let replaced = downscaler::convert(olds, context).replaced;
        let pairs = replaced
            .into_iter()
            .flat_map(|(_, texts)| self.run.full_names(texts));
        let lines: Vec<_> = pairs
            .map(|(name, text)| format!("{name}: \"{text}\""))
            .collect();
        if lines.is_empty() {
            return "replace them manually with dayshift's annotations".to_owned();
        }
        format!("replace them manually: {}", lines.join(", "))
    }

    /// Reports defaults of GoKubeDownscaler or py-kube-downscaler, with the command that converts them.
    fn report_defaults(&mut self, place: &Location, text: &str) {
        if self.run.converter.flags.is_empty()
            && let Some((message, help)) = defaults_finding(text)
        {
            self.report(place, message, help);
        }
    }

    fn report(&mut self, place: &Location, message: impl Into<String>, help: impl Into<String>) {
        let place = Some((self.source, place.clone()));
        let finding = ConversionFinding::new(Topic::ByHand, place, message, help);
        self.findings
            .push(finding.about(self.object.map(Into::into)));
    }
}

/// A flag of GoKubeDownscaler or py-kube-downscaler for all Namespaces, and its value if the file
/// has it.
type DownscalerDefault<'t> = (&'static str, Option<&'t str>);

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

/// The message and help for the defaults in a text, if one of them sets a schedule.
fn defaults_finding(text: &str) -> Option<(String, String)> {
    let defaults = text_defaults(text);
    let is_schedule = |(flag, _): &&DownscalerDefault<'_>| {
        let mut schedules = DEFAULTS[..SCHEDULES].iter();
        schedules.any(|(known, _)| known == flag)
    };
    let (first, _) = defaults.iter().find(is_schedule)?;
    let words = defaults.iter();
    let words: Vec<_> = words
        .map(|(flag, value)| format!("{flag} {}", shell_word(value.unwrap_or("VALUE"))))
        .collect();
    let message = format!(
        "{first} is a schedule of GoKubeDownscaler or py-kube-downscaler for every Namespace, and is not converted"
    );
    let help = format!(
        "convert it for each Namespace: dayshift convert {} -n NAMESPACE",
        words.join(" ")
    );
    Some((message, help))
}

/// The arguments of a container, or its variables, as lines.
fn list_text(items: &[Rc<Node<'_>>]) -> String {
    let is_flag = |word: &str| DEFAULTS.iter().any(|(flag, _)| *flag == word);
    let lines = items.iter().map(|item| {
        let word = item.written().unwrap_or_default();
        match item.word("name") {
            // The next argument is its value.
            "" if is_flag(word) => format!("{word} "),
            "" => format!("{word}\n"),
            name => format!("{name}={}\n", item.word("value")),
        }
    });
    lines.collect()
}

/// The data of a ConfigMap, or the values of a chart, as lines.
fn map_text(entries: &[MapEntry<'_>]) -> String {
    let lines = entries.iter().map(|entry| {
        let value = entry.value.written().unwrap_or_default();
        format!("{}={value}\n", entry.name())
    });
    lines.collect()
}

/// Defaults in a text: `--default-uptime="Mon-Fri 08:00-20:00 UTC"` or `DEFAULT_UPTIME=…`. A value
/// ends at its quote or at the end of the line.
fn text_defaults(text: &str) -> Vec<DownscalerDefault<'_>> {
    let is_in_word = |letter: char| letter.is_alphanumeric() || letter == '-' || letter == '_';
    let after = |name: &str| {
        let mut places = text.match_indices(name);
        places.find_map(|(at, _)| {
            let (before, rest) = (text.get(..at)?, text.get(at + name.len()..)?);
            let is_part = before.ends_with(is_in_word) || rest.starts_with(is_in_word);
            (!is_part).then_some(rest)
        })
    };
    let each = DEFAULTS.iter().filter_map(|(flag, variable)| {
        let rest = after(flag).or_else(|| after(variable))?;
        let rest = rest.trim_start_matches(['=', ':', ' ', ',', '\t', '"', '\'', ']', '\\']);
        let end = rest.find(['"', '\'', '\n', '\\']).unwrap_or(rest.len());
        let value = rest.get(..end).map(str::trim);
        Some((*flag, value.filter(|value| !value.is_empty())))
    });
    each.collect()
}

/// The finding of a file that is not read, such as one of Terraform, if its text has annotations or
/// defaults of another tool.
pub(crate) fn skipped_file_finding(name: &str, text: &str) -> Option<ConversionFinding> {
    let (message, help) = match defaults_finding(text) {
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
        ("keda.sh", "ScaledObject" | "ScaledJob") => {
            triggers().iter().any(|trigger| is_cron(trigger))
        }
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
            assert_eq!(text_defaults(text), expected, "{text}");
        }
    }
}
