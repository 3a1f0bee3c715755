//! The counts that kube-green has saved, in the Secret beside a SleepInfo.
//!
//! `sleepinfo-NAME` holds them from a sleep to the next wake-up: since 0.6 as merge patches that
//! bring each object back (`original-resource-info`), before that as lists of counts
//! (`deployment-replicas`, `cronjobs-info`). Read from kube-green's
//! `internal/controller/sleepinfo/secrets.go` (09efe4b) and `jsonpatch/jsonpatch.go` (0e241bd), and
//! from `controllers/sleepinfo/deployments/deployments.go` (1181346).

use std::collections::{BTreeMap, HashMap};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde::Deserialize;

use crate::convert::document::objects::Document;
use crate::convert::finding::{ObjectName, Topic};
use crate::convert::tools::request::{Requests, Saved};
use crate::manifest::Finding;
use crate::workload::Label;

/// Objects by the name that kube-green gives their kind, and by their own; a patch for each.
type Patches = HashMap<String, BTreeMap<String, String>>;

/// A kind whose counts dayshift saves too.
struct Kind {
    api_version: &'static str,
    kind: &'static str,
    /// As kube-green names it.
    target: &'static str,
    /// The list that it stood in before 0.6.
    list: Option<&'static str>,
}

const KINDS: [Kind; 3] = [
    Kind {
        api_version: "apps/v1",
        kind: "Deployment",
        target: "Deployment.apps",
        list: Some("deployment-replicas"),
    },
    Kind {
        api_version: "apps/v1",
        kind: "StatefulSet",
        target: "StatefulSet.apps",
        list: None,
    },
    Kind {
        api_version: "batch/v1",
        kind: "CronJob",
        target: "CronJob.batch",
        list: Some("cronjobs-info"),
    },
];

/// An entry of the lists that were written before 0.6.
#[derive(Deserialize)]
struct Listed {
    name: String,
    #[serde(default)]
    replicas: Option<u32>,
    #[serde(default)]
    suspend: Option<bool>,
}

#[derive(Deserialize)]
struct Restoring {
    #[serde(default)]
    spec: Spec,
}

#[derive(Default, Deserialize)]
struct Spec {
    #[serde(default)]
    replicas: Option<u32>,
}

/// The name of the Secret of a SleepInfo.
pub(in crate::convert) fn name_of(sleep_info: &str) -> String {
    format!("sleepinfo-{sleep_info}")
}

/// Asks for the saved count of each object that sleeps, and answers whether any does. `secret` is
/// which document it is.
pub(in crate::convert) fn convert(
    secret: usize,
    document: &Document<'_>,
    requests: &mut Requests<'_>,
) -> bool {
    let text = |name: &str| text_of(document, name);
    if text("operation-type").as_deref() != Some("SLEEP") {
        return false;
    }
    let Ok(counts) = counts(&text) else {
        let finding = Finding::new(
            Topic::NotRead,
            document.node.place.clone(),
            "the counts that kube-green has saved in this Secret cannot be read",
            format!(
                "convert while everything is awake, or label each object with its count: {}=3",
                requests.label(Label::SavedReplicas)
            ),
        );
        requests.findings.push((secret, finding));
        return false;
    };
    let is_any = !counts.is_empty();
    for ((kind, name), count) in counts {
        let Kind {
            api_version, kind, ..
        } = KINDS[kind];
        requests.saved.push(Saved {
            from: secret,
            object: ObjectName {
                api_version: api_version.to_owned(),
                kind: kind.to_owned(),
                namespace: document.object.namespace.clone(),
                name,
            },
            count,
        });
    }
    is_any
}

/// The counts by kind and name; what is written now counts more than what was before 0.6.
fn counts(
    text: &impl Fn(&str) -> Option<String>,
) -> Result<BTreeMap<(usize, String), u32>, serde_json::Error> {
    let mut all = BTreeMap::new();
    let patches = text("original-resource-info").map(|it| serde_json::from_str(&it));
    let mut patches: Patches = patches.transpose()?.unwrap_or_default();
    for (at, kind) in KINDS.iter().enumerate() {
        if let Some(list) = kind.list.and_then(text) {
            for it in serde_json::from_str::<Vec<Listed>>(&list)? {
                let of_cron_job = || u32::from(it.suspend == Some(false));
                let count = it.replicas.unwrap_or_else(of_cron_job);
                all.insert((at, it.name), count);
            }
        }
        for (name, patch) in patches.remove(kind.target).unwrap_or_default() {
            let Restoring { spec } = serde_json::from_str(&patch)?;
            // A CronJob has one only where it was not suspended before.
            let is_cron_job = kind.kind == "CronJob";
            let count = if is_cron_job { Some(1) } else { spec.replicas };
            if let Some(count) = count {
                all.insert((at, name), count);
            }
        }
    }
    all.retain(|_, count| *count > 0);
    Ok(all)
}

/// A text of the Secret: `stringData` counts, as on the server, before `data`.
fn text_of(document: &Document<'_>, name: &str) -> Option<String> {
    let of = |map: &str| document.node.get(map)?.get(name)?.written();
    if let Some(text) = of("stringData") {
        return Some(text.to_owned());
    }
    let bytes = BASE64_STANDARD.decode(of("data")?.trim()).ok()?;
    String::from_utf8(bytes).ok()
}

/// The documents that may be such Secrets, by namespace and name.
pub(in crate::convert) fn all(documents: &[Document<'_>]) -> HashMap<(String, String), usize> {
    let all = documents.iter().enumerate();
    let secrets = all.filter(|(_, it)| it.group().is_empty() && it.object.kind == "Secret");
    secrets
        .map(|(at, it)| ((it.object.namespace.clone(), it.object.name.clone()), at))
        .collect()
}
