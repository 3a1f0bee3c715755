//! Reads kube-green's SleepInfo, which stops and starts a namespace.

pub(super) mod secret;
mod targets;

use std::collections::BTreeSet;

use dayshift_schedule::Tzdata;
use dayshift_text::quote;
use dayshift_workload::{Key, Kind};

use crate::{
    convert::{
        conversion::{Converter, ObjectRef, PlacedFinding, Topic},
        desired::KeyTexts,
        document::Document,
        kube_green::targets::{SleepPatches, SleepRefs},
        requests::{AnnotationRequests, ObjectSelection, RequestTarget},
        week::weekly_text,
    },
    finding::Finding,
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
pub(crate) fn more_kinds(document: &Document<'_>, converter: &Converter) -> Vec<Kind> {
    let Some(spec) = document.node.get("spec") else {
        return Vec::new();
    };
    // Findings are reported when the SleepInfo is converted.
    let patches = SleepPatches::read(spec, &mut AnnotationRequests::new(converter));
    let kinds = patches.stopped.into_iter().map(|stopped| stopped.0);
    kinds.filter(|kind| !Kind::DEFAULT.contains(kind)).collect()
}

/// Requests the schedule of a SleepInfo, and the counts in its Secret. `secret` is the Secret with
/// its index.
///
/// # Errors
/// Why nothing is converted.
pub(crate) fn convert(
    document: &Document<'_>,
    secret: Option<(usize, &Document<'_>)>,
    kinds_of_patches: &BTreeSet<Kind>,
    requests: &mut AnnotationRequests<'_>,
) -> Result<(), PlacedFinding> {
    let Some(spec) = document.node.get("spec") else {
        return Ok(());
    };
    let texts = schedule(spec, &requests.converter.defaults.tzdata)?;
    if texts.is_empty() {
        return Ok(());
    }
    let asks = SleepRequest {
        spec,
        namespace: &document.object.namespace,
        patches: SleepPatches::read(spec, requests),
        kinds_of_patches,
    };
    if !asks.ask(texts, requests)? {
        return Ok(());
    }
    let is_asleep = secret.is_some_and(|(at, secret)| secret::convert(at, secret, requests));
    if asks.patches.are_needed {
        return Ok(());
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
    Ok(())
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
    fn ask(
        &self,
        texts: KeyTexts,
        requests: &mut AnnotationRequests<'_>,
    ) -> Result<bool, PlacedFinding> {
        let (of, stopped) = (self.namespace, self.stopped());
        let refs = SleepRefs::read(self.spec).ok_or_else(|| {
            Finding::new(
                Topic::NotRead,
                self.spec.place.clone(),
                "a name or a label of its references is not valid, so kube-green finds no object",
                "correct includeRef and excludeRef, and convert again",
            )
        })?;
        let is_default = |kind: &Kind| Kind::DEFAULT.contains(kind);
        if refs.includes_all(&stopped) && stopped.iter().any(is_default) {
            for (kind, place) in &self.patches.stopped {
                requests.opt_in(kind, place);
            }
            let namespace = RequestTarget::Object(ObjectRef::namespace(of));
            let mut exclusions = self.other_kinds(&stopped);
            exclusions.extend(refs.excluded_targets(&stopped, of));
            requests.ask(texts, vec![namespace], exclusions);
            return Ok(true);
        }
        let (targets, none) = refs.included_targets(&stopped, of);
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
        for target in &targets {
            if let RequestTarget::Some(selection) = target {
                for kind in &selection.kinds {
                    requests.opt_in(kind, &self.spec.place);
                }
            }
        }
        let is_any = !targets.is_empty();
        if is_any {
            requests.ask(texts, targets, Vec::new());
        }
        Ok(is_any)
    }

    /// The kinds that dayshift would scale and kube-green does not.
    fn other_kinds(&self, stopped: &[Kind]) -> Vec<RequestTarget> {
        let own = KINDS.iter().map(|row| row.0.clone());
        let all = own.chain(self.kinds_of_patches.iter().cloned());
        let others = all.filter(|kind| !stopped.contains(kind)).map(|kind| {
            let reason = format!(
                "kube-green does not scale the {} of this namespace, and each of them needs an \
                    annotation",
                kind.names_of_all()
            );
            let selection = ObjectSelection::new(vec![kind], self.namespace, reason);
            RequestTarget::Some(selection)
        });
        others.collect()
    }
}

/// The starts and stops of a SleepInfo, and their zone; empty if it has none.
fn schedule(spec: &Node<'_>, tzdata: &Tzdata) -> Result<KeyTexts, PlacedFinding> {
    let weekdays = spec.word("weekdays");
    let mut texts = KeyTexts::new();
    for (field, key) in [("wakeUpAt", Key::Start), ("sleepAt", Key::Stop)] {
        let time = spec.word(field);
        let Some(node) = spec.get(field).filter(|node| node.written() != Some("")) else {
            continue;
        };
        let parts = time.split_once(':');
        let read = parts
            .and_then(|(hour, minute)| weekly_text(&format!("{minute} {hour} * * {weekdays}")));
        let read = read.ok_or_else(|| {
            let (time, days) = (quote(time), quote(weekdays));
            let message = format!("`{time}` on `{days}` is not a time that kube-green reads");
            let help = "write for example sleepAt: \"20:00\" and weekdays: \"1-5\"";
            Finding::new(Topic::NotRead, node.place.clone(), message, help)
        })?;
        texts.push((key, read));
    }
    if texts.is_empty() {
        return Ok(texts);
    }
    let zone = match spec.word("timeZone") {
        "" => "UTC",
        zone => zone,
    };
    let zone = tzdata.parse_zone(zone).map_err(|error| {
        let place = spec.get("timeZone").map_or(&spec.place, |node| &node.place);
        let help = "write an IANA time zone";
        Finding::new(Topic::NotRead, place.clone(), error.to_string(), help)
    })?;
    texts.push((Key::Timezone, zone.name().to_owned()));
    Ok(texts)
}
