//! kube-green's SleepInfo: a whole namespace that sleeps and wakes up.

use crate::convert::document::objects::{Document, group};
use crate::convert::finding::{ObjectName, Topic};
use crate::convert::times::cron_text;
use crate::convert::tools::request::{Requests, Texts, Wanted};
use crate::convert::tools::sleep_secret;
use crate::{
    manifest::{Node, Scalar},
    schedule::Zone,
    text::quote,
    workload::Key,
};

/// What kube-green suspends, and what dayshift starts and stops by default.
const KINDS: [(&str, &str, &str); 3] = [
    ("apps", "Deployment", "suspendDeployments"),
    ("apps", "StatefulSet", "suspendStatefulSets"),
    ("batch", "CronJob", "suspendCronJobs"),
];

/// Asks for what a SleepInfo says, and for the counts that its Secret holds, where there is one:
/// which document it is, and the document.
pub(in crate::convert) fn convert(
    document: &Document<'_>,
    secret: Option<(usize, &Document<'_>)>,
    requests: &mut Requests,
) {
    let Some(spec) = document.node.get("spec") else {
        return;
    };
    let Some(texts) = schedule(spec, requests) else {
        return;
    };
    let of = &document.object.namespace;
    let included = refs(spec, "includeRef", of);
    if included.is_empty() {
        requests.ask(Wanted::Object(ObjectName::namespace(of)), texts, "");
        kinds_left_alone(spec, of, requests);
    } else {
        let reason = "only what includeRef takes in is scheduled, by labels or names";
        for wanted in included.into_iter().filter_map(|it| suspended(spec, it)) {
            requests.ask(wanted, texts.clone(), reason);
        }
    }
    for wanted in refs(spec, "excludeRef", of) {
        let reason = "labels of excludeRef leave objects out, and each has to say so itself";
        requests.ask(wanted, excluded(), reason);
    }
    if let Some(patches) = spec.get("patches").filter(|it| !it.items().is_empty()) {
        requests.say(
            Topic::NoEqual,
            &patches.place,
            "patches of a SleepInfo have no equal: dayshift changes counts and nothing else",
            "keep this SleepInfo for its patches, with suspendDeployments and the like set to false",
        );
    }
    let is_asleep = secret.is_some_and(|(at, secret)| sleep_secret::convert(at, secret, requests));
    let (why, when) = if is_asleep {
        (
            "as long as it is there kube-green acts too; the counts that it has saved are labels now",
            "once the objects have their labels: ",
        )
    } else {
        (
            "as long as it is there kube-green acts too; with it goes the Secret in which it saves counts",
            "while everything is awake (or after dayshift convert -n NAMESPACE, which takes the counts over): ",
        )
    };
    requests.delete_after(document, why, when);
}

fn excluded() -> Texts {
    vec![("exclude", "true".to_owned())]
}

fn schedule(spec: &Node<'_>, requests: &mut Requests) -> Option<Texts> {
    let text = |name| spec.get(name).and_then(Node::written);
    let weekdays = text("weekdays").unwrap_or_default();
    let mut texts: Texts = Vec::new();
    for (field, key) in [("wakeUpAt", Key::Start), ("sleepAt", Key::Stop)] {
        let Some(node) = spec.get(field).filter(|it| it.written() != Some("")) else {
            continue;
        };
        let time = node.written().unwrap_or_default();
        let read = time
            .split_once(':')
            .and_then(|(hour, minute)| cron_text::text(&format!("{minute} {hour} * * {weekdays}")));
        let Some(read) = read else {
            requests.say(
                Topic::NotRead,
                &node.place,
                format!(
                    "`{}` on `{}` is not a time that kube-green reads",
                    quote(time),
                    quote(weekdays)
                ),
                "write for example sleepAt: \"20:00\" and weekdays: \"1-5\"",
            );
            return None;
        };
        texts.push((key.name(), read));
    }
    if texts.is_empty() {
        return None;
    }
    let zone = text("timeZone")
        .filter(|it| !it.is_empty())
        .unwrap_or("UTC");
    match Zone::parse(zone) {
        Ok(zone) => texts.push((Key::Timezone.name(), zone.name().to_owned())),
        Err(error) => {
            let place = spec.get("timeZone").map_or(&spec.place, |it| &it.place);
            let message = error.to_string();
            requests.say(Topic::NotRead, place, message, "write an IANA time zone");
            return None;
        }
    }
    Some(texts)
}

/// Whether kube-green suspends that kind at all.
fn is_suspended(spec: &Node<'_>, kind: &str) -> bool {
    let field = KINDS.iter().find(|it| it.1 == kind).map(|it| it.2);
    match field.and_then(|it| spec.get(it)).and_then(Node::scalar) {
        Some(Scalar::Bool(value)) => value,
        _ => kind != "CronJob",
    }
}

/// What of this kube-green suspends: a reference takes in no other kinds.
fn suspended(spec: &Node<'_>, mut wanted: Wanted) -> Option<Wanted> {
    let is_any = match &mut wanted {
        Wanted::Object(object) => is_suspended(spec, &object.kind),
        Wanted::Some { kinds, .. } => {
            kinds.retain(|(_, kind)| is_suspended(spec, kind));
            !kinds.is_empty()
        }
    };
    is_any.then_some(wanted)
}

/// What dayshift would take in by default, and kube-green does not.
fn kinds_left_alone(spec: &Node<'_>, namespace: &str, requests: &mut Requests) {
    for (group, kind, _) in KINDS {
        if !is_suspended(spec, kind) {
            let wanted = Wanted::Some {
                kinds: vec![(group, kind)],
                namespace: namespace.to_owned(),
                labels: Vec::new(),
            };
            let reason = format!(
                "kube-green leaves the {kind}s of this namespace alone, and each has to say so itself"
            );
            requests.ask(wanted, excluded(), reason);
        }
    }
}

/// What a list of references names.
fn refs(spec: &Node<'_>, field: &str, namespace: &str) -> Vec<Wanted> {
    let items = spec.get(field).map_or(&[][..], Node::items);
    let wanted = items.iter().filter_map(|item| {
        let text = |name| item.get(name).and_then(Node::written).unwrap_or_default();
        let labels = item.get("matchLabels").map_or(&[][..], Node::entries);
        if !labels.is_empty() {
            let labels = labels.iter();
            let pair = |name: &str, value: &Node<'_>| {
                (
                    name.to_owned(),
                    value.written().unwrap_or_default().to_owned(),
                )
            };
            return Some(Wanted::Some {
                kinds: KINDS
                    .iter()
                    .map(|(group, kind, _)| (*group, *kind))
                    .collect(),
                namespace: namespace.to_owned(),
                labels: labels.map(|it| pair(it.name(), &it.value)).collect(),
            });
        }
        let object = ObjectName {
            api_version: text("apiVersion").to_owned(),
            kind: text("kind").to_owned(),
            namespace: namespace.to_owned(),
            name: text("name").to_owned(),
        };
        let known = KINDS
            .iter()
            .any(|it| it.1 == object.kind && it.0 == group(&object.api_version));
        (known && !object.name.is_empty()).then_some(Wanted::Object(object))
    });
    wanted.collect()
}
