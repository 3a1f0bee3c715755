//! kube-green's SleepInfo: a whole namespace that sleeps and wakes up.

use crate::convert::document::objects::Document;
use crate::convert::finding::{ObjectName, Topic};
use crate::convert::times::cron_text;
use crate::convert::tools::request::{Requests, Selection, Texts, Wanted};
use crate::convert::tools::sleep_refs::Refs;
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
    requests: &mut Requests<'_>,
) {
    let Some(spec) = document.node.get("spec") else {
        return;
    };
    let Some(texts) = schedule(spec, requests) else {
        return;
    };
    let of = &document.object.namespace;
    if !ask(spec, of, texts, requests) {
        return;
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

/// Asks for the schedule on the Namespace, or on what `includeRef` takes in, and for `exclude` on what
/// is left out; whether there is anything to ask for.
fn ask(spec: &Node<'_>, of: &str, texts: Texts, requests: &mut Requests<'_>) -> bool {
    let suspended = KINDS.iter().filter(|it| is_suspended(spec, it.1));
    let suspended: Vec<_> = suspended.map(|it| (it.0, it.1)).collect();
    let Some(refs) = Refs::read(spec) else {
        requests.say(
            Topic::NotRead,
            &spec.place,
            "a name or a label of its references is not valid, and kube-green finds no object by them",
            "correct includeRef and excludeRef, and convert again",
        );
        return false;
    };
    if refs.take_in_all(&suspended) {
        requests.ask(Wanted::Object(ObjectName::namespace(of)), texts, "");
        kinds_left_alone(spec, of, requests);
        for wanted in refs.left_out(&suspended, of) {
            let reason = "labels of excludeRef leave objects out, and each has to say so itself";
            requests.ask(wanted, excluded(), reason);
        }
        return true;
    }
    let (wanted, none) = refs.taken_in(&suspended, of);
    for (_, kind) in none {
        requests.say(
            Topic::Contradiction,
            &spec.place,
            format!(
                "no {kind} has all that includeRef and excludeRef ask for, so that kube-green takes in none: all their labels have to match, and each name of its kind"
            ),
            "write a SleepInfo for each group of objects, and convert again",
        );
    }
    let is_any = !wanted.is_empty();
    for it in wanted {
        let reason = "only what includeRef takes in is scheduled, by labels or names";
        requests.ask(it, texts.clone(), reason);
    }
    is_any
}

fn excluded() -> Texts {
    vec![("exclude", "true".to_owned())]
}

fn schedule(spec: &Node<'_>, requests: &mut Requests<'_>) -> Option<Texts> {
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

/// What dayshift would take in by default, and kube-green does not.
fn kinds_left_alone(spec: &Node<'_>, namespace: &str, requests: &mut Requests<'_>) {
    for (group, kind, _) in KINDS {
        if !is_suspended(spec, kind) {
            let wanted = Wanted::Some(Selection::of(vec![(group, kind)], namespace));
            let reason = format!(
                "kube-green leaves the {kind}s of this namespace alone, and each has to say so itself"
            );
            requests.ask(wanted, excluded(), reason);
        }
    }
}
