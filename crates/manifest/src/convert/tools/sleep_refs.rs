//! The references of a SleepInfo: which objects it takes in and leaves out.
//!
//! Read from `getListOptions` of kube-green 0.7.1's
//! `internal/controller/sleepinfo/jsonpatch/genericresources.go`: for each kind all labels of all
//! references are one label selector (`k==v` of `includeRef`, `k!=v` of `excludeRef`), and all names
//! for that kind one field selector.

use std::collections::BTreeSet;

use dayshift_workload::{
    Kind,
    names::{is_dns_subdomain, is_label_key, is_label_value},
};

use crate::{
    convert::{
        document::objects::group,
        finding::ObjectName,
        tools::request::{Selection, Wanted},
    },
    manifest::Node,
};

/// What the references say.
pub(super) struct Refs {
    include: Side,
    exclude: Side,
}

/// The names by kind, and the labels, of `includeRef` or of `excludeRef`.
#[derive(Default)]
struct Side {
    names: BTreeSet<(String, String, String)>,
    labels: BTreeSet<(String, String)>,
}

impl Side {
    /// `None` where kube-green cannot make a selector of it, and so finds no object.
    fn read(spec: &Node<'_>, field: &str) -> Option<Self> {
        let mut side = Self::default();
        for item in spec.get(field).map_or(&[][..], Node::items) {
            let text = |name| item.get(name).and_then(Node::written).unwrap_or_default();
            let labels = item.get("matchLabels").map_or(&[][..], Node::entries);
            for label in labels {
                let value = label.value.written().unwrap_or_default();
                if !is_label_key(label.name()) || !is_label_value(value) {
                    return None;
                }
                side.labels
                    .insert((label.name().to_owned(), value.to_owned()));
            }
            let name = text("name");
            if !name.is_empty() {
                if !is_dns_subdomain(name) {
                    return None;
                }
                let group = group(text("apiVersion"));
                side.names
                    .insert((group.to_owned(), text("kind").to_owned(), name.to_owned()));
            }
        }
        Some(side)
    }

    /// The names that are for one kind.
    fn names_of(&self, kind: Kind) -> Vec<String> {
        let is_it = |it: &&(String, String, String)| it.0 == kind.group() && it.1 == kind.name();
        let of_kind = self.names.iter().filter(is_it);
        of_kind.map(|it| it.2.clone()).collect()
    }
}

impl Refs {
    /// Reads both lists; `None` where kube-green finds no object because of them.
    pub(super) fn read(spec: &Node<'_>) -> Option<Self> {
        Some(Self {
            include: Side::read(spec, "includeRef")?,
            exclude: Side::read(spec, "excludeRef")?,
        })
    }

    /// Whether `includeRef` says nothing that bounds any of these kinds.
    pub(super) fn take_in_all(&self, kinds: &[Kind]) -> bool {
        let is_free = |kind: &Kind| self.include.names_of(*kind).is_empty();
        self.include.labels.is_empty() && kinds.iter().all(is_free)
    }

    /// What is left out of all objects of these kinds: each name, and each label by itself.
    pub(super) fn left_out(&self, kinds: &[Kind], namespace: &str) -> Vec<Wanted> {
        let names = kinds.iter().flat_map(|kind| {
            let names = self.exclude.names_of(*kind).into_iter();
            names.map(|name| object(*kind, namespace, name))
        });
        let labels = self.exclude.labels.iter().map(|label| {
            Wanted::Some(Selection {
                labels: vec![label.clone()],
                ..Selection::of(kinds.to_vec(), namespace)
            })
        });
        names.chain(labels).collect()
    }

    /// What is taken in, and the kinds of which nothing is, since their names or labels exclude each
    /// other.
    pub(super) fn taken_in(&self, kinds: &[Kind], namespace: &str) -> (Vec<Wanted>, Vec<Kind>) {
        let mut selections: Vec<Selection> = Vec::new();
        let mut none = Vec::new();
        for kind in kinds {
            let names = self.include.names_of(*kind);
            let labels = &self.include.labels;
            let is_twice = |(key, value): &(String, String)| {
                let mut others = labels.iter();
                others.any(|it| it.0 == *key && it.1 != *value)
            };
            let is_none = names.len() > 1
                || labels.iter().any(is_twice)
                || !labels.is_disjoint(&self.exclude.labels)
                || self
                    .exclude
                    .names_of(*kind)
                    .iter()
                    .any(|it| names.contains(it));
            if is_none {
                none.push(*kind);
                continue;
            }
            let name = names.into_iter().next();
            let selection = Selection {
                other_names: match name {
                    None => self.exclude.names_of(*kind),
                    Some(_) => Vec::new(),
                },
                name,
                labels: labels.iter().cloned().collect(),
                other_labels: self.exclude.labels.iter().cloned().collect(),
                ..Selection::of(Vec::new(), namespace)
            };
            let is_same = |it: &&mut Selection| {
                let kinds = it.kinds.clone();
                **it == Selection {
                    kinds,
                    ..selection.clone()
                }
            };
            match selections.iter_mut().find(is_same) {
                Some(known) => known.kinds.push(*kind),
                None => selections.push(Selection {
                    kinds: vec![*kind],
                    ..selection
                }),
            }
        }
        let wanted = selections
            .into_iter()
            .map(|it| match (&it.name, &it.kinds[..]) {
                (Some(name), [kind]) if it.labels.is_empty() && it.other_labels.is_empty() => {
                    object(*kind, namespace, name.clone())
                }
                _ => Wanted::Some(it),
            });
        (wanted.collect(), none)
    }
}

fn object(kind: Kind, namespace: &str, name: String) -> Wanted {
    Wanted::Object(ObjectName {
        // Which version it is says the API server; the group alone counts.
        api_version: format!("{}/v1", kind.group()),
        kind: kind.name().to_owned(),
        namespace: namespace.to_owned(),
        name,
    })
}
