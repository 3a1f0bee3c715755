//! The objects that a SleepInfo includes and excludes, compared with the selectors of kube-green
//! 0.7.1 (`getListOptions` of `jsonpatch/genericresources.go`), evaluated one requirement at a
//! time.

use std::collections::BTreeSet;

use dayshift_manifest::convert::{ChangeTarget, Conversion};
use proptest::prelude::*;

use super::sleep_info;
use crate::convert::converted::{convert, rule_ids};

/// A reference: a kind and a name, and labels.
#[derive(Clone, Debug)]
struct Ref {
    named: Option<(&'static str, &'static str)>,
    labels: Vec<(&'static str, &'static str)>,
}

impl Ref {
    fn yaml(&self) -> String {
        let mut parts = Vec::new();
        if let Some((kind, name)) = self.named {
            let version = if kind == "CronJob" {
                "batch/v1"
            } else {
                "apps/v1"
            };
            parts.push(format!("apiVersion: {version}, kind: {kind}, name: {name}"));
        }
        if !self.labels.is_empty() {
            let labels: Vec<_> = self
                .labels
                .iter()
                .map(|(k, v)| format!("{k}: {v}"))
                .collect();
            parts.push(format!("matchLabels: {{{}}}", labels.join(", ")));
        }
        format!("    - {{{}}}\n", parts.join(", "))
    }
}

/// An object of the namespace.
#[derive(Clone, Debug)]
struct Object {
    kind: &'static str,
    name: &'static str,
    labels: Vec<(&'static str, &'static str)>,
}

impl Object {
    fn yaml(&self) -> String {
        let version = if self.kind == "CronJob" {
            "batch/v1"
        } else {
            "apps/v1"
        };
        let labels: Vec<_> = self
            .labels
            .iter()
            .map(|(k, v)| format!("{k}: {v}"))
            .collect();
        format!(
            "---\napiVersion: {version}\nkind: {}\nmetadata: {{name: {}, namespace: team, labels: {{{}}}}}\n",
            self.kind,
            self.name,
            labels.join(", ")
        )
    }

    /// Whether kube-green's two selectors for its kind match it.
    fn is_listed(&self, include: &[Ref], exclude: &[Ref]) -> bool {
        let mut requirements: Vec<(String, &str, bool)> = Vec::new();
        for (refs, is_wanted) in [(include, true), (exclude, false)] {
            for it in refs {
                match it.named {
                    Some((kind, name)) if kind == self.kind => {
                        requirements.push(("metadata.name".to_owned(), name, is_wanted));
                    }
                    _ => {}
                }
                for (key, value) in &it.labels {
                    requirements.push(((*key).to_owned(), value, is_wanted));
                }
            }
        }
        requirements.iter().all(|(field, value, is_wanted)| {
            let has = if field == "metadata.name" {
                self.name == *value
            } else {
                self.labels.iter().any(|(k, v)| k == field && v == value)
            };
            has == *is_wanted
        })
    }
}

/// The objects with a schedule, by their own annotations or those of their Namespace.
fn scheduled(conversion: &Conversion) -> impl Fn(&Object) -> bool {
    let has = |wanted: &str, key: &str| {
        conversion.changes.iter().any(|change| {
            let is_it =
                matches!(&change.target, ChangeTarget::Object(it) if it.to_string() == wanted);
            is_it && change.set.iter().any(|it| it.0 == key)
        })
    };
    move |object| {
        let own = format!("{} team/{}", object.kind, object.name);
        let inherits = has("Namespace team", "dayshift/stop") && !has(&own, "dayshift/exclude");
        has(&own, "dayshift/stop") || inherits
    }
}

const KINDS: [&str; 3] = ["Deployment", "StatefulSet", "CronJob"];

fn labels() -> impl Strategy<Value = Vec<(&'static str, &'static str)>> {
    let value = || prop::option::of(prop::sample::select(vec!["x", "y"]));
    (value(), value()).prop_map(|(app, tier)| {
        let app = app.map(|it| ("app", it));
        app.into_iter().chain(tier.map(|it| ("tier", it))).collect()
    })
}

fn reference() -> impl Strategy<Value = Ref> {
    let named = (
        prop::sample::select(KINDS.to_vec()),
        prop::sample::select(vec!["web", "api"]),
    );
    prop_oneof![
        named.prop_map(|it| Ref {
            named: Some(it),
            labels: Vec::new()
        }),
        labels().prop_map(|labels| Ref {
            named: None,
            labels
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn only_listed_objects_are_scheduled(
        include in prop::collection::vec(reference(), 0..3),
        exclude in prop::collection::vec(reference(), 0..3),
        given in prop::collection::vec(labels(), 6),
        suspends in prop::collection::vec(any::<bool>(), 3),
    ) {
        let objects: Vec<_> = KINDS
            .iter()
            .flat_map(|kind| ["web", "api"].map(|name| (*kind, name)))
            .zip(given)
            .map(|((kind, name), labels)| Object { kind, name, labels })
            .collect();
        let refs = |field: &str, refs: &[Ref]| {
            let all: String = refs.iter().map(Ref::yaml).collect();
            if all.is_empty() { String::new() } else { format!("  {field}:\n{all}") }
        };
        let more = refs("includeRef", &include) + &refs("excludeRef", &exclude);
        let mut text = sleep_info("1-5", "20:00", Some("08:00"), "UTC", &more)
            .replace("suspendCronJobs: true", &format!(
                "suspendDeployments: {}\n  suspendStatefulSets: {}\n  suspendCronJobs: {}",
                suspends[0], suspends[1], suspends[2],
            ));
        text.extend(objects.iter().map(Object::yaml));
        let conversion = convert(&text);
        for change in &conversion.changes {
            let names: BTreeSet<_> = change.set.iter().map(|it| &it.0).collect();
            prop_assert_eq!(names.len(), change.set.len(), "each once: {:?}", change);
        }
        let is_scheduled = scheduled(&conversion);
        for object in &objects {
            let is_suspended = KINDS.iter().zip(&suspends).any(|it| *it.0 == object.kind && *it.1);
            let theirs = is_suspended && object.is_listed(&include, &exclude);
            prop_assert_eq!(is_scheduled(object), theirs, "{:?}\n{}\n{:#?}", object, text, conversion.changes);
        }
    }
}

/// The commands for objects that are not in the files select the same ones. kubectl accepts both
/// selectors.
#[test]
fn writes_every_requirement_into_the_command() {
    let more = "  includeRef:\n    - {matchLabels: {app: shop, tier: front}}\n    - {apiVersion: apps/v1, kind: Deployment, name: web}\n  excludeRef:\n    - {matchLabels: {keep: 'yes', on: call}}\n    - {apiVersion: apps/v1, kind: StatefulSet, name: db}\n";
    let text = sleep_info("1-5", "20:00", None, "UTC", more);
    let targets: Vec<_> = convert(&text)
        .changes
        .into_iter()
        .map(|it| it.target)
        .collect();
    let all = |kinds: &str, names: Option<&str>| ChangeTarget::All {
        kinds: kinds.to_owned(),
        namespace: "team".to_owned(),
        selector: Some("app=shop,tier=front,keep!=yes,on!=call".to_owned()),
        field_selector: names.map(str::to_owned),
    };
    assert_eq!(
        targets,
        [
            all("deployments", Some("metadata.name=web")),
            all("statefulsets", Some("metadata.name!=db")),
            all("cronjobs", None),
        ]
    );
}

#[test]
fn reports_references_that_match_nothing() {
    let of = |refs: &str, more: &str| {
        let more = format!("  includeRef:\n{refs}{more}");
        convert(&sleep_info("1-5", "20:00", None, "UTC", &more))
    };
    let web = "    - {apiVersion: apps/v1, kind: Deployment, name: web}\n";
    let two = of(&format!("{web}{}", web.replace("web", "api")), "");
    let kinds = two.changes.iter().map(|it| match &it.target {
        ChangeTarget::All { kinds, .. } => kinds.clone(),
        ChangeTarget::Object(object) => object.to_string(),
    });
    assert_eq!(kinds.collect::<Vec<_>>(), ["statefulsets,cronjobs"]);
    assert!(rule_ids(&two).contains(&"contradiction"), "{two:?}");
    for refs in [
        "    - {matchLabels: {app: x}}\n    - {matchLabels: {app: y}}\n",
        "    - {matchLabels: {app: x}}\n  excludeRef:\n    - {matchLabels: {app: x}}\n",
    ] {
        let none = of(refs, "");
        assert!(none.changes.is_empty(), "{none:?}");
        assert_eq!(rule_ids(&none), ["contradiction"; 3], "{refs}");
    }
    // `labels.Parse` rejects such a text in kube-green, and no object is listed.
    for refs in [
        "    - {matchLabels: {app: 'x,y=z'}}\n",
        "    - {matchLabels: {'a b': x}}\n",
        "    - {apiVersion: apps/v1, kind: Deployment, name: 'a,b'}\n",
    ] {
        let none = of(refs, "");
        assert_eq!(
            (none.changes.len(), rule_ids(&none)),
            (0, vec!["not-read"]),
            "{refs}"
        );
    }
}
