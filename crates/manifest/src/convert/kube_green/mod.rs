//! Reads kube-green's SleepInfo, which stops and starts a namespace.

pub(super) mod secret;
mod targets;

use std::collections::BTreeSet;

use dayshift_schedule::Tzdata;
use dayshift_text::quote;
use dayshift_workload::{Key, Kind, Prefix};

use crate::{
    convert::{
        conversion::{ObjectRef, Topic},
        document::Document,
        kube_green::targets::{SleepPatches, SleepRefs},
        requests::{AnnotationRequests, NamedTexts, ObjectSelection, RequestTarget},
        week::weekly_text,
    },
    yaml::node::{Node, Scalar},
};

/// The kinds that kube-green suspends, which dayshift scales by default.
const KINDS: [(Kind, &str); 3] = [
    (Kind::DEPLOYMENT, "suspendDeployments"),
    (Kind::STATEFUL_SET, "suspendStatefulSets"),
    (Kind::CRON_JOB, "suspendCronJobs"),
];

/// Opt-in kinds that the patches of a SleepInfo stop in the same way as dayshift. If `--kinds` names
/// one, dayshift scales it in all namespaces.
pub(crate) fn more_kinds(document: &Document<'_>) -> Vec<Kind> {
    let Some(spec) = document.node.get("spec") else {
        return Vec::new();
    };
    let prefix = Prefix::default();
    // Findings are reported when the SleepInfo is converted.
    let patches = SleepPatches::read(
        spec,
        &mut AnnotationRequests::new(&prefix, Tzdata::bundled()),
    );
    let kinds = patches.stopped.into_iter().map(|stopped| stopped.0);
    kinds.filter(|kind| !Kind::DEFAULT.contains(kind)).collect()
}

/// Requests the schedule of a SleepInfo, and the counts in its Secret. `secret` is the Secret with
/// its index.
pub(crate) fn convert(
    document: &Document<'_>,
    secret: Option<(usize, &Document<'_>)>,
    kinds_of_patches: &BTreeSet<Kind>,
    requests: &mut AnnotationRequests<'_>,
) {
    let Some(spec) = document.node.get("spec") else {
        return;
    };
    report_unknown_fields(spec, requests);
    let Some(texts) = schedule(spec, requests) else {
        return;
    };
    let asks = SleepRequest {
        spec,
        namespace: &document.object.namespace,
        patches: SleepPatches::read(spec, requests),
        kinds_of_patches,
    };
    if !asks.ask(&texts, requests) {
        return;
    }
    let is_asleep = secret.is_some_and(|(at, secret)| secret::convert(at, secret, requests));
    if asks.patches.are_needed {
        return;
    }
    let (more, when) = if is_asleep {
        let more = "the counts that it has saved are labels now";
        (more, "once the objects have their labels: ")
    } else {
        (
            "deleting it also deletes the Secret in which kube-green saves counts",
            "while everything is awake (or after dayshift convert -n NAMESPACE, which converts \
                the counts): ",
        )
    };
    let why = format!("kube-green acts until it is deleted; {more}");
    requests.delete_after(document, &why, when);
}

/// The fields of a SleepInfo (v1alpha1 of kube-green 0.7).
const FIELDS: &str = "weekdays sleepAt wakeUpAt timeZone suspendDeployments suspendStatefulSets \
    suspendCronJobs includeRef excludeRef patches";

fn report_unknown_fields(spec: &Node<'_>, requests: &mut AnnotationRequests<'_>) {
    const TOOL: &str = "kube-green";
    requests.report_unknown(TOOL, spec, FIELDS);
    for item in spec
        .list("includeRef")
        .iter()
        .chain(spec.list("excludeRef"))
    {
        requests.report_unknown(TOOL, item, "apiVersion kind name matchLabels");
    }
    for item in spec.list("patches") {
        requests.report_unknown(TOOL, item, "target patch");
        if let Some(target) = item.get("target") {
            requests.report_unknown(TOOL, target, "group kind");
        }
    }
}

/// The parts of a SleepInfo other than its times.
struct SleepRequest<'s, 'a> {
    spec: &'s Node<'a>,
    namespace: &'s str,
    patches: SleepPatches,
    /// The kinds that any SleepInfo requires in `--kinds`.
    kinds_of_patches: &'s BTreeSet<Kind>,
}

impl SleepRequest<'_, '_> {
    /// Whether kube-green suspends a kind.
    fn is_suspended(&self, (kind, field): &(Kind, &str)) -> bool {
        match self.spec.get(field).and_then(Node::scalar) {
            Some(Scalar::Bool(value)) => value,
            _ => *kind != Kind::CRON_JOB,
        }
    }

    /// The kinds that it stops. For the target of a patch, kube-green applies only the patch.
    fn stopped(&self) -> Vec<Kind> {
        let own = KINDS.iter().filter(|row| self.is_suspended(row));
        let own = own.map(|row| row.0.clone());
        let mut stopped: BTreeSet<_> = own.collect();
        stopped.retain(|kind| !self.patches.changed.contains(kind));
        stopped.extend(self.patches.stopped.iter().map(|patch| patch.0.clone()));
        stopped.into_iter().collect()
    }

    /// Requests the schedule for the Namespace, or for the objects of `includeRef`, and `exclude`
    /// for excluded objects. Returns whether there is anything to request.
    fn ask(&self, texts: &NamedTexts, requests: &mut AnnotationRequests<'_>) -> bool {
        let (of, stopped) = (self.namespace, self.stopped());
        let Some(refs) = SleepRefs::read(self.spec) else {
            requests.report(
                Topic::NotRead,
                &self.spec.place,
                "a name or a label of its references is not valid, so kube-green finds no object",
                "correct includeRef and excludeRef, and convert again",
            );
            return false;
        };
        let is_default = |kind: &Kind| Kind::DEFAULT.contains(kind);
        if refs.includes_all(&stopped) && stopped.iter().any(is_default) {
            let namespace = RequestTarget::Object(ObjectRef::namespace(of));
            requests.ask(namespace, texts.clone(), "");
            for (kind, place) in &self.patches.stopped {
                requests.opt_in(kind, place);
            }
            self.leave_alone(&stopped, requests);
            for wanted in refs.excluded_targets(&stopped, of) {
                let reason =
                    "excludeRef excludes objects by labels, and each of them needs an annotation";
                requests.ask(wanted, excluded(), reason);
            }
            return true;
        }
        let (wanted, none) = refs.included_targets(&stopped, of);
        for kind in none {
            requests.report(
                Topic::Contradiction,
                &self.spec.place,
                format!(
                    "no {kind} can match includeRef and excludeRef, so kube-green selects none: \
                        an object must match all of their labels and names"
                ),
                "write a SleepInfo for each group of objects, and convert again",
            );
        }
        let is_any = !wanted.is_empty();
        for it in wanted {
            if let RequestTarget::Some(selection) = &it {
                for kind in &selection.kinds {
                    requests.opt_in(kind, &self.spec.place);
                }
            }
            let reason =
                "only some objects of this namespace are scheduled, by labels, names or kinds";
            requests.ask(it, texts.clone(), reason);
        }
        is_any
    }

    /// Excludes kinds that dayshift would scale and kube-green does not.
    fn leave_alone(&self, stopped: &[Kind], requests: &mut AnnotationRequests<'_>) {
        let included_targets = KINDS.iter().map(|row| row.0.clone());
        for kind in included_targets.chain(self.kinds_of_patches.iter().cloned()) {
            if stopped.contains(&kind) {
                continue;
            }
            let wanted =
                RequestTarget::Some(ObjectSelection::new(vec![kind.clone()], self.namespace));
            let reason = format!(
                "kube-green does not scale the {} of this namespace, and each of them needs an \
                    annotation",
                kind.names_of_all()
            );
            requests.ask(wanted, excluded(), reason);
        }
    }
}

fn excluded() -> NamedTexts {
    vec![("exclude", "true".to_owned())]
}

fn schedule(spec: &Node<'_>, requests: &mut AnnotationRequests<'_>) -> Option<NamedTexts> {
    let weekdays = spec.word("weekdays");
    let mut texts: NamedTexts = Vec::new();
    for (field, key) in [("wakeUpAt", Key::Start), ("sleepAt", Key::Stop)] {
        let time = spec.word(field);
        let Some(node) = spec.get(field).filter(|node| node.written() != Some("")) else {
            continue;
        };
        let parts = time.split_once(':');
        let read = parts
            .and_then(|(hour, minute)| weekly_text(&format!("{minute} {hour} * * {weekdays}")));
        let Some(read) = read else {
            let (time, days) = (quote(time), quote(weekdays));
            let message = format!("`{time}` on `{days}` is not a time that kube-green reads");
            let help = "write for example sleepAt: \"20:00\" and weekdays: \"1-5\"";
            requests.report(Topic::NotRead, &node.place, message, help);
            return None;
        };
        texts.push((key.name(), read));
    }
    if texts.is_empty() {
        return None;
    }
    let zone = match spec.word("timeZone") {
        "" => "UTC",
        zone => zone,
    };
    match requests.tzdata.parse_zone(zone) {
        Ok(zone) => texts.push((Key::Timezone.name(), zone.name().to_owned())),
        Err(error) => {
            let place = spec.get("timeZone").map_or(&spec.place, |node| &node.place);
            let message = error.to_string();
            requests.report(Topic::NotRead, place, message, "write an IANA time zone");
            return None;
        }
    }
    Some(texts)
}
